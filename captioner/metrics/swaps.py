"""Does a captioner look at the picture, or does it repeat the page? Measured by swapping one of them.

Holds the fixed swap, the share of texts with words copied from the wrong page, and the gap in log-probability from the
wrong picture. Plain values only: which model wrote the texts is not known here.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from captioner.metrics import hallucination
from captioner.prepare import pagewords
from captioner.prepare.vocabulary import vocabulary


@dataclass(frozen=True, slots=True)
class Swap:
    """`partners[i]` is the place that lends its context (or image) to i; None for those in `alone`."""

    partners: tuple[int | None, ...]

    @property
    def alone(self) -> tuple[int, ...]:
        """Places without anyone else to swap with: left out of every rate, and counted."""
        return tuple(place for place, partner in enumerate(self.partners) if partner is None)

    def pairs(self) -> list[tuple[int, int]]:
        return [(place, partner) for place, partner in enumerate(self.partners) if partner is not None]


def derangement(strata: Sequence[Hashable], *, seed: int, same: Sequence[Hashable] | None = None) -> Swap:
    """A fixed swap inside each stratum in which nobody keeps their own. Equal input and seed give an equal swap.

    :param strata: e.g. (kind, language) of each place.
    :param same: what must not meet itself, such as the content hash of an image that stands on two pages; None
        where all are different.
    """
    own = range(len(strata)) if same is None else same
    groups: dict[Hashable, dict[Hashable, list[int]]] = {}
    for place, (stratum, value) in enumerate(zip(strata, own, strict=True)):
        groups.setdefault(stratum, {}).setdefault(value, []).append(place)
    partners: list[int | None] = [None] * len(strata)
    generator = random.Random(seed)  # noqa: S311  (a fixed order, no secret)
    for blocks in groups.values():
        for place, partner in _rotated(list(blocks.values()), generator).items():
            partners[place] = partner
    return Swap(tuple(partners))


def _rotated(blocks: list[list[int]], generator: random.Random) -> Mapping[int, int]:
    """Shift a circle of blocks by the size of the largest: then no place meets its own block.

    Where one block is larger than all others together, what is too much of it stays out.
    """
    generator.shuffle(blocks)
    for block in blocks:
        generator.shuffle(block)
    largest = max(blocks, key=len)
    del largest[max(0, sum(map(len, blocks)) - len(largest)) :]
    shift = max(map(len, blocks))
    circle = [place for block in blocks for place in block]
    return {place: circle[(at + shift) % len(circle)] for at, place in enumerate(circle)}


# ---- copies from the page ----

# Function words, words about pictures, and frequent words that name nothing: they prove no copy.
_NAMELESS = frozenset(
    """
    about above across after again against all almost along already also although always among and another any are
    around away back bad became because become been before began behind being below beside besides best better between
    big both bottom bright but came can close color colored colour coloured come corner could dark day did different
    does done down during each early either else empty enough even ever every far few first for found from front full
    gave get give given gives goes going good got great had half has have having her here high him his how however
    inside into its itself just kind know known large last late later least left less like likely little long look
    looking looks low made main make makes making man's many may maybe might more most much must near nearly never new
    next not now off often old once one only onto open other others our out outside over own part past per perhaps
    place placed present put quite rather really right round said same saw say says see seem seems seen set several
    shall she short should side similar since small some something soon still such take taken takes than that the
    their them then there these they thing things this those though through thus time together too took top toward
    towards turn two three four five six seven eight nine ten under until upon use used uses using usually various
    very view was way well were what when where whether which while who whole whom whose why wide will with within
    without would year years yet you your
    black white red green blue yellow brown grey gray pink purple silver golden
    image picture photo photograph figure illustration drawing shown showing show shows depicts depicting displayed
    """.split()  # noqa: SIM905
)
_VERBAL = ("ing", "ed", "ly")  # rough, as no tagger is at hand: "walking", "painted", "slowly"


def naming_words(text: str) -> frozenset[str]:
    """English words of `text` that may be nouns or names, in the singular: rough, without a tagger.

    Capitals keep a word that its ending would drop ("Manning"), as names do.
    """
    found = set()
    for word in pagewords.WORD.findall(text.replace("’", "'").replace("'s", "")):
        for piece in word.split("-"):
            plain = piece.casefold()
            is_name = piece[:1].isupper()
            if len(plain) < 3 or not plain.isalpha() or plain in _NAMELESS:
                continue
            if is_name or not plain.endswith(_VERBAL):
                found.add(hallucination.singular(plain))
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class SwappedText:
    """One text that was written under the page of another place.

    :ivar swapped: all words of the page that lay beside it; `own` all words of its real page.
    :ivar labels: names of what a detector sees in the picture, and words that were read in it.
    """

    text: str
    swapped: str
    own: str
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CopyRate:
    """Texts with at least one copied word, of all `texts`; `silent` places gave none and are in neither."""

    copied: int
    texts: int
    silent: int
    words: Mapping[str, int]

    @property
    def rate(self) -> float | None:
        return self.copied / self.texts if self.texts else None


def copied_words(one: SwappedText, *, nouns: Callable[[str], Collection[str]] = naming_words) -> tuple[str, ...]:
    """Nouns and names of the swapped page that stand in the text with no support from the detector or the real page.

    :param nouns: which words name things; a tagger gives a better answer than the default.
    """
    loose = set(nouns(one.text)) & set(nouns(one.swapped))
    supported = set(nouns(one.own)) | set(nouns(" ".join(one.labels)))
    return tuple(sorted(word for word in loose - supported if not _is_seen(word, one.labels)))


def copy_rate(places: Iterable[SwappedText], *, nouns: Callable[[str], Collection[str]] = naming_words) -> CopyRate:
    """Context-copy rate over texts.

    Give texts written under their real page for the rate of chance: words that two pages have in common with a picture.
    """
    every = list(places)
    written = [copied_words(one, nouns=nouns) for one in every if one.text.strip()]
    words = Counter(word for found in written for word in found)
    return CopyRate(sum(map(bool, written)), len(written), len(every) - len(written), dict(words.most_common()))


def _is_seen(word: str, labels: Sequence[str]) -> bool:
    """Does a label stand for `word`: as a synonym or kind in CHAIR's table ("woman": person), or as a wider name?"""
    classes = set(hallucination.mentioned(word, mode="clean"))
    return not classes.isdisjoint(labels) or any(vocabulary().is_kind_of(label, word) for label in labels)


# ---- wrong images ----


@dataclass(frozen=True, slots=True)
class ImageGap:
    """Cross-entropy of the same texts with the wrong and the right image, nats a token; above 0 the image is used.

    :ivar helped: share of texts that are likelier with their own image.
    """

    right: float
    shuffled: float
    helped: float
    texts: int
    tokens: int

    @property
    def gap(self) -> float:
        return self.shuffled - self.right


def image_gap(right: Sequence[tuple[float, int]], shuffled: Sequence[tuple[float, int]]) -> ImageGap:
    """Shuffled-image gap from (summed negative log-probability in nats, tokens) of each text, in the same order.

    :raises ValueError: nothing to count, or the lists are not about the same texts.
    """
    lengths = [tokens for _, tokens in right]
    if not right or lengths != [tokens for _, tokens in shuffled] or min(lengths) < 1:
        raise ValueError("both lists need the same texts, each of one token or more")
    total = sum(lengths)
    return ImageGap(
        right=sum(loss for loss, _ in right) / total,
        shuffled=sum(loss for loss, _ in shuffled) / total,
        helped=fmean(wrong > true for (true, _), (wrong, _) in zip(right, shuffled, strict=True)),
        texts=len(lengths),
        tokens=total,
    )
