"""A name becomes a captioner. Heavy imports happen here, when a name asks for them, never at import."""

from __future__ import annotations

import importlib

from captioner.types import Captioner, CaptionError

NAMES = {
    "canned": "captioner.architectures.canned:Canned",
    "starter": "captioner.architectures.starter:Starter",
}


class UnknownCaptioner(CaptionError):
    """No captioner has that name."""


def load_captioner(name: str) -> Captioner:
    """The captioner called `name`, ready to describe; a dotted "package.module:Class" loads a site's own.

    :raises UnknownCaptioner: the name is neither in `NAMES` nor importable.
    :raises WeightsMissing: its weights are not on this machine.
    """
    target = NAMES.get(name, name)
    module_name, _, attribute = target.partition(":")
    if not attribute:
        raise UnknownCaptioner(f"No captioner is called {name!r}. Known: {', '.join(sorted(NAMES))}.")
    try:
        captioner_class = getattr(importlib.import_module(module_name), attribute)
    except (ImportError, AttributeError) as error:
        raise UnknownCaptioner(f"The captioner {name!r} cannot be imported: {error}") from error
    captioner: Captioner = captioner_class.load()
    return captioner
