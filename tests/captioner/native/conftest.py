"""Tiny random language models on disk, made once, and loaded afresh by `LanguageModel.load` for each test."""

from __future__ import annotations

import pytest
import torch

from captioner.rooms.decode.language_model import LanguageModel

from . import tiny

FAMILIES = ("llama", "gpt2")


@pytest.fixture(scope="session")
def weights(tmp_path_factory):
    """A weights folder with one model a family."""
    folder = tmp_path_factory.mktemp("weights")
    with torch.random.fork_rng():
        tiny.llama(folder / "llama")
        tiny.gpt2(folder / "gpt2")
    return folder


@pytest.fixture(params=FAMILIES)
def model(weights, request) -> LanguageModel:
    """Each family in turn."""
    return LanguageModel.load(weights / request.param)


@pytest.fixture
def llama(weights) -> LanguageModel:
    return LanguageModel.load(weights / "llama")


@pytest.fixture
def forwards():
    """Shapes (B, L) of all calls of a model's body, in order, once `forwards(model)` has been called."""
    handles = []

    def watch(model: LanguageModel) -> list[tuple[int, int]]:
        shapes: list[tuple[int, int]] = []

        def note(module, arguments, named):
            shapes.append(tuple(named["inputs_embeds"].shape[:2]))

        handles.append(model.model.base_model.register_forward_pre_hook(note, with_kwargs=True))
        return shapes

    yield watch
    for handle in handles:
        handle.remove()
