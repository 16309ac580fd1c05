"""The example site in django CMS: `make demo CMS=djangocms`."""

from alttext.project.profiles import parts
from alttext.project.settings import *  # noqa: F403

parts.own_files(globals(), "djangocms")
parts.add_djangocms(globals())
DEMO_CONTENT = "alttext.project.cms_site.content.load"
DEMO_EDITOR = "/admin/cms/pagecontent/"
