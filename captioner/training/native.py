"""Where a stage starts and what it leaves: the native captioner of a run, stage after stage."""

from __future__ import annotations

import dataclasses
import json
import platform
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from captioner.architectures import checkpoint, large
from captioner.architectures.bridge import Bridge, BridgeConfig
from captioner.architectures.checkpoint import Native, NativeConfig
from captioner.rooms.decode.language_model import LoraConfig
from captioner.rooms.encode.vision import EncodeConfig
from captioner.rooms.project import ProjectConfig
from captioner.rooms.reduce import ReduceConfig
from captioner.training.examples import Example
from captioner.training.stages import Stage
from captioner.types import VERSION, WeightsMissing

CARD = """# {name}

Bridge and low-rank weights of a native prefix captioner: frozen image encoder > projector > frozen language model.

- Encoder: {encoder}. Language model: {language_model}, unchanged, under its own licence; no weights of them are here.
- Trained parts: BSD-3-Clause, as this package. Training text: alt texts of OpenStax textbooks (CC BY 4.0, OpenStax) and
  captions of the COCO dataset (CC BY 4.0, COCO Consortium); no image of them is contained.
- Made with version {version} by `python -m captioner train`, last stage `{stage}`.
- What it must not do: speak without the gate. Its free text names things that are not there.

```json
{trained}
```
"""


def start(
    before: Path | None,
    stage: Stage,
    weights: Path,
    *,
    budget: int,
    config: Mapping[str, Any] | None = None,
    seed: int = 1,
) -> Native:
    """The captioner that `stage` goes on from: the checkpoint `before`, or a fresh one where there is none.

    :param config: keys of `large.LargeConfig` for another captioner than `starter-lm`.
    :param seed: of the weights that are made here; equal seeds give equal weights.
    :raises CheckpointBroken: `before` is no checkpoint, as the stage before has not been finished.
    """
    if before is None:
        return fresh(weights, budget=budget, seed=seed) if config is None else _configured(config, weights, seed)
    native = checkpoint.load(before, weights)
    if stage.lora and native.config.lora is None:
        lora = LoraConfig()
        native.model.attach_lora(lora, seed=seed)
        native.config = dataclasses.replace(native.config, lora=lora)
    return native


def _configured(config: Mapping[str, Any], weights: Path, seed: int) -> Native:
    """The untrained captioner of a config file; its low-rank weights are attached and wait for stage `lora`."""
    made = large.fresh_config(config, weights)
    native = Native(made, _fresh_bridge(made.bridge, seed), checkpoint.load_language_model(made, weights))
    if made.lora is not None:
        native.model.attach_lora(made.lora, seed=seed)
    return native


def fresh(weights: Path, *, budget: int, seed: int = 1) -> Native:
    """The untrained `starter-lm`: EfficientNet-Lite2 tokens (9 x 9 pooled to 3 x 3), MLP, SmolLM2-135M-Instruct.

    :raises WeightsMissing: the language model is not there.
    """
    folder = "smollm2-135m-instruct"
    if not (weights / folder / "model.safetensors").is_file():
        raise WeightsMissing(f"{weights / folder} has no model.safetensors; run `python -m captioner fetch starter-lm`")
    config = NativeConfig(
        name="starter-lm",
        encode=EncodeConfig(),
        bridge=BridgeConfig(1280, 576, ReduceConfig("pool", side=3), ProjectConfig(standardise=True)),
        language_model=folder,
        language_model_sha256=checkpoint.sha256(weights / folder / "model.safetensors"),
        budget=budget,
    )
    return Native(config, _fresh_bridge(config.bridge, seed), checkpoint.load_language_model(config, weights))


def _fresh_bridge(config: BridgeConfig, seed: int) -> Bridge:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Bridge(config)


def match_scale(native: Native, examples: Sequence[Example], *, say: Callable[[str], object]) -> None:
    """Bring image tokens to the loudness of text tokens before the first step."""
    tokens = torch.from_numpy(np.stack([one.tokens for one in examples[:64]])).float()
    with torch.no_grad():
        ratio = native.bridge.project.match_scale(native.bridge.reduce(tokens), native.model.scale)
    say(f"image tokens were {ratio:.3g} times as large as text tokens; scaled")


def finish(native: Native, stage: Stage, run: Path, *, examples: int, seed: int, measured: Mapping[str, Any]) -> Path:
    """Write the checkpoint folder of a finished stage; gives its place."""
    history = dict(native.config.trained)
    gone_through = {"before": history[stage.name]} if stage.name in history else {}
    history[stage.name] = {
        **gone_through,
        "steps": stage.steps,
        "batch": stage.batch,
        "examples": examples,
        "seed": seed,
        "rates": [stage.learning_rate if stage.bridge else 0, stage.lora_rate if stage.lora else 0],
        "page_dropout": stage.page_dropout,
        "held_out": dict(measured),
        "torch": str(torch.__version__),
        "machine": platform.machine(),
    }
    native.config = dataclasses.replace(native.config, trained=history)
    folder = run / stage.name / "captioner"
    checkpoint.save(native, folder, card=card(native.config, stage.name))
    return folder


def card(config: NativeConfig, stage: str) -> str:
    """The model card: parts, licences, data credit, what was done and measured."""
    return CARD.format(
        name=config.name,
        encoder=f"{config.encode.library} {config.encode.model}",
        language_model=config.language_model,
        version=VERSION,
        stage=stage,
        trained=json.dumps(config.trained, indent=1, sort_keys=True),
    )
