"""Each stage moves what it may and nothing else."""

from __future__ import annotations

import pytest
import torch

from captioner.training import dpo, loop, stages
from captioner.training.loop import Run
from captioner.training.stages import STAGES, UnknownStage
from tests.captioner.training import tiny


def gradients(named):
    """Names of parameters with a gradient that is not 0, and of those without any."""
    moved = {name for name, values in named if values.grad is not None and bool(values.grad.abs().sum() > 0)}
    return moved, {name for name, values in named if values.grad is None}


@pytest.mark.parametrize("method", ["pool", "perceiver"])
@pytest.mark.parametrize("name", STAGES)
def test_gradients_are_there_only_where_the_stage_allows(model, name, method):
    module, stage = tiny.bridge(method=method), stages.stage(name)
    tiny.lora(model)
    stages.set_trainable(stage, module, model)
    if name == "dpo":
        pair = dpo.Pair(
            tiny.example(model, "a red bus", seed=1), tiny.example(model, "the black cat on grass", seed=1), -2
        )
        policy = dpo.log_probabilities(model, module, [pair])
        dpo.loss(policy, policy.detach() - torch.tensor([[0.1], [0.0]]))[0].backward()
    else:
        loop.weighted_loss(model, module, [(one, True) for one in tiny.four(model)]).backward()

    in_bridge = list(module.named_parameters())
    low_rank = [(name, values) for name, values in model.model.named_parameters() if "lora_" in name]
    base = [(name, values) for name, values in model.model.named_parameters() if "lora_" not in name]
    for group, allowed in ((in_bridge, stage.bridge), (low_rank, stage.lora), (base, False)):
        everything = {name for name, _ in group}
        moved, absent = gradients(group)
        assert (moved, absent) == ((everything, set()) if allowed else (set(), everything))


def test_the_parameters_of_a_run_are_those_of_its_stage(model, bridge, tmp_path):
    """Bridge 32 -> 64: 32 * 64 + 64 + 64 * 64 + 64 = 6,272. Rank 4 on 2 layers: 4 * ((64 + 64) q + (64 + 32) k
    + (64 + 32) v + (64 + 64) o + 2 * (64 + 128) gate and up + (128 + 64) down) * 2 = 4 * 1,024 * 2 = 8,192.
    """
    tiny.lora(model, fresh=True)
    groups = Run(model, bridge, STAGES["lora"], tmp_path).groups
    assert {name: stages.count(values) for name, values in groups.items()} == {"bridge": 6272, "lora": 8192}


def test_an_unknown_stage_is_told_with_those_there_are():
    with pytest.raises(UnknownStage, match="projector, sft, lora, dpo"):
        stages.stage("dop")
