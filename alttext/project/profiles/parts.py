"""What each CMS needs in a project's settings; the profiles put it together. Reads no environment.

Sources: the install pages of django CMS 5.1 and Wagtail 8.
"""

from __future__ import annotations

from typing import Any

DJANGOCMS_BEFORE = ["djangocms_text", "djangocms_text.contrib.filer_image"]
DJANGOCMS_APPS = [
    "django.contrib.sites",
    "cms",
    "menus",
    "treebeard",
    "sekizai",
    "filer",
    "easy_thumbnails",
    "djangocms_versioning",
    "djangocms_picture",
    "djangocms_link",
    "djangocms_frontend",
    "djangocms_frontend.contrib.accordion",
    "djangocms_frontend.contrib.carousel",
    "djangocms_frontend.contrib.grid",
    "djangocms_frontend.contrib.image",
    "djangocms_frontend.contrib.link",
    "djangocms_frontend.contrib.utilities",
    "alttext.contrib.djangocms",
    "alttext.project.cms_site",
]
DJANGOCMS_MIDDLEWARE = [
    "cms.middleware.user.CurrentUserMiddleware",
    "cms.middleware.page.CurrentPageMiddleware",
    "cms.middleware.toolbar.ToolbarMiddleware",
    "cms.middleware.language.LanguageCookieMiddleware",
]
DJANGOCMS_PROCESSORS = ["sekizai.context_processors.sekizai", "cms.context_processors.cms_settings"]

WAGTAIL_APPS = [
    "wagtail.contrib.forms",
    "wagtail.contrib.redirects",
    "wagtail.contrib.settings",
    "wagtail.contrib.simple_translation",
    "wagtail.embeds",
    "wagtail.sites",
    "wagtail.users",
    "wagtail.snippets",
    "wagtail.documents",
    "wagtail.images",
    "wagtail.search",
    "wagtail.admin",
    "wagtail.locales",
    "wagtail",
    "modelcluster",
    "taggit",
    "alttext.contrib.wagtail",
    "alttext.project.wagtail_site",
]
WAGTAIL_MIDDLEWARE = ["wagtail.contrib.redirects.middleware.RedirectMiddleware"]


def add_djangocms(settings: dict[str, Any]) -> None:
    """Put django CMS into `settings`, the namespace of a settings module."""
    settings["INSTALLED_APPS"] = [*DJANGOCMS_BEFORE, *settings["INSTALLED_APPS"], *DJANGOCMS_APPS]
    settings["MIDDLEWARE"] = [*settings["MIDDLEWARE"], *DJANGOCMS_MIDDLEWARE]
    _add_processors(settings, DJANGOCMS_PROCESSORS)
    settings.update(
        SITE_ID=1,
        CMS_CONFIRM_VERSION4=True,
        CMS_TEMPLATES=[("cms_site/page.html", "Page"), ("cms_site/two_columns.html", "Two columns")],
        CMS_PERMISSION=False,
        CMS_PLUGIN_PROCESSORS=["alttext.contrib.djangocms.output.normalise_alt"],
        DJANGOCMS_VERSIONING_ALLOW_DELETING_VERSIONS=True,
        TEXT_INLINE_EDITING=True,
        THUMBNAIL_HIGH_RESOLUTION=True,
        THUMBNAIL_PROCESSORS=(
            "easy_thumbnails.processors.colorspace",
            "easy_thumbnails.processors.autocrop",
            "filer.thumbnail_processors.scale_and_crop_with_subject_location",
            "easy_thumbnails.processors.filters",
        ),
    )


def add_wagtail(settings: dict[str, Any]) -> None:
    """Put Wagtail into `settings`, the namespace of a settings module."""
    settings["INSTALLED_APPS"] = [*settings["INSTALLED_APPS"], *WAGTAIL_APPS]
    settings["MIDDLEWARE"] = [*settings["MIDDLEWARE"], *WAGTAIL_MIDDLEWARE]
    _add_processors(settings, ["wagtail.contrib.settings.context_processors.settings"])
    settings.update(
        WAGTAIL_SITE_NAME="Demonstration",
        WAGTAILADMIN_BASE_URL="http://127.0.0.1:8000",
        WAGTAIL_I18N_ENABLED=True,
        WAGTAIL_ENABLE_UPDATE_CHECK=False,  # the demonstration asks nobody outside
        WAGTAIL_ENABLE_WHATS_NEW_BANNER=False,
        WAGTAIL_CONTENT_LANGUAGES=settings["LANGUAGES"],
    )


def own_files(settings: dict[str, Any], name: str) -> None:
    """Give the profile a database and media of its own, and no images of plain models."""
    var = settings["VAR_DIR"]
    if settings["DATABASES"]["default"]["NAME"] == str(var / "demo.sqlite3"):
        settings["DATABASES"]["default"]["NAME"] = str(var / f"demo-{name}.sqlite3")
    settings["MEDIA_ROOT"] = var / f"media-{name}"
    settings["ALTTEXT"] = {**settings["ALTTEXT"], "ADAPTERS": [], "IMAGE_FIELDS": []}
    settings["ROOT_URLCONF"] = "alttext.project.profiles.urls"


def _add_processors(settings: dict[str, Any], names: list[str]) -> None:
    (engine,) = settings["TEMPLATES"]
    options = engine["OPTIONS"]
    engine["OPTIONS"] = {**options, "context_processors": [*options["context_processors"], *names]}
