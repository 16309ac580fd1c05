"""Which tokens of a parsed English text are nouns, names, numbers, verbs in disguise, or said not to be there.

The tagger is a small one and reads "a bird pecks" as one compound; what the word lists know is therefore claimed
rather than lost. It knows tokens and words, and nothing of pictures.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

NOUNS = ("NOUN", "PROPN")
NAMES = frozenset({"PERSON", "GPE", "LOC", "FAC", "ORG", "NORP", "EVENT", "WORK_OF_ART", "PRODUCT", "LAW", "LANGUAGE"})
NO = frozenset({"no", "neither", "nor", "zero"})
WITHOUT = frozenset({"without", "lacking"})
ONE = frozenset({"one", "1"})  # "one dog" says no more than "a dog"
GENDERED = frozenset({"he", "she", "his", "her", "him", "hers"})
SYNONYM, NARROWER = "=", "<"  # marks in front of a concept
Known = Callable[["Token"], bool]


@functools.cache
def rows() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Kind or marked concept -> its words, from `nouns_en.tsv`."""
    lines = resources.files(__package__).joinpath("nouns_en.tsv").read_text("utf-8").splitlines()
    cells = (line.split("\t") for line in lines if not line.startswith("#"))
    return tuple((kind, tuple(words.split(","))) for kind, words in cells)


@functools.cache
def kinds() -> dict[str, str]:
    """Lemma -> kind, for what the vocabulary does not hold; the first row wins."""
    return {word: kind for kind, words in reversed(rows()) if kind[0] not in (SYNONYM, NARROWER) for word in words}


def concepts(*marks: str) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Words -> concept, for the rows with these marks."""
    return {tuple(word.split()): (kind[1:],) for kind, words in rows() if kind[0] in marks for word in words}


def noun_ends_at(doc: Doc, index: int, known: Known) -> bool:
    """A noun that is no modifier inside a compound and no verb in disguise."""
    token = doc[index]
    if _is_mistaken(token, known):
        return True
    if token.pos_ not in NOUNS or is_gerund(token, known) or sum(map(str.isalpha, token.text)) < 2:
        return False
    if not _modifies(token):
        return True
    following = doc[index + 1] if index + 1 < len(doc) else None
    return (following is not None and is_gerund(following, known)) or _is_torn(token, known)


def is_name(token: Token) -> bool:
    """A proper noun, or an adjective of a nation ("Swiss"). A capital at the start of the text alone makes none."""
    if token.pos_ == "ADJ":
        return token.ent_type_ == "NORP"
    if token.pos_ != "PROPN" or len(token.text) == 1:  # the T of "T-shirt"
        return False
    beside = [token.doc[index] for index in (token.i - 1, token.i + 1) if 0 <= index < len(token.doc)]
    alone = not any(other.pos_ == "PROPN" for other in beside)
    listed = token.lower_ in kinds() or token.lemma_.casefold() in kinds()
    if alone and (listed or token.i == 0 or token.text.islower()):
        return token.ent_type_ in NAMES and not listed
    return not (listed and token.ent_type_ not in NAMES)


def name_end(doc: Doc, start: int) -> int:
    """Where the name that starts at `start` ends: a run of proper nouns, with the numbers that belong to it."""
    end = start + 1
    while end < len(doc) and (
        (doc[end].pos_ == "PROPN" and doc[start].pos_ == "PROPN")
        or (doc[end].pos_ == "NUM" and doc[end - 1].pos_ == "PROPN")
        or (doc[end].ent_iob_ == "I" and doc[end].ent_type_ in NAMES and doc[end].pos_ != "PART")
    ):
        end += 1
    return end


def is_number(token: Token) -> bool:
    """A number in digits or words, other than one."""
    has_digit = any(letter.isdigit() for letter in token.text)
    return token.lower_ not in ONE and (token.pos_ == "NUM" or has_digit)


def is_gerund(token: Token, known: Known) -> bool:
    """ "slicing" in "chef slicing tomatoes", "standing" in "a giraffe standing": tagged as nouns, and yet verbs."""
    before = token.doc[token.i - 1] if token.i else None
    if before is None or before.pos_ not in NOUNS or token.pos_ not in NOUNS or not token.lower_.endswith("ing"):
        return False
    return token.dep_ == "compound" or (before.head == token and known(before) and not known(token))


def is_negated(token: Token) -> bool:
    """ "no cars", "without a hat or gloves", "neither wearing a hat", "there isn't a boat"."""
    if any(child.lower_ in NO for child in token.children if child.dep_ in ("det", "preconj", "neg", "nummod")):
        return True
    head = token.head
    if token.dep_ in ("pobj", "dobj") and head.lower_ in WITHOUT:
        return True
    if token.dep_ in ("attr", "dobj", "nsubj") and head.pos_ in ("VERB", "AUX"):
        denied = any(child.dep_ == "neg" or child.lower_ == "neither" for child in head.children)
        exists = token.dep_ != "nsubj" or any(child.dep_ == "expl" for child in head.children)
        return denied and exists
    if token.dep_ == "conj" and head.pos_ in NOUNS and head.i < token.i:
        joined = any(child.lower_ in ("or", "nor") for child in head.children if child.dep_ == "cc")
        return joined and is_negated(head)
    return False


def is_attribute(token: Token, known: Known) -> bool:
    """An adjective, the first part of a compound, or a pronoun with a gender: counted, never verified."""
    modifier = token.pos_ in NOUNS and _modifies(token) and not is_gerund(token, known)
    return token.pos_ == "ADJ" or modifier or token.lower_ in GENDERED or token.dep_ == "amod"


def is_action(token: Token, known: Known) -> bool:
    return (token.pos_ == "VERB" and token.dep_ != "amod") or is_gerund(token, known)


def _modifies(token: Token) -> bool:
    return token.dep_ in ("compound", "nmod") and token.head.i > token.i and token.head.pos_ in NOUNS


def _is_torn(token: Token, known: Known) -> bool:
    """A known thing before an unknown "noun" that looks like a verb: "a bird pecks at fruit"."""
    top = token.head
    while _modifies(top):
        top = top.head
    return known(token) and not known(top) and (top.lower_.endswith("ing") or top.tag_ == "NNS")


def _is_mistaken(token: Token, known: Known) -> bool:
    """A known thing tagged as anything but a noun: "Skier on a slope", "a stove, a window, and sink in it"."""
    if token.pos_ in NOUNS or not known(token):
        return False
    if token.dep_ == "conj" and token.pos_ in ("ADJ", "VERB", "ADV", "X"):
        return token.head.pos_ in NOUNS or _is_mistaken(token.head, known)
    people = kinds().get(token.lower_.removesuffix("s")) == "people"
    return people and (token.i == 0 or token.pos_ != "VERB")
