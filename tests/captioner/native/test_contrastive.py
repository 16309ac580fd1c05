"""Contrastive decoding against a walk that recomputes everything at each step, without cache, pairs or tensors of V."""

from __future__ import annotations

import math

import pytest
import torch

from captioner.rooms.decode import contrastive, search
from captioner.rooms.decode.contrastive import Contrasted, combine

from . import tiny

ALPHA, BETA, STEPS = 0.5, 0.1, 6


def rule(image: list[float], blank: list[float]) -> list[float]:
    """The rule of the paper, token by token: p >= b * p_max decides what stays."""
    total = math.fsum(map(math.exp, image))
    chances = [math.exp(value) / total for value in image]
    limit = BETA * max(chances)
    return [
        (1 + ALPHA) * seen - ALPHA * unseen if chance >= limit else -math.inf
        for seen, unseen, chance in zip(image, blank, chances, strict=True)
    ]


def test_the_rule_by_hand():
    """p = .6, .3, .06, .04 under the picture; the limit is .1 * .6 = .06, so the last goes although blank hates it.

    1.5 * log .6 - .5 * log .5 = -0.766 + 0.347 = -0.420; 1.5 * log .3 - .5 * log .1 = -1.806 + 1.151 = -0.655.
    """
    image = torch.tensor([0.6, 0.3, 0.061, 0.039]).log()
    blank = torch.tensor([0.5, 0.1, 0.399, 0.001]).log()
    found = combine(image, blank).tolist()
    assert found[:2] == pytest.approx([-0.4197, -0.6547], abs=1e-3)
    assert found[2] > -math.inf
    assert found[3] == -math.inf


def test_the_cut_is_a_share_of_the_largest_probability():
    generator = torch.Generator().manual_seed(0)
    image, blank = (3 * torch.randn(200, 50, generator=generator, dtype=torch.float64) for _ in range(2))
    chances = image.softmax(-1)
    wanted = chances >= BETA * chances.max(-1, keepdim=True).values
    assert (combine(image, blank, beta=BETA).isfinite() == wanted).all()
    assert 0 < wanted.float().mean() < 1


def test_without_the_cut_it_is_guidance_at_scale_one_and_a_half():
    """Classifier-free guidance: blank + scale * (image - blank), scale 1 + a."""
    generator = torch.Generator().manual_seed(0)
    image, blank = (torch.randn(20, 50, generator=generator) for _ in range(2))
    guided = blank + (1 + ALPHA) * (image - blank)
    torch.testing.assert_close(combine(image, blank, beta=1e-30), guided, atol=1e-6, rtol=1e-6)


def reference(model, image: torch.Tensor, blank: torch.Tensor) -> tuple[list[int], list[list[float]], list[float]]:
    """Greedy tokens, combined logits and gaps; the whole text is read again at each step."""
    tokens: list[int] = []
    rows, gaps = [], []
    for _ in range(STEPS):
        written = model.embed(torch.tensor([tokens], dtype=torch.long))[0]
        seen, unseen = (tiny.plain_logits(model, torch.cat([one, written]))[-1] for one in (image, blank))
        rows.append(rule(seen.tolist(), unseen.tolist()))
        tokens.append(max(range(len(rows[-1])), key=lambda token: rows[-1][token]))
        gaps.append(float(seen.log_softmax(-1)[tokens[-1]] - unseen.log_softmax(-1)[tokens[-1]]))
    return tokens, rows, gaps


def test_cached_pairs_equal_a_reference_without_a_cache(model):
    image, blank = tiny.prompt_rows(model, [9, 7])
    tokens, rows, gaps = reference(model, image, blank)
    with torch.inference_mode():
        steps = Contrasted(model.start([image, blank]), alpha=ALPHA, beta=BETA)
        for token, row in zip(tokens, rows, strict=True):
            torch.testing.assert_close(steps.logits[0], torch.tensor(row), atol=1e-5, rtol=1e-5)
            steps.step(torch.tensor([token]))
    assert [float(gap) for gap in steps.gaps] == pytest.approx(gaps, abs=1e-5)
    walked = search.greedy(Contrasted(model.start([image, blank])), model.end, max_tokens=STEPS)
    assert list(walked[0].tokens) == tokens
    assert any(abs(gap) > 0.1 for gap in gaps)


def test_the_gap_is_zero_where_the_image_is_the_blank(model):
    [row] = tiny.prompt_rows(model, [8])
    steps = Contrasted(model.start([row, row]))
    plain = search.greedy(model.start([row]), model.end, max_tokens=STEPS)[0]
    walked = search.greedy(steps, model.end, max_tokens=STEPS)[0]
    assert walked.tokens == plain.tokens  # (1 + a) * l - a * l = l
    assert [float(gap) for gap in steps.gaps] == pytest.approx([0.0] * (STEPS - 1), abs=1e-5)


def test_pairs_stay_together_when_rows_move(llama):
    images = tiny.prompt_rows(llama, [5, 5, 5, 5])
    single = [Contrasted(llama.start(images[at : at + 2])).logits[0] for at in (0, 2)]
    steps = Contrasted(llama.start(images))
    steps.repeat(2)
    for row, wanted in zip(steps.logits, (0, 0, 1, 1), strict=True):
        torch.testing.assert_close(row, single[wanted], atol=1e-4, rtol=1e-4)
    steps.select(torch.tensor([3, 0]))
    for row, wanted in zip(steps.logits, (1, 0), strict=True):
        torch.testing.assert_close(row, single[wanted], atol=1e-4, rtol=1e-4)
    assert steps.pairs.rows == 4


def test_a_picture_without_its_blank_is_refused(llama):
    with pytest.raises(ValueError, match="blank twin"):
        Contrasted(llama.start(tiny.prompt_rows(llama, [4])))


def test_the_published_values_are_the_defaults():
    assert (contrastive.ALPHA, contrastive.BETA) == (ALPHA, BETA)
