"""Room 4: a frozen causal language model that reads embeddings, its cache, and low-rank weights on top of it.

The only file naming peft. Knows no picture: image tokens are rows of embeddings like any others.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.utils.logging import disable_progress_bar

ALL_LINEAR = "all-linear"


@dataclass(frozen=True, slots=True)
class LoraConfig:
    """Low-rank weights (arXiv 2106.09685).

    :ivar targets: names of linear layers, or ("all-linear",).  :ivar alpha: scale; weights count alpha / rank times.
    """

    rank: int = 16
    alpha: int = 32
    dropout: float = 0.0
    targets: tuple[str, ...] = (ALL_LINEAR,)


@dataclass
class Continuation:
    """Prompts that were read once and can be continued token by token, all rows at a time.

    :ivar logits: (B, V) for the next token of each row.
    :ivar mask: (B, L) 1 where a position holds a token, 0 for left padding.
    """

    model: LanguageModel
    logits: Tensor
    cache: Any
    mask: Tensor
    rows: int = field(init=False)

    def __post_init__(self) -> None:
        self.rows = len(self.logits)

    def step(self, tokens: Tensor) -> Tensor:
        """Append one token a row, (B,); gives the next logits (B, V)."""
        self.mask = torch.cat([self.mask, self.mask.new_ones(len(tokens), 1)], dim=1)
        self.logits, self.cache = self.model.read(self.model.embed(tokens[:, None]), self.mask, cache=self.cache)
        return self.logits

    def repeat(self, times: int) -> None:
        """Each row `times` times in a row, without reading the prompt again."""
        self.cache.batch_repeat_interleave(times)
        self._take(lambda values: values.repeat_interleave(times, dim=0))

    def select(self, rows: Tensor) -> None:
        """Keep or reorder rows (beams); `rows` (B',) are indexes of the present rows."""
        self.cache.batch_select_indices(rows)
        self._take(lambda values: values[rows])

    def _take(self, of: Any) -> None:
        self.logits, self.mask = of(self.logits), of(self.mask)
        self.rows = len(self.logits)


class LanguageModel:
    """A causal LM of transformers in eval mode, frozen; loaded from a folder of safetensors, never by pickle."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        self.model: Any = model.eval().requires_grad_(False)
        self.tokenizer: Any = tokenizer
        self.lora: LoraConfig | None = None

    @classmethod
    def load(cls, folder: Path, *, dtype: torch.dtype = torch.float32) -> LanguageModel:
        """The model saved in `folder`.  :raises OSError: the folder holds none."""
        disable_progress_bar()  # bars would stand between the lines of a log
        model = AutoModelForCausalLM.from_pretrained(
            folder, dtype=dtype, use_safetensors=True, local_files_only=True, trust_remote_code=False
        )
        return cls(model, AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False))

    @property
    def width(self) -> int:
        """D, of the token embeddings."""
        return int(self.model.get_input_embeddings().weight.shape[1])

    @property
    def scale(self) -> float:
        """Root mean square of the token embeddings."""
        return float(self.model.get_input_embeddings().weight.float().square().mean().sqrt())

    @property
    def end(self) -> int:
        """Id of the token that ends a text."""
        return int(self.tokenizer.eos_token_id)

    @property
    def control_tokens(self) -> tuple[str, ...]:
        """All special tokens of the vocabulary: also those without a role, which `all_special_tokens` leaves out."""
        added = self.tokenizer.added_tokens_decoder.values()
        return tuple(sorted({*self.tokenizer.all_special_tokens, *(one.content for one in added if one.special)}))

    def count(self, text: str) -> int:
        """Tokens of `text` without special ones."""
        return len(self.ids(text))

    def ids(self, text: str) -> list[int]:
        """Token ids of `text`; special tokens written in it come out as such, so page text must be neutralised."""
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def text(self, ids: Sequence[int]) -> str:
        """Words of `ids`, special tokens left out, stripped."""
        return str(self.tokenizer.decode(list(ids), skip_special_tokens=True)).strip()

    def embed(self, ids: Tensor) -> Tensor:
        """(B, L) ids -> (B, L, D)."""
        return self.model.get_input_embeddings()(ids)

    def hidden(self, embeds: Tensor, mask: Tensor, cache: Any = None, *, keep: bool = True) -> tuple[Tensor, Any]:
        """(B, L, D) embeddings -> last hidden states (B, L, D) and the cache; `keep` False makes none (training).

        Positions count the ones of `mask` (B, so far + L), so that left padding shifts nothing.
        """
        positions = (mask.cumsum(-1) - 1).clamp(min=0)[:, -embeds.shape[1] :]
        out = self._inner()(
            inputs_embeds=embeds,
            attention_mask=mask,
            position_ids=positions,
            use_cache=keep,
            **({self._cache_name: cache} if cache is not None else {}),
        )
        return out.last_hidden_state, cache_of(out) if keep else None

    def read(self, embeds: Tensor, mask: Tensor, cache: Any = None) -> tuple[Tensor, Any]:
        """Logits (B, V) after the last position, and the cache."""
        hidden, cache = self.hidden(embeds, mask, cache)
        return self.head(hidden[:, -1]), cache

    def head(self, hidden: Tensor) -> Tensor:
        """(…, D) hidden states -> (…, V) logits in float32."""
        return self.model.get_output_embeddings()(hidden).float()

    @torch.inference_mode()
    def start(self, rows: Sequence[Tensor]) -> Continuation:
        """Read prompts of embeddings, each (L, D) of its own length, left-padded into one batch."""
        longest = max(len(row) for row in rows)
        embeds = torch.stack([nn.functional.pad(row, (0, 0, longest - len(row), 0)) for row in rows])
        mask = torch.stack([torch.arange(longest, device=row.device) >= longest - len(row) for row in rows]).long()
        logits, cache = self.read(embeds, mask)
        return Continuation(self, logits, cache, mask)

    def attend_plainly(self) -> None:
        """Attention step by step: for training in bfloat16 on a CPU, where the fused kernel's way back takes six times
        as long (1.25 s of a step of 4.2 s, against 0.2 s).
        """
        self.model.set_attn_implementation("eager")

    def attach_lora(self, config: LoraConfig, *, seed: int = 1) -> int:
        """Add fresh low-rank weights (the second factor is 0, so logits stay equal); gives their number.

        Equal seeds give equal weights; the generator of everybody else is left as it was.
        """
        from peft import LoraConfig as PeftConfig
        from peft import get_peft_model

        targets = ALL_LINEAR if config.targets == (ALL_LINEAR,) else list(config.targets)
        settings = PeftConfig(
            r=config.rank,
            lora_alpha=config.alpha,
            lora_dropout=config.dropout,
            target_modules=targets,
            task_type="CAUSAL_LM",
        )
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.model = get_peft_model(self.model, settings)
        self.lora = config
        return sum(values.numel() for values in self.lora_parameters())

    def lora_parameters(self) -> list[nn.Parameter]:
        """Only the low-rank weights."""
        return [values for name, values in self.model.named_parameters() if "lora_" in name]

    def lora_state(self) -> dict[str, Tensor]:
        """Names -> low-rank weights, as peft names them; {} without."""
        if self.lora is None:
            return {}
        from peft import get_peft_model_state_dict

        return {name: values.detach().cpu() for name, values in get_peft_model_state_dict(self.model).items()}

    def load_lora(self, state: Mapping[str, Tensor]) -> None:
        """Set the low-rank weights.

        :raises ValueError: a name is missing, unknown, or of another shape.
        """
        from peft import set_peft_model_state_dict

        own = self.lora_state()
        wrong = sorted(
            name
            for name in {*own, *state}
            if name not in own or name not in state or own[name].shape != state[name].shape
        )
        if wrong:
            raise ValueError(f"low-rank weights do not fit: {', '.join(wrong[:3])} ({len(wrong)} in all)")
        set_peft_model_state_dict(self.model, dict(state))

    def merge_lora(self) -> None:
        """Fold the low-rank weights into the model: equal logits, no extra cost."""
        if self.lora is not None:
            self.model = self.model.merge_and_unload().requires_grad_(False)
            self.lora = None

    @contextmanager
    def without_lora(self) -> Iterator[None]:
        """The base model, as reference of preference training."""
        if self.lora is None:
            yield
            return
        with self.model.disable_adapter():
            yield

    @property
    def _cache_name(self) -> str:
        """`cache` since transformers 5.24, which warns about the older name."""
        parameters = inspect.signature(self._inner().forward).parameters
        return "cache" if "cache" in parameters else "past_key_values"

    def _inner(self) -> Any:
        base = self.model.get_base_model() if self.lora is not None else self.model
        return base.base_model  # `model` in Llama, `transformer` in GPT-2


def cache_of(output: Any) -> Any:
    """The key-value cache of a model output, under its name in transformers 5.18 as in 5.24."""
    cache = getattr(output, "cache", None)
    return cache if cache is not None else output.past_key_values
