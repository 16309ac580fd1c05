"""Lint rules for texts and for rendered pages: small registered functions. Warnings, and errors for structure only.

A linter cannot judge whether a text is good (alt-text page, section 6: the best of four public rule sets flags every
third good text), so nothing here blocks an author except characters that no reader can see. Rule ids, levels and what
they are keyed to: alt-text page, section 5; all of them with their measured rates: docs/rules.md.
"""

from alttext.rules import markup, text
from alttext.rules.markup import check_page
from alttext.rules.page import MOST_CHARS, MOST_TAGS, Page
from alttext.rules.registry import (
    ALWAYS_ON,
    ERROR,
    INFO,
    LEVELS,
    RULES,
    WARN,
    Finding,
    Hit,
    Rule,
    Subject,
    check,
    switched_off,
    wrongly_off,
)
from alttext.rules.text import AIM, LONG, VERY_LONG

__all__ = [
    "AIM",
    "ALWAYS_ON",
    "ERROR",
    "INFO",
    "LEVELS",
    "LONG",
    "MOST_CHARS",
    "MOST_TAGS",
    "RULES",
    "VERY_LONG",
    "WARN",
    "Finding",
    "Hit",
    "Page",
    "Rule",
    "Subject",
    "check",
    "check_page",
    "markup",
    "switched_off",
    "text",
    "wrongly_off",
]
