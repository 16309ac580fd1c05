"""Which formats are read, what a name or a content type claims, and what the first bytes say a file is.

Looks at names and bytes only; opens nothing.
"""

from __future__ import annotations

import re

ALLOWED = ("JPEG", "PNG", "GIF", "WEBP", "AVIF", "TIFF")
HEIC = "HEIF"  # Pillow's name for it

EXTENSIONS = {
    **dict.fromkeys(("jpg", "jpeg", "jpe", "jfif", "jif", "pjpeg", "pjp", "mpo"), "JPEG"),
    **dict.fromkeys(("png", "apng"), "PNG"),
    **dict.fromkeys(("tif", "tiff"), "TIFF"),
    **dict.fromkeys(("heic", "heif", "hif", "heics"), HEIC),
    **dict.fromkeys(("avif", "avifs"), "AVIF"),
    "gif": "GIF",
    "webp": "WEBP",
}
CONTENT_TYPES = {
    **dict.fromkeys(("jpeg", "jpg", "pjpeg", "mpo"), "JPEG"),
    **dict.fromkeys(("png", "x-png", "apng", "vnd.mozilla.apng"), "PNG"),
    **dict.fromkeys(("tiff", "tiff-fx"), "TIFF"),
    **dict.fromkeys(("heic", "heif", "heic-sequence", "heif-sequence"), HEIC),
    **dict.fromkeys(("avif", "avif-sequence"), "AVIF"),
    "gif": "GIF",
    "webp": "WEBP",
}

# An extension is a few letters and digits; "Chart 1.2" and "Portrait of Dr. Smith" have none.
EXTENSION = re.compile(r"\.([a-z][a-z0-9]{0,7})\s*$")

# Leading bytes of what is read, then of what is not: the latter only for words to an author, and to be sure.
OURS = (
    (b"\xff\xd8\xff", "JPEG"),
    (b"\x89PNG\r\n\x1a\n", "PNG"),
    (b"GIF87a", "GIF"),
    (b"GIF89a", "GIF"),
    (b"II*\0", "TIFF"),
    (b"MM\0*", "TIFF"),
    (b"II+\0", "TIFF"),  # BigTIFF
    (b"MM\0+", "TIFF"),
)
OTHERS = (
    (b"%PDF-", "A PDF document"),
    (b"%!PS", "A PostScript file"),
    (b"\xc5\xd0\xd3\xc6", "A PostScript file"),
    (b"8BPS", "A Photoshop file"),
    (b"\0\0\0\x0cjP  \r\n\x87\n", "A JPEG 2000 picture"),
    (b"\xff\x4f\xff\x51", "A JPEG 2000 picture"),
    (b"\0\0\0\x0cJXL \r\n\x87\n", "A JPEG XL picture"),
    (b"\xff\x0a", "A JPEG XL picture"),
    (b"\0\0\x01\0", "An icon file"),
    (b"\0\0\x02\0", "A cursor file"),
    (b"icns", "An icon file"),
    (b"SIMPLE  =", "A FITS file"),
    (b"DDS ", "A texture file"),
    (b"qoif", "A QOI picture"),
    (b"\x8aMNG", "An MNG animation"),
    (b"v/1\x01", "An OpenEXR picture"),
    (b"\xd7\xcd\xc6\x9a", "A Windows metafile"),
    (b"\xd0\xcf\x11\xe0", "An Office or FlashPix file"),
    (b"PK\x03\x04", "A ZIP archive or Office document"),
    (b"\x1f\x8b", "A compressed file"),
    (b"\x7fELF", "A program"),
    (b"MZ", "A program"),
    (b"#!", "A program"),
    (b"{\\rtf", "A text document"),
    (b"#define", "An XBM drawing"),
    (b"/* XPM", "An XPM drawing"),
)
HEIF_BRANDS = {b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs", b"mif1", b"msf1"}


def extension(name: str) -> str:
    """Lower-case extension without the dot, "" where the name has none; paths of either system are cut off."""
    found = EXTENSION.search(re.split(r"[/\\]", name)[-1].lower())
    return found[1] if found else ""


def claims(name: str, content_type: str) -> set[str]:
    """Formats that the name and the sender claim; "other" for a claim that is no picture; empty for no claim."""
    claimed = set()
    if ending := extension(name):
        claimed.add(EXTENSIONS.get(ending, "other"))
    kind = content_type.partition(";")[0].strip().lower()
    if kind and kind not in ("application/octet-stream", "binary/octet-stream", "image/*"):
        claimed.add(CONTENT_TYPES.get(kind.removeprefix("image/"), "other"))
    return claimed


def is_listed(name: str, *, heic: bool) -> bool:
    """Whether the name's extension may be read at all; a name without one says nothing and passes."""
    ending = extension(name)
    return not ending or EXTENSIONS.get(ending) in (*ALLOWED, *([HEIC] if heic else []))


def sniff(data: bytes) -> tuple[str, str]:
    """(format that Pillow could read or "", words for what else it is or "")."""
    for magic, name in OURS:
        if data.startswith(magic):
            return name, ""
    if data[:4] == b"RIFF":
        return ("WEBP", "") if data[8:12] == b"WEBP" else ("", "A sound or video file")
    if data[4:8] == b"ftyp":
        return _base_media(data)
    if data[:2] == b"BM" and int.from_bytes(data[14:18], "little") in (12, 16, 40, 52, 56, 64, 108, 124):
        return "", "A BMP picture"  # two letters prove nothing; the size of the second header does
    return "", next((words for magic, words in OTHERS if data.startswith(magic)), "") or _markup(data)


def _base_media(data: bytes) -> tuple[str, str]:
    """The ISO container: AVIF, HEIC or a video, by its brands."""
    size = min(int.from_bytes(data[:4], "big"), 512)
    brands = [data[8:12], *(data[at : at + 4] for at in range(16, size, 4))]
    if any(brand in (b"avif", b"avis") for brand in brands):
        return "AVIF", ""
    if HEIF_BRANDS.intersection(brands):
        return HEIC, ""
    return "", "A video file"


def _markup(data: bytes) -> str:
    start = data[:1024].removeprefix(b"\xef\xbb\xbf").replace(b"\0", b"").lstrip(b"\xff\xfe \t\r\n").lower()
    if start.startswith((b"<html", b"<!doctype html", b"<script", b"<head", b"<body")):
        return "A web page"
    if b"<svg" in start and start.startswith(b"<"):
        return "A drawing in SVG"
    return "An XML document" if start.startswith((b"<?xml", b"<!doctype")) else ""
