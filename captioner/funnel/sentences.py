"""Where a sentence ends, and whether one ends at all. Pure; knows English abbreviations, initials and acronyms."""

from __future__ import annotations

import re


def _words(*lines: str) -> frozenset[str]:
    return frozenset(" ".join(lines).split())


BEFORE_A_NAME = _words(  # what they stand before belongs to them: never an end
    "dr mr mrs ms mx messrs prof gen col maj capt cmdr lt sgt cpl adm rev fr sr hon gov sen rep pres st ste mt ft",
    "fig figs eq eqs ref refs no nos vol vols ch chap sec pp p ed eds cf vs v viz approx ca c e.g i.e",
    "jan feb mar apr jun jul aug sep sept oct nov dec",
)
MAY_END = _words("inc ltd co corp bros jr esq etc al dept univ est ave blvd rd sq a.m p.m ph.d m.d b.a m.a")
STARTERS = _words(  # begin a sentence after an initial or acronym: "the U.S. The map", but "Robert C. Weaver"
    "A An The This That These Those It Its In On At There He She They His Her Their One Two Three Four Some Both Each",
    "Below Above To From Under Around Behind Beside Next",
)
HANGING = _words(  # not in, on, by: "with the lights on" is whole
    "a an the of and or but nor to with into onto for from at as is are was were be been that which who",
    "whose its his her their this these",
)
ALSO_A_WORD = _words("v c p no mar")  # abbreviations that can end a sentence as something else
STOP = re.compile(r"[.!?…]+[\"'”’»)\]]*(?=\s)")
INITIAL = re.compile(r"[A-Z]")
ACRONYM = re.compile(r"(?:[A-Za-z]\.)+[A-Za-z]")
PAIRS = {")": "(", "]": "[", "”": "“"}


def split(text: str) -> list[str]:
    """The sentences of a text with single spaces, in order; joined by spaces they give the text."""
    found, start = [], 0
    for stop in STOP.finditer(text):
        if _ends(text[start : stop.end()], text[stop.end() :].lstrip()):
            found.append(text[start : stop.end()])
            start = stop.end() + 1
    rest = text[start:].strip()
    return [*found, rest] if rest else found


def is_fragment(sentence: str) -> bool:
    """Whether the end is missing: a name cut at an initial, a title without its name, a hanging word, an open quote."""
    if sentence.endswith(("...", "…", ",", ";", ":", "-", "–", "—", "(")) or not is_closed(sentence):
        return True
    words = sentence.rstrip(".!?\"'”’)").split()
    if not words:
        return True
    last = words[-1].lstrip("(\"“'‘")
    if sentence.endswith("."):
        if INITIAL.fullmatch(last) and len(words) > 1 and words[-2][:1].isupper():
            return True
        if last.lower() in BEFORE_A_NAME - ALSO_A_WORD:
            return True
    return last in HANGING


def is_closed(sentence: str) -> bool:
    """Whether all quotes and brackets that open also close."""
    if sentence.count('"') % 2:
        return False
    return all(sentence.count(opening) == sentence.count(closing) for closing, opening in PAIRS.items())


def _ends(sentence: str, rest: str) -> bool:
    """Whether the stop at the end of `sentence` ends it, with `rest` after it."""
    following = rest.split(maxsplit=1)[0].lstrip("(\"'“‘«[") if rest else ""
    if not following or following[0].islower():
        return not following
    closed = sentence.rstrip("\"'”’»)]")
    if not closed.endswith(".") or closed.endswith(".."):
        return following[0].isupper()
    word = (closed[:-1].split() or [""])[-1].lstrip("(\"'“‘«[")
    if word.lower() in BEFORE_A_NAME and not INITIAL.fullmatch(word):
        return False
    if INITIAL.fullmatch(word) or ACRONYM.fullmatch(word) or word.lower() in MAY_END:
        return re.sub(r"\W+$", "", following) in STARTERS
    return True
