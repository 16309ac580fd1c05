"""Pages of django CMS made as its own API and admin make them, and hands to publish, edit and look at them."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

from cms.api import add_plugin, create_page
from cms.models import CMSPlugin, Page, PageContent, Placeholder
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.core.files.base import ContentFile
from djangocms_versioning.models import Version
from filer.models import Image

from alttext.adapters import Alt, Context
from alttext.contrib.djangocms.adapter import DjangoCMSAdapter
from tests.conftest import picture

TEMPLATE, TWO_COLUMNS = "cms_site/page.html", "cms_site/two_columns.html"
_numbers = itertools.count(1)

RIGHTS = ("cms.change_page", "cms.publish_page", "filer.change_image", "cms_site.change_illustration")
PLUGINS = (
    *("djangocms_picture.change_picture", "djangocms_text.change_text", "image.change_image"),
    *("carousel.change_carouselslide",),
)


def user(name: str, *rights: str, staff: bool = True, superuser: bool = False, active: bool = True) -> Any:
    """An account with these permissions, "app.codename"."""
    model = get_user_model()
    made = model.objects.create_user(
        f"{name}{next(_numbers)}", password="x", is_staff=staff, is_superuser=superuser, is_active=active
    )
    for right in rights:
        app, _, codename = right.partition(".")
        made.user_permissions.add(Permission.objects.get(content_type__app_label=app, codename=codename))
    return model.objects.get(pk=made.pk)  # without the permission cache


def library_image(data: bytes | None = None, *, name: str = "", alt: str | None = None, label: str = "") -> Image:
    """An image in the library."""
    name = name or f"IMG_{next(_numbers)}.png"
    content = ContentFile(picture() if data is None else data, name=name)
    return Image.objects.create(original_filename=name, file=content, default_alt_text=alt, name=label)


def page(by: Any, *, title: str = "Spring tulips", language: str = "en", template: str = TEMPLATE, **rest: Any) -> Page:
    """A page with a draft in one language."""
    rest.setdefault("slug", f"page-{next(_numbers)}")
    return create_page(title, template, language, created_by=by, **rest)


def content(of: Page, language: str = "en", state: str = "") -> PageContent:
    """The newest content of a page, or the newest in that state."""
    rows = PageContent.admin_manager.filter(page=of, language=language)
    if state:
        rows = rows.filter(versions__state=state)
    return rows.order_by("-pk")[0]


def slot(of: Page, language: str = "en", name: str = "content", state: str = "") -> Placeholder:
    """A placeholder of the newest content of a page."""
    return content(of, language, state).get_placeholders().get(slot=name)


def version(of: Page, language: str = "en", state: str = "") -> Version:
    """The version that belongs to `content`."""
    return Version.objects.get_for_content(content(of, language, state))


def publish(of: Page, by: Any, language: str = "en") -> None:
    """Publish the newest content."""
    version(of, language).publish(by)


def new_draft(of: Page, by: Any, language: str = "en") -> Version:
    """A draft of what is published, as the button "New draft" makes it."""
    return version(of, language, "published").copy(by)


def text(into: Placeholder, body: str, *, target: Any = None, **rest: Any) -> Any:
    """A rich text."""
    language = rest.pop("language", None) or into.source.language
    return add_plugin(into, "TextPlugin", language, target=target, body=body, **rest)


def photo(
    into: Placeholder, image: Image | None, *, target: Any = None, position: str = "last-child", **rest: Any
) -> Any:
    """A picture plugin."""
    return add_plugin(
        into, "PicturePlugin", into.source.language, target=target, position=position, picture=image, **rest
    )


def component(into: Placeholder, kind: str, *, target: Any = None, **config: Any) -> Any:
    """A component of djangocms-frontend, filled as its form fills it."""
    plugin = add_plugin(into, kind, into.source.language, target=target, config=config)
    plugin.initialize_from_form().save()
    return plugin


def reference(image: Image) -> dict[str, Any]:
    """How a component refers to an image."""
    return {"model": "filer.image", "pk": image.pk}


def plugins(of: Placeholder) -> list[Any]:
    """The plugins of a placeholder in document order."""
    return [row.get_plugin_instance()[0] for row in CMSPlugin.objects.filter(placeholder=of).order_by("position")]


class CmsStage:
    """A published page with one linked picture between words, and a draft of it."""

    language = "en"
    page_title = "Spring & tulips"
    context = Context(
        title="Spring & tulips",
        headings=("Where to look",),
        before="The first ones open in March.\nBring a coat.",
        after="They close at night.",
        caption="By the old wall",
        link_target="https://example.org/tulips",
        link_label="By the old wall",
        link_text_visible=True,
    )

    def __init__(self) -> None:
        self.adapter = DjangoCMSAdapter()
        self.superuser = user("root", superuser=True)
        self.editor = user("editor", *RIGHTS, *PLUGINS)
        self.stranger = user("stranger")
        self.data = picture()
        self.image = library_image(self.data)
        self.page = page(self.superuser, title=self.page_title, page_title="Not this", menu_title="Nor this")
        self.fill(self.page)
        publish(self.page, self.superuser)
        new_draft(self.page, self.superuser)
        self.key = f"page:{self.page.pk}:en:content:PicturePlugin.picture:{self.image.pk}:1"

    def fill(self, page: Page, image: Image | None = None) -> None:
        into = slot(page)
        text(into, "<h2>Where to look</h2><p>The first ones open in March.</p><p>Bring a <b>coat</b>.</p>")
        photo(
            into, image or self.image, caption_text="By the old wall", link_url="https://example.org/tulips",
        )  # fmt: skip
        text(into, "<p>They close at night.</p>")

    @property
    def plugin(self) -> Any:
        """The picture in the draft."""
        return next(row for row in plugins(slot(self.page)) if row.plugin_type == "PicturePlugin")

    def change(self, text: str) -> None:
        plugin = self.plugin
        plugin.attributes = {"alt": text, "class": "wide"}
        plugin.save()

    def edit_page(self) -> None:
        first = plugins(slot(self.page))[0]
        first.body = "<p>Other words.</p>"
        first.save()

    def add(self) -> None:
        more = page(self.superuser, title="Another page")
        self.fill(more)  # the same image: the library's own texts are places too
        publish(more, self.superuser)

    def remove(self) -> None:
        slot(self.page).delete_plugin(self.plugin)

    def lose_file(self) -> None:
        Path(self.image.file.path).unlink()

    def narrow(self) -> tuple[str, int]:
        return f"file:{self.image.pk}", 255

    def alt(self) -> Alt:
        return self.adapter.place(self.key).alt
