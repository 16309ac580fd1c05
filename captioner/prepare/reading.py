"""What may be quoted of the words read in a picture: which lines are sure, their order, the title, axis words.

It knows boxes and confidences, no languages and no page.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from captioner.prepare import pagewords
from captioner.types import TextLine

SURE = 0.9  # a line below it is not quoted; the known false reading on a photo without text was one "8"
SURE_TITLE = 0.93
MIN_LETTERS = 2
LABEL = re.compile(r"[^\W\d_]+(?:[ '’/&-]+[^\W\d_]+){0,4}")  # at most five words: longer lines are several read as one
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
    tidy = in_order([replace(line, text=" ".join(line.text.split())) for line in lines if line.text.strip()])
    good = tuple(line for line in tidy if line.confidence >= sure and is_wordlike(line.text))
    wordy = [line for line in tidy if is_wordlike(line.text)]
    opening = tuple(itertools.takewhile(lambda line: line in good, wordy))
    return Reading(good, tuple(line for line in tidy if line not in good), opening)


def is_wordlike(text: str) -> bool:
    """True for at least two letters that are most of the characters: no lone digit, no bar of symbols."""
    letters = len(LETTER.findall(text))
    return letters >= MIN_LETTERS and letters >= 0.4 * len(text.replace(" ", ""))


def is_whole(text: str) -> bool:
    """False where a line seems to go on in the next, or is cut out of running text."""
    return text[-1:] not in ",:;&-–(" and not text.endswith((" the", " of", " and", " is"))


def is_label(text: str) -> bool:
    """True for plain words of a diagram: no formula, no half of a bracket, no single short token."""
    return bool(LABEL.fullmatch(text)) and len(LETTER.findall(text)) >= LABEL_LETTERS and is_whole(text)


def in_order(lines: Sequence[TextLine]) -> tuple[TextLine, ...]:
    """Top to bottom; lines that overlap by half their height count as one row, read from the left."""
    rows: list[list[TextLine]] = []
    for line in sorted(lines, key=lambda line: line.box.top):
        for row in rows:
            if _same_row(row[0], line):
                row.append(line)
                break
        else:
            rows.append([line])
    return tuple(line for row in rows for line in sorted(row, key=lambda line: line.box.left))


def title(lines: Sequence[TextLine], least_words: int = 2) -> TextLine | None:
    """A line that reads like the title of a chart: sure, in the top fifth, left or central, alone, not cut off."""
    for line in in_order(lines):
        box = line.box
        central = abs((box.left + box.right) / 2 - 0.5) < 0.2 or box.left < 0.12
        alone = not any(other is not line and _same_row(line, other) for other in lines)
        if (
            line.confidence >= SURE_TITLE
            and box.bottom < 0.22
            and central
            and alone
            and len(pagewords.words(line.text)) >= least_words
            and is_wordlike(line.text)
            and is_whole(line.text)
            and not line.text[0].islower()
            and '"' not in line.text
        ):
            return line
    return None


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
