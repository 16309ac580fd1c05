"""Loads the pages of the demonstration into Wagtail: the same words and pictures, in each place for images.

What is there already is left as it is, above all its alt texts. Knows nothing of the workbench.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import tomllib
import uuid
from collections.abc import Iterator
from importlib import resources
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, Permission
from django.core.files.base import ContentFile
from django.db import transaction
from django.utils.html import escape, format_html
from wagtail.images import get_image_model
from wagtail.models import Collection, GroupCollectionPermission, GroupPagePermission, Locale, Page, Site

from alttext.project.demo import accounts, pictures
from alttext.project.demo.content import Loaded
from alttext.project.demo.content import Page as Words
from alttext.project.demo.content import pages as words_of_the_demo
from alttext.project.wagtail_site.models import ArticlePage, HomePage

HOME = "harbour-valley"
TITLES = {"en": "Harbour Valley", "de": "Harbour Valley auf Deutsch"}
SUMMARIES = {
    "en": "A small town between a lighthouse and a lock, and what goes on there.",
    "de": "Eine kleine Stadt zwischen Leuchtturm und Schleuse, und was dort geschieht.",
}
# where the picture of a page stands, by slug and number; all others are figures, or plain images without a caption
PLACES = {
    ("cat-shelter", 1): "hero",
    ("photography-course", 2): "accordion",
    ("clock-repair", 1): "columns",
    ("quay-morning", 1): "rich text",
    ("eye-health", 1): "old_image",
    ("brickworks", 1): "intro",
    ("pictures-of-the-season", 1): "gallery",
}
TEASERS = {"whats-on": "rocket", "cat-shelter": "chelsea", "observatory": "moon"}
TRANSLATIONS = {"sternwarte": "observatory"}
NEVER_PUBLISHED = {"brickworks"}
WITH_NEWER_DRAFT = "photography-course"
GROUPS = {"author": ["Editors"], "lead": ["Editors", "Moderators"]}
PAGE_RIGHTS = {"Editors": ("add_page", "change_page"), "Moderators": ("add_page", "change_page", "publish_page")}
IMAGE_RIGHTS = ["add_image", "change_image", "choose_image"]
NAMESPACE = uuid.UUID("3c6f0d0e-1b57-4b8e-9d7c-4f6c1f2a9b10")  # any; block ids are the same on every run

Raw = dict[str, Any]


def all_words() -> list[Words]:
    """The pages of the demonstration, then those of this site alone."""
    return [*words_of_the_demo(), *_own_words()]


def _own_words() -> Iterator[Words]:
    files = (item for item in (resources.files(__package__) / "pages").iterdir() if item.name.endswith(".toml"))
    for file in sorted(files, key=lambda item: item.name):
        given = tomllib.loads(file.read_text(encoding="utf-8"))
        yield Words(illustrations=given.pop("illustration"), **given)


@transaction.atomic
def load(*, at: datetime.datetime) -> Loaded:
    """Create the pages, pictures and accounts that are missing.

    :param at: when new pages count as published for the first time.
    """
    made_accounts = accounts.create_missing()
    _grant()
    homes = _homes(at)
    library, files = _library()
    fresh = [(page, words) for words in all_words() if (page := _created(words, homes, at)) is not None]
    uses = 0
    for page, words in fresh:  # once all pages are there: links lead from page to page
        uses += _fill(page, words, library)
        revision = page.save_revision(log_action=False)
        if words.slug not in NEVER_PUBLISHED:
            revision.publish(log_action=False)
        if words.slug == WITH_NEWER_DRAFT:
            uses += _draft_on(page, library)
    return Loaded(len(fresh), uses, files, made_accounts)


def _grant() -> None:
    """Give the accounts of the demonstration their groups, and the groups pages and the images of the library."""
    entry = Permission.objects.get(content_type__app_label="wagtailadmin", codename="access_admin")
    tree = Page.get_first_root_node()
    for name, acts in PAGE_RIGHTS.items():  # as Wagtail makes them; a site may have removed them
        group, is_new = Group.objects.get_or_create(name=name)
        if is_new:
            group.permissions.add(entry)
            for right in Permission.objects.filter(content_type__app_label="wagtailcore", codename__in=acts):
                GroupPagePermission.objects.create(group=group, page=tree, permission=right)
    for name, groups in GROUPS.items():
        user = get_user_model().objects.filter(username=name).first()
        if user is not None:
            user.groups.add(*Group.objects.filter(name__in=groups))
    root = Collection.get_first_root_node()
    rights = Permission.objects.filter(content_type__app_label="wagtailimages", codename__in=IMAGE_RIGHTS)
    for group in Group.objects.filter(name__in=PAGE_RIGHTS):
        for right in rights:
            GroupCollectionPermission.objects.get_or_create(group=group, collection=root, permission=right)


def _homes(at: datetime.datetime) -> dict[str, HomePage]:
    """The home page of each language; the first one becomes the site's root."""
    locales = {code: Locale.objects.get_or_create(language_code=code)[0] for code in TITLES}
    home = HomePage.objects.filter(slug=HOME).first()
    if home is None:
        root = Page.get_first_root_node()
        home = root.add_child(
            instance=HomePage(
                title=TITLES["en"],
                slug=HOME,
                summary=SUMMARIES["en"],
                locale=locales["en"],
                first_published_at=at,
                last_published_at=at,
            )
        )
        _become_root(home)
    homes = {"en": home}
    for code in set(TITLES) - set(homes):
        homes[code] = home.get_translation_or_none(locales[code]) or _translated_home(home, locales[code], at)
    return homes


def _become_root(home: HomePage) -> None:
    site = Site.objects.filter(is_default_site=True).first() or Site(hostname="localhost", is_default_site=True)
    welcome = site.root_page if site.pk else None
    site.root_page, site.site_name = home, TITLES["en"]
    site.save()
    if welcome is not None and welcome.specific_class is Page and not welcome.get_children().exists():
        welcome.delete()  # the page that a new Wagtail greets with


def _translated_home(home: HomePage, locale: Locale, at: datetime.datetime) -> HomePage:
    page = home.copy_for_translation(locale)
    page.title, page.summary = TITLES[locale.language_code], SUMMARIES[locale.language_code]
    page.first_published_at = at
    page.save_revision(log_action=False).publish(log_action=False)
    return HomePage.objects.get(pk=page.pk)


def _library() -> tuple[dict[str, Any], int]:
    """The site's images by name of the demonstration, and how many were written."""
    model, library, written = get_image_model(), {}, 0
    for name, picture in pictures.PICTURES.items():
        content = picture.read()
        digest = hashlib.sha1(content, usedforsecurity=False).hexdigest()  # as Wagtail itself finds duplicates
        image = model.objects.filter(file_hash=digest).order_by("pk").first()
        if image is None:
            title = picture.file_name.rsplit(".", 1)[0]  # as the upload form fills it in
            image = model(title=title, file=ContentFile(content, name=picture.file_name), file_hash=digest)
            image.file_size = len(content)
            image.save()
            written += 1
        library[name] = image
    return library, written


def _created(words: Words, homes: dict[str, HomePage], at: datetime.datetime) -> ArticlePage | None:
    """A new page without its body; None where it is there already."""
    home = homes[words.language]
    if ArticlePage.objects.child_of(home).filter(slug=words.slug).exists():
        return None
    fields = {"title": words.title, "slug": words.slug, "intro": _paragraphs(words.summary)}
    original = ArticlePage.objects.filter(slug=TRANSLATIONS.get(words.slug, "")).first()
    if original is not None:
        page = original.copy_for_translation(home.locale)
        for name, value in fields.items():
            setattr(page, name, value)
        page.first_published_at = at
        page.save()
        return page
    first_published_at = None if words.slug in NEVER_PUBLISHED else at
    new = ArticlePage(live=False, locale=home.locale, first_published_at=first_published_at, **fields)
    return home.add_child(instance=new)


def _fill(page: ArticlePage, words: Words, library: dict[str, Any]) -> int:
    """Put words and pictures into `page`, which is saved by others; gives how many uses of images it now has."""
    blocks: list[Raw] = []
    page.hero = page.teaser = None
    page.hero_alt = ""
    pictures_of_a_gallery: list[Raw] = []
    for number, given in enumerate(words.illustrations, start=1):
        place, image = PLACES.get((words.slug, number), ""), library[given["picture"]]
        if place == "gallery" or pictures_of_a_gallery:
            pictures_of_a_gallery.append(_item(_image(image, given)))
            if number < len(words.illustrations):
                continue
            blocks += [*_before(words.illustrations[0]), _block("gallery", pictures_of_a_gallery)]
        elif place == "hero":
            page.hero, page.hero_alt = image, given.get("alt_text", "")
            blocks += _before(given)
        elif place == "intro":
            page.intro += _embed(image, given)
            blocks += _before(given)
        else:
            blocks += _section(place, given, image, page)
        blocks += _after(given)
    if words.slug in TEASERS:
        page.teaser = library[TEASERS[words.slug]]
    page.body = json.dumps([_numbered(block, f"{words.slug}/{index}") for index, block in enumerate(blocks)])
    return len(words.illustrations) + (page.teaser is not None)


def _section(place: str, given: Raw, image: Any, page: ArticlePage) -> list[Raw]:
    """The blocks of one section up to its picture."""
    if place == "columns":
        return [_block("columns", {"left": _before(given), "right": [_block("image", _image(image, given))]})]
    if place == "accordion":
        content = [*_before(given, heading=False), _block("image", _image(image, given))]
        return [_block("accordion", [_item({"title": given["heading"], "content": content})])]
    if place == "rich text":
        text = _paragraphs(given.get("text_before", "")) + _embed(image, given)
        return [*_heading(given), _block("paragraph", text)]
    if place == "old_image":
        return [*_before(given), _block("old_image", image.pk)]
    if given.get("caption") or given.get("link_url"):
        return [*_before(given), _block("figure", _figure(image, given, page))]
    return [*_before(given), _block("image", _image(image, given))]


def _figure(image: Any, given: Raw, page: ArticlePage) -> Raw:
    slug = given.get("link_url", "").strip("/").rpartition("/")[2]
    linked = ArticlePage.objects.sibling_of(page).filter(slug=slug).first() if slug else None
    return {
        "image": _image(image, given),
        "caption": given.get("caption", "").strip(),
        "link_page": linked.pk if linked else None,
        "link_url": "",
        "link_label": given.get("link_label", ""),
        "show_label": given.get("link_text_visible", False),
    }


def _image(image: Any, given: Raw) -> Raw:
    return {"image": image.pk, "decorative": given.get("decorative", False), "alt_text": given.get("alt_text", "")}


def _embed(image: Any, given: Raw) -> str:
    text = given.get("alt_text", "")
    return format_html('<embed embedtype="image" id="{}" format="fullwidth" alt="{}"/>', image.pk, text)


def _heading(given: Raw) -> list[Raw]:
    return [_block("heading", given["heading"])] if given.get("heading") else []


def _before(given: Raw, *, heading: bool = True) -> list[Raw]:
    text = _paragraphs(given.get("text_before", ""))
    return [*(_heading(given) if heading else []), *([_block("paragraph", text)] if text else [])]


def _after(given: Raw) -> list[Raw]:
    text = _paragraphs(given.get("text_after", ""))
    return [_block("paragraph", text)] if text else []


def _paragraphs(plain: str) -> str:
    """Rich text out of plain text in which an empty line parts paragraphs."""
    return "".join(f"<p>{escape(part.strip())}</p>" for part in plain.strip().split("\n\n") if part.strip())


def _block(kind: str, value: Any) -> Raw:
    return {"type": kind, "value": value}


def _item(value: Any) -> Raw:
    return _block("item", value)


def _numbered(value: Any, path: str) -> Any:
    """`value` with an id in each block of it, made of the block's path."""
    if isinstance(value, list):
        return [_numbered(item, f"{path}/{index}") for index, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    inner = {name: _numbered(item, f"{path}/{name}") for name, item in value.items()}
    return inner | {"id": str(uuid.uuid5(NAMESPACE, path))} if "type" in value else inner


def _draft_on(page: ArticlePage, library: dict[str, Any]) -> int:
    """Save a draft on top of the live page, with one more picture; gives how many uses it added."""
    draft = page.get_latest_revision_as_object()
    draft.body.append(("heading", "What to bring in week two"))
    draft.body.append(("paragraph", _rich(draft, "Whatever camera you have. One of ours looks like this.")))
    image = library["camera"]
    image.contextual_alt_text, image.decorative = "", False
    draft.body.append(("image", image))
    draft.save_revision(log_action=False)
    return 1


def _rich(page: ArticlePage, plain: str) -> Any:
    return page.body.stream_block.child_blocks["paragraph"].to_python(_paragraphs(plain))
