"""Loads the pages in `pages/` into the database. What is there already is left as it is, above all its alt texts."""

from __future__ import annotations

import datetime
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

from django.core.files.base import ContentFile
from django.db import transaction

from alttext.project.demo import accounts, pictures
from alttext.project.demo.models import Article, Illustration


@dataclass(frozen=True)
class Page:
    """One file of `pages/`.

    :ivar illustrations: fields of `Illustration`, with `picture`, a name of `pictures.PICTURES`, for the image.
    :ivar absent: things the page talks of that are in none of its pictures.
    """

    slug: str
    title: str
    summary: str
    illustrations: list[dict[str, Any]]
    language: str = "en"
    absent: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Loaded:
    """What one load created; zeros where everything was there."""

    articles: int
    illustrations: int
    files: int
    accounts: int


def pages() -> Iterator[Page]:
    """The pages in the order of their file names."""
    files = (item for item in (resources.files(__package__) / "pages").iterdir() if item.name.endswith(".toml"))
    for file in sorted(files, key=lambda item: item.name):
        given = tomllib.loads(file.read_text(encoding="utf-8"))
        yield Page(illustrations=given.pop("illustration"), **given)


@transaction.atomic
def load(*, at: datetime.datetime) -> Loaded:
    """Create the pages, pictures and accounts that are missing.

    :param at: when new pages count as published.
    """
    articles = illustrations = files = 0
    written: set[str] = set()
    for position, page in enumerate(pages()):
        article, is_new = Article.objects.get_or_create(
            slug=page.slug,
            defaults={
                "title": page.title,
                "language": page.language,
                "summary": page.summary,
                "position": position,
                "published_at": at,
            },
        )
        articles += is_new
        for number, given in enumerate(page.illustrations, start=1):
            picture = pictures.PICTURES[given["picture"]]
            if picture.file_name not in written:
                files += _write_file(picture)
                written.add(picture.file_name)
            illustrations += _create_illustration(article, number, given, picture)
    return Loaded(articles, illustrations, files, accounts.create_missing())


def _create_illustration(article: Article, number: int, given: dict[str, Any], picture: pictures.Picture) -> bool:
    texts = {name: value.strip() if isinstance(value, str) else value for name, value in given.items()}
    texts.pop("picture")
    _, is_new = Illustration.objects.get_or_create(
        article=article,
        position=number,
        defaults={**texts, "image": _stored_name(picture), "credit": picture.credit},
    )
    return is_new


def _stored_name(picture: pictures.Picture) -> str:
    return f"demo/{picture.file_name}"


def _write_file(picture: pictures.Picture) -> bool:
    """Put the picture into the site's storage, unless the same bytes are there."""
    storage, name = Illustration._meta.get_field("image").storage, _stored_name(picture)
    content = picture.read()
    if storage.exists(name):
        with storage.open(name, "rb") as opened:
            if opened.read() == content:
                return False
        storage.delete(name)  # half written, or of another library version
    storage.save(name, ContentFile(content))
    return True
