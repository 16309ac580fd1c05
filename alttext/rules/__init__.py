"""Lint rules for one text: small registered functions over strings. Warnings, and errors for illegal characters only.

A linter cannot judge whether a text is good (alt-text page, section 6: the best of four public rule sets flags every
third good text), so nothing here blocks an author except characters that no reader can see.
Rule ids, levels and what they are keyed to: alt-text page, section 5.2.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from alttext import edits
from alttext.roles import Role
from alttext.rules import phrases

INFO, WARN, ERROR = "info", "warn", "error"
AIM, LONG, VERY_LONG = 125, 160, 250  # graphemes; advice, never a cap: good texts run to 411
OVERRIDES = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"  # direction embeddings, and the BOM
UNSPACED = frozenset({"zh", "ja", "th", "lo", "km", "my"})  # two signs can be a whole text


@dataclass(frozen=True, slots=True)
class Subject:
    """A text and what is known about its place.

    :ivar adjacent: caption, headings and text blocks right beside the image.
    """

    text: str
    language: str = "en"
    role: str = Role.UNKNOWN
    image_name: str = ""
    title: str = ""
    adjacent: tuple[str, ...] = ()
    link_label: str = ""
    link_target: str = ""

    @property
    def lang(self) -> str:
        """The primary subtag, lower case."""
        return re.split("[-_]", self.language)[0].lower()

    @property
    def plain(self) -> str:
        """N(text), the form that most rules look at."""
        return edits.normalise(self.text)


@dataclass(frozen=True, slots=True)
class Finding:
    """What one rule says about one text.

    :ivar span: start and end in code points of the text, or None for the whole of it.
    :ivar decide: how an author can tell whether it matters here.
    :ivar repair: what to do about it; `repaired` is the text after it, where that is mechanical.
    """

    rule: str
    level: str
    message: str
    decide: str
    repair: str
    span: tuple[int, int] | None = None
    repaired: str | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A finding's own part: what the rule found this time."""

    message: str
    span: tuple[int, int] | None = None
    repaired: str | None = None
    level: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """A registered rule."""

    id: str
    level: str
    decide: str
    repair: str
    look: Callable[[Subject], Iterator[Hit]]


RULES: dict[str, Rule] = {}
Look = Callable[[Subject], Iterator[Hit]]


def rule(id: str, level: str, *, decide: str, repair: str) -> Callable[[Look], Look]:
    """Register a function that yields hits for a subject."""

    def register(look: Look) -> Look:
        RULES[id] = Rule(id, level, decide, repair, look)
        return look

    return register


def check(subject: Subject) -> list[Finding]:
    """All findings, errors first. An empty text has none: whether a text is missing is told by the record."""
    if not subject.text:
        return []
    names = ["alt-blank"] if not subject.plain else [name for name in RULES if name != "alt-blank"]
    found = [finding for name in names for finding in _apply(RULES[name], subject)]
    return sorted(found, key=lambda finding: [ERROR, WARN, INFO].index(finding.level))


def _apply(rule: Rule, subject: Subject) -> Iterable[Finding]:
    for hit in rule.look(subject):
        yield Finding(
            rule.id, hit.level or rule.level, hit.message, rule.decide, rule.repair, hit.span, repaired=hit.repaired
        )


@rule(
    "alt-blank",
    ERROR,
    decide="A text of spaces is read as a file name by some screen readers.",
    repair="Write a text, or mark the image as decorative.",
)
def _blank(subject: Subject) -> Iterator[Hit]:
    yield Hit("The text has no visible character.")


@rule(
    "text-control",
    ERROR,
    decide="Control and direction-override characters are invisible and can scramble what is read.",
    repair="Take the character out.",
)
def _control(subject: Subject) -> Iterator[Hit]:
    bad = [(at, char) for at, char in enumerate(subject.text) if _is_control(char)]
    if bad:
        at, char = bad[0]
        cleaned = "".join(char for char in subject.text if not _is_control(char))
        yield Hit(f"The text holds the invisible character U+{ord(char):04X}.", (at, at + 1), cleaned.strip() or None)


def _is_control(char: str) -> bool:
    """Marks of direction (U+200E, U+200F) and joiners are legal: Arabic, Hebrew, Persian and emoji need them."""
    return char in OVERRIDES or (char not in "\n\t" and unicodedata.category(char) in {"Cc", "Cs"})


@rule(
    "text-placeholder",
    WARN,
    decide="A word that fits any image tells readers nothing.",
    repair="Say what this image shows or does on this page.",
)
def _placeholder(subject: Subject) -> Iterator[Hit]:
    core = re.sub(r"[\s#._:-]*\d*$", "", _bare(subject.plain))
    if core in phrases.placeholders(subject.lang):
        yield Hit(f"“{subject.plain}” is a placeholder.")


EXTENSION = re.compile(r"\.(?:jpe?g|jfif|png|gif|webp|avif|heic|heif|svg|bmp|tiff?|ico|psd)\.?$", re.I)
CAMERA = re.compile(
    r"(?:IMG|DSCN?|DSCF|PXL|MVI|GOPR|P|DJI|SAM|CIMG|DCIM|PICT|WA|VID|WhatsApp Image|Screenshot|Screen Shot"
    r"|Bildschirmfoto|Scan|image|photo|foto|bild)[\s_-]*\d[\d\s_.:-]*(?:at[\s\d.:-]+(?:[AP]M)?)?",
    re.I,
)


@rule(
    "text-filename",
    WARN,
    decide="A file name names a file. Readers want to know what the image is for.",
    repair="Replace it with what the image shows or does on this page.",
)
def _filename(subject: Subject) -> Iterator[Hit]:
    text = subject.plain
    stem = EXTENSION.sub("", subject.image_name)
    names = {_spaced(subject.image_name), _spaced(stem)} - {""}
    # "Harbour" for harbour.jpg is a word, "harbour-2" is a file name
    worded = stem.isalpha() and text != subject.image_name
    if EXTENSION.search(text) or CAMERA.fullmatch(text) or (_spaced(text) in names and not worded):
        yield Hit("The text is a file name.")


CODES = re.compile(
    r"\S+://\S+|www\.\S+"  # address
    r"|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"  # UUID
    r"|(?=\S*\d)[0-9a-f]{12,}"  # hash
    r"|[\d\s.,_-]+"  # digits only
    r"|\d+\s*[x×]\s*\d+(?:\s*px)?"  # dimensions
    r"|\S+--\S+"  # a CMS's own id
    r"|(?=\S*[0-9_/\\=&%#@$+~])[\x21-\x7e]{15,}",  # one long token that is no word
    re.I,
)


@rule(
    "text-code",
    WARN,
    decide="Addresses, numbers and ids are read out sign by sign.",
    repair="Replace it with words, unless the image shows exactly this.",
)
def _code(subject: Subject) -> Iterator[Hit]:
    if subject.role != Role.TEXT and CODES.fullmatch(subject.plain):
        yield Hit("The text is a code, a number or an address, not words.")


@rule(
    "text-prefix",
    WARN,
    decide="Screen readers say “image” by themselves. Keep the words only where it matters that it is a photo.",
    repair="Begin with what the image shows.",
)
def _prefix(subject: Subject) -> Iterator[Hit]:
    pattern = phrases.PREFIXES.get(subject.lang)
    match = re.match(rf"{pattern}(?:\b|(?<=['’]))\s*", subject.text, re.I) if pattern else None
    if match and not _medium_matters(match[1], subject):
        rest = subject.text[match.end() :].strip()
        yield Hit(f"The text begins with “{match[0].strip()}”.", match.span(), rest[:1].upper() + rest[1:] or None)


def _medium_matters(medium: str, subject: Subject) -> bool:
    """The page itself speaks of photographs, pictures, icons."""
    around = " ".join((subject.title, *subject.adjacent)).casefold()
    return re.search(rf"\b{re.escape(medium.casefold())}", around) is not None


@rule(
    "text-long",
    INFO,
    decide="A screen reader reads the text in one go, without a way back.",
    repair="Say the most important thing first, and move the rest to a long description on the page.",
)
def _long(subject: Subject) -> Iterator[Hit]:
    count = len(edits.graphemes(subject.text))
    if count > VERY_LONG:
        yield Hit(f"{count} characters: move the rest to a long description.", level=WARN)
    elif count > LONG:
        yield Hit(f"{count} characters: longer than most readers want in one go.")


@rule(
    "text-short",
    INFO,
    decide="One or two letters are rarely a description.",
    repair="Use a whole word, unless the image shows exactly this.",
)
def _short(subject: Subject) -> Iterator[Hit]:
    if len(edits.graphemes(subject.plain)) <= 2 and subject.role != Role.TEXT and subject.lang not in UNSPACED:
        yield Hit("The text is very short.")


MARKUP = re.compile(
    r"</?[a-z][^<>\n]*>|&(?:[a-z]{2,8}|#\d+|#x[0-9a-f]+);"  # HTML
    r"|\*\*\S[^*\n]{0,300}\*\*|__\S[^_\n]{0,300}__|`[^`\n]{1,300}`|\[[^\[\]\n]{1,300}\]\([^()\n]{1,300}\)|^#{1,6} ",
    re.I,
)
DRAWN = re.compile(r"[=\-_*#~/\\|<>+^]{5,}|(?:[:;]-?[()DP]\s*){2,}")


@rule(
    "text-markup",
    WARN,
    decide="The text is read as it stands: tags, stars and line breaks are no formatting here.",
    repair="Write one plain line.",
)
def _markup(subject: Subject) -> Iterator[Hit]:
    if match := MARKUP.search(subject.text):
        yield Hit(f"“{match[0][:40]}” is markup.", match.span())
    if (at := subject.text.find("\n")) >= 0:
        yield Hit("The text has line breaks.", (at, at + 1), edits.normalise(subject.text))
    if match := DRAWN.search(subject.text):
        yield Hit("A drawing made of characters is read out sign by sign.", match.span())
    if subject.plain and not any(char.isalnum() for char in subject.plain) and _has_pictograph(subject.plain):
        yield Hit("The text is emoji only.")


def _has_pictograph(text: str) -> bool:
    return any(unicodedata.category(char) == "So" for char in text)


META = phrases.meta()


@rule(
    "text-meta",
    WARN,
    decide="Words about how the text was made are not about the image. Its origin is kept in the history.",
    repair="Keep only what is about the image.",
)
def _meta(subject: Subject) -> Iterator[Hit]:
    if match := META.search(subject.text.strip()):
        yield Hit(f"“{match[0].strip()}” is not about the image.")


NOT_WORDS = re.compile(r"^[a-z]+:(//)?|\.(?:html?|php|aspx?|com|org|net|de)\b|[?#].*$", re.I)


@rule(
    "text-function",
    WARN,
    decide="In a link or button, readers need to know where it leads or what it does.",
    repair="Name the destination or the action.",
)
def _function(subject: Subject) -> Iterator[Hit]:
    target = re.sub(
        r"^[a-z]+:(//)?|\.(?:html?|php|aspx?|com|org|net|de)\b|[?#].*$", " ", subject.link_target, flags=re.I
    )
    wanted = _words(f"{subject.link_label} {target}")
    if subject.role == Role.FUNCTIONAL and wanted and not _share_a_word(_words(subject.text), wanted):
        yield Hit("The text does not mention where the link leads.")


def _share_a_word(first: set[str], second: set[str]) -> bool:
    """Whole words, or long beginnings of them: "prices" meets "price"."""
    return any(a == b or (len(a) > 3 and len(b) > 3 and a[:4] == b[:4]) for a in first for b in second)


@rule(
    "alt-equals-adjacent",
    WARN,
    decide="Readers hear the same words twice.",
    repair="Say what the image adds. If it adds nothing, mark it as decorative.",
)
def _adjacent(subject: Subject) -> Iterator[Hit]:
    text = _bare(subject.plain)
    for block in subject.adjacent:
        if text and _bare(edits.normalise(block)) == text:
            yield Hit("The same words stand beside the image.")
            return


def _bare(text: str) -> str:
    """Casefolded, without punctuation around it."""
    return re.sub(r"^\W+|\W+$", "", text.casefold())


def _spaced(text: str) -> str:
    return re.sub(r"[\s_-]+", " ", text).strip().casefold()


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"[^\W\d_]{2,}", text.casefold()) if word not in _SMALL}


_SMALL = frozenset(phrases.SMALL.split())
