"""Tiny models for training tests, on one thread: equal sums in equal order."""

from __future__ import annotations

import pytest
import torch

from tests.captioner.training import tiny


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def model(tmp_path):
    """A language model without low-rank weights."""
    return tiny.language_model(tmp_path / "lm")


@pytest.fixture
def bridge():
    return tiny.bridge()
