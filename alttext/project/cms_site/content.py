"""Loads the demonstration's pages into django CMS, every kind of place for an image among them.

The words and pictures are those of `alttext.project.demo`. What is there already is left as it is.
"""

from __future__ import annotations

import datetime
import hashlib
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from cms.api import add_plugin, create_page, create_page_content
from cms.models import CMSPlugin, Page, PageContent, Placeholder
from cms.plugin_pool import plugin_pool
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.core.files.base import ContentFile
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.html import escape, format_html, linebreaks
from djangocms_versioning.models import Version
from filer.models import Folder, Image

from alttext.project.demo import accounts, pictures
from alttext.project.demo import content as demo
from alttext.project.demo.content import Loaded

FOLDER = "Harbour Valley"
DEFAULTS = {"horse": "Black outline of a horse"}  # written by a person for the file, whatever page it stands on
TWO_COLUMNS = {"library-scanning"}
NEVER_PUBLISHED = {"shuttle-talk"}
NEWER_DRAFT = {"brickworks", "coin-club"}  # published, and being edited again
HOME = demo.Page(
    slug="home", title="Harbour Valley", summary="A town by the sea, its clubs and its weather.", illustrations=[]
)
RIGHTS = {
    "cms": ["page", "pagecontent", "cmsplugin", "placeholder"],
    "cms_site": ["illustration"],
    "djangocms_picture": ["picture"],
    "djangocms_text": ["text"],
    "djangocms_versioning": ["version", "pagecontentversion"],
    "filer": ["file", "folder", "image"],
}
FRONTEND = ("accordion", "carousel", "djangocms_frontend", "grid", "image", "link", "utilities")
ALONE = ("cms.publish_page", "cms.use_structure", "filer.can_use_directory_listing")


@dataclass
class Desk:
    """What one load works with.

    :ivar files: filer images by the names of `pictures.PICTURES`.
    """

    by: Any
    files: dict[str, Image] = field(default_factory=dict)
    pages: dict[str, Page] = field(default_factory=dict)
    new_uses: int = 0
    new_files: int = 0


@transaction.atomic
def load(*, at: datetime.datetime) -> Loaded:
    """Create the pages, files and accounts that are missing.

    :param at: when new versions count as created and published.
    """
    new_accounts = accounts.create_missing()
    _grant()
    desk = Desk(by=get_user_model().objects.get(username="admin"))
    new = [page for page in [HOME, *demo.pages()] if not _is_there(desk, page)]
    # all pages first: pictures lead from one to another
    empty = [found for page in new for found in _create(desk, page)]
    for content, page in empty:
        _fill(desk, content, page)
        _publish(desk, content, page.slug, at=at)
    return Loaded(len(empty), desk.new_uses, desk.new_files, new_accounts)


def _is_there(desk: Desk, page: demo.Page) -> bool:
    found = Page.objects.filter(reverse_id=page.slug).first()
    if found is not None:
        desk.pages[page.slug] = found
    return found is not None


def _create(desk: Desk, page: demo.Page) -> Iterator[tuple[PageContent, demo.Page]]:
    """The page with a draft in each language that there is, still empty."""
    common = {"slug": page.slug, "created_by": desk.by, "in_navigation": True}
    made: Page = create_page(
        page.title,
        "cms_site/two_columns.html" if page.slug in TWO_COLUMNS else "cms_site/page.html",
        page.language,
        meta_description=page.summary,
        reverse_id=page.slug,
        **common,
    )
    if page is HOME:
        made.set_as_homepage()
    desk.pages[page.slug] = made
    yield PageContent.admin_manager.get(page=made, language=page.language), page
    german = _german(page)
    if german is not None:
        content = create_page_content(
            "de",
            german.title,
            made,
            meta_description=german.summary,
            template="cms_site/page.html",
            **common,
        )
        yield content, german


def _german(page: demo.Page) -> demo.Page | None:
    """The German version: the pictures of the page in their order, with words of their own."""
    words = _translations().get(page.slug)
    if words is None:
        return None
    blank = {"alt_text": "", "caption": "", "link_label": ""}
    illustrations = [
        {**given, **blank, **own} for given, own in zip(page.illustrations, words["illustration"], strict=True)
    ]
    return demo.Page(
        slug=page.slug, title=words["title"], summary=words["summary"], illustrations=illustrations, language="de"
    )


@cache
def _translations() -> dict[str, Any]:
    return tomllib.loads((resources.files(__package__) / "translations.toml").read_text(encoding="utf-8"))


def _publish(desk: Desk, content: PageContent, slug: str, *, at: datetime.datetime) -> None:
    version = Version.objects.get_for_content(content)
    if slug not in NEVER_PUBLISHED:
        version.publish(desk.by)
        if slug in NEWER_DRAFT and content.language != "de":
            draft = version.copy(desk.by)
            _revise(draft.content)
    Version.objects.filter_by_content_grouping_values(content).update(created=at, modified=at)


def _revise(content: PageContent) -> None:
    """A newer draft says a little more than what readers see."""
    text = CMSPlugin.objects.filter(placeholder__in=content.get_placeholders(), plugin_type="TextPlugin").last()
    if text is not None:
        written = text.get_plugin_instance()[0]
        written.body += "<p>Dogs are welcome on a lead.</p>"
        written.save()


def _fill(desk: Desk, content: PageContent, page: demo.Page) -> None:
    """Put the page's words and pictures into its placeholders, in the manner of `PLACES`."""
    slots: dict[str, Placeholder] = {placeholder.slot: placeholder for placeholder in content.get_placeholders()}
    place = PLACES.get(page.slug, picture)
    place(Room(desk, page, slots))
    desk.new_uses += len(page.illustrations)


# ---- the kinds of place -------------------------------------------------------------------------------------------


@dataclass
class Room:
    """A page's placeholders, and how to put something there."""

    desk: Desk
    page: demo.Page
    slots: dict[str, Placeholder]

    @property
    def given(self) -> Iterator[dict[str, Any]]:
        """The illustrations, their texts trimmed."""
        for given in self.page.illustrations:
            yield {name: value.strip() if isinstance(value, str) else value for name, value in given.items()}

    def file(self, given: dict[str, Any]) -> Image:
        """The filer image for the picture, made once for all pages."""
        name = given["picture"]
        if name not in self.desk.files:
            self.desk.files[name], is_new = _file(name)
            self.desk.new_files += is_new
        return self.desk.files[name]

    def put(self, plugin_type: str, target: CMSPlugin | None = None, slot: str = "content", **data: Any) -> CMSPlugin:
        """A plugin at the end of `target` or of the placeholder."""
        if target is not None:
            target.refresh_from_db(fields=["position"])  # moved by every plugin that came before it
        plugin: CMSPlugin = add_plugin(self.slots[slot], plugin_type, self.page.language, target=target, **data)
        return plugin

    def frontend(self, plugin_type: str, target: CMSPlugin | None = None, **config: Any) -> CMSPlugin:
        """A plugin of djangocms-frontend: its settings are one JSON value with every field of the form."""
        plugin_class = plugin_pool.get_plugin(plugin_type)
        made = plugin_class.model(config=config)
        made.initialize_from_form(plugin_class.form)
        return self.put(plugin_type, target, config=made.config)

    def before(self, given: dict[str, Any], target: CMSPlugin | None = None, slot: str = "content") -> None:
        """Heading and the words before the picture."""
        heading = given.get("heading", "")
        title = format_html("<h2>{}</h2>", heading) if heading else ""
        self.put("TextPlugin", target, slot, body=title + _paragraphs(given.get("text_before", "")))

    def after(self, given: dict[str, Any], target: CMSPlugin | None = None, slot: str = "content") -> None:
        """The words after the picture."""
        if given.get("text_after"):
            self.put("TextPlugin", target, slot, body=_paragraphs(given["text_after"]))

    def attributes(self, given: dict[str, Any]) -> dict[str, str]:
        """The alternative text as the plugins store it: absent where nobody has decided."""
        if given.get("decorative"):
            return {"alt": ""}
        return {"alt": given["alt_text"]} if given.get("alt_text") else {}

    def linked_page(self, given: dict[str, Any]) -> Page | None:
        """The page of this site that the picture leads to."""
        slug = given.get("link_url", "").strip("/").removeprefix("pages/")
        return self.desk.pages.get(slug)


def picture(room: Room) -> None:
    """The picture plugin, with a caption or a link where the page has one."""
    for given in room.given:
        room.before(given)
        room.put("PicturePlugin", **_picture_data(room, given))
        room.after(given)


def _picture_data(room: Room, given: dict[str, Any]) -> dict[str, Any]:
    data = {
        "picture": room.file(given),
        "caption_text": given.get("caption", ""),
        "attributes": room.attributes(given),
        "use_automatic_scaling": True,
    }
    if given.get("link_url"):
        page = room.linked_page(given)
        data |= {"link_page": page} if page else {"link_url": f"https://harbour-valley.example{given['link_url']}"}
    return data


def linked(room: Room) -> None:
    """Pictures that lead somewhere: alone in a link, and beside its words in one; an ornament at the end."""
    for given in room.given:
        room.before(given)
        if given.get("link_text_visible"):
            link = room.frontend("TextLinkPlugin", link={"external_link": given["link_url"]}, name=given["link_label"])
            room.put("PicturePlugin", link, picture=room.file(given), attributes=room.attributes(given))
            room.put("TextPlugin", link, body=escape(given["link_label"]))
        else:
            room.put("PicturePlugin", **_picture_data(room, given))
        room.after(given)


def frontend_image(room: Room) -> None:
    """The image of djangocms-frontend."""
    for given in room.given:
        room.before(given)
        _frontend_image(room, given)
        room.after(given)


def _frontend_image(room: Room, given: dict[str, Any], target: CMSPlugin | None = None) -> None:
    image = {"model": "filer.image", "pk": room.file(given).pk}
    room.frontend("ImagePlugin", target, picture=image, attributes=room.attributes(given))


def carousel(room: Room) -> None:
    """Slides: all words of the page, then its pictures side by side, each with words of its own on the slide."""
    given_all = list(room.given)
    for given in given_all:
        room.before(given)
    show = room.frontend("CarouselPlugin")
    for given in given_all:
        image = {"model": "filer.image", "pk": room.file(given).pk}
        words = _paragraphs(given.get("caption") or given["heading"])
        room.frontend("CarouselSlidePlugin", show, carousel_image=image, carousel_content=words)
    for given in given_all:
        room.after(given)


def grid(room: Room) -> None:
    """Columns side by side, each with its heading, its words and its picture."""
    row = room.frontend("GridRowPlugin", room.frontend("GridContainerPlugin"))
    for given in room.given:
        column = room.frontend("GridColumnPlugin", row)
        room.before(given, column)
        _frontend_image(room, given, column)
        room.after(given, column)


def accordion(room: Room) -> None:
    """A section that opens; its header is the heading of the picture in it."""
    outer = room.frontend("AccordionPlugin")
    for given in room.given:
        item = room.frontend("AccordionItemPlugin", outer, accordion_item_header=given["heading"])
        room.before({**given, "heading": ""}, item)
        room.put("PicturePlugin", item, **_picture_data(room, given))
        room.after(given, item)


def inline_image(room: Room) -> None:
    """An image in the rich text itself, as the editor's filer add-on writes it."""
    for given in room.given:
        file = room.file(given)
        image = format_html(
            '<p><img src="{}" data-cms-src="filer.image:{}" alt="{}"></p>', file.url, file.pk, given.get("alt_text", "")
        )
        title = format_html("<h2>{}</h2>", given["heading"])
        before, after = _paragraphs(given["text_before"]), _paragraphs(given["text_after"])
        room.put("TextPlugin", body=title + before + image + after)


def child_plugin(room: Room) -> None:
    """A picture plugin inside the rich text, where the text names it."""
    for given in room.given:
        title = format_html("<h2>{}</h2>", given["heading"])
        before, after = _paragraphs(given["text_before"]), _paragraphs(given["text_after"])
        text = room.put("TextPlugin", body=title + before + after)
        child = room.put("PicturePlugin", text, **_picture_data(room, given))
        tag = format_html('<cms-plugin id="{}" title="Image" alt="Image"></cms-plugin>', child.pk)
        text.refresh_from_db(fields=["position"])
        text.body = title + before + tag + after
        text.save()


def illustration(room: Room) -> None:
    """The plugin of this site's own."""
    for given in room.given:
        room.before(given)
        room.put(
            "IllustrationPlugin",
            image=room.file(given),
            alt_text=given.get("alt_text", ""),
            decorative=given.get("decorative", False),
            caption=given.get("caption", ""),
        )
        room.after(given)


def side(room: Room) -> None:
    """The words in one slot, the picture in the other."""
    for given in room.given:
        room.before(given)
        room.after(given)
        room.put("PicturePlugin", slot="side", **_picture_data(room, given))


PLACES: dict[str, Callable[[Room], None]] = {
    "home": picture,
    "whats-on": linked,
    "observatory": carousel,
    "cat-shelter": inline_image,
    "photography-course": grid,
    "clock-repair": accordion,
    "quay-morning": child_plugin,
    "museum-visitors": illustration,
    "ticket-help": frontend_image,
    "motorrad-werkstatt": frontend_image,
    "library-scanning": side,
}


# ---- files and accounts -------------------------------------------------------------------------------------------


def _file(name: str) -> tuple[Image, bool]:
    """The filer image with the picture's bytes, and whether it is new."""
    source = pictures.PICTURES[name]
    data = source.read()
    known = Image.objects.filter(sha1=hashlib.sha1(data, usedforsecurity=False).hexdigest()).first()
    if known is not None:
        return known, False
    folder, _ = Folder.objects.get_or_create(name=FOLDER, parent=None)
    made = Image(
        original_filename=source.file_name,
        file=ContentFile(data, name=source.file_name),
        folder=folder,
        description=source.credit,
        default_alt_text=DEFAULTS.get(name) or None,
        is_public=True,
    )
    made.save()
    return made, True


def rights() -> QuerySet[Permission]:
    """What a person needs who edits pages with images."""
    codes = [f"{act}_{model}" for models in RIGHTS.values() for model in models for act in ("add", "change", "view")]
    codes += [f"delete_{model}" for model in ("cmsplugin", "illustration", "picture", "text")]
    found = Q(content_type__app_label__in=RIGHTS, codename__in=codes) | Q(content_type__app_label__in=FRONTEND)
    for right in ALONE:
        app, codename = right.split(".")
        found |= Q(content_type__app_label=app, codename=codename)
    return Permission.objects.filter(found)


def _grant() -> None:
    """Author and lead are staff, as the CMS asks of editors."""
    for user in get_user_model().objects.filter(username__in=["author", "lead"]):
        if not user.is_staff:
            user.is_staff = True
            user.save(update_fields=["is_staff"])
        user.user_permissions.add(*rights())


def _paragraphs(text: str) -> str:
    """HTML of plain text; an empty line parts paragraphs."""
    return linebreaks(text, autoescape=True) if text else ""
