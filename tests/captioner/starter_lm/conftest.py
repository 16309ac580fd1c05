"""The English phraser, loaded once; it remembers what it read, as the same few captions come again and again."""

import functools
import importlib.util

import pytest

from captioner.prepare import phrases
from captioner.rooms.decode import wording
from tests.conftest import skip_unless


@pytest.fixture(scope="session")
def phraser():
    installed = all(importlib.util.find_spec(name) for name in ("spacy", phrases.MODEL))
    skip_unless(installed, "needs the extra with spaCy and its English model")
    loaded = phrases.load(forms=dict(wording.lexicon("en").forms))
    assert loaded is not None
    loaded.read = functools.cache(loaded.read)  # type: ignore[method-assign]
    return loaded
