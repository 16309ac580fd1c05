"""Which places count in the loss, worked by hand and held against logits of the whole row."""

from __future__ import annotations

import math

import pytest
import torch

from captioner.architectures import bridge as bridging
from captioner.architectures.bridge import Frame
from captioner.training import loop
from tests.captioner.training import tiny

FRAME = Frame((0,), ())
PICTURE = torch.tensor([[1 / 8, 1 / 8, 3 / 4]]).log()  # one image token


class Echo:
    """A language model of three tokens that predicts at each place what its embedding says: logits = embedding."""

    table = torch.tensor([[1 / 2, 1 / 4, 1 / 4], [1 / 4, 1 / 4, 1 / 2], [1 / 8, 5 / 8, 1 / 4]]).log()

    def embed(self, ids):
        return self.table[ids]

    def hidden(self, embeds, mask, *, keep):
        return embeds, None

    def head(self, hidden):
        return hidden


def test_the_loss_is_the_mean_over_caption_tokens_by_hand():
    """Row 1: prompt 0, picture, caption 2 1 0. Token 2 is predicted from the picture, 3/4; token 1 after 2, 5/8;
    token 0 after 1, 1/4. Row 2, shorter and padded: caption 1, from the picture, 1/8. The prompt's own token, the
    place after the end and padding weigh nothing:
    (ln 4/3 + ln 8/5 + ln 4 + ln 8) / 4 = (0.28768 + 0.47000 + 1.38629 + 2.07944) / 4 = 1.05585.
    """
    batch = bridging.collate(Echo(), [FRAME, FRAME], [PICTURE, PICTURE], [(2, 1, 0), (1,)])
    assert batch.labels.tolist() == [[-100, -100, 2, 1, 0], [-100, -100, 1, -100, -100]]
    assert batch.mask.tolist() == [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]]
    assert float(bridging.caption_loss(Echo(), batch)) == pytest.approx(1.05585, abs=1e-5)
    sums = bridging.log_probabilities(Echo(), batch)
    assert sums.tolist() == pytest.approx([math.log(3 / 4 * 5 / 8 / 4), math.log(1 / 8)], abs=1e-6)


@torch.no_grad()
def test_a_heavier_record_counts_more_in_each_of_its_tokens(model, bridge):
    """Weights 3 and 1: (3 * sum of the first + 1 * sum of the second) / (3 * its tokens + 1 * its tokens)."""
    heavy = tiny.example(model, "a red bus", seed=1, weight=3.0)
    light = tiny.example(model, "the dog on grass .", seed=2)
    first, second = (
        float(loop.weighted_loss(model, bridge, [(one, True)])) * len(one.target) for one in (heavy, light)
    )
    both = float(loop.weighted_loss(model, bridge, [(heavy, True), (light, True)]))
    assert both == pytest.approx((3 * first + second) / (3 * 4 + 6), abs=1e-5)


@torch.no_grad()
@pytest.mark.parametrize("family", ["llama", "gpt2"])
def test_the_first_caption_token_is_predicted_from_the_last_place_of_the_prompt(tmp_path, bridge, family):
    """Held against the logits of the whole model, one row at a time and without padding."""
    model = tiny.language_model(tmp_path / family, family=family)
    rows = tiny.four(model)
    losses, which = bridging.token_losses(model, loop.data.collate([(one, True) for one in rows], model, bridge))
    for row, one in enumerate(rows):
        image = bridge(torch.from_numpy(one.tokens[None]).float())[0]
        embeds = torch.cat([bridging.splice(model, one.paged, image), model.embed(torch.tensor(one.target))])
        logits = model.model(inputs_embeds=embeds[None]).logits[0].log_softmax(-1)
        last = len(embeds) - len(one.target) - 1
        expected = [-float(logits[last + at, token]) for at, token in enumerate(one.target)]
        assert losses[which == row].tolist() == pytest.approx(expected, abs=2e-5)


@torch.no_grad()
def test_what_stands_in_padding_changes_no_loss(model, bridge):
    rows = tiny.four(model)
    batch = loop.data.collate([(one, True) for one in rows], model, bridge)
    before = bridging.token_losses(model, batch)[0]
    batch.embeds[batch.mask == 0] = 7.0
    assert torch.equal(before, bridging.token_losses(model, batch)[0])
