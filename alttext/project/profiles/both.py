"""Both CMSs and plain models in one process, as the tests of the adapters run."""

from typing import Any

from alttext.project.profiles import parts
from alttext.project.settings import *  # noqa: F403

PLAIN: Any = {
    "ADAPTERS": ["alttext.contrib.imagefields.adapter.ImageFieldsAdapter"],
    "IMAGE_FIELDS": ALTTEXT["IMAGE_FIELDS"],  # noqa: F405
}
parts.own_files(globals(), "both")
parts.add_djangocms(globals())
parts.add_wagtail(globals())
ALTTEXT.update(PLAIN)  # noqa: F405
