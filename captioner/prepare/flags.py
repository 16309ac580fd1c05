"""Marks beside a text, never edits of it: instructions in page or picture, and forms that no alt text should have.

A flag tells the author to look twice. The list of phrases cannot be complete; the defence is that nothing here can be
told to do anything: texts are built from evidence alone. Nothing here knows models or pages.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from importlib import resources

from captioner.prepare import pagewords
from captioner.prepare.pagewords import PageWords
from captioner.types import PageContext, TextLine

INSTRUCTION_IN_PAGE = "instruction_in_page"
INSTRUCTION_IN_IMAGE = "instruction_in_image"
CONTROL_CHARACTERS_IN_PAGE = "control_characters_in_page"
COPIED_FROM_PAGE = "copied_from_page"
MARKUP, URL, EMAIL, PHONE = "markup", "url", "email", "phone"

COPIED_SHARE = 0.6  # of word trigrams; reliability.md section 9

LOOKALIKES = str.maketrans(
    "аеорсухіјѕһԁԛԝвнкмтαβεικνορτυχηγłøđıß",
    "aeopcyxijshdqwbhkmtabeiknoptuxnylodis",
)  # Cyrillic and Greek letters that look Latin, and letters without a decomposition
LEET = str.maketrans("013457@$!|", "oieastasil")

GAP = r"[^.!?\n]{0,50}?"


def _commands() -> dict[str, re.Pattern[str]]:
    """The phrases of `commands.tsv`: one pattern for running text, one for text without gaps."""
    lines = resources.files(__package__).joinpath("commands.tsv").read_text("utf-8").splitlines()
    rows = [line.replace("{GAP}", GAP).split("\t") for line in lines if not line.startswith("#")]
    return {
        "plain": re.compile("|".join(pattern for group, pattern in rows if group != "squeezed")),
        "squeezed": re.compile("|".join(pattern for group, pattern in rows if group == "squeezed")),
    }


COMMANDS = _commands()
SPACED = re.compile(r"(?:\b\w[\s.*_-]{1,3}){5,}\w\b")

MARKUP_FORM = re.compile(r"<[/!]?[a-zA-Z][^<>]*>|&[a-z]+;|&#\d+;|\*\*|__|`|\[[^\]]*\]\([^)]*\)|^#{1,6}\s|[\r\n]")
URL_FORM = re.compile(
    r"\b(?:https?://|www\.)\S+|\b[a-z0-9-]+\.(?:com|org|net|de|eu|io|gov|edu|info|app|dev|uk|fr|es|pl)\b(?:/\S*)?", re.I
)
EMAIL_FORM = re.compile(r"[\w.+-]+@[\w-]+\.\w+")
PHONE_FORM = re.compile(  # an international or trunk prefix, or at least three groups: no year range, no price
    r"(?<![\w.])(?:(?:\+|00)\d{1,3}[ /.-]?|\(?0\d{1,5}\)?[ /.-]?|\(\d{3}\) ?|\d{3}[ .-]\d{3}[ .-])"
    r"\d{2,}(?:[ .-]?\d{2,})*(?!\w)"
)


def fold(text: str) -> str:
    """`text` as instructions are looked for: compatibility forms, look-alikes and accents folded, invisibles gone."""
    text = unicodedata.normalize("NFKD", pagewords.INVISIBLE.sub("", text)).casefold()
    text = "".join(letter for letter in text if not unicodedata.combining(letter))
    return re.sub(r"[^\S\n]+", " ", pagewords.CONTROLS.sub(" ", text.translate(LOOKALIKES)))


def instructs(text: str) -> bool:
    """True where `text` holds words that read like a command to whoever describes the picture."""
    folded = fold(text)
    if COMMANDS["plain"].search(folded):
        return True
    spaced = " ".join(re.sub(r"[\s.*_-]", "", match.group()) for match in SPACED.finditer(folded))
    suspicious = re.sub(r"[^\w@$!|]", "", folded).translate(LEET)
    return bool(COMMANDS["squeezed"].search(suspicious) or COMMANDS["squeezed"].search(spaced.translate(LEET)))


def page_flags(context: PageContext, page: PageWords) -> tuple[str, ...]:
    """Flags about the page text that was read; `context` is looked at only for characters that `page` has lost."""
    flags = []
    if instructs(page.everything):
        flags.append(INSTRUCTION_IN_PAGE)
    raw = (context.title, *context.headings, context.caption, context.link_label, context.before, context.after)
    if any(pagewords.CONTROLS.search(text) or pagewords.BIDI.search(text) for text in raw):
        flags.append(CONTROL_CHARACTERS_IN_PAGE)
    return tuple(flags)


def image_flags(lines: Sequence[TextLine]) -> tuple[str, ...]:
    """Flags about the words read in the picture."""
    return (INSTRUCTION_IN_IMAGE,) if instructs(" ".join(line.text for line in lines)) else ()


def text_flags(text: str, page: PageWords, *, from_page: bool = False) -> tuple[str, ...]:
    """Flags about the form of an offered text. `from_page`: it is meant to repeat the page, as a link label is."""
    flags = [
        flag
        for flag, form in ((MARKUP, MARKUP_FORM), (URL, URL_FORM), (EMAIL, EMAIL_FORM), (PHONE, PHONE_FORM))
        if form.search(text)
    ]
    if not from_page and pagewords.overlap(text, page.everything) > COPIED_SHARE:
        flags.append(COPIED_FROM_PAGE)
    return tuple(flags)
