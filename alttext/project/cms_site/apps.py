"""App configuration of the example site."""

from django.apps import AppConfig


class CmsSiteConfig(AppConfig):
    name = "alttext.project.cms_site"
    label = "cms_site"
