"""The plugin of the example site, with the workbench's panel beside its own field for the text."""

from __future__ import annotations

from cms.plugin_base import CMSPluginBase
from cms.plugin_pool import plugin_pool
from django.forms import ModelForm

from alttext.contrib.djangocms.cms_plugins import PanelMixin
from alttext.contrib.djangocms.forms import Panel
from alttext.project.cms_site.models import Illustration


class IllustrationForm(Panel, ModelForm):
    """Names of the three fields are those that `Panel` expects; others are told to it as class attributes."""

    class Meta:
        model = Illustration
        fields = ("image", "alt_text", "decorative", "caption")


@plugin_pool.register_plugin
class IllustrationPlugin(PanelMixin, CMSPluginBase):
    """A picture with a caption."""

    name = "Illustration"
    module = "Harbour Valley"
    model = Illustration
    form = IllustrationForm
    render_template = "cms_site/illustration.html"
