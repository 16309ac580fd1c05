"""A writer in this process: any transformers image-text-to-text model by name, without training and without its code.

Loads safetensors only and never runs code from a checkpoint. The captioner around it decides what is asked, the gate
what leaves; what each family needs stands in `vlm_families`, how ids are made in `vlm_decoding`.
"""

from __future__ import annotations

import hashlib
import inspect
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers
from jinja2 import TemplateError
from PIL import Image
from transformers import AutoConfig, AutoModelForImageTextToText, AutoProcessor

from captioner.architectures import configuration, vlm_decoding, vlm_families
from captioner.architectures.capabilities import UNKNOWN_LICENCE, Capabilities, ContextMode, Misconfigured
from captioner.architectures.vlm_decoding import Inputs, Limits, SharedPrefill, Written
from captioner.prepare import answers
from captioner.prepare.prompts import Prompt
from captioner.types import CaptionError, Drafts, WeightsMissing

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
FAST_BFLOAT16 = ("avx512_bf16", "amx_bf16")  # without one of them bfloat16 prefill ran at 0.17x the speed of float32
TRIAL_TOKENS, TRIAL_SECONDS = 3, 100.0
TRIAL = Prompt("Write alt text.", "<page>\ntitle: a\n</page>", "Describe the image.")
DIGESTED = (".json", ".safetensors", ".jinja", ".txt", ".model")


@dataclass(frozen=True, slots=True)
class VlmConfig:
    """The keys of `vlm:/path/config.json`.

    :ivar model: a folder on this machine, or a hub id; an id needs `revision`, a full commit hash.
    :ivar languages: primary subtags that the checkpoint is trusted to write.
    :ivar download: fetch a hub id that is not in the local cache.
    :ivar continuation: words that the model goes on from, where it has no chat template; null for the family's own.
    :ivar context_mode: "prefix" puts page text before the continuation (after fine-tuning only); null for the usual.
    :ivar image_tokens: see `Capabilities.token_knob`; null leaves the checkpoint's own setting.
    :ivar gap: measure the gap against a blank picture: one more pass.
    """

    model: str
    languages: tuple[str, ...]
    revision: str = ""
    download: bool = False
    licence: str = UNKNOWN_LICENCE
    device: str = "auto"
    dtype: str = "auto"
    max_tokens: int = 64
    temperature: float = 0.8
    continuation: str | None = None
    context_mode: str | None = None
    image_tokens: int | None = None
    gap: bool = True

    def __post_init__(self) -> None:
        configuration.positive(max_tokens=self.max_tokens, temperature=self.temperature, image_tokens=self.image_tokens)
        if not self.languages:
            raise Misconfigured("languages: name at least one that the checkpoint is trusted to write")
        if self.dtype != "auto" and self.dtype not in DTYPES:
            raise Misconfigured(f"dtype: must be auto, {', '.join(DTYPES)}")
        if self.context_mode not in (None, "prefix"):
            raise Misconfigured('context_mode: must be "prefix" or null')
        if not self.local and not re.fullmatch(r"[0-9a-f]{40}", self.revision):
            raise Misconfigured("revision: a hub id needs the full commit hash, 40 hex digits (no such folder here)")

    @property
    def local(self) -> bool:
        return Path(self.model).expanduser().is_dir()


class Vlm:
    """Greedy text, samples, their log-probability and the gap against a blank picture."""

    name = "vlm"

    def __init__(self, config: VlmConfig, model: Any, processor: Any, revision: str) -> None:
        """:raises CaptionError: the model does not write anything on a trial picture."""
        self.config, self.model, self.processor = config, model, processor
        self.model_type: str = model.config.model_type
        vlm_families.check_languages(self.model_type, config.languages)
        if config.image_tokens is not None:
            vlm_families.turn(self.model_type, processor, config.image_tokens)
        self.special: Sequence[str] = _special(processor)
        self._ends, self._pad = _ends(model, processor.tokenizer)
        self._chat = bool(getattr(processor, "chat_template", None) or processor.tokenizer.chat_template)
        self._system_role, self._sanitises = self._chat and self._keeps_system(), False
        self._sanitises = self._chat and self._can_sanitise()
        limits = self._limits(TRIAL_TOKENS, TRIAL_SECONDS)
        self._decoding = vlm_decoding.choose(model, self.encode(Image.new("RGB", (64, 48)), TRIAL), limits, self._pad)
        self.capabilities = self._capable()
        self.versions: Mapping[str, str] = self._made_of(revision)

    @classmethod
    def from_config(cls, mapping: Mapping[str, Any]) -> Vlm:
        """:raises Misconfigured: a key is unknown, missing or does not fit the model.
        :raises WeightsMissing: the model is not on this machine, or not whole.
        """
        config = configuration.read(VlmConfig, mapping)
        model, processor, revision = load(config)
        return cls(config, model, processor, revision)

    def count(self, text: str) -> int:
        return len(self.processor.tokenizer(text, add_special_tokens=False)["input_ids"])

    def draft(self, image: Image.Image, prompt: Prompt, *, samples: int, seed: int, deadline_seconds: float) -> Drafts:
        """See `Writer.draft`. `tokens["cut"]` is there where the limit ended the greedy text.

        :raises OutOfTime: the deadline passed.
        :raises CaptionError: the prompt does not fit, or the machine has no memory left.
        """
        limits = self._limits(self.config.max_tokens, deadline_seconds)
        inputs = self.encode(image, prompt)
        length = inputs["input_ids"].shape[1] + self.config.max_tokens
        if self.capabilities.max_context and length > self.capabilities.max_context:
            raise CaptionError(f"{length} tokens do not fit into {self.capabilities.max_context}.")
        try:
            rows = self._decoding.write(inputs, limits, samples=samples, temperature=self.config.temperature, seed=seed)
            gap = self._gap(inputs, rows[0], limits)
        except (torch.OutOfMemoryError, MemoryError) as error:
            raise CaptionError("There was not enough memory for this picture.") from error
        text, *drawn = (self._said(row) for row in rows)
        tokens = self._tokens(inputs) | {"text": len(rows[0].tokens)} | ({} if rows[0].ended else {"cut": 1})
        return Drafts(text, tuple(drawn), rows[0].mean, gap, tokens=tokens)

    def encode(self, image: Image.Image, prompt: Prompt) -> Inputs:
        """What the model takes in for one picture and prompt: input_ids (1, L), pixel_values, and the rest."""
        inputs = self._chatted(image, prompt, self._sanitises) if self._chat else self._continued(image, prompt)
        return dict(inputs.to(self.model.device, dtype=self.model.dtype))

    def _gap(self, inputs: Inputs, row: Written, limits: Limits) -> float | None:
        if not self.config.gap or not row.tokens or "pixel_values" not in inputs:
            return None
        without = self._decoding.score(vlm_decoding.blank(inputs), row.tokens, limits)
        return (sum(row.log_probabilities) - sum(without)) / len(without)

    def _said(self, row: Written) -> str:
        text = answers.clean(self.processor.tokenizer.decode(row.tokens, skip_special_tokens=True)).text
        return text if row.ended else answers.cut_to_sentence(text)

    def _chatted(self, image: Image.Image, prompt: Prompt, sanitise: bool) -> Any:
        """System, picture, page, instruction through the chat template; page text cannot write a control token."""
        more = {"sanitize_control_tokens": True} if sanitise else {}
        after = prompt.after_image if sanitise else without(prompt.after_image, self.special)
        return self.processor.apply_chat_template(
            _conversation(prompt.system, image, after, self._system_role),
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
            add_generation_prompt=True,
            **more,
        )

    def _continued(self, image: Image.Image, prompt: Prompt) -> Any:
        words = self.config.continuation
        if words is None:
            words = vlm_families.CONTINUATIONS.get(self.model_type, vlm_families.CONTINUATION)
        if self.config.context_mode == "prefix" and prompt.page:
            words = f"{without(prompt.page, self.special)}\n{words}"
        inputs = self.processor(images=image, text=words, return_tensors="pt")
        last = int(inputs["input_ids"][0, -1])
        if self.model_type in vlm_families.CUTS_LAST_TOKEN or self.model.config.is_encoder_decoder:
            return inputs
        if last in self._ends or last == self.processor.tokenizer.sep_token_id:  # nothing follows an end mark
            shape = inputs["input_ids"].shape
            for name in [name for name, value in inputs.items() if value.shape == shape]:
                inputs[name] = inputs[name][:, :-1]
        return inputs

    def _keeps_system(self) -> bool:
        """Whether the template has a place for a system part; if not it goes before the picture, in the same turn."""
        conversation = _conversation(TRIAL.system, Image.new("RGB", (8, 8)), TRIAL.instruction, True)
        try:
            return TRIAL.system in self.processor.apply_chat_template(conversation, add_generation_prompt=True)
        except (TemplateError, TypeError):
            return False

    def _can_sanitise(self) -> bool:
        """Whether transformers can turn control tokens of the words into plain text: since 5.24, for most templates."""
        if "sanitize_control_tokens" not in inspect.signature(self.processor.apply_chat_template).parameters:
            return False
        try:
            self._chatted(Image.new("RGB", (64, 48)), TRIAL, True)
        except (
            NotImplementedError,
            ValueError,
            TypeError,
        ):  # e.g. the tokenizer adds the start token, not the template
            return False
        return True

    def _limits(self, tokens: int, seconds: float) -> Limits:
        return Limits(tokens, self._ends, time.monotonic() + seconds)

    def _tokens(self, inputs: Inputs) -> dict[str, int]:
        ids = inputs["input_ids"][0]
        mark = getattr(self.model.config, "image_token_id", None) or getattr(
            self.model.config, "image_token_index", None
        )
        images = int((ids == mark).sum()) if mark is not None else 0
        return {"prompt": len(ids) - images} | ({"image": images} if images else {})

    def _capable(self) -> Capabilities:
        usual = ContextMode.CHAT if self._chat else ContextMode.NONE
        return Capabilities(
            supports_vcd=False,  # a row for the blank picture would have to take part in each choice: not written yet
            token_knob=vlm_families.knob(self.model_type, self.processor),
            languages=self.config.languages,
            context_mode=usual if self._chat or not self.config.context_mode else ContextMode.PREFIX,
            supports_logprobs=True,
            supports_n=True,
            shares_prefill=isinstance(self._decoding, SharedPrefill),
            supports_grounding=self.model_type in vlm_families.GROUNDS,
            max_context=getattr(self.model.config.get_text_config(), "max_position_embeddings", None),
            licence=self.config.licence,
        )

    def _made_of(self, revision: str) -> dict[str, str]:
        return {
            "writer": self.name,
            "model": Path(self.config.model).name if self.config.local else self.config.model,
            "revision": revision,
            "family": self.model_type,
            "dtype": str(self.model.dtype).removeprefix("torch."),
            "device": self.model.device.type,
            "image_tokens": str(self.config.image_tokens or "as saved"),
            "continuation": "" if self._chat else repr(self.config.continuation),
            "control_tokens": "sanitised" if self._sanitises else "removed",
            "prefill": "shared" if self.capabilities.shares_prefill else "for each text",
            "decode": f"greedy, {self.config.max_tokens} tokens, samples at {self.config.temperature:g}",
            "answers": answers.VERSION,
            "transformers": transformers.__version__,
            "torch": torch.__version__,
        }


def load(config: VlmConfig) -> tuple[Any, Any, str]:
    """Model in eval mode on its device, processor, and what pins the weights: commit hash or digest of the folder.

    :raises WeightsMissing: nothing is there, it holds no safetensors, or weights are missing in it.
    :raises Misconfigured: it is no image-text-to-text model of transformers, or needs code of its own or a package.
    """
    name = str(Path(config.model).expanduser()) if config.local else config.model
    where: dict[str, Any] = {"trust_remote_code": False, "local_files_only": config.local or not config.download}
    if not config.local:
        where["revision"] = config.revision
    device = torch.device(
        ("cuda" if torch.cuda.is_available() else "cpu") if config.device == "auto" else config.device
    )
    dtype = best_dtype(device.type) if config.dtype == "auto" else DTYPES[config.dtype]
    try:
        AutoConfig.from_pretrained(name, **where)
        processor = AutoProcessor.from_pretrained(name, **where)
        loaded: Any = AutoModelForImageTextToText.from_pretrained(
            name, dtype=dtype, use_safetensors=True, output_loading_info=True, **where
        )
        model, report = loaded
    except OSError as error:
        hint = "" if config.local else '; set "download": true, or fetch it into the cache before'
        raise WeightsMissing(f"{config.model} is not whole on this machine: {_first_line(error)}{hint}") from error
    except ImportError as error:
        raise Misconfigured(f"model: {config.model} needs a package: {_first_line(error)}") from error
    except (ValueError, KeyError) as error:
        raise Misconfigured(f"model: {config.model} cannot be used: {_first_line(error)}") from error
    if absent := sorted([*report["missing_keys"], *report["mismatched_keys"]], key=str):
        raise WeightsMissing(f"{config.model} lacks {len(absent)} weights, such as {absent[0]}; it would write noise")
    return model.to(device).eval(), processor, digest(Path(name)) if config.local else config.revision


def best_dtype(device: str, cpu_flags: str | None = None) -> torch.dtype:
    """bfloat16 on an accelerator and on processors with instructions for it, else float32.

    :param cpu_flags: instruction sets, separated by spaces; None reads those of this machine.
    """
    if device != "cpu":
        return torch.bfloat16
    if cpu_flags is None:
        path = Path("/proc/cpuinfo")
        cpu_flags = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    return torch.bfloat16 if set(FAST_BFLOAT16) & set(cpu_flags.split()) else torch.float32


def digest(folder: Path) -> str:
    """16 hex digits over names and contents of the files that decide what a model writes."""
    total = hashlib.sha256()
    for path in sorted(path for path in folder.iterdir() if path.suffix in DIGESTED):
        with path.open("rb") as file:
            total.update(path.name.encode() + hashlib.file_digest(file, "sha256").digest())
    return total.hexdigest()[:16]


def without(text: str, special: Sequence[str]) -> str:
    """`text` without control tokens, also without such as appear when another is taken out of their middle."""
    before = None
    while before != text:
        before = text
        for token in special:
            text = text.replace(token, " ")
    return text


def _conversation(system: str, image: Image.Image, after: str, system_role: bool) -> list[dict[str, Any]]:
    said = [{"type": "text", "text": system}]
    user = [{"type": "image", "image": image}, {"type": "text", "text": after}]
    if system_role:
        return [{"role": "system", "content": said}, {"role": "user", "content": user}]
    return [{"role": "user", "content": said + user}]


def _special(processor: Any) -> tuple[str, ...]:
    """Control tokens and placeholders, longest first so that no shorter one breaks a longer."""
    tokenizer = processor.tokenizer
    added = [str(token) for token in tokenizer.get_added_vocab() if not str(token).isspace()]
    marks = [getattr(processor, f"{kind}_token", None) for kind in ("image", "video", "audio")]
    found = {str(token) for token in (*tokenizer.all_special_tokens, *added, *marks) if token}
    return tuple(sorted(found, key=lambda token: (-len(token), token)))


def _ends(model: Any, tokenizer: Any) -> tuple[frozenset[int], int]:
    """Ids that end a text, and an id to pad with."""
    named = model.generation_config.eos_token_id
    named = named if isinstance(named, (list, tuple)) else [named]
    ends = frozenset(int(end) for end in (*named, tokenizer.eos_token_id, tokenizer.sep_token_id) if end is not None)
    pad = tokenizer.pad_token_id
    return ends, pad if pad is not None else min(ends, default=0)


def _first_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:300]
