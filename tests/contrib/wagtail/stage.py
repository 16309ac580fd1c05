"""Stages of the adapter contract: a page with one image, in each place where Wagtail keeps an alt text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from alttext.adapters import Context
from alttext.contrib.wagtail import keys
from alttext.contrib.wagtail.adapter import WagtailAdapter
from alttext.project.wagtail_site.models import ArticlePage

HEADING, FIRST, SECOND, IMAGE, PARAGRAPH = (f"{number:08d}-0000-4000-8000-000000000000" for number in range(1, 6))


def block(image: Any, alt: str = "", decorative: bool = False) -> dict[str, Any]:
    """An ImageBlock as Wagtail stores it."""
    return {"image": image.pk, "alt_text": alt, "decorative": decorative}


class PageStage:
    """An article in German with one image in its body. Subclasses say where."""

    language = "de"
    page_title = "Motorräder & mehr"
    context = Context(
        title="Motorräder & mehr",
        headings=("Erst schauen",),
        before="Einleitung\nVorher steht dies.\nUnd das.",
        after="Nachher < nichts.",
    )

    def __init__(self, make_page, make_library_image, make_editor, make_user, home, collection, make_image):
        from wagtail.models import Locale

        locale, _ = Locale.objects.get_or_create(language_code="de")
        self.adapter = WagtailAdapter()
        self.home, self.make_page, self.make_library_image = home, make_page, make_library_image
        self.data = make_image()
        self.image = make_library_image(data=self.data)
        self.page = make_page(title=self.page_title, locale=locale, **self.fields(self.image))
        self.key = keys.page_key(self.page.pk, self.path)
        rights = {"pages": {"add": home, "change": home}, "images": {"add": collection, "change": collection}}
        self.editor = make_editor(**rights)
        self.superuser, self.stranger = make_user("admin"), make_editor()
        list(self.adapter.places())  # addresses of sites and content types are remembered from here on

    path = f"body.{IMAGE}"

    def fields(self, image: Any) -> dict[str, Any]:
        return {"intro": "<p>Einleitung</p>", "body": self.body(image)}

    def body(self, image: Any) -> list[dict[str, Any]]:
        return [*self.before(), {"type": "image", "id": IMAGE, "value": block(image)}, self.after()]

    def before(self) -> list[dict[str, Any]]:
        return [
            {"type": "heading", "id": HEADING, "value": "Erst schauen"},
            {"type": "paragraph", "id": FIRST, "value": "<p>Vorher steht dies.</p><p>Und <b>das</b>.</p>"},
        ]

    def after(self) -> dict[str, Any]:
        return {"type": "paragraph", "id": SECOND, "value": "<p>Nachher &lt; nichts.</p>"}

    def draft(self) -> ArticlePage:
        return ArticlePage.objects.get(pk=self.page.pk).get_latest_revision_as_object()

    def change(self, text: str) -> None:
        page = self.draft()
        self.set_alt(page, text)
        page.save_revision()

    def set_alt(self, page: ArticlePage, text: str) -> None:
        raw = list(page.body.raw_data)
        raw[2] = {**raw[2], "value": {**raw[2]["value"], "alt_text": text, "decorative": False}}
        page.body = raw

    def edit_page(self) -> None:
        page = self.draft()
        page.title = "Ein neuer Titel"
        page.save_revision().publish()

    def add(self) -> None:
        self.make_page(**self.fields(self.image))

    def remove(self) -> None:
        page = self.draft()
        page.body = [item for item in page.body.raw_data if item["id"] in (HEADING, FIRST)]
        page.hero = None
        page.save_revision()

    def lose_file(self) -> None:
        Path(self.image.file.path).unlink()

    def narrow(self) -> tuple[str, int]:
        """The description of an image: a column of 255."""
        return keys.image_key(self.image.pk), 255


class NestedStage(PageStage):
    """In a column of a block, within a stream of its own."""

    path = f"body.{PARAGRAPH}.left.{IMAGE}"

    def body(self, image: Any) -> list[dict[str, Any]]:
        left = [{"type": "image", "id": IMAGE, "value": block(image)}]
        columns = {"type": "columns", "id": PARAGRAPH, "value": {"left": left, "right": []}}
        return [*self.before(), columns, self.after()]

    def set_alt(self, page: ArticlePage, text: str) -> None:
        bound = page.body.stream_block.get_block_by_content_path(page.body, [PARAGRAPH, "left", IMAGE])
        bound.value.contextual_alt_text, bound.value.decorative = text, False


class RichTextStage(PageStage):
    """In a rich text between two paragraphs."""

    @property
    def path(self) -> str:
        return f"body.{PARAGRAPH}#{self.image.pk}.1"

    def body(self, image: Any) -> list[dict[str, Any]]:
        return [*self.before(), {"type": "paragraph", "id": PARAGRAPH, "value": self.source(image)}]

    def source(self, image: Any, alt: str | None = None) -> str:
        alt = "" if alt is None else f' alt="{alt}"'
        return f'<embed embedtype="image" format="left" id="{image.pk}"{alt}/><p>Nachher &lt; nichts.</p>'

    def set_alt(self, page: ArticlePage, text: str) -> None:
        raw = list(page.body.raw_data)
        raw[2] = {**raw[2], "value": self.source(self.image, text)}
        page.body = raw


class HeroStage(PageStage):
    """A foreign key with a text field beside it."""

    path = "hero"
    context = Context(
        title="Motorräder & mehr",
        before="Einleitung",
        after="Erst schauen\nVorher steht dies.\nUnd das.\nNachher < nichts.",
    )

    def fields(self, image: Any) -> dict[str, Any]:
        return {"intro": "<p>Einleitung</p>", "hero": image, "body": [*self.before(), self.after()]}

    def set_alt(self, page: ArticlePage, text: str) -> None:
        page.hero_alt = text

    def narrow(self) -> tuple[str, int]:
        return self.key, 255
