"""The words around one image, out of what `walk` found on its page. Other images' alts are no words of a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from alttext.adapters import Context
from alttext.contrib.wagtail.walk import Edge, Heading, Picture, Piece, Words

MOST_CHARS = 6_000  # each way; what a snapshot keeps is shorter still
MOST_PIECES = 500


@dataclass(frozen=True)
class Target:
    """A page that an image leads to."""

    url: str
    title: str


@dataclass
class _Outline:
    """The headings above the present place; those of a group of siblings end with it."""

    open: list[Heading] = field(default_factory=list)
    saved: list[list[Heading]] = field(default_factory=list)

    def read(self, piece: Piece) -> None:
        if isinstance(piece, Heading):
            self.open = [*(above for above in self.open if above.level < piece.level), piece]
        elif isinstance(piece, Edge) and piece.starts:
            self.saved.append(self.open)
        elif isinstance(piece, Edge):
            self.open = self.saved.pop()


def pictures(pieces: list[Piece]) -> Iterator[tuple[int, Picture, tuple[str, ...]]]:
    """Each image with its index and the headings above it, in document order."""
    outline = _Outline()
    for index, piece in enumerate(pieces):
        outline.read(piece)
        if isinstance(piece, Picture):
            yield index, piece, tuple(heading.text for heading in outline.open)


def of(
    pieces: list[Piece], index: int, *, title: str, headings: tuple[str, ...], targets: dict[str, Target]
) -> Context:
    """The words around the image at `index`.

    :param targets: the pages that links lead to, by primary key as text.
    """
    picture = pieces[index]
    assert isinstance(picture, Picture)
    group = picture.inside.group
    target, label, visible = _link(picture, targets)
    return Context(
        title=title,
        headings=headings,
        before=_said(reversed(pieces[max(0, index - MOST_PIECES) : index]), group, headings=False),
        # headings above are told apart from the text; those below would else be lost
        after=_said(pieces[index + 1 : index + 1 + MOST_PIECES], group, headings=True),
        caption=picture.inside.caption,
        link_target=target,
        link_label=label,
        link_text_visible=visible,
    )


def _said(pieces: Iterable[Piece], group: int, *, headings: bool) -> str:
    """Text from near to far in reading order, but for captions and labels that are said of the image itself."""
    found: list[str] = []
    left = MOST_CHARS
    for piece in pieces:
        if left <= 0:
            break
        said_of_it = isinstance(piece, Words) and piece.of_group and piece.of_group == group
        if (isinstance(piece, Words) and not said_of_it) or (isinstance(piece, Heading) and headings):
            found.append(piece.text)
            left -= len(piece.text)
    return "\n".join(found if headings else reversed(found))


def _link(picture: Picture, targets: dict[str, Target]) -> tuple[str, str, bool]:
    """Target, label, and whether the label is to be seen; of a page without a label its title tells where it leads."""
    link: Any = picture.inside.link
    if link is None:
        return "", "", False
    page = targets.get(str(link.page_pk)) if link.page_pk is not None else None
    if page is None:
        return (link.target, link.label, link.visible) if link.target else ("", "", False)
    return page.url, link.label or page.title, link.visible
