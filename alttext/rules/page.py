"""A rendered page as a tree of elements that remember their source: attributes in order, the second `alt` as well.

A reader of its own, because a DOM has dropped what stands twice, and html.parser takes minutes on hostile input. Time
and memory are linear in the input; it is cut after `MOST_CHARS` and `MOST_TAGS`. Tags are read as the HTML standard
says; of tree building only what tells neighbours apart: void and text-only elements, and end tags that may be left out.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from urllib.parse import urlsplit

from alttext import edits

MOST_CHARS = 2_000_000  # of one page; ten times the HTML of a large one
MOST_TAGS = 100_000  # about 60 MB of elements
MOST_LOOKED_AT = 200  # elements whose words are read to name one element
MOST_WORDS_CHARS = 2000  # a text beside an image is compared with an alt, a name with a name
DEEPEST_SCOPE = 100


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


VOID = _names("area base br col embed hr img input link meta param source track wbr")
TEXT_ONLY = _names("script style title textarea xmp iframe noembed noframes noscript")
UNSEEN = _names("script style template head title noscript noembed noframes iframe datalist textarea")
INLINE = _names(
    "a abbr b bdi bdo button cite code data del dfn em font i img input ins kbd label mark picture q s samp small "
    "source span strong sub sup svg time tt u var wbr"
)
ENDS_PARAGRAPH = _names(
    "address article aside blockquote details div dl fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header "
    "hr main menu nav ol p pre section table ul"
)
CLOSES = {  # start tag -> open elements that it ends
    **dict.fromkeys(ENDS_PARAGRAPH, ("p",)),
    **dict.fromkeys(("dt", "dd"), ("dt", "dd")),
    **dict.fromkeys(("td", "th"), ("td", "th")),
    **dict.fromkeys(("option", "optgroup"), ("option",)),
    "tr": ("td", "th", "tr"),
    "li": ("li",),
    "a": ("a",),
    "button": ("button",),
}
SCOPES = {  # an element is not ended from within these
    "li": frozenset({"ul", "ol", "menu", "table"}),
    "dt": frozenset({"dl", "table"}),
    "dd": frozenset({"dl", "table"}),
    "td": frozenset({"table"}),
    "th": frozenset({"table"}),
    "tr": frozenset({"table"}),
}
ANY_SCOPE = frozenset({"table", "td", "th", "caption", "button", "object", "template", "svg"})
NAMED_BY = frozenset({"alt", "aria-label", "aria-labelledby", "title"})
START = re.compile(r"<(?:(?P<comment>!--)|(?P<odd>[!?])|(?P<end>/)?(?P<name>[a-zA-Z][^\s/>]*+)|/(?P<odd_end>[^>]))")
ATTRIBUTE = re.compile(r"(?P<name>[^\s/>][^\s/>=]*+)(?:\s*+(?P<equals>=)\s*+)?")
UNQUOTED = re.compile(r"[^\s>]++")
SPACE = re.compile(r"[\s/]*+")


class Element:
    """One element.

    :ivar attributes: names in lower case with decoded values, in the order of the source; a name may occur twice.
    :ivar hidden: not shown to anybody, by its own attributes or those around it.
    :ivar link: the outermost link or button that it is in, or is.
    :ivar speaks: it holds words that are shown, or something with a name.
    """

    __slots__ = ("attributes", "children", "end", "hidden", "inside", "link", "name", "speaks", "start")
    hidden: bool
    link: Element | None

    def __init__(self, name: str, attributes: list[tuple[str, str]], inside: Element | None, start: int, end: int):
        self.name, self.attributes, self.inside, self.start, self.end = name, attributes, inside, start, end
        self.children: list[Element | str] = []
        self.hidden = (inside is not None and inside.hidden) or name in UNSEEN or self._hides()
        self.speaks = False
        around = inside.link if inside is not None else None
        self.link = around or (self if self._leads_somewhere() else None)

    def get(self, name: str) -> str | None:
        """The first value, as browsers take it; None without the attribute."""
        return next((value for key, value in self.attributes if key == name), None)

    def said(self, name: str) -> str:
        """N of the value; empty where there is none."""
        return edits.normalise(self.get(name) or "")

    def outward(self) -> Iterator[Element]:
        """The elements around it, innermost first; a bounded number."""
        around, steps = self.inside, 0
        while around is not None and steps < DEEPEST_SCOPE:
            yield around
            around, steps = around.inside, steps + 1

    def _leads_somewhere(self) -> bool:
        role = self.said("role").lower() if self.attributes else ""
        is_anchor = self.name == "a" and self.get("href") is not None
        return is_anchor or self.name == "button" or role in ("link", "button")

    def _hides(self) -> bool:
        if not self.attributes:
            return False
        style = re.sub(r"\s", "", (self.get("style") or "")[:1000]).lower()
        return (
            self.get("hidden") is not None
            or (self.get("aria-hidden") or "").strip().lower() == "true"
            or (self.name == "input" and (self.get("type") or "").strip().lower() == "hidden")
            or "display:none" in style
            or "visibility:hidden" in style
        )


class Page:
    """All elements of a page, in order.

    :ivar decorative: addresses of images that a person marked as decorative, as the record knows.
    :ivar cut: the page is longer than what is looked at.
    """

    def __init__(self, source: str, *, decorative: Collection[str] = ()):
        self.source = source[:MOST_CHARS]
        self.decorative = frozenset(urlsplit_path(address) for address in decorative)
        self.cut = len(source) > MOST_CHARS
        self.root = Element("", [], None, 0, 0)
        self.elements: list[Element] = []
        self._read()
        self.by_id = {identity: one for one in reversed(self.elements) if (identity := one.get("id"))}
        self.images = [one for one in self.elements if one.name == "img" and not one.hidden]
        self.links = [one for one in self.elements if one.link is one and not one.hidden]
        self._images_in: dict[int, list[Element]] = defaultdict(list)
        for image in self.images:
            self._images_in[id(image.link)].append(image)
        self._lines = [match.start() for match in re.finditer("\n", self.source)]
        self._words: dict[tuple[int, bool], str] = {}

    def line_of(self, at: int) -> int:
        """The line of an offset, from 1."""
        return bisect_right(self._lines, at - 1) + 1

    def tag(self, element: Element) -> str:
        """The start tag as it stands in the source."""
        return self.source[element.start : element.end]

    def images_in(self, link: Element) -> list[Element]:
        """The images that are shown in a link or button."""
        return self._images_in.get(id(link), [])

    def words(self, element: Element, *, alts: bool = False) -> str:
        """N of the words that are shown in the element, up to a bound.

        :param alts: with the names of images in it, as for the name of a link.
        """
        key = (id(element), alts)
        if key not in self._words:
            self._words[key] = edits.normalise("".join(self._pieces(element, alts))[:MOST_WORDS_CHARS])
        return self._words[key]

    def name(self, element: Element) -> str:
        """What a screen reader calls the element, without its content: aria-labelledby, aria-label, alt, title."""
        for reference in (element.get("aria-labelledby") or "")[:500].split():
            if reference in self.by_id and (words := self.words(self.by_id[reference], alts=True)):
                return words
        names = ["aria-label", "title"]
        if element.name in ("img", "area", "input"):
            names.insert(1, "alt")
        return next((said for name in names if (said := element.said(name))), "")

    def _pieces(self, element: Element, alts: bool) -> Iterator[str]:
        """Depth first, without recursion."""
        waiting: list[Element | str] = list(reversed(element.children[:MOST_LOOKED_AT]))
        looked_at = length = 0
        while waiting and looked_at < MOST_LOOKED_AT and length < 2 * MOST_WORDS_CHARS:
            item = waiting.pop()
            looked_at += 1
            if isinstance(item, str):
                length += len(item)
                yield item
                continue
            if item.hidden and not element.hidden:  # what aria-labelledby names may be hidden itself
                continue
            block = item.name not in INLINE
            if block:
                yield " "
            if (alts and item.name in ("img", "input", "svg")) or item.get("aria-label"):
                yield f" {self.name(item)} " if alts else ""
            if item.name == "svg":
                yield " ".join(_titles(item)) if alts else ""
                continue
            if block:
                waiting.append(" ")
            waiting.extend(reversed(item.children[:MOST_LOOKED_AT]))

    def _read(self) -> None:
        builder, at = _Builder(self), 0
        source, length = self.source, len(self.source)
        while at < length and len(self.elements) < MOST_TAGS:
            match = START.search(source, at)
            builder.say(source[at : match.start() if match else length])
            if match is None:
                return
            if match["comment"]:
                at = _after(source, "-->", match.end() - 2)
            elif match["odd"] or match["odd_end"]:
                at = _after(source, ">", match.end() - 1)
            else:
                attributes, at = read_attributes(source, match.end())
                if at < 0:
                    return  # the end of the page inside of a tag: it is dropped
                name = match["name"].lower()
                if match["end"]:
                    builder.end(name)
                    continue
                element = builder.start(name, attributes, match.start(), at)
                if name in TEXT_ONLY and element.name == name:
                    at = self._text_only(builder, name, at)
        self.cut = self.cut or at < length

    def _text_only(self, builder: _Builder, name: str, at: int) -> int:
        """Past the end tag of an element that holds no elements."""
        closing = re.compile(rf"</{name}(?=[\s/>])", re.I).search(self.source, at)
        stop = closing.start() if closing else len(self.source)
        builder.say(self.source[at:stop])
        builder.end(name)
        return _after(self.source, ">", stop)


class _Builder:
    """The open elements while a page is read."""

    def __init__(self, page: Page):
        self.page, self.open = page, [page.root]
        self.counts: Counter[str] = Counter()

    def say(self, text: str) -> None:
        if text:
            text = html.unescape(text) if "&" in text else text
            inside = self.open[-1]
            inside.children.append(text)
            if not text.isspace() and (not inside.hidden or (inside.name == "title" and self.counts["svg"])):
                self._mark(inside, text)

    @staticmethod
    def _mark(element: Element | None, text: str) -> None:
        """Remember that the elements around these words speak; each is marked once."""
        if not edits.normalise(text):
            return
        while element is not None and not element.speaks:
            element.speaks, element = True, element.inside

    def start(self, name: str, attributes: list[tuple[str, str]], start: int, end: int) -> Element:
        for other in CLOSES.get(name, ()):
            self._end_in_scope(other, SCOPES.get(other, ANY_SCOPE - {other}))
        inside = self.open[-1]
        element = Element("img" if name == "image" else name, attributes, inside, start, end)
        inside.children.append(element)
        self.page.elements.append(element)
        if attributes and not element.hidden:
            named = (
                element.get(key)
                for key in ("alt", "aria-label", "aria-labelledby", "title")
                if key != "alt" or name == "img"
            )
            self._mark(element, "".join(value for value in named if value))
        closed_at_once = self.page.source[end - 2] == "/" and self.counts["svg"]  # "/>" means something in SVG only
        if element.name not in VOID and not closed_at_once:
            self.open.append(element)
            self.counts[element.name] += 1
        return element

    def end(self, name: str) -> None:
        """End the innermost element of that name, and what was left open in it; none open: nothing."""
        if not self.counts[name]:
            return
        while self._pop() != name:
            pass

    def _end_in_scope(self, name: str, scope: frozenset[str]) -> None:
        if not self.counts[name]:
            return
        for element in self.open[: -DEEPEST_SCOPE - 1 : -1]:
            if element.name == name:
                self.end(name)
                return
            if element.name in scope:
                return

    def _pop(self) -> str:
        name = self.open.pop().name
        self.counts[name] -= 1
        return name


def read_attributes(source: str, at: int) -> tuple[list[tuple[str, str]], int]:
    """Attributes of the tag whose name ends at `at`, and where the tag ends; -1: it does not (HTML, section 13.2.5)."""
    attributes: list[tuple[str, str]] = []
    length = len(source)
    while True:
        at = _past(SPACE, source, at)
        if at >= length:
            return attributes, -1
        if source[at] == ">":
            return attributes, at + 1
        match = ATTRIBUTE.match(source, at)
        assert match is not None
        at, value = match.end(), ""
        if match["equals"] and at < length and source[at] != ">":
            quote = source[at] if source[at] in "\"'" else ""
            stop = source.find(quote, at + 1) if quote else _past(UNQUOTED, source, at)
            if stop < 0:
                return attributes, -1
            value = source[at + len(quote) : stop]
            at = stop + len(quote)
        attributes.append((match["name"].lower(), html.unescape(value) if "&" in value else value))


def urlsplit_path(address: str) -> str:
    """The path of an address, by which an image in a page and one in the record are the same; all of a broken one."""
    try:
        return urlsplit(address.strip()).path
    except ValueError:
        return address


def _past(pattern: re.Pattern[str], source: str, at: int) -> int:
    match = pattern.match(source, at)
    return match.end() if match else at


def _after(source: str, mark: str, at: int) -> int:
    """The place after the next `mark`; the end of the source without one."""
    found = source.find(mark, at)
    return len(source) if found < 0 else found + len(mark)


def _titles(svg: Element) -> Iterator[str]:
    for child in svg.children[:MOST_LOOKED_AT]:
        if isinstance(child, Element) and child.name == "title":
            yield from (piece for piece in child.children if isinstance(piece, str))
