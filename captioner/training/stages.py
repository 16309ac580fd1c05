"""What each stage trains, what stays frozen, and with which settings. captioner.md section 8.

The encoder is inherited and never trained; adapting it is off.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from torch import nn

from captioner.architectures.bridge import Bridge
from captioner.rooms.decode.language_model import LanguageModel


class UnknownStage(ValueError):
    """There is no stage of that name."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of training.

    :ivar bridge, lora: what is trained; the encoder and the base weights of the language model never are.
    :ivar page_dropout: share of examples shown without their page, 1 for none with a page.
    :ivar steps: optimiser steps.  :ivar warmup: share of them in which the rate rises from 0.
    """

    name: str
    bridge: bool
    lora: bool
    steps: int
    batch: int = 8
    learning_rate: float = 1e-3
    lora_rate: float = 3e-4
    warmup: float = 0.05
    page_dropout: float = 0.0
    weight_decay: float = 0.01
    clip: float = 1.0


STAGES = {
    stage.name: stage
    for stage in (
        Stage("projector", bridge=True, lora=False, steps=160, learning_rate=2e-3, page_dropout=1.0),
        Stage("sft", bridge=True, lora=False, steps=80, learning_rate=5e-4, page_dropout=0.3),
        Stage("lora", bridge=True, lora=True, steps=320, learning_rate=3e-4, lora_rate=4e-4, page_dropout=0.3),
        Stage("dpo", bridge=False, lora=True, steps=40, batch=4, lora_rate=5e-5),
    )
}


def stage(name: str) -> Stage:
    """The stage called `name`.  :raises UnknownStage: there is none."""
    if name not in STAGES:
        raise UnknownStage(f"no stage is called {name!r}; there are: {', '.join(STAGES)}")
    return STAGES[name]


def set_trainable(stage: Stage, bridge: Bridge, model: LanguageModel) -> dict[str, list[nn.Parameter]]:
    """Freeze everything but what `stage` trains; gives the parameters by group."""
    bridge.requires_grad_(stage.bridge)
    model.model.requires_grad_(False)
    low_rank = model.lora_parameters() if stage.lora else []
    for values in low_rank:
        values.requires_grad_(True)
    return {"bridge": list(bridge.parameters()) if stage.bridge else [], "lora": low_rank}


def count(parameters: Iterable[nn.Parameter]) -> int:
    """How many numbers they hold."""
    return sum(values.numel() for values in parameters)
