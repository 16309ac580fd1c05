"""`large` and any other native checkpoint in a folder, as a writer behind the gate: `native:/folder`.

`large` is ViT-L/14 at 336 px > 64 tokens > MLP > a language model of about 8 B parameters with low-rank weights, of the
same parts as the shipped captioner. Its weights are not shipped: `fresh_config` says where training starts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers
from PIL import Image

from captioner.architectures import assembly, checkpoint, configuration, native, vlm
from captioner.architectures.bridge import BridgeConfig
from captioner.architectures.capabilities import Capabilities, ContextMode, Misconfigured
from captioner.architectures.checkpoint import CheckpointBroken, NativeConfig
from captioner.architectures.gated import Gated
from captioner.architectures.native import NativeWriter
from captioner.prepare import answers, prompts
from captioner.prepare.prompts import Prompt
from captioner.rooms.decode.language_model import ALL_LINEAR, LoraConfig
from captioner.rooms.encode import shelf
from captioner.rooms.encode.vision import EncodeConfig
from captioner.rooms.reduce import ReduceConfig
from captioner.types import CaptionError, Drafts, WeightsMissing

ENCODER, TAG = "ViT-L-14-336-quickgelu", "openai"  # 24 x 24 patches of width 1024
GATE_FILE = "gate.json"


@dataclass(frozen=True, slots=True)
class LargeConfig:
    """The keys of the file that names what `large` is made of.

    :ivar language_model: folder of a causal language model as safetensors, absolute or inside the weights folder.
    :ivar language_model_sha256: of its model.safetensors where it is one file; "" hashes all its files when loaded.
    :ivar encoder: an open_clip name.  :ivar encoder_weights: a tag of open_clip or a local safetensors file.
    :ivar side: of the pooled grid; side * side image tokens.
    :ivar lora_targets: names of linear layers, or ["all-linear"].
    :ivar budget: tokens of page text.
    """

    language_model: str
    name: str = "large"
    language_model_sha256: str = ""
    encoder: str = ENCODER
    encoder_weights: str = TAG
    side: int = 8
    lora_rank: int = 16
    lora_alpha: int = 32
    lora_targets: tuple[str, ...] = (ALL_LINEAR,)
    budget: int = prompts.BUDGET

    def __post_init__(self) -> None:
        configuration.positive(side=self.side, lora_rank=self.lora_rank, lora_alpha=self.lora_alpha)
        if self.budget < 0:
            raise Misconfigured("budget: must be 0 or more")
        if not self.encoder_weights:
            raise Misconfigured("encoder_weights: without them the encoder is random, and another one at each start")
        if self.encoder_weights == TAG and not self.encoder.endswith("-quickgelu"):
            raise Misconfigured(
                f"encoder: weights of {TAG!r} need the -quickgelu form of the name, or they see wrongly"
            )


def fresh_config(mapping: Mapping[str, Any], weights: Path) -> NativeConfig:
    """Where the training of `large` starts: all parts and shapes, nothing trained.

    :param weights: the weights folder.
    :raises Misconfigured: a key is unknown, missing or does not fit; the message names it.
    :raises WeightsMissing: the language model is not on this machine.
    """
    config = configuration.read(LargeConfig, mapping)
    width, patches = _shape(config.encoder)
    if patches % config.side:
        raise Misconfigured(f"side: a grid of {patches} x {patches} patches has no {config.side} x {config.side} bins")
    return NativeConfig(
        name=config.name,
        encode=EncodeConfig("open_clip", config.encoder, config.encoder_weights),
        bridge=BridgeConfig(
            width, _text_width(weights / config.language_model), ReduceConfig("pool", side=config.side)
        ),
        language_model=config.language_model,
        language_model_sha256=config.language_model_sha256,
        lora=LoraConfig(config.lora_rank, config.lora_alpha, targets=config.lora_targets),
        budget=config.budget,
    )


def load(place: str) -> Gated:
    """The native checkpoint in the folder `place`, with the gate that its `gate.json` asks for, or the usual one.

    `gate.json` holds the keys of `GateConfig`, and `languages`: what the checkpoint is trusted to write, ["en"].

    :raises CheckpointBroken: the folder holds no whole checkpoint, or its parts do not fit each other.
    :raises CaptionError: see `assembly.from_file`.
    """
    folder = Path(place).expanduser()
    keys = configuration.read_file(folder / GATE_FILE) if (folder / GATE_FILE).exists() else {}
    try:
        languages = configuration.read(Spoken, {"languages": keys.pop("languages", ["en"])}).languages
        gate = assembly.gate_of(keys)
    except Misconfigured as error:
        raise Misconfigured(f"{folder / GATE_FILE}: {error}") from error
    writer = NativeBackend.load(folder, languages)
    return assembly.gated(writer.name, writer, gate, folder)


@dataclass(frozen=True, slots=True)
class Spoken:
    """What `gate.json` says beside the gate."""

    languages: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.languages:
            raise Misconfigured("languages: name at least one that the checkpoint is trusted to write")


class NativeBackend:
    """A `NativeWriter` with the flags and the manners of every writer."""

    def __init__(self, writer: NativeWriter, languages: Sequence[str], *, parts: Mapping[str, str]) -> None:
        """:param parts: versions of what is not in the checkpoint: encoder and language model."""
        self.writer, self.name = writer, writer.name
        self.budget = writer.native.config.budget
        self.special: Sequence[str] = writer.special
        self.capabilities = Capabilities(
            supports_vcd=True,
            languages=tuple(languages),
            context_mode=ContextMode.CHAT,
            supports_logprobs=True,
            supports_n=True,
            shares_prefill=True,
            max_context=getattr(writer.model.model.config, "max_position_embeddings", None),
        )
        self.versions: Mapping[str, str] = {
            **writer.versions,
            **parts,
            "answers": answers.VERSION,
            "transformers": transformers.__version__,
            "torch": torch.__version__,
        }

    @classmethod
    def load(cls, folder: Path, languages: Sequence[str], weights: Path | None = None) -> NativeBackend:
        """:raises CheckpointBroken: it is not whole, or parts do not fit.  :raises WeightsMissing: a part is absent."""
        weights = weights or shelf.weights_folder()
        try:
            writer = NativeWriter.load(folder, weights=weights)
            with torch.inference_mode():
                tokens = writer.native.bridge(writer.tower.blank())  # (1, T, D): do the rooms fit each other?
        except (ValueError, RuntimeError) as error:
            raise CheckpointBroken(f"{folder}: its parts do not fit: {error}") from error
        if tokens.shape[-1] != writer.model.width:
            raise CheckpointBroken(f"{folder}: image tokens are {tokens.shape[-1]} wide, text {writer.model.width}")
        return cls(writer, languages, parts=_parts(writer.native.config, weights))

    def count(self, text: str) -> int:
        return self.writer.count(text)

    def draft(self, image: Image.Image, prompt: Prompt, *, samples: int, seed: int, deadline_seconds: float) -> Drafts:
        """See `Writer.draft`. It cannot be stopped midway; the clock of the process around it does that.

        :raises CaptionError: the prompt does not fit, or the machine has no memory left.
        """
        key = hashlib.sha256(f"{image.size}".encode() + image.tobytes()).hexdigest()
        frame = self.writer.frame(prompt)
        try:
            seen = len(self.writer.picture(image, key))
            length = len(frame.before) + seen + len(frame.after) + native.MAX_TOKENS
            if self.capabilities.max_context and length > self.capabilities.max_context:
                raise CaptionError(f"{length} tokens do not fit into {self.capabilities.max_context}.")
            return cleaned(self.writer.draft(image, prompt, samples=samples, seed=seed, key=key))
        except (torch.OutOfMemoryError, MemoryError) as error:
            raise CaptionError("There was not enough memory for this picture.") from error


def cleaned(drafts: Drafts) -> Drafts:
    """`drafts` with bare texts; one that ran into the limit ends at its last sentence and is counted as cut."""
    cut = drafts.tokens.get("text", 0) >= native.MAX_TOKENS
    text = answers.clean(drafts.text).text
    return Drafts(
        answers.cut_to_sentence(text) if cut else text,
        tuple(answers.clean(sample).text for sample in drafts.samples),
        drafts.mean_log_probability,
        drafts.gap,
        tokens={**drafts.tokens, **({"cut": 1} if cut else {})},
    )


def _parts(config: NativeConfig, weights: Path) -> dict[str, str]:
    """What the checkpoint rests on: a local encoder by its sha256, another by its tag, the model by its files."""
    encode = config.encode
    file = Path(encode.weights)
    seen = checkpoint.sha256(file)[:16] if encode.weights and file.is_file() else encode.weights or "packaged"
    model = config.language_model_sha256[:16] or vlm.digest(weights / config.language_model)
    return {"encoder": f"{encode.library} {encode.model} {seen}", "language_model": model}


def _shape(encoder: str) -> tuple[int, int]:
    """Width and side of the grid of an open_clip vision transformer.  :raises Misconfigured: it is none."""
    import open_clip

    found = (open_clip.get_model_config(encoder) or {}).get("vision_cfg", {})
    if not isinstance(found.get("layers"), int) or not found.get("patch_size"):
        raise Misconfigured(f"encoder: open_clip has no vision transformer {encoder!r}")
    return int(found["width"]), int(found["image_size"]) // int(found["patch_size"])


def _text_width(folder: Path) -> int:
    """D, read from the configuration alone: 8 B parameters need not be loaded for it."""
    if not (folder / "config.json").is_file():
        raise WeightsMissing(f"language_model: {folder} holds no config.json")
    try:
        found = transformers.AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        return int(found.get_text_config().hidden_size)
    except (OSError, ValueError, AttributeError) as error:
        raise WeightsMissing(f"language_model: {folder} holds no language model: {error}") from error
