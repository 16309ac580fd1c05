"""A native captioner on disk: config.json, bridge.safetensors, lora.safetensors, card.md and their sha256. No pickle.

Loading is strict: another hash, a missing or an extra key, or another format is an error that says which.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from captioner.architectures.bridge import Bridge, BridgeConfig
from captioner.rooms.decode.language_model import LanguageModel, LoraConfig
from captioner.rooms.encode.vision import EncodeConfig
from captioner.rooms.project import ProjectConfig
from captioner.rooms.reduce import ReduceConfig
from captioner.types import WeightsMissing

FORMAT = 1
CONFIG, BRIDGE, LORA, CARD, SUMS = "config.json", "bridge.safetensors", "lora.safetensors", "card.md", "checksums.json"


class CheckpointBroken(WeightsMissing):
    """A checkpoint folder is not what its config and checksums say."""


@dataclass(frozen=True, slots=True)
class NativeConfig:
    """All that is needed to build a native captioner again.

    :ivar language_model: folder inside the weights folder, or an absolute path.
    :ivar language_model_sha256: of its model.safetensors; "" is not checked (tests).
    :ivar budget: tokens of page text in the prompt.
    :ivar trained: what it went through, for the card: stage, steps, data, seeds.
    """

    name: str
    encode: EncodeConfig
    bridge: BridgeConfig
    language_model: str
    language_model_sha256: str = ""
    lora: LoraConfig | None = None
    budget: int = 48
    trained: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return {"format": FORMAT, **dataclasses.asdict(self)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> NativeConfig:
        """:raises CheckpointBroken: a field is missing, unknown or of another format."""
        if data.get("format") != FORMAT:
            raise CheckpointBroken(f"{CONFIG} has format {data.get('format')!r}, this version reads {FORMAT}")
        try:
            rest = {name: value for name, value in data.items() if name != "format"}
            bridge = dict(rest.pop("bridge"))
            lora = rest.pop("lora")
            return cls(
                encode=EncodeConfig(**rest.pop("encode")),
                bridge=BridgeConfig(
                    reduce=ReduceConfig(**bridge.pop("reduce")),
                    project=ProjectConfig(**bridge.pop("project")),
                    **bridge,
                ),
                lora=LoraConfig(**{**lora, "targets": tuple(lora["targets"])}) if lora else None,
                **rest,
            )
        except (TypeError, KeyError) as error:
            raise CheckpointBroken(f"{CONFIG} does not fit this version: {error}") from error


@dataclass
class Native:
    """The trained parts put together, with the language model they belong to."""

    config: NativeConfig
    bridge: Bridge
    model: LanguageModel


def save(native: Native, folder: Path, *, card: str) -> None:
    """Write `native` into `folder`; weights as bfloat16, which halves the file and costs nothing measurable."""
    folder.mkdir(parents=True, exist_ok=True)
    save_file(_small(native.bridge.state_dict()), folder / BRIDGE)
    if native.config.lora is not None:
        save_file(_small(native.model.lora_state()), folder / LORA)
    else:
        (folder / LORA).unlink(missing_ok=True)
    (folder / CONFIG).write_text(json.dumps(native.config.as_json(), indent=1, sort_keys=True) + "\n", "utf-8")
    (folder / CARD).write_text(card, "utf-8")
    sums = {name: sha256(folder / name) for name in (CONFIG, BRIDGE, LORA, CARD) if (folder / name).exists()}
    (folder / SUMS).write_text(json.dumps(sums, indent=1) + "\n", "utf-8")
    for name in (*sums, SUMS):
        (folder / name).chmod(0o644)


def read_config(folder: Path) -> NativeConfig:
    """The checked config of `folder`.  :raises CheckpointBroken: a file is absent or differs from its sha256."""
    try:
        sums = json.loads((folder / SUMS).read_text("utf-8"))
        for name, wanted in sums.items():
            if (found := sha256(folder / name)) != wanted:
                raise CheckpointBroken(f"{folder / name} has sha256 {found[:12]}…, {SUMS} says {wanted[:12]}…")
        if not {CONFIG, BRIDGE} <= sums.keys():
            raise CheckpointBroken(f"{folder / SUMS} does not name {CONFIG} and {BRIDGE}")
        return NativeConfig.from_json(json.loads((folder / CONFIG).read_text("utf-8")))
    except (OSError, ValueError, AttributeError) as error:
        raise CheckpointBroken(f"{folder} is no checkpoint: {error}") from error


def load(folder: Path, weights: Path) -> Native:
    """The native captioner in `folder`, its language model from `weights`.

    :raises CheckpointBroken: a wrong hash, a missing or extra key, another shape or format.
    :raises WeightsMissing: the language model is not there, or is another one.
    """
    config = read_config(folder)
    model = load_language_model(config, weights)
    file = folder / CONFIG
    try:
        bridge = Bridge(config.bridge)
        file = folder / BRIDGE
        bridge.load_state_dict({name: values.float() for name, values in load_file(file).items()}, strict=True)
        if config.lora is not None:
            file = folder / LORA
            model.attach_lora(config.lora)
            model.load_lora({name: values.float() for name, values in load_file(file).items()})
    except (RuntimeError, ValueError, TypeError, OSError, SafetensorError) as error:
        raise CheckpointBroken(f"{file}: {error}") from error
    bridge.eval().requires_grad_(False)
    model.model.eval().requires_grad_(False)
    return Native(config, bridge, model)


def load_language_model(config: NativeConfig, weights: Path) -> LanguageModel:
    """The frozen model that `config` names.  :raises WeightsMissing: it is absent or another one."""
    folder = weights / config.language_model
    file = folder / "model.safetensors"
    if not folder.is_dir():
        raise WeightsMissing(f"{folder} is not there; run `python -m captioner fetch {config.name}`")
    if config.language_model_sha256 and (not file.is_file() or sha256(file) != config.language_model_sha256):
        raise WeightsMissing(f"{file} is not the model that {config.name} was trained on")
    try:
        return LanguageModel.load(folder)
    except (OSError, ValueError) as error:
        raise WeightsMissing(f"{folder} holds no causal language model: {error}") from error


def digest(folder: Path) -> str:
    """12 hex digits over the checksums: names this very checkpoint in `versions`."""
    return hashlib.sha256((folder / SUMS).read_bytes()).hexdigest()[:12]


def sha256(path: Path) -> str:
    """Of the bytes, 64 hex digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _small(state: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name: values.detach().to(torch.bfloat16).contiguous() for name, values in state.items()}
