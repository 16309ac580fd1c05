"""The example site in Wagtail: `make demo CMS=wagtail`."""

from alttext.project.profiles import parts
from alttext.project.settings import *  # noqa: F403

parts.own_files(globals(), "wagtail")
parts.add_wagtail(globals())
DEMO_CONTENT = "alttext.project.wagtail_site.content.load"
DEMO_EDITOR = "/cms/"
