"""The rules about a text and its place: patterns and their reasons. Knows no markup of the page around it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from alttext import edits, plain
from alttext.roles import Role
from alttext.rules import languages, persons, phrases
from alttext.rules.registry import ERROR, INFO, WARN, Hit, Subject, text_rule

AIM, LONG, VERY_LONG = 125, 160, 250  # graphemes; advice, never a cap: good texts run to 411
OVERRIDES = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"  # direction embeddings, and the BOM
UNSPACED = frozenset({"zh", "ja", "th", "lo", "km", "my"})  # two signs can be a whole text
SURE_OF_LANGUAGE_FROM = 20  # graphemes
LIST_ITEMS, ITEM_WORDS = 5, 3


@text_rule(
    "alt-blank",
    ERROR,
    checklist="T3",
    title="no visible character",
    decide="A text of spaces is read as a file name by some screen readers.",
    repair="Write a text, or mark the image as decorative.",
)
def _blank(subject: Subject) -> Iterator[Hit]:
    if subject.text and not subject.plain:
        yield Hit("The text has no visible character.")


@text_rule(
    "text-control",
    ERROR,
    checklist="T3",
    title="control or direction-override character",
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
    return char in OVERRIDES or (char not in "\n\t\r" and unicodedata.category(char) in {"Cc", "Cs"})


@text_rule(
    "text-placeholder",
    WARN,
    checklist="T4",
    title="a word that fits any image",
    decide="A word that fits any image tells readers nothing.",
    repair="Say what this image shows or does on this page.",
)
def _placeholder(subject: Subject) -> Iterator[Hit]:
    text = bare(subject.plain)
    core = re.sub(r"[\s#._:-]*\d{0,9}$", "", text)
    if core.endswith((" of", " von")):  # "image of 5" says what it shows
        core = text
    known = phrases.placeholders(subject.lang)
    if core in known or phrases.ARTICLE.sub("", core) in known:
        yield Hit(f"“{subject.plain}” is a placeholder.")


FILE_END = r"\.(?:jpe?g|jfif|png|gif|webp|avif|heic|heif|svg|bmp|tiff?|ico|psd)"
EXTENSION = re.compile(rf"{FILE_END}\.?$", re.I)
CAMERA = re.compile(
    r"(?:IMG|DSCN?|DSCF|PXL|MVI|GOPR|P|DJI|SAM|CIMG|DCIM|PICT|WA|VID|WhatsApp Image|Screenshot|Screen Shot"
    r"|Bildschirmfoto|Scan|image|photo|foto|bild)[\s_-]*\d[\d\s_.:-]*(?:at[\s\d.:-]+(?:[AP]M)?)?",
    re.I,
)


@text_rule(
    "text-filename",
    WARN,
    checklist="T4",
    title="a file name",
    decide="A file name names a file. Readers want to know what the image is for.",
    repair="Replace it with what the image shows or does on this page.",
)
def _filename(subject: Subject) -> Iterator[Hit]:
    text = subject.plain
    ends_like_a_file = EXTENSION.search(text) and not _is_sentence(text, subject.lang)
    if ends_like_a_file or CAMERA.fullmatch(text) or _is_own_name(text, subject.image_name):
        yield Hit("The text is a file name.")


def _is_own_name(text: str, image_name: str) -> bool:
    """Words that a person typed may be those of the file by chance: one plain word, or other capitals."""
    stem = EXTENSION.sub("", image_name)
    if _spaced(text) not in {_spaced(image_name), _spaced(stem)} - {""}:
        return False
    if not re.sub(r"\s", "", text).isalpha():
        return True  # digits, dashes, dots: of the file
    one_word = stem.isalpha()
    retyped = re.sub(r"[\s_-]+", " ", stem).strip() != text
    return not (one_word or retyped)


def _is_sentence(text: str, language: str) -> bool:
    """ "Colours of the file cat.jpg" speaks of a file; "team photo final.jpg" is one."""
    small = languages.VOTERS.get(language, languages.VOTERS["en"]) - {"at", "am"}  # "Screen Shot … at 3.45.12 PM.png"
    return any(word in small for word in re.findall(r"(?<!\S)[^\W\d_]+(?!\S)", text.casefold()))


CODES = re.compile(
    r"\S+://\S+|www\.\S+"  # address
    r"|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"  # UUID
    r"|(?=\S*\d)[0-9a-f]{12,}"  # hash
    r"|[\d\s.,_-]+"  # digits only
    r"|(?:\S*[|_-])?\d{2,5}\s*[x×]\s*\d{2,5}(?:\s*px|,\d{1,3}%)?"  # dimensions, also those that an editor appends
    r"|\d+\s*[x×]\s*\d+(?:\s*px)?"
    r"|\S+--\S+"  # a CMS's own id
    r"|(?=\S*[0-9_/\\=&%#@$+~])[\x21-\x7e]{15,}",  # one long token that is no word
    re.I,
)


@text_rule(
    "text-code",
    WARN,
    checklist="T4",
    title="an address, a number or an id",
    decide="Addresses, numbers and ids are read out sign by sign.",
    repair="Replace it with words, unless the image shows exactly this.",
)
def _code(subject: Subject) -> Iterator[Hit]:
    if subject.plain and subject.role != Role.TEXT and CODES.fullmatch(subject.plain):
        yield Hit("The text is a code, a number or an address, not words.")


@text_rule(
    "text-prefix",
    WARN,
    checklist="T10",
    title="opens with “image of”",
    decide="Screen readers say “image” by themselves. Keep the words only where it matters that it is a photo.",
    repair="Begin with what the image shows.",
)
def _prefix(subject: Subject) -> Iterator[Hit]:
    pattern = phrases.OPENINGS.get(subject.lang)
    match = pattern.match(subject.text) if pattern else None
    if match and not _is_title(match, subject.lang) and not _medium_matters(match[1], subject):
        rest = subject.text[match.end() :].strip()
        yield Hit(f"The text begins with “{match[0].strip()}”.", match.span(), rest[:1].upper() + rest[1:] or None)


def _is_title(match: re.Match[str], language: str) -> bool:
    """ "The Picture of Dorian Gray": a capital inside the opening, in a language that writes nouns small."""
    return language != "de" and match.start(1) > match.start() and match[1][0].isupper()


def _medium_matters(medium: str, subject: Subject) -> bool:
    """The page itself speaks of photographs, pictures, icons."""
    around = " ".join((subject.title, *subject.adjacent)).casefold()
    return re.search(rf"\b{re.escape(medium.casefold())}", around) is not None


@text_rule(
    "text-long",
    INFO,
    checklist="T11",
    title="over 160 characters; a warning over 250",
    decide="A screen reader reads the text in one go, without a way back.",
    repair="Say the most important thing first, and move the rest to a long description on the page.",
)
def _long(subject: Subject) -> Iterator[Hit]:
    count = len(edits.graphemes(subject.text))
    if count > VERY_LONG:
        yield Hit(f"{count} characters: move the rest to a long description.", level=WARN)
    elif count > LONG:
        yield Hit(f"{count} characters: longer than most readers want in one go.")


@text_rule(
    "text-short",
    INFO,
    checklist="T4",
    title="one or two characters",
    decide="One or two letters are rarely a description.",
    repair="Use a whole word, unless the image shows exactly this.",
)
def _short(subject: Subject) -> Iterator[Hit]:
    short = 0 < len(edits.graphemes(subject.plain)) <= 2
    if short and subject.role != Role.TEXT and subject.lang not in UNSPACED:
        yield Hit("The text is very short.")


TAG_OR_REFERENCE = re.compile(r"</?[a-z][^<>\n]*>|&(?:[a-z]{2,8}|#\d{1,7}|#x[0-9a-f]{1,6});", re.I)
MARKDOWN = re.compile(
    r"\*\*(?P<bold>[^\s*][^*\n]{0,300})\*\*|__(?P<strong>[^\s_][^_\n]{0,300})__|`(?P<code>[^`\n]{1,300})`"
    r"|\[(?P<link>[^\[\]\n]{1,300})\]\([^()\n]{1,300}\)|^#{1,6} (?=\S)(?P<heading>)",
)
# a run of "_" alone is a blank to be filled in, as worksheets have
DRAWN = re.compile(r"(?!_+(?![=\-*#~/\\|<>+^]))[=\-_*#~/\\|<>+^]{5,}|(?:[:;]-?[()DP]\s{0,9}){2,}")
BREAKS = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")


@text_rule(
    "text-markup",
    WARN,
    checklist="T13",
    title="markup, line breaks, drawings, or emoji only",
    decide="The text is read as it stands: tags, stars and line breaks are no formatting here.",
    repair="Write one plain line.",
)
def _markup(subject: Subject) -> Iterator[Hit]:
    if match := TAG_OR_REFERENCE.search(subject.text) or MARKDOWN.search(subject.text):
        yield Hit(f"“{match[0][:40]}” is markup.", match.span(), _unmarked(subject.text))
    if breaks := BREAKS.search(subject.text):
        yield Hit("The text has line breaks.", breaks.span(), edits.normalise(subject.text))
    if match := DRAWN.search(subject.text):
        yield Hit("A drawing made of characters is read out sign by sign.", match.span())
    if subject.plain and not any(char.isalnum() for char in subject.plain) and _has_pictograph(subject.plain):
        yield Hit("The text is emoji only.")


def _unmarked(text: str) -> str:
    """The words without tags and markdown, in one line."""
    text = MARKDOWN.sub(lambda match: match[match.lastgroup or 0] or "", text[: plain.MOST_CHARS])
    return edits.normalise(plain.from_html(text) if TAG_OR_REFERENCE.search(text) else text)


def _has_pictograph(text: str) -> bool:
    return any(unicodedata.category(char) == "So" for char in text)


@text_rule(
    "text-meta",
    WARN,
    checklist="T14",
    title="refusal, preamble or disclosure",
    decide="Words about how the text was made are not about the image. Its origin is kept in the history.",
    repair="Keep only what is about the image.",
)
def _meta(subject: Subject) -> Iterator[Hit]:
    text = subject.text.strip()
    offset = subject.text.find(text)
    for pattern, cut in ((phrases.PREAMBLE, True), (phrases.REFUSAL, False), (phrases.DISCLOSURE, True)):
        if match := pattern.search(text):
            rest = text[match.end() :].strip() or text[: match.start()].rstrip(" ([–—-")
            repaired = rest[:1].upper() + rest[1:] if cut else None
            span = (match.start() + offset, match.end() + offset)
            yield Hit(f"“{match[0].strip()}” is not about the image.", span, repaired)
            return


@text_rule(
    "text-language",
    WARN,
    checklist="T12",
    title="in another language than the page",
    decide="It is read with the voice of the page's language. Names, and words that the image shows, may stay.",
    repair="Write the text in the language of the page.",
)
def _language(subject: Subject) -> Iterator[Hit]:
    if subject.role == Role.TEXT or len(edits.graphemes(subject.plain[:200])) < SURE_OF_LANGUAGE_FROM:
        return
    if found := languages.other_than(subject.plain, subject.lang):
        yield Hit(f"The text looks like {found}; the page is in “{subject.language}”.")


@text_rule(
    "text-person",
    WARN,
    checklist="T15",
    title="origin, age or mood of a person, or a name, that the page does not give",
    decide="A picture cannot prove who somebody is, where they come from, how old they are or how they feel.",
    repair="Keep it only if you know it from the source of the image and it matters on this page.",
)
def _person(subject: Subject) -> Iterator[Hit]:
    around = " ".join((subject.around, subject.title, *subject.adjacent, subject.link_label)).casefold()
    text = languages.unquoted(subject.text[: plain.MOST_CHARS])
    for word, span in persons.attributes(text, language=subject.lang):
        if _stem(word) not in around:
            yield Hit(f"“{word}” says something about a person that the page does not say.", span)
            return
    if not subject.around:
        return
    known = set(re.findall(r"[^\W\d_]+", f"{around} {_spaced(subject.image_name)}"))
    for name, span in persons.names(text):
        parts = re.findall(r"[^\W\d_]{2,}", name.casefold())
        if subject.role != Role.TEXT and not known & set(parts) - persons.TITLE_WORDS:
            yield Hit(f"The name “{name}” does not stand on the page.", span)
            return


def _stem(word: str) -> str:
    """Without the ending that differs between cases and between noun and adjective."""
    return word.casefold()[: max(len(word) - 2, 4)]


@text_rule(
    "text-function",
    WARN,
    checklist="T5",
    title="a linked image that does not say where it leads",
    decide="In a link or button, readers need to know where it leads or what it does.",
    repair="Name the destination or the action.",
)
def _function(subject: Subject) -> Iterator[Hit]:
    target = re.sub(
        r"^[a-z]+:(//)?|\.(?:html?|php|aspx?|com|org|net|de)\b|[?#].*$", " ", subject.link_target[:2000], flags=re.I
    )
    wanted = _words(f"{subject.link_label} {target}")
    if subject.role == Role.FUNCTIONAL and wanted and not _share_a_word(_words(subject.text), wanted):
        yield Hit("The text does not mention where the link leads.")


def _share_a_word(first: set[str], second: set[str]) -> bool:
    """Whole words, or long beginnings of them: "prices" meets "price"."""
    starts = {word[:4] for word in second if len(word) > 3}
    return bool(first & second) or any(len(word) > 3 and word[:4] in starts for word in first)


JOINT = re.compile(r"[,;|]|\s[–—-]\s")
NO_KEYWORDS = re.compile(r"[:.!?。]\s|[^\W\d_]:\s?")
CONJUNCTIONS = frozenset(["and", "or", "und", "oder", "et", "ou", "y", "e", "o", "en", "of", "i", "oraz", "lub"])


@text_rule(
    "text-keywords",
    INFO,
    checklist="T20",
    title="five or more keywords in a row",
    decide="A list of search words is tiring to listen to, and says nothing about how they belong together.",
    repair="Say in a sentence what the image shows.",
)
def _keywords(subject: Subject) -> Iterator[Hit]:
    if subject.role == Role.TEXT or NO_KEYWORDS.search(subject.plain):
        return
    longest = _longest_row(languages.unquoted(subject.plain), subject.lang)
    if longest >= LIST_ITEMS:
        yield Hit(f"{longest} keywords stand in a row.")


def _longest_row(text: str, language: str) -> int:
    """Most items in a row without small words; one that ends in "and", as a list in a sentence does, is none."""
    small = languages.VOTERS.get(language, frozenset()) - {"in", "for", "of"}
    row = longest = 0
    for item in JOINT.split(text):
        words = item.casefold().split()
        if 0 < len(words) <= ITEM_WORDS and not small & set(words) and any(word.isalpha() for word in words):
            row += 1
            continue
        longest = max(longest, 0 if words and words[0] in CONJUNCTIONS else row)
        row = 0
    return max(longest, row)


@text_rule(
    "alt-equals-adjacent",
    WARN,
    checklist="T6",
    title="the words beside the image once more",
    decide="Readers hear the same words twice.",
    repair="Say what the image adds. If it adds nothing, mark it as decorative.",
)
def _adjacent(subject: Subject) -> Iterator[Hit]:
    text = bare(subject.plain)
    for block in subject.adjacent:
        if text and bare(edits.normalise(block)) == text:
            yield Hit("The same words stand beside the image.")
            return


def bare(text: str) -> str:
    """Casefolded, without punctuation around it. No expression for the end: it would take quadratic time."""
    text = re.sub(r"^\W+", "", text.casefold())
    end = len(text)
    while end and not (text[end - 1].isalnum() or text[end - 1] == "_"):
        end -= 1
    return text[:end]


def _spaced(text: str) -> str:
    return re.sub(r"[\s_-]+", " ", text).strip().casefold()


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"[^\W\d_]{2,}", text.casefold()) if word not in _SMALL}


_SMALL = frozenset(phrases.SMALL.split())
