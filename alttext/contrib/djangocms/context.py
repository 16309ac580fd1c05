"""The words around one image, out of what a reader meets in its slot. Asks no database."""

from __future__ import annotations

from collections.abc import Iterable

from alttext.adapters import Context
from alttext.contrib.djangocms.links import Links
from alttext.contrib.djangocms.reading import Event, Picture, Words

MOST_CHARS = 6000  # before and after; three times what a snapshot keeps


def around(found: list[Event], at: int, *, title: str, language: str, links: Links) -> Context:
    """The context of the image at number `at` of `found`."""
    picture = found[at]
    assert isinstance(picture, Picture)
    target = links.target(picture.link, language=language)
    return Context(
        title=title,
        headings=tuple(event.text for event in found[:at] if isinstance(event, Words) and event.is_heading),
        before=_before(found, at, picture.caption),
        after=_after(found, at, picture.caption),
        caption=picture.caption,
        link_target=target,
        link_label=picture.link_label if target else "",
        link_text_visible=bool(target and picture.link_label),
    )


def at_position(found: list[Event], at: int, *, title: str) -> Context:
    """The context of an image that is about to stand before the event at number `at`."""
    return Context(
        title=title,
        headings=tuple(event.text for event in found[:at] if isinstance(event, Words) and event.is_heading),
        before=_before(found, at, ""),
        after=_after(found, at - 1, ""),
    )


def _before(found: list[Event], at: int, caption: str) -> str:
    """The end of what stands before; headings are told apart from it."""
    pieces, chars = list[str](), 0
    for event in reversed(found[:at]):
        if chars > MOST_CHARS:
            break
        if isinstance(event, Words) and not event.is_heading and not _is_own(event, caption):
            pieces.append(event.text)
            chars += len(event.text)
    return _joined(reversed(pieces))[-MOST_CHARS:]


def _after(found: list[Event], at: int, caption: str) -> str:
    """The start of what stands after, with the headings there."""
    pieces, chars = list[str](), 0
    for event in found[at + 1 :]:
        if chars > MOST_CHARS:
            break
        if isinstance(event, Words) and not _is_own(event, caption):
            pieces.append(event.text)
            chars += len(event.text)
    return _joined(pieces)[:MOST_CHARS]


def _is_own(event: Words, caption: str) -> bool:
    return event.is_caption and event.text == caption


def _joined(pieces: Iterable[str]) -> str:
    return "\n".join(pieces)
