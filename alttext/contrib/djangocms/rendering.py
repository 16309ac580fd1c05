"""Plugins through the site's own templates, as a visitor gets them, without a request from outside.

What is rendered here must not be saved: plugins change themselves while they are rendered.
"""

from __future__ import annotations

from typing import Any

from classytags.utils import flatten_context
from cms.models import PageContent
from cms.plugin_rendering import PluginContext
from cms.toolbar.toolbar import CMSToolbar
from cms.utils.plugins import get_plugins_as_layered_tree
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.backends.base import SessionBase
from django.test import RequestFactory
from django.utils.translation import override
from sekizai.context import SekizaiContext

from alttext.contrib.djangocms.pages import Slot


def request_for(content: PageContent, url: str) -> Any:
    """A visitor's request for a page."""
    request: Any = RequestFactory().get(url or "/")
    request.user, request.session = AnonymousUser(), SessionBase()
    request.current_page, request.LANGUAGE_CODE = content.page, content.language
    request.toolbar = CMSToolbar(request)
    request.toolbar.set_object(content)
    return request


def with_children(slot: Slot) -> None:
    """Tell each plugin of the slot its children, as the renderer does."""
    get_plugins_as_layered_tree(slot.plugins)


def stock(plugin: Any, *, request: Any) -> tuple[str, str]:
    """What the plugin's template gives before any processor, and the template's name.

    Children within the template pass the site's processors. Raises whatever the plugin or its template raises.
    """
    instance, plugin_class = plugin.get_plugin_instance()
    placeholder = plugin.placeholder
    with override(plugin.language):
        context: Any = PluginContext(SekizaiContext({"request": request}), instance, placeholder)
        context = flatten_context(plugin_class.render(context, instance, placeholder.slot))
        name = plugin_class._get_render_template(context, instance, placeholder)
        template = request.toolbar.templates.get_cached_template(name)
        return str(template.render(context)), str(getattr(name, "name", name))
