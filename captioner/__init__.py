"""The door of the captioner: one image and one page context in, one text or a reasoned abstention out.

    captioner = load_captioner("starter")
    [outcome] = captioner.describe([CaptionRequest("1", image=bytes, context=PageContext(title="Menu"))])

The line of rooms behind it: prepare -> encode -> reduce -> project -> decode -> gate. This module and everything it
imports stay free of Django and of torch; the rooms load torch when a captioner is loaded.
"""

from captioner.isolation import IsolatedCaptioner
from captioner.loading import NAMES, load_captioner
from captioner.types import (
    VERSION,
    Abstention,
    Caption,
    Captioner,
    CaptionerDied,
    CaptionerHung,
    CaptionError,
    CaptionerUnavailable,
    CaptionRequest,
    Lane,
    MalformedOutput,
    Outcome,
    PageContext,
    Reason,
    Role,
    WeightsMissing,
    versions_key,
)

__version__ = VERSION

__all__ = [
    "NAMES",
    "Abstention",
    "Caption",
    "CaptionError",
    "CaptionRequest",
    "Captioner",
    "CaptionerDied",
    "CaptionerHung",
    "CaptionerUnavailable",
    "IsolatedCaptioner",
    "Lane",
    "MalformedOutput",
    "Outcome",
    "PageContext",
    "Reason",
    "Role",
    "WeightsMissing",
    "load_captioner",
    "versions_key",
]
