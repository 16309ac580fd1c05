"""The pre-filter: what must not be described, decided from what was seen and from the page. Pure policy.

It knows no model. A refusal is an answer: the author gets an empty box and the reason.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from captioner.prepare import pagewords
from captioner.prepare.pagewords import PageWords
from captioner.types import Sight

TEST_WORDS = re.compile(r"\b(captcha|recaptcha|hcaptcha)\b|\bnot a robot\b|\bkein roboter\b", re.I)
TEST_TASK = re.compile(r"\b(type|enter|retype)\b.{0,30}\b(characters|letters|text you see|code you see)\b", re.I)
CARD_NUMBER = re.compile(r"(?<![\d.,-])[3-6]\d{3}([ -]?)\d{4,6}\1\d{4,5}(?:\1\d{4})?(?![\d.,-])")  # not a row of years


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a picture is not described, in words for the author."""

    detail: str


def refuse(sight: Sight, page: PageWords) -> Refusal | None:
    """A refusal for tests of humanity (WCAG G143: name the purpose, never solve it) and for payment cards."""
    read = " ".join(line.text for line in sight.lines)
    near = " ".join((page.link_label, page.caption, *page.headings[-1:], page.before[-200:], page.after[:200]))
    if TEST_WORDS.search(read) or TEST_TASK.search(read) or TEST_TASK.search(near) or re.search("captcha", near, re.I):
        return Refusal("This looks like a CAPTCHA. Its text alternative names the purpose and must not solve it.")
    if any(is_card_number(match.group()) for line in sight.lines for match in CARD_NUMBER.finditer(line.text)):
        return Refusal("The picture shows what reads like a payment card number; nothing of it is repeated.")
    return None


def is_card_number(text: str) -> bool:
    """True for 13-19 digits with a right check digit (Luhn, ISO/IEC 7812-1) that are not all the same."""
    digits = [int(character) for character in pagewords.plain(text) if character.isdigit()]
    doubled = [digit if place % 2 == 0 else sum(divmod(2 * digit, 10)) for place, digit in enumerate(reversed(digits))]
    return 13 <= len(digits) <= 19 and len(set(digits)) > 1 and sum(doubled) % 10 == 0
