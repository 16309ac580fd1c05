"""Words for where a link goes (WCAG technique G94, H2): its label, else the readable part of its address.

It looks at strings only, never opens an address.
"""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

from captioner.prepare import pagewords

GENERIC = frozenset(
    # en, de, fr, es, pl
    {"click here", "here", "read more", "more", "learn more", "link", "details"}
    | {"hier", "hier klicken", "klicken sie hier", "mehr", "mehr erfahren", "weiterlesen", "weiter"}
    | {"en savoir plus", "lire la suite", "ici", "leer más", "más", "aquí", "więcej", "czytaj więcej", "tutaj"}
)
FILE = re.compile(r"\.(jpe?g|png|gif|webp|avif|svg|heic|bmp|tiff?)$", re.I)
PAGE = re.compile(r"\.(x?html?|php\d?|aspx?|jsp|cfm)$", re.I)
EMPTY_NAMES = frozenset(
    {"index", "default", "home", "node", "page", "pages", "view", "item", "id", "p"}
    | {"en", "de", "fr", "es", "pl", "en us", "en gb", "de de"}
)
READABLE = re.compile(r"[^\W\d_]{3,}")
CODE = re.compile(r"\d{4,}|[0-9a-f]{8,}|^[^\W\d_]{0,2}\d", re.I)


def label_words(label: str) -> str:
    """The label as the text, "" where it is empty, generic ("click here"), an address or markup."""
    cleaned = pagewords.clean(label)
    if pagewords.plain(cleaned) in GENERIC or not pagewords.plain(cleaned):
        return ""
    return "" if re.search(r"://|^www\.|[<>]", cleaned) else cleaned


def address_words(href: str) -> str:
    """ "Opening hours" for "/visit/opening-hours.html"; "" where no segment reads like words."""
    try:
        parts = urlsplit(href.strip())
    except ValueError:
        return ""
    if parts.scheme not in ("", "http", "https") or FILE.search(parts.path):
        return ""
    for segment in reversed([piece for piece in parts.path.split("/") if piece]):
        words = re.sub(r"[-_+.~]+", " ", PAGE.sub("", unquote(segment, errors="replace"))).strip()
        if words.casefold() in EMPTY_NAMES:
            continue
        cleaned = pagewords.clean(words)
        if "�" in cleaned or CODE.search(cleaned) or not READABLE.search(cleaned) or len(cleaned) > 80:
            return ""
        return cleaned[:1].upper() + cleaned[1:]
    return ""


def is_front_page(href: str) -> bool:
    """True for the root of the site that the page itself is on."""
    return href.strip() in ("/", "./", "/index.html", "/index.php")
