"""Looks at what readers get: images whose alt text a template drops, doubles or leaves out, and undecided ones.

Each plugin with images is rendered through the site's own template, before and after the plugin processor. Writes no
content; thumbnails may be made, as a visit would make them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from cms.utils.conf import get_cms_setting

from alttext.adapters import Alt
from alttext.contrib.djangocms import library, output, pages, places, rendering, tags
from alttext.contrib.djangocms.keys import NAME, TEXT
from alttext.contrib.djangocms.links import Links
from alttext.contrib.djangocms.pages import Slot
from alttext.contrib.djangocms.places import Spot
from alttext.models import Placement

PROCESSOR = "alttext.contrib.djangocms.output.normalise_alt"


class Problem(StrEnum):
    """What is wrong with one image."""

    DOUBLE = "the alt attribute is there more than once"
    MISSING = "there is no alt attribute"
    DROPPED = "the stored text is not what readers get"
    NOT_DECORATIVE = "marked as decorative, but readers get a text"
    UNDECIDED = "nobody has decided on a text"
    FILE_GONE = "the image file is not in the library"
    NOT_RENDERED = "the plugin cannot be rendered"


@dataclass(frozen=True, slots=True)
class Found:
    """One problem of one image."""

    problem: Problem
    key: str
    page_title: str
    page_url: str
    language: str
    state: str
    slot: str
    plugin_type: str
    plugin_id: int
    template: str
    image: str
    stored: str | None  # None: nothing; empty: decorative
    printed: list[str]  # all alt attributes that the template prints
    repaired: bool  # the plugin processor of the site puts it right
    detail: str = ""


@dataclass(slots=True)
class Looked:
    """How much was looked at."""

    pages: int = 0
    images: int = 0


def look(*, template_only: bool = False, looked: Looked | None = None) -> Iterator[Found]:
    """All problems of all images on pages, page by page.

    :param template_only: only what templates do wrong, nothing about texts that are missing.
    :param looked: is counted up.
    """
    looked = looked or Looked()
    processed = PROCESSOR in get_cms_setting("PLUGIN_PROCESSORS")
    for contents in pages.chunks():
        slots = pages.slots(contents)
        looked.pages += len(contents)
        links = Links(pages={content.page_id for content, _ in contents}, references=())
        for slot in slots:
            found = list(places.spots(slot))
            looked.images += len(found)
            if found:
                url = links.page_url(slot.content, is_draft=slot.is_draft)
                yield from _slot(slot, found, url=url, processed=processed, template_only=template_only)


def _slot(slot: Slot, found: list[Spot], *, url: str, processed: bool, template_only: bool) -> Iterator[Found]:
    images = library.in_bulk(spot.holding.file for spot in found)
    decided = _decided_here(found)
    request = rendering.request_for(slot.content, url)
    rendering.with_children(slot)
    for spot in found:
        stored = spot.holding.store.read(spot.plugin)
        if str(spot.key) in decided:
            stored = Alt(decorative=True)
        image = images.get(spot.holding.file)
        look = _Look(spot, url, image.name if image else "", stored)
        if image is None:
            yield look.found(Problem.FILE_GONE)
            continue
        for problem in look.problems(request, processed=processed):
            if not (template_only and problem.problem == Problem.UNDECIDED):
                yield problem


def _decided_here(found: list[Spot]) -> set[str]:
    """Keys of images that a person marked as decorative where the CMS cannot keep that."""
    keys = [str(spot.key) for spot in found if not spot.holding.store.knows_decorative]
    rows = Placement.objects.filter(adapter=NAME, key__in=keys, decorative=True, current_alt="")
    return set(rows.values_list("key", flat=True)) if keys else set()


@dataclass(frozen=True, slots=True)
class _Look:
    """One image, and how a problem of it is told."""

    spot: Spot
    url: str
    image: str
    stored: Alt

    def problems(self, request: Any, *, processed: bool) -> Iterator[Found]:
        if self.stored == Alt():
            yield self.found(Problem.UNDECIDED)
        if self.spot.holding.part == TEXT:
            store: Any = self.spot.holding.store
            yield from self._compare(store.tag(self.spot.plugin), store.tag(self.spot.plugin), template="")
            return
        try:
            before, template = rendering.stock(self.spot.plugin, request=request)
        except Exception as error:  # a template of the site may fail in any way; the others are still looked at
            yield self.found(Problem.NOT_RENDERED, detail=f"{type(error).__name__}: {error}"[:300])
            return
        after = output.normalise_alt(self.spot.plugin, None, before, {}) if processed else before
        own = output.own_image
        yield from self._compare(own(self.spot.plugin, before), own(self.spot.plugin, after), template=template)

    def _compare(self, before: tags.Tag | None, after: tags.Tag | None, *, template: str) -> Iterator[Found]:
        if before is None or after is None:
            return  # shown in another way, as a background for one
        left = list(wrong_with(after.alts, self.stored))
        for problem in wrong_with(before.alts, self.stored):
            yield self.found(problem, template=template, printed=before.alts, repaired=problem not in left)

    def found(self, problem: Problem, **more: Any) -> Found:
        slot, plugin = self.spot.slot, self.spot.plugin
        values: dict[str, Any] = {"template": "", "printed": [], "repaired": False, **more}
        return Found(
            problem=problem,
            key=str(self.spot.key),
            page_title=slot.content.title,
            page_url=self.url,
            language=slot.content.language,
            state="draft" if slot.is_draft else "published",
            slot=slot.placeholder.slot,
            plugin_type=plugin.plugin_type,
            plugin_id=plugin.pk,
            image=self.image,
            stored=None if self.stored == Alt() else self.stored.text,
            **values,
        )


def wrong_with(printed: list[str], stored: Alt) -> Iterator[Problem]:
    """What is wrong with the alt attributes of one tag. Browsers read the first of several."""
    if not printed:
        yield Problem.MISSING
        if stored.text:
            yield Problem.DROPPED
        return
    if len(printed) > 1:
        yield Problem.DOUBLE
    if stored.decorative and printed[0]:
        yield Problem.NOT_DECORATIVE
    if stored.text and printed[0] != stored.text:
        yield Problem.DROPPED
