"""Words for things in a text that no human text about the picture has: an upper bound of what is invented.

Works on the text of any captioner. People leave out much that is there, so this is a bound, not a rate of errors.
"""

from __future__ import annotations

from captioner.metrics import hallucination
from captioner.metrics.judging import unquoted
from captioner.prepare import candidates, pagewords
from captioner.prepare.phrases import Phrase, PhraseKind, Phraser
from captioner.prepare.vocabulary import vocabulary

KINDS = (PhraseKind.OBJECT, PhraseKind.SCENE, PhraseKind.NAME)


def unmentioned(text: str, said: str, phraser: Phraser) -> tuple[str, ...]:
    """Lemmas of things and names in `text` that `said` (human text and visible caption) does not mention.

    A wider or narrower concept in `said` counts as a mention ("people" for "farmers"), and so does a name's last word.
    Quoted words are left out: they are read, not seen.
    """
    human = candidates.lemmas(said, phraser)
    words = {word for lemma in human for word in lemma.split()}
    words |= {form for word in pagewords.words(said) for form in (word, hallucination.singular(word))}  # taggers err
    concepts = {concept for phrase in human.values() for concept in phrase.concepts}
    found = [one for one in phraser.read(unquoted(text)).phrases if one.kind in KINDS]
    return tuple(one.lemma for one in found if not _is_mentioned(one, set(human), words, concepts))


def naming(text: str, phraser: Phraser) -> bool:
    """True where `text` names a thing at all, quoted words left out."""
    return any(one.kind in KINDS for one in phraser.read(unquoted(text)).phrases)


def _is_mentioned(phrase: Phrase, lemmas: set[str], words: set[str], concepts: set[str]) -> bool:
    last = phrase.lemma.split()[-1]
    if phrase.lemma in lemmas or last in words:
        return True
    tree = vocabulary()
    return any(
        tree.is_kind_of(other, concept) or tree.is_kind_of(concept, other)
        for concept in phrase.concepts
        for other in concepts
    )
