"""Things and names in a text that no human text has: an upper bound of what is invented."""

import pytest

from captioner.metrics import mentions

CASES = [
    ("the same noun", "A dog", "The dog sleeps.", ()),
    ("the plural", "A dog", "Two dogs on a rug.", ()),
    ("a wider word", "A person", "Two farmers at work.", ()),
    ("a narrower word", "A beagle", "A dog sleeps.", ()),
    ("another thing", "A dog and a horse", "A dog sleeps.", ("horse",)),
    ("a sibling is another thing", "A cat", "A dog sleeps.", ("cat",)),
    ("nothing was said", "A dog", "", ("dog",)),
    ("nothing is named", "", "A dog sleeps.", ()),
    ("a name", "Mark Twain", "Mark Twain at his desk.", ()),
    ("the last word of a name", "Mark Twain", "Twain at his desk.", ()),
    ("a name that nobody has", "Mark Twain", "A man at his desk.", ("mark twain",)),
    ("quoted words are read, not seen", "A dog; text: “Horse crossing”", "A dog sleeps.", ()),
]


@pytest.mark.parametrize(("text", "said", "loose"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_unmentioned(text, said, loose, phraser):
    assert mentions.unmentioned(text, said, phraser) == loose


def test_a_plural_before_a_verb_is_a_mention(phraser):
    assert mentions.unmentioned("A dog", "Two dogs sleep.", phraser) == ()


@pytest.mark.parametrize(
    ("text", "names"),
    [("A dog", True), ("Mark Twain speaks", True), ("", False), ("Text: “A dog”", False), ("A painting", False)],
)
def test_a_text_names_a_thing_or_not(text, names, phraser):
    assert mentions.naming(text, phraser) is names
