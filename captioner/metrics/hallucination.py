"""CHAIR_i and CHAIR_s (arXiv 1809.02156): which COCO objects do texts name, and which of those are not there?

Mode `official` counts as LisaAnne/Hallucination does, its known bugs kept, so that figures compare with published ones.
Mode `clean`, which every other measure uses, has the same table with the bugs repaired and a few words added: there is
no second list. `chair_synonyms.txt` is data/synonyms.txt of that repository (BSD-2-Clause), unchanged. Sees 80 classes
only; knows no model and no file of results.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Literal

Mode = Literal["official", "clean"]


def _list(words: str) -> tuple[str, ...]:
    return tuple(words.split(", "))


class UnknownObject(ValueError):
    """A label among the truths is none of the 80 COCO classes."""


@dataclass(frozen=True, slots=True)
class Chair:
    """Counts of one system. Shares are None where nothing was counted.

    An empty text counts as clean, so silence lowers `s`: read `coverage` and `recall` beside it.

    :ivar captions: all texts, empty ones too; `silent` of them are empty.
    :ivar mentions: of COCO objects, repeats counted.
    :ivar found: true objects that are named, of `present`, each once an image.
    :ivar words: of all texts together, without punctuation.
    """

    mode: Mode
    captions: int
    silent: int
    mentions: int
    false_mentions: int
    false_captions: int
    found: int
    present: int
    words: int

    @property
    def i(self) -> float | None:
        return self.false_mentions / self.mentions if self.mentions else None

    @property
    def s(self) -> float | None:
        return self.false_captions / self.captions if self.captions else None

    @property
    def recall(self) -> float | None:
        return self.found / self.present if self.present else None

    @property
    def coverage(self) -> float | None:
        return (self.captions - self.silent) / self.captions if self.captions else None

    @property
    def mean_words(self) -> float | None:
        offered = self.captions - self.silent
        return self.words / offered if offered else None


def chair(texts: Sequence[str], truths: Sequence[Collection[str]], *, mode: Mode) -> Chair:
    """Hold each text against the COCO classes that are in its picture (see `truth`).

    :param texts: "" where the captioner was silent.
    :raises UnknownObject: a truth holds a label that is no COCO class.
    :raises ValueError: there is not one truth a text.
    """
    if len(texts) != len(truths):
        raise ValueError(f"{len(texts)} texts but {len(truths)} truths")
    if strangers := set().union(*truths) - classes():
        raise UnknownObject(f"not among the 80 COCO classes: {', '.join(sorted(strangers))}")
    named = [mentioned(text, mode=mode) for text in texts]
    false = [[label for label in labels if label not in true] for labels, true in zip(named, truths, strict=True)]
    return Chair(
        mode=mode,
        captions=len(texts),
        silent=sum(not text.strip() for text in texts),
        mentions=sum(map(len, named)),
        false_mentions=sum(map(len, false)),
        false_captions=sum(map(bool, false)),
        found=sum(len(set(labels) & set(true)) for labels, true in zip(named, truths, strict=True)),
        present=sum(len(set(true)) for true in truths),
        words=sum(len(_words(text)) for text in texts),
    )


def truth(labels: Iterable[str], references: Iterable[str], *, mode: Mode) -> frozenset[str]:
    """CHAIR's truth of one picture: instance labels, and whatever its human captions name."""
    return frozenset(labels).union(*(mentioned(text, mode=mode) for text in references))


def mentioned(text: str, *, mode: Mode = "clean") -> list[str]:
    """Classes that `text` names, in order, once for each mention."""
    return _official(text) if mode == "official" else _clean(text)


def classes() -> frozenset[str]:
    """The 80 COCO classes."""
    return frozenset(_synonyms().values())


@functools.cache
def _synonyms() -> dict[str, str]:
    """Word -> class as the official script reads the file: two words keep a leading space and never match."""
    lines = resources.files(__package__).joinpath("chair_synonyms.txt").read_text("utf-8").splitlines()
    rows = [line.strip().split(", ") for line in lines]
    return {word: row[0] for row in rows for word in row}


# ---- official ----

ANIMALS = ("bird", "cat", "dog", "horse", "sheep", "cow", "elephant", "bear", "zebra", "giraffe", "animal", "cub")
PAIRS = _list(
    "motor bike, motor cycle, air plane, traffic light, street light, traffic signal, stop light, fire hydrant, "
    "stop sign, parking meter, suit case, sports ball, baseball bat, baseball glove, tennis racket, wine glass, "
    "hot dog, cell phone, mobile phone, teddy bear, hair drier, potted plant, laptop computer, stove top oven, "
    "home plate, train track"  # the last two on purpose: so that they name no plate and no train
)
MERGES = (
    {pair: pair for pair in PAIRS}
    | {f"{qualifier} {animal}": animal for qualifier in ("baby", "adult") for animal in ANIMALS}
    | {f"passenger {vehicle}": vehicle for vehicle in ("jet", "train")}
    | {"bow tie": "tie", "toilet seat": "toilet", "wine glas": "wine glass"}
)
# Words and signs as nltk.word_tokenize leaves them for captions: hyphens and slashes stay inside, clitics come off.
TOKEN = re.compile(r"n't\b|'(?:s|m|d|re|ve|ll)\b|\w(?:(?!n't\b)\w)*(?:[-/.*=+_]\w(?:(?!n't\b)\w)*)*/?|[^\w\s]")


def _official(text: str) -> list[str]:
    """One pass over word pairs, then the table. Bugs kept: see `tests/captioner/metrics/test_hallucination.py`."""
    words = [singular(word) for word in TOKEN.findall(text.lower())]
    merged, at = [], 0
    while at < len(words):
        pair = " ".join(words[at : at + 2])
        merged.append(MERGES.get(pair, words[at]))
        at += 2 if pair in MERGES else 1
    if "toilet" in merged:
        merged = [word for word in merged if word != "seat"]
    table = _synonyms()
    return [table[word] for word in merged if word in table]


ENDINGS = (  # plural and singular, first match wins
    ("doggies", "doggies"),  # left alone there, so never matched
    ("collies", "collies"),
    ("scissors", "scissors"),
    ("children", "child"),
    ("people", "person"),
    ("geese", "goose"),
    ("oxen", "ox"),
    ("men", "man"),
    ("mice", "mouse"),
    ("shoes", "shoe"),
    ("oes", "o"),
    ("buses", "bus"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("sses", "ss"),
    ("xes", "x"),
)
CONSONANT_IES = re.compile(r"([^aeiouy]|qu)ies$")
IVES, LVES = re.compile(r"([nlw]i)ves$"), re.compile(r"([lr])ves$")


def singular(word: str) -> str:
    """One lower-case word without its plural, by the rules of pattern.en that matter for COCO's words.

    Like there, every final s goes: "bus" gives "bu" and "glass" gives "glas".
    """
    for ending, instead in ENDINGS:
        if word.endswith(ending):
            return word.removesuffix(ending) + instead
    for rule, instead in ((CONSONANT_IES, r"\1y"), (IVES, r"\1fe"), (LVES, r"\1f")):
        if rule.search(word):
            return rule.sub(instead, word)
    return word.removesuffix("s")


# ---- clean ----

PLURALS = {
    "person": "persons",
    "knife": "knives",
    "pocketknife": "pocketknives",
    "thief": "thieves",
    "calf": "calves",
    "ox": "oxen",
    "goose": "geese",
    "mouse": "mice",
    "child": "children",
    "grandchild": "grandchildren",
}
DROPPED = ("bow", "seat")  # their sense cannot be told from the words: counted neither as right nor as wrong
LOOKALIKES = _list(  # name no object of the 80, although a word of them would
    "home plate, train track, train station, bus stop, bus station, jet ski, chair lift, cable car, car wash, "
    "boat house, ball game, ball player, ball park, ball field, ball cap, ball gown, ball room, ball of, "
    "pool table, table tennis, table lamp, table cloth, table of contents, "
    "mickey mouse, mouse trap, mouse pad, book bag, book case, book shelf, book store, book end, "
    "bear fruit, bear in mind, turkey breast, turkey meat, turkey leg, turkey dinner, turkey slice, roast turkey, "
    "roasted turkey, sliced turkey, smoked turkey, in turkey, tie dye, remote area, remote location, remote beach"
)
REPAIRED = {
    "stuffed bear": "teddy bear",
    "toy bear": "teddy bear",
    "plush bear": "teddy bear",
    "toilet seat": "toilet",
    "computer mouse": "mouse",
    "turkey sandwich": "sandwich",
    "turkey burger": "sandwich",
    "orange slice": "orange",
    "bowtie": "tie",
}
ADDED = {  # other words for the very thing; trades are left out, as a farmer is more than a person
    word: label
    for label, words in {
        "airplane": "aeroplane, airliner",
        "backpack": "rucksack",
        "bear": "grizzly, polar bear",
        "bird": "dove, eagle, hawk, hen, penguin",
        "book": "textbook",
        "bus": "trolley bus",
        "car": "convertible, limousine",
        "cat": "kitty",
        "cell phone": "smart phone",
        "chair": "armchair",
        "cup": "mug, teacup",
        "hair drier": "blow dryer, hair dryer",
        "handbag": "hand bag",
        "hot dog": "hotdog",
        "laptop": "notebook computer",
        "motorcycle": "dirt bike",
        "remote": "remote control",
        "sink": "washbasin",
        "skateboard": "skate board",
        "surfboard": "paddle board, surf board",
        "tennis racket": "racquet, tennis racquet",
        "tie": "necktie",
        "toothbrush": "tooth brush",
        "train": "railroad car, railway car, railway carriage, streetcar, train car, tram",
        "truck": "fire engine",
        "umbrella": "parasol",
        "wine glass": "champagne glass, goblet, wineglass",
    }.items()
    for word in _list(words)
}
VEHICLES = {"jet": "airplane", "plane": "airplane", "train": "train", "car": "car", "bus": "bus", "ferry": "boat"}
FRUIT = _list("apple, apples, banana, bananas, lemon, lemons, lime, limes, pear, pears, grape, grapes, fruit, fruits")
COUNTED = _list("an, one, half, each, the, this, whole, fresh, ripe, peeled, sliced, cut, single, mandarin, navel")
AFTER_A_THING = _list(
    "is, are, was, here, there, on, in, at, with, by, near, next, beside, behind, that, which, sitting, sits, laying, "
    "lying, cut, sliced, being, hanging, for, to, from, under, over, inside, outside, against, between, into"
)


@functools.cache
def _table() -> dict[tuple[str, ...], str]:
    """Words in order -> class: the official table without its slips, with plurals, look-alikes and qualifiers."""
    named = {word.strip().casefold(): label for word, label in _synonyms().items()}
    terms = {word: label for word, label in named.items() if word not in DROPPED} | REPAIRED | ADDED
    animals = {word: label for word, label in terms.items() if label in ANIMALS} | {"animal": "", "cub": ""}
    terms |= {f"{age} {animal}": label for animal, label in animals.items() for age in ("baby", "adult")}
    terms |= {f"passenger {vehicle}": label for vehicle, label in VEHICLES.items()}
    looks = {form: "" for look in LOOKALIKES for form in _forms(look)}
    return looks | {form: label for term, label in terms.items() for form in _forms(term)}


def plural(noun: str) -> str:
    """The regular English plural of one word."""
    if noun.endswith(("s", "x", "ch", "sh")):
        return noun + "es"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + "s"


def _forms(term: str) -> Iterator[tuple[str, ...]]:
    *head, last = term.split()
    yield (*head, last)
    yield (*head, PLURALS.get(last) or (last[:-3] + "men" if last.endswith("man") else plural(last)))


def _clean(text: str) -> list[str]:
    """The longest words of the table first, so that "hot dog" is no dog and "stove top oven" is one oven.

    A mouse counts where a computer or a keyboard is named too: beside others it may be an animal.
    """
    found = list(_matches(_words(text)))
    labels = {label for _, label in found}
    return [label for word, label in found if word not in ("mouse", "mice") or labels & {"laptop", "keyboard"}]


def _matches(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Matched words with their class, in order."""
    table, at = _table(), 0
    longest = max(map(len, table))
    while at < len(words):
        forms = (tuple(words[at : at + length]) for length in range(min(longest, len(words) - at), 0, -1))
        form = next((form for form in forms if form in table), (words[at],))
        if table.get(form) and (form != ("orange",) or _is_fruit(words[:at], words[at + 1 :])):
            yield " ".join(form), table[form]
        at += len(form)


def _is_fruit(before: Sequence[str], after: Sequence[str]) -> bool:
    """Is the "orange" between these words a fruit? It must be counted or listed, with nothing after it to colour."""
    is_listed = before[-1:] in (["and"], ["or"]) and any(word in FRUIT for word in before[-2:-1])
    goes_on = after[:1] in (["and"], ["or"]) and any(word in FRUIT for word in after[1:3])
    stands_alone = not after or after[0] in AFTER_A_THING or goes_on
    return stands_alone and (is_listed or any(word in COUNTED for word in before[-1:]))


def _words(text: str) -> list[str]:
    """Casefolded words; possessives and hyphens come off."""
    return re.findall(r"[^\W_]+", re.sub(r"['’]s\b", "", text.casefold()))
