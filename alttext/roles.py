"""What an image is for in its place: the W3C WAI decision tree of 2024-01-15, asked in order, first match wins.

A role belongs to a placement, never to a file. Decorative is never the answer here: only a person may say so.
"""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """Values are those of the captioner's Role."""

    UNKNOWN = "unknown"
    INFORMATIVE = "informative"
    FUNCTIONAL = "functional"
    TEXT = "text"
    COMPLEX = "complex"
    DECORATIVE = "decorative"


LABELS = {
    Role.UNKNOWN: "Not known yet",
    Role.INFORMATIVE: "Informative: adds something to the page",
    Role.FUNCTIONAL: "Functional: the image is a link or a button",
    Role.TEXT: "Text: the image shows words",
    Role.COMPLEX: "Complex: a chart, map or diagram",
    Role.DECORATIVE: "Decorative: needs no text",
}


def propose(*, linked: bool, declared: str = "") -> Role:
    """The role that the markup alone can tell: what the site declared, else functional for the content of a link."""
    if declared:
        return Role(declared)
    return Role.FUNCTIONAL if linked else Role.UNKNOWN
