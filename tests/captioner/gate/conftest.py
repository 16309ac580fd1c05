"""The English phraser, loaded once, with the forms of the English lexicon."""

import importlib.util

import pytest

from captioner.prepare import phrases
from captioner.prepare.phrases import Phraser
from captioner.rooms.decode import wording
from tests.conftest import skip_unless


@pytest.fixture(scope="session")
def phraser() -> Phraser:
    installed = all(importlib.util.find_spec(name) for name in ("spacy", phrases.MODEL))
    skip_unless(installed, "needs the extra with spaCy and its English model")
    loaded = phrases.load("en-GB", wording.lexicon("en").forms)
    assert loaded is not None
    return loaded
