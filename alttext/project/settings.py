"""The runnable site: demonstration, development and tests. The only reader of the environment."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import dj_database_url

BASE_DIR = Path(__file__).resolve().parents[2]
VAR_DIR = Path(os.environ.get("ALTTEXT_VAR", BASE_DIR / "var"))
VAR_DIR.mkdir(parents=True, exist_ok=True)

DEBUG = os.environ.get("DJANGO_DEBUG", "") == "1"
SECRET_KEY = os.environ.get("DJANGO_SECRET_KEY", "demo-only-not-for-a-public-site-0123456789-abcdefghijklmnop")
ALLOWED_HOSTS = os.environ.get("DJANGO_ALLOWED_HOSTS", "127.0.0.1,localhost,[::1],testserver").split(",")

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django_htmx",
    "template_partials",
    "rest_framework",
    "drf_spectacular",
    "alttext",
    "alttext.project.demo",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "alttext.project.urls"
WSGI_APPLICATION = "alttext.project.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

SQLITE_OPTIONS = {
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL",
}


def database(url: str) -> dict:
    """Django's settings for a database address; SQLite in WAL mode with immediate transactions."""
    parsed: dict[str, Any] = dict(dj_database_url.parse(url))
    if "sqlite" in parsed["ENGINE"]:
        # threads of a live server need a file: an in-memory database is shared by one connection only
        parsed |= {"OPTIONS": SQLITE_OPTIONS, "TEST": {"NAME": str(VAR_DIR / f"test-{os.getpid()}.sqlite3")}}
    else:
        parsed |= {"OPTIONS": {"connect_timeout": 3}, "TEST": {"NAME": f"test_alttext_{os.getpid()}"}}
    return parsed


DATABASES = {"default": database(os.environ.get("DATABASE_URL", f"sqlite:///{VAR_DIR / 'demo.sqlite3'}"))}

AUTH_PASSWORD_VALIDATORS: list[dict] = []
LOGIN_URL = "/accounts/login/"
LOGIN_REDIRECT_URL = "/alttext/"
LOGOUT_REDIRECT_URL = "/"
# the sign-in page names the three accounts, whose passwords are their names
DEMO_LOGINS = DEBUG or os.environ.get("ALTTEXT_DEMO", "") == "1"

DEMO_CONTENT = "alttext.project.demo.content.load"  # what `alttext_demo` fills the site with
DEMO_EDITOR = ""  # where its pages are edited

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("de", "Deutsch")]
TIME_ZONE = "UTC"
USE_TZ = True

STATIC_URL = "/static/"
STATIC_ROOT = VAR_DIR / "static"
STATIC_ROOT.mkdir(parents=True, exist_ok=True)
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True
MEDIA_URL = "/media/"
MEDIA_ROOT = VAR_DIR / "media"

X_FRAME_OPTIONS = "SAMEORIGIN"
SECURE_CONTENT_TYPE_NOSNIFF = True
SESSION_COOKIE_SAMESITE = "Lax"

REST_FRAMEWORK = {
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_AUTHENTICATION_CLASSES": ["rest_framework.authentication.SessionAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
}
SPECTACULAR_SETTINGS = {"TITLE": "Alt-text workbench", "VERSION": "0.1.0", "SERVE_INCLUDE_SCHEMA": False}

ALTTEXT = {
    "CAPTIONER": os.environ.get("ALTTEXT_CAPTIONER", "starter"),
    "WAKE": "celery" if os.environ.get("CELERY_BROKER_URL") else "",
    "LEASE_SECONDS": float(os.environ.get("ALTTEXT_LEASE_SECONDS", "60")),
    "IMAGE_FIELDS": [
        {
            "model": "demo.Illustration",
            "image": "image",
            "alt": "alt_text",
            "decorative": "decorative",
            "role": "role",
            "language": "article.language",
            "title": "article.title",
            "url": "article.get_absolute_url",
            "headings": "headings",
            "before": "text_before",
            "after": "text_after",
            "caption": "caption",
            "link_target": "link_url",
            "link_label": "link_label",
            "link_text_visible": "link_text_visible",
        }
    ],
}

CELERY_BROKER_URL = os.environ.get("CELERY_BROKER_URL", "")

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "loggers": {"alttext": {"handlers": ["console"], "level": os.environ.get("ALTTEXT_LOG", "WARNING")}},
}
