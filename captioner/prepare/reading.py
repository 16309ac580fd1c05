"""What may be quoted of the words read in a picture: which lines are sure, their order, the title, axis words.

It knows boxes and confidences, no languages and no page.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from captioner.prepare import pagewords
from captioner.types import Box, TextLine

SURE = 0.9  # a line below it is not quoted; the known false reading on a photo without text was one "8"
SURE_TITLE = 0.93
MIN_LETTERS = 2
LABEL = re.compile(r"[^\W\d_]+(?:[ '’/&-]+[^\W\d_]+){0,5}")  # at most six words: what is longer is running text
LISTED = re.compile(r"\d{1,2}[.)]\s")  # "1. Define the problem" is the first of several
LABEL_LETTERS = 4
SURE_LABEL = 0.96  # "Hypcthalamus" and "serotum" were read on 336 px with .93
LETTER = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Reading:
    """Sure lines in reading order, and those that were seen but are not sure enough.

    :ivar opening: the sure lines before the first doubtful one: what may be quoted without leaving a gap.
    """

    sure: tuple[TextLine, ...] = ()
    unsure: tuple[TextLine, ...] = ()
    opening: tuple[TextLine, ...] = ()

    @property
    def text(self) -> str:
        return " ".join(line.text for line in self.sure)

    @property
    def is_whole(self) -> bool:
        """No line with words was left out."""
        return len(self.opening) == len(self.sure) and not any(is_wordlike(line.text) for line in self.unsure)


def read(lines: Sequence[TextLine], sure: float = SURE) -> Reading:
    """Sort `lines` into sure and unsure; a sure line is wordlike, a lone digit never is."""
    tidy = [replace(line, text=" ".join(line.text.split())) for line in lines if line.text.strip()]
    rows = in_rows(tidy)
    ordered = [line for row in rows for line in row]
    good = tuple(line for line in ordered if line.confidence >= sure and is_wordlike(line.text))
    plain = itertools.takewhile(lambda row: len(row) == 1 or len(rows) == 1, rows)  # beside each other: columns
    wordy = (line for row in plain for line in row if is_wordlike(line.text))
    opening = tuple(itertools.takewhile(lambda line: line in good, wordy))
    return Reading(good, tuple(line for line in ordered if line not in good), opening)


def is_wordlike(text: str) -> bool:
    """True for at least two letters that are most of the characters: no lone digit, no bar of symbols."""
    letters = len(LETTER.findall(text))
    return letters >= MIN_LETTERS and letters >= 0.4 * len(text.replace(" ", ""))


def is_whole(text: str) -> bool:
    """False where a line seems to go on in the next, or is cut out of running text."""
    return text[-1:] not in ",:;&-–(" and not text.endswith((" the", " of", " and", " is", " as", " to", " in", " a"))


def is_label(text: str) -> bool:
    """True for plain words of a diagram: no formula, no half of a bracket, no single short token."""
    return bool(LABEL.fullmatch(text)) and len(LETTER.findall(text)) >= LABEL_LETTERS and is_whole(text)


def in_rows(lines: Sequence[TextLine]) -> list[list[TextLine]]:
    """Top to bottom; lines that overlap by half their height are one row, read from the left."""
    rows: list[list[TextLine]] = []
    for line in sorted(lines, key=lambda line: line.box.top):
        row = next((row for row in rows if _same_row(row[0], line)), None)
        if row is None:
            rows.append([line])
        else:
            row.append(line)
    return [sorted(row, key=lambda line: line.box.left) for row in rows]


def blocks(lines: Sequence[TextLine]) -> list[TextLine]:
    """Lines that stand close under each other, centred or flush, joined: the words of one box of a diagram.

    A block is as sure as its least sure line.
    """
    joined: list[TextLine] = []
    for line in (line for row in in_rows(lines) for line in row):
        above = next((one for one in reversed(joined) if _continues(one, line)), None)
        if above is None:
            joined.append(line)
        else:
            joined[joined.index(above)] = _join(above, line)
    return joined


def title(lines: Sequence[TextLine], least_words: int = 2) -> TextLine | None:
    """What reads like the title of a chart: the topmost words, in the top fifth, left or central, sure, not cut off.

    :param lines: all lines of the picture, sure or not: a title whose first line is doubtful is none.
    """
    rows = [row for row in in_rows(lines) if any(is_wordlike(line.text) for line in row)]
    if not rows or len(rows[0]) > 1:
        return None
    line = rows[0][0]
    alone = list(itertools.takewhile(lambda row: len(row) == 1, rows[1:]))  # a row of several is a row of heads
    following = [row[0] for row in alone[:2]]
    if following and _continues(line, following[0]) and (not is_whole(line.text) or _as_high(line, following[0])):
        if len(following) > 1 and _continues(following[0], following[1]) and _as_high(following[0], following[1]):
            return None  # three lines and more are a box or running text
        line = _join(line, following[0])
    return line if line.box.top < 0.15 and _reads_like_title(line, least_words) else None


def _reads_like_title(line: TextLine, least_words: int) -> bool:
    central = abs((line.box.left + line.box.right) / 2 - 0.5) < 0.2 or line.box.left < 0.12
    long_enough = len(pagewords.words(line.text)) >= least_words and is_wordlike(line.text) and is_whole(line.text)
    running = line.text[0].islower() or '"' in line.text or (":" in line.text and least_words > 2)
    return line.confidence >= SURE_TITLE and central and long_enough and not running and not LISTED.match(line.text)


def axes(lines: Sequence[TextLine], width_px: int, height_px: int) -> tuple[TextLine, ...]:
    """Axis words, (horizontal, vertical), or none: a legend or a source note stands where one alone would stand.

    The vertical one is an upright strip at the left edge, the horizontal one a short central line under all others.
    """
    sure = [line for line in lines if line.confidence >= SURE_TITLE and _is_short_name(line.text)]
    side = next((line for line in sure if _is_upright(line, width_px, height_px) and line.box.right < 0.15), None)
    below = [line for line in sure if line.box.top > 0.85 and abs((line.box.left + line.box.right) / 2 - 0.5) < 0.2]
    bottom = next((line for line in below if all(o is line or o.box.bottom <= line.box.top for o in lines)), None)
    return (bottom, side) if bottom is not None and side is not None and bottom is not side else ()


def _is_short_name(text: str) -> bool:
    return (
        len(text.split()) <= 5 and is_wordlike(text) and not any(letter.isdigit() or letter in ".:;" for letter in text)
    )


def _is_upright(line: TextLine, width_px: int, height_px: int) -> bool:
    return (line.box.bottom - line.box.top) * height_px > 2 * (line.box.right - line.box.left) * width_px


def _same_row(first: TextLine, second: TextLine) -> bool:
    shared = min(first.box.bottom, second.box.bottom) - max(first.box.top, second.box.top)
    return shared > 0.5 * min(first.box.bottom - first.box.top, second.box.bottom - second.box.top)


def _continues(above: TextLine, below: TextLine) -> bool:
    """True where `below` is the next line of the same words: as high, close under it, centred or flush with it."""
    one, two = above.box, below.box
    height = two.bottom - two.top
    lines_above = max(1, round((one.bottom - one.top) / height)) if height > 0 else 1
    gap, alike = two.top - one.bottom, 0.6 < height * lines_above / max(one.bottom - one.top, 1e-6) < 1.6
    aligned = min(abs((one.left + one.right) - (two.left + two.right)) / 2, abs(one.left - two.left)) < 0.25 * max(
        one.right - one.left, two.right - two.left
    )
    return alike and aligned and -0.5 * height < gap < 0.6 * height


def _as_high(first: TextLine, second: TextLine) -> bool:
    one, two = first.box.bottom - first.box.top, second.box.bottom - second.box.top
    return 0.87 < two / max(one, 1e-6) < 1.15


def _join(above: TextLine, below: TextLine) -> TextLine:
    one, two = above.box, below.box
    box = Box(min(one.left, two.left), one.top, max(one.right, two.right), two.bottom)
    return TextLine(f"{above.text} {below.text}", min(above.confidence, below.confidence), box)
