"""The starter's ways to speak: link, things, words, graphic, screen. Each gives a draft with its support, or silence.

Pure functions over what was seen; the gate looks at every draft afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from captioner.architectures import evidence
from captioner.prepare import destinations, pagewords, reading
from captioner.prepare.pagewords import PageWords
from captioner.prepare.reading import Reading
from captioner.prepare.routing import Route
from captioner.rooms.decode import wording
from captioner.rooms.gate.verdict import Seen, Thing
from captioner.types import CaptionRequest, Kind, PageContext, Reason, Role, Sight, Support, TextLine

MOST_THINGS = 3  # key fact first (T20); a fourth noun reads like keyword stuffing
MOST_LABELS = 6
HEADING_WORDS = 3
TOP = 0.4  # a "beginning" further down is none
BUTTON_GRAPHEMES = 60  # more words than this are no name of a destination
TITLE_WORDS = 4  # where chart or map is not sure: a shorter line at the top is one more label
SIGN_LETTERS = 4
SIGN_GRAPHEMES = 60


@dataclass(frozen=True, slots=True)
class Draft:
    """A text that may leave.

    :ivar quoted: the words of the picture that it repeats.  :ivar from_page: it is meant to repeat the page.
    :ivar worded: a language model chose the order, so little words stand where no frame has them.
    """

    text: str
    supports: tuple[Support, ...]
    quoted: str = ""
    from_page: bool = False
    worded: bool = False


@dataclass(frozen=True, slots=True)
class Silence:
    """No text, and which evidence was missing."""

    reason: Reason
    detail: str


def read(sight: Sight) -> Reading:
    """The words of the picture that may be quoted."""
    return reading.read(sight.lines)


def unspoken(language: str) -> Silence:
    """The page's language is none that the starter writes."""
    spoken = ", ".join(wording.LANGUAGES)
    return Silence(Reason.LANGUAGE_UNSUPPORTED, f"Cannot write {language or 'an unnamed language'}; only: {spoken}.")


def linked(request: CaptionRequest, page: PageWords, *, speaks: bool) -> Draft | Silence | None:
    """What the link alone answers; None where there is none or it tells nothing: then the picture is looked at."""
    context = request.context
    has_link = request.role is Role.UNKNOWN and (context.link_target or context.link_label)
    return destination(page, context, speaks=speaks) if request.role is Role.FUNCTIONAL or has_link else None


def destination(page: PageWords, context: PageContext, *, speaks: bool) -> Draft | Silence | None:
    """Name where the link goes (T5). None where neither label nor address tells."""
    if context.link_text_visible:
        return Silence(
            Reason.ALREADY_SAID, "The link shows words beside the image (H2). An empty alt may be right; you decide."
        )
    label = destinations.label_words(page.link_label)
    if label and pagewords.graphemes(label) <= wording.SOFT_LIMIT:
        return Draft(label, (Support(label, "link", 1.0, "label of the link"),), from_page=True)
    if not speaks:
        return None
    if words := destinations.address_words(context.link_target):
        return Draft(words, (Support(words, "link", 1.0, f"address {context.link_target[:200]}"),), from_page=True)
    if destinations.is_front_page(context.link_target):
        home = wording.lexicon(context.language).frames.home
        return Draft(home, (Support(home, "link", 1.0, 'address "/" is the front page'),), from_page=True)
    return None


def button_words(words: Reading) -> Draft | Silence:
    """The words on a button or logo, where the link itself tells nothing."""
    if words.text and words.is_whole and pagewords.graphemes(words.text) <= BUTTON_GRAPHEMES:
        return Draft(words.text, _quoted_supports(words.sure), from_page=True)
    return Silence(
        Reason.OBJECT_UNSUPPORTED,
        "No words for the destination: the link has no label, its address has no readable words, "
        "and no short text was read in the picture. Name where the link goes or what it does.",
    )


def bare_words(words: Reading) -> Draft | Silence:
    """The words read, as they are: the only answer in a language that the starter does not write."""
    if not words.text or not words.is_whole:
        return _nothing_read(words)
    return Draft(words.text, _quoted_supports(words.sure), quoted=words.text)


def words(words: Reading, language: str) -> Draft | Silence:
    """Quote what was read (T7); a long page, and one with doubtful lines, is named by its beginning (T11)."""
    if not words.opening or (words.opening[0].box.top > TOP and not words.is_whole):
        return _nothing_read(words)
    frames = wording.lexicon(language).frames
    long = pagewords.graphemes(words.text) > wording.SOFT_LIMIT
    if words.is_whole and not long:
        text = frames.text.format(wording.quote(words.text, language))
    else:
        first = _first_words(words.opening)
        text = (frames.page if long else frames.start).format(wording.quote(first, language))
    return Draft(text, _quoted_supports(words.sure), quoted=words.text)


def graphic(sight: Sight, words: Reading, route: Route, language: str) -> Draft | Silence:
    """Short identity of a chart, diagram or map from title, axis words or labels; values never (T8)."""
    frames = wording.lexicon(language).frames
    name = wording.medium(route.medium, language)
    kind = _kind_support(name, sight, route.medium)
    title = reading.title(sight.lines, 2 if route.medium in (Kind.CHART, Kind.MAP) else TITLE_WORDS)
    axes = reading.axes(words.sure, sight.width_px, sight.height_px) if route.medium is not Kind.MAP else ()
    if title is not None:
        text = frames.titled.format(wording.quote(title.text, language), medium=name)
        if axes:
            text = frames.axes.format(text, ", ".join(line.text for line in axes))
        # its title beside it is no reason for silence: a chart needs its short identity all the same (T8)
        return Draft(text, (*kind, *_quoted_supports((title, *axes))), from_page=True)
    if axes:
        text = frames.axes_only.format(", ".join(line.text for line in axes), medium=name)
        return Draft(text, (*kind, *_quoted_supports(axes)))
    labels = _labels(sight.lines)
    if route.medium in (Kind.DIAGRAM, Kind.MAP) and len(labels) >= 2:
        text = frames.labels.format(wording.quotes((line.text for line in labels), language), medium=name)
        return Draft(text, (*kind, *_quoted_supports(labels)))
    if any(any(letter.isdigit() for letter in line.text) for line in (*words.sure, *words.unsure)):
        return Silence(
            Reason.VALUE_UNVERIFIED,
            "No title or axis words were read surely; values are never read off a chart. Give its point and its data.",
        )
    return Silence(
        Reason.TEXT_UNVERIFIED, f"No title, axis words or labels were read surely.{_doubtful(words)} Say what it shows."
    )


def screen(sight: Sight, words: Reading, route: Route, language: str) -> Draft | Silence:
    """A screenshot by the words at its top."""
    if not words.opening or words.opening[0].box.top > TOP:
        return _nothing_read(words)
    frames = wording.lexicon(language).frames
    name = wording.medium(route.medium, language)
    kind = _kind_support(name, sight, route.medium)
    first = _first_words(words.opening[:1])
    return Draft(
        frames.screen.format(wording.quote(first, language), medium=name),
        (*kind, *_quoted_supports(words.opening[:1])),
        quoted=words.text,
    )


def things(
    seen: Seen,
    sight: Sight,
    words: Reading,
    mentions: Mapping[str, tuple[int, str]],
    page_text: str,
    language: str,
) -> Draft | Silence:
    """Name what was seen; what the page mentions comes first."""
    named = said(seen.sure, mentions, language)
    if not named:
        return Silence(Reason.OBJECT_UNSUPPORTED, _missing_evidence(seen, sight, words))
    text = wording.listing(list(named), language)
    supports = [Support(phrase, thing.source, round(thing.score, 4), thing.detail) for phrase, thing in named.items()]
    sign = _sign(words, page_text)
    if sign:
        quoted = " ".join(line.text for line in sign)
        text = wording.lexicon(language).frames.beside.format(text, wording.quote(quoted, language))
        supports += _quoted_supports(sign)
    return Draft(text, tuple(supports))


def said(sure: Sequence[Thing], mentions: Mapping[str, tuple[int, str]], language: str) -> dict[str, Thing]:
    """Noun phrases in the order of saying them, each with its thing."""
    tree = evidence.VOCABULARY()

    def weight(thing: Thing) -> int:
        return max((mentions[name][0] for name in tree.wider(thing.concept) if name in mentions), default=0)

    phrases: dict[str, Thing] = {}
    for thing in sorted(sure, key=lambda thing: (-weight(thing), -thing.prominence)):
        phrase = _phrase(thing, language)
        if phrase is not None:
            phrases.setdefault(phrase, thing)
    return dict(list(phrases.items())[:MOST_THINGS])


def _phrase(thing: Thing, language: str) -> str | None:
    """The narrowest word that the language has for `thing`; the plural is always of what the boxes show."""
    book, tree = wording.lexicon(language), evidence.VOCABULARY()
    if thing.many:
        return book.say(thing.plural_of, many=True)
    waiting = [thing.concept]
    while waiting:
        name = waiting.pop(0)
        if phrase := book.say(name):
            return phrase
        waiting += tree.concepts[name].broader
    return None


def _sign(words: Reading, page_text: str) -> tuple[TextLine, ...]:
    """Words on a photo that the page has too: two witnesses. One alone read "SRUPT" and "United Notions" with .97.

    All or nothing: a gap would change what a sign says.
    """
    letters = sum(len(reading.LETTER.findall(line.text)) for line in words.sure)
    fits = letters >= SIGN_LETTERS and pagewords.graphemes(words.text) <= SIGN_GRAPHEMES
    known = pagewords.matching(pagewords.words(words.text), pagewords.words(page_text)) == 1
    return words.sure if fits and known and words.is_whole else ()


def _first_words(opening: Sequence[TextLine]) -> str:
    """The first line, and further ones while there are fewer than three words: a heading names a page best."""
    text = ""
    for line in opening:
        text = f"{text} {line.text}".strip()
        if len(pagewords.words(text)) >= HEADING_WORDS:
            break
    return wording.beginning(text)


def _labels(lines: Sequence[TextLine]) -> tuple[TextLine, ...]:
    """The first labels of a diagram, each once, without numbers, about as many as fit the aim of T11."""
    seen: dict[str, TextLine] = {}
    for line in reading.blocks(lines):
        if line.confidence >= reading.SURE_LABEL and reading.is_label(line.text):
            seen.setdefault(line.text.casefold(), line)
    kept: list[TextLine] = []
    for line in list(seen.values())[:MOST_LABELS]:
        if len(kept) >= 2 and sum(pagewords.graphemes(one.text) + 4 for one in [*kept, line]) > wording.AIM:
            break
        kept.append(line)
    return tuple(kept)


def _quoted_supports(lines: Sequence[TextLine]) -> tuple[Support, ...]:
    return tuple(Support(line.text, "ocr", round(line.confidence, 4)) for line in lines)


def _kind_support(name: str, sight: Sight, kind: Kind | None) -> tuple[Support, ...]:
    return (Support(name, "kind", round(sight.kinds.get(kind, 0.0), 4)),) if kind is not None else ()


def _nothing_read(words: Reading) -> Silence:
    return Silence(Reason.TEXT_UNVERIFIED, f"No words were read surely enough to be quoted.{_doubtful(words)}")


def _doubtful(words: Reading) -> str:
    if not words.unsure:
        return ""
    return (
        " Read, but not surely: " + ", ".join(f"“{line.text}” {line.confidence:.2f}" for line in words.unsure[:3]) + "."
    )


def _missing_evidence(seen: Seen, sight: Sight, words: Reading) -> str:
    kind = f"Kind {sight.kind} {max(sight.kinds.values()):.2f}. " if sight.kinds else "Kind not decided. "
    if seen.unsure:
        best = ", ".join(f"{thing.concept} {thing.score:.2f} ({thing.source})" for thing in seen.unsure[:3])
        found = f"Nothing was seen surely enough to be named; not sure: {best}."
    else:
        found = "Nothing was seen that has a name here."
    absent = f" Not installed: {', '.join(sight.missing)}." if sight.missing else ""
    return kind + found + _doubtful(words) + absent
