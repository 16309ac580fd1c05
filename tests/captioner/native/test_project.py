"""Room 3: two linear layers, what they weigh and how loud they start."""

from __future__ import annotations

import pytest
import torch

from captioner.rooms import project
from captioner.rooms.project import ProjectConfig, Projector


def test_a_projector_from_1024_to_4096_weighs_what_is_stated():
    """1024 * 4096 + 4096 + 4096 * 4096 + 4096 = 4,194,304 + 4,096 + 16,777,216 + 4,096 = 20,979,712."""
    with torch.device("meta"):
        projector = Projector(1024, 4096)
    assert sum(values.numel() for values in projector.parameters()) == 20_979_712


def test_a_projector_is_linear_gelu_linear():
    """One channel to one: w1 = 2, b1 = -1, w2 = 3, b2 = 0.5. For 1: 2 - 1 = 1, GELU(1) = 0.8413447, times 3 plus 0.5.

    GELU(1) is the standard normal distribution function at 1.
    """
    projector = Projector(1, 1)
    values = {"linear_1.weight": [[2.0]], "linear_1.bias": [-1.0], "linear_2.weight": [[3.0]], "linear_2.bias": [0.5]}
    projector.load_state_dict({name: torch.tensor(value) for name, value in values.items()})
    assert projector(torch.ones(1, 1, 1)).item() == pytest.approx(3 * 0.8413447 + 0.5, abs=1e-6)


def test_image_tokens_start_as_loud_as_text():
    torch.manual_seed(0)
    projector, tokens = Projector(6, 8), 40 * torch.randn(3, 4, 6)
    loud = projector(tokens).square().mean().sqrt().item()
    ratio = projector.match_scale(tokens, 0.02)
    assert ratio == pytest.approx(loud / 0.02)
    assert projector(tokens).square().mean().sqrt().item() == pytest.approx(0.02)


def test_standardised_tokens_ignore_shift_and_scale():
    torch.manual_seed(0)
    projector = project.build(ProjectConfig(standardise=True), 6, 8)
    tokens = torch.randn(3, 4, 6)
    torch.testing.assert_close(projector(5 * tokens + 7), projector(tokens), atol=1e-4, rtol=1e-3)
    plain = project.build(ProjectConfig(), 6, 8)
    assert not torch.allclose(plain(5 * tokens + 7), plain(tokens))
