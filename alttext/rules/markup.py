"""The rules about rendered HTML. They look at a `Page`; what is undecided is told by the record, never by alt="".

Only what stands in the markup: styles of a style sheet, and what a script adds later, are not seen.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import groupby, pairwise

from alttext import edits
from alttext.rules.page import Element, Page, urlsplit_path
from alttext.rules.registry import ERROR, INFO, RULES, WARN, Finding, Hit, finding, in_order, page_rule, switched_off
from alttext.rules.text import AIM, bare

SAID_TWICE = frozenset({"figcaption", "p", "h1", "h2", "h3", "h4", "h5", "h6"})  # text blocks of a figure
BLOCKS = SAID_TWICE | {"figure", "li", "td", "th", "dt", "dd", "a", "button", "caption", "summary"}
BLOCKS_AROUND = 3
NAMING = ("title", "aria-label", "aria-labelledby", "aria-describedby")
BACKGROUND = re.compile(r"background(?:-image)?\s*:[^;]{0,500}url\(", re.I)
FOCUSABLE = re.compile(r"\s*\+?\d")


def check_page(source: str, *, decorative: Collection[str] = (), off: Collection[str] | None = None) -> list[Finding]:
    """All findings about a rendered page, errors first; spans are offsets in `source`.

    :param decorative: addresses of images that a person marked as decorative.
    :param off: ids of rules to leave out; None: those of the settings.
    """
    return findings_of(Page(source, decorative=decorative), off=off)


def findings_of(page: Page, *, off: Collection[str] | None = None) -> list[Finding]:
    """`check_page` of a page that is read already."""
    off = switched_off() if off is None else off
    return in_order(
        finding(rule, hit, about=page.source[slice(*hit.span)] if hit.span else "")
        for rule in RULES.values()
        if rule.on_page and rule.id not in off
        for hit in rule.on_page(page)
    )


def _hit(element: Element, message: str, repaired: str | None = None) -> Hit:
    return Hit(message, (element.start, element.end), repaired)


@page_rule(
    "alt-missing",
    ERROR,
    checklist="T1",
    title="img without an alt attribute",
    decide="Without the attribute, some screen readers read the file name. A caption beside it does not replace it.",
    repair='Always write the attribute: with the text, or alt="" if a person marked the image as decorative.',
)
def _missing(page: Page) -> Iterator[Hit]:
    for image in page.images:
        if image.get("alt") is None:
            yield _hit(image, "The image has no alt attribute.")


@page_rule(
    "alt-blank",
    ERROR,
    checklist="T3",
    title="no visible character",
    decide="A text of spaces is read as a file name by some screen readers.",
    repair="Write a text, or mark the image as decorative.",
)
def _blank(page: Page) -> Iterator[Hit]:
    for image in page.images:
        if image.get("alt") and not image.said("alt"):
            yield _hit(image, "The alternative text has no visible character.")


@page_rule(
    "alt-duplicate-attr",
    ERROR,
    checklist="T1",
    title="alt attribute twice",
    decide="Browsers take the first one and drop the other, which may be the one that was meant.",
    repair="Leave one alt attribute in the template.",
)
def _duplicate(page: Page) -> Iterator[Hit]:
    for element in page.elements:
        if element.name in ("img", "area", "input") and [name for name, _ in element.attributes].count("alt") > 1:
            yield _hit(element, "The alt attribute stands in the tag more than once.")


@page_rule(
    "decorative-exposed",
    ERROR,
    checklist="T2",
    title="decorative image that is announced all the same",
    decide='An image with alt="" is meant to be silent, but this one has a name or can be focused.',
    repair="Take title, aria-label, aria-labelledby, aria-describedby and tabindex away, or write an alternative text.",
)
def _exposed(page: Page) -> Iterator[Hit]:
    for image in page.images:
        if image.get("alt") != "":
            continue
        exposed = [name for name in NAMING if image.said(name)]
        exposed += ["tabindex"] if FOCUSABLE.match(image.get("tabindex") or "") else []
        if exposed:
            yield _hit(image, f'The image has alt="" and {" and ".join(exposed)}.')


@page_rule(
    "decorative-with-text",
    ERROR,
    checklist="T2",
    title="decorative image with a text",
    decide="The image is marked as decorative, so its text is either lost or read where silence was asked for.",
    repair='Write alt="", or take the mark away if the image tells something.',
)
def _with_text(page: Page) -> Iterator[Hit]:
    for image in page.images:
        if not image.said("alt"):
            continue
        role = image.said("role").lower()
        if role in ("none", "presentation"):
            yield _hit(image, f"The image has the role “{role}” and a text.")
        elif page.decorative and urlsplit_path(image.get("src") or "") in page.decorative:
            yield _hit(image, "A person marked the image as decorative, and the page gives it a text.")


@page_rule(
    "link-image-no-name",
    ERROR,
    checklist="T5",
    title="link or button whose only content is an image without a text",
    decide="Screen readers then read the address of the link, or only “button”.",
    repair="Write where the link leads, or what the button does, as the alternative text.",
)
def _no_name(page: Page) -> Iterator[Hit]:
    for link in page.links:
        if not link.speaks and not page.name(link) and page.images_in(link):
            kind = "button" if link.name == "button" or link.said("role").lower() == "button" else "link"
            yield _hit(link, f"The {kind} holds only images without a text.")


@page_rule(
    "link-text-repeated",
    WARN,
    checklist="T5",
    title="image in a link that repeats the words of the link",
    decide="Readers hear the same words twice in one link.",
    repair='The words of the link are enough: alt="", marked as decorative by a person.',
)
def _link_repeated(page: Page) -> Iterator[Hit]:
    for image, _ in _repeating_their_link(page):
        yield _hit(image, "The words of the link stand in the text of its image once more.", "")


def _repeating_their_link(page: Page) -> Iterator[tuple[Element, Element]]:
    for link in page.links:
        visible = bare(page.words(link))
        if len(visible) < 2:
            continue
        yield from ((image, link) for image in page.images_in(link) if _holds(image.said("alt").casefold(), visible))


def _holds(text: str, words: str) -> bool:
    """Whether `words` stand in `text`, and not within a longer word."""
    at = text.find(words)
    while at >= 0:
        end = at + len(words)
        if not (text[at - 1 : at].isalnum() or text[end : end + 1].isalnum()):
            return True
        at = text.find(words, at + 1)
    return False


@page_rule(
    "link-alt-long",
    INFO,
    checklist="T11",
    title="text over 125 characters in a link",
    decide="The whole text is the name of the link, and is read each time it gets the focus.",
    repair="Name the destination in a few words.",
)
def _link_long(page: Page) -> Iterator[Hit]:
    for link in page.links:
        for image in page.images_in(link):
            count = len(edits.graphemes(image.said("alt")))
            if count > AIM:
                yield _hit(image, f"The text has {count} characters and stands in a link.")


@page_rule(
    "same-name-other-target",
    INFO,
    checklist="T5",
    title="image links with one name and two destinations",
    decide="In a list of links, readers cannot tell them apart.",
    repair="Say in each text where that link leads.",
)
def _same_name(page: Page) -> Iterator[Hit]:
    targets: dict[str, str] = {}
    for link in page.links:
        target = (link.get("href") or "").strip().partition("#")[0]
        name = (page.name(link) or page.words(link, alts=True)).casefold()
        if not target or not name or not page.images_in(link):
            continue
        if targets.setdefault(name, target) != target:
            yield _hit(link, f"“{name[:60]}” is also the name of a link to {targets[name][:100]}.")


@page_rule(
    "other-graphic-no-name",
    ERROR,
    checklist="T1",
    title="image button, map area, object or SVG without a name",
    decide="Each graphic that tells something needs a name, whatever element shows it.",
    repair='Write alt on input and area, a title in an SVG, or aria-label; role="none" if it tells nothing.',
)
def _graphic(page: Page) -> Iterator[Hit]:
    for element in page.elements:
        if not element.hidden and (what := _graphic_kind(element)) and not _graphic_name(page, element):
            yield _hit(element, f"The {what} has no name.")


def _graphic_kind(element: Element) -> str:
    if not element.attributes:
        return ""
    if element.name == "input":
        return "image button" if element.said("type").lower() == "image" else ""
    if element.name == "area":
        return "area of the image map" if element.get("href") is not None else ""
    role = element.said("role").lower()
    if element.name == "object":
        return "object" if element.get("data") and role not in ("none", "presentation") else ""
    if element.name != "img" and role in ("img", "graphics-document"):
        return "SVG" if element.name == "svg" else "image"
    return ""


def _graphic_name(page: Page, element: Element) -> str:
    if name := page.name(element):
        return name
    if element.name == "object":
        return page.words(element, alts=True)
    titles = (child for child in element.children if isinstance(child, Element) and child.name == "title")
    return next((words for title in titles if (words := _raw_words(title))), "")


def _raw_words(element: Element) -> str:
    return edits.normalise("".join(child for child in element.children if isinstance(child, str)))


@page_rule(
    "alt-equals-adjacent",
    WARN,
    checklist="T6",
    title="the words beside the image once more",
    decide="Readers hear the same words twice.",
    repair="Say what the image adds. If it adds nothing, mark it as decorative.",
)
def _adjacent(page: Page) -> Iterator[Hit]:
    in_links = {id(image) for image, _ in _repeating_their_link(page)}  # told by that rule, with its repair
    for image in page.images:
        text = bare(image.said("alt"))
        if text and id(image) not in in_links and any(bare(words) == text for words in _beside(page, image)):
            yield _hit(image, f"“{image.said('alt')[:60]}” stands beside the image as well.")


def _beside(page: Page, image: Element) -> Iterator[str]:
    """Words of the blocks around the image, up to and with the figure; of a figure also those of its parts."""
    blocks = 0
    for around in image.outward():
        if around.name in BLOCKS and blocks < BLOCKS_AROUND:
            blocks += 1
            yield page.words(around)
        if around.name == "figure":
            parts = (child for child in around.children[:50] if isinstance(child, Element))
            yield from (page.words(part) for part in parts if part.name in SAID_TWICE)
            return


@page_rule(
    "title-equals-alt",
    WARN,
    checklist="T6",
    title="title equal to the alternative text",
    decide="Some screen readers read both, one after the other.",
    repair="Take the title away.",
)
def _title(page: Page) -> Iterator[Hit]:
    for image in page.images:
        if (said := bare(image.said("alt"))) and bare(image.said("title")) == said:
            yield _hit(image, "The title repeats the alternative text.")


@page_rule(
    "alt-repeated",
    WARN,
    checklist="T18, T9",
    title="neighbouring images with one text",
    decide="Readers hear the same words again and again, for instance once for each star of a rating.",
    repair='One image carries the text of the group ("3.5 out of 5 stars"), the others are decorative.',
)
def _repeated(page: Page) -> Iterator[Hit]:
    order = {id(image): number for number, image in enumerate(page.images)}
    joined = [_are_neighbours(page, *pair) for pair in pairwise(page.images)]
    for text, group in groupby(page.images, key=lambda image: bare(image.said("alt"))):
        images = list(group)
        row = [image for image in images[1:] if joined[order[id(image)] - 1]]
        if text and row:
            yield _hit(images[0], f"{len(row) + 1} images in a row have the text “{images[0].said('alt')[:60]}”.")


def _are_neighbours(page: Page, first: Element, second: Element) -> bool:
    """No word stands between the two."""
    between = page.source[first.end : second.start]
    return len(between) <= 5000 and not edits.normalise(re.sub(r"<[^<>]*>", " ", between))


@page_rule(
    "background-image",
    INFO,
    checklist="T22",
    title="background image on an element without words",
    decide="A background image has no alternative text. If it tells something, readers miss it.",
    repair="Show it with img and an alternative text, unless it only decorates.",
)
def _background(page: Page) -> Iterator[Hit]:
    for element in page.elements:
        style = element.get("style") if element.attributes and not element.hidden else None
        if style and not element.speaks and BACKGROUND.search(style):
            yield _hit(element, "The element has a background image and no words.")


@page_rule(
    "server-side-map",
    WARN,
    checklist="T5",
    title="server-side image map",
    decide="Its regions can be reached with a mouse only.",
    repair="Use map and area, or plain links.",
)
def _map(page: Page) -> Iterator[Hit]:
    for image in page.images:
        if image.get("ismap") is not None:
            yield _hit(image, "The image is a server-side map.")
