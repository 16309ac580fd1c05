"""Ratios of the language-model side, random weights, one thread, process time, the sides in turns. Prints JSON.

576 image tokens against 64, greedy + three samples from one prefill against four calls, and an answer for an equal
picture against a fresh caption. Each ratio stands beside the FLOP model of the planner, attention included.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from captioner.rooms.decode import search
from captioner.rooms.decode.language_model import LanguageModel

LAYERS, WIDTH = 12, 384  # about 33 M parameters without embeddings, as the figures of the specification
ROUNDS = 4
TEXT = 37


class _NoWords:
    eos_token_id = 1


def model() -> LanguageModel:
    torch.manual_seed(1)
    config = LlamaConfig(
        hidden_size=WIDTH, intermediate_size=4 * WIDTH, num_hidden_layers=LAYERS, num_attention_heads=6,
        num_key_value_heads=6, vocab_size=512, max_position_embeddings=4096,
    )  # fmt: skip
    return LanguageModel(LlamaForCausalLM(config), _NoWords())


def interleaved(sides: dict[str, Callable[[], object]]) -> dict[str, float]:
    """CPU seconds of each side: the least of `ROUNDS`, sides in turns, after one round of warming up."""
    best = dict.fromkeys(sides, float("inf"))
    for turn in range(ROUNDS + 1):
        for name, run in sides.items():
            started = time.process_time()
            run()
            if turn:
                best[name] = min(best[name], time.process_time() - started)
    return best


def flops(parameters: int, tokens: int) -> float:
    """2 P n + c layers width n^2 with c = 2 (causal attention, multiply-add counted as two)."""
    return 2.0 * parameters * tokens + 2.0 * LAYERS * WIDTH * tokens**2


def prefill(lm: LanguageModel) -> dict[str, Any]:
    rows = {count: torch.randn(count + TEXT, WIDTH) * 0.02 for count in (64, 576, 2880)}
    took = interleaved({str(count): lambda row=row: lm.start([row]) for count, row in rows.items()})
    inner = sum(
        values.numel() for name, values in lm.model.named_parameters() if "embed" not in name and "head" not in name
    )
    result = {}
    for large, small in ((576, 64), (2880, 576)):
        measured = took[str(large)] / took[str(small)]
        modelled = flops(inner, large + TEXT) / flops(inner, small + TEXT)
        result[f"{large}/{small}"] = {
            "measured": round(measured, 2),
            "flop_model": round(modelled, 2),
            "token_ratio": round((large + TEXT) / (small + TEXT), 2),
            "measured_over_model": round(measured / modelled, 2),
        }
    return result


def samples(lm: LanguageModel) -> dict[str, Any]:
    """Greedy and three samples, 20 tokens each."""
    row = torch.randn(64 + TEXT, WIDTH) * 0.02

    def together() -> None:
        steps = lm.start([row])
        steps.repeat(4)
        search.draw(steps, 1, temperatures=[0.0, 0.8, 0.8, 0.8], max_tokens=20, min_tokens=20)

    def apart() -> None:
        for heat in (0.0, 0.8, 0.8, 0.8):
            search.draw(lm.start([row]), 1, temperatures=[heat], max_tokens=20, min_tokens=20)

    took = interleaved({"one prefill": together, "four calls": apart})
    return {"one_prefill_over_four_calls": round(took["one prefill"] / took["four calls"], 2)}


def dedupe() -> dict[str, Any]:
    """Comparing with 12,000 known pictures by content hash and by perceptual hash, against one caption."""
    import hashlib
    import random

    from captioner.prepare import hashes

    draw = random.Random(1)
    known = {
        hashlib.sha256(bytes([i % 256, i // 256])).hexdigest(): f"{draw.getrandbits(64):016x}" for i in range(12_000)
    }
    one, content = f"{draw.getrandbits(64):016x}", hashlib.sha256(b"x").hexdigest()
    lm, row = model(), torch.randn(64 + TEXT, WIDTH) * 0.02
    took = interleaved(
        {
            "hit": lambda: [known.get(content) for _ in range(1000)],
            "near": lambda: [other for other in known.values() if (hashes.hamming(one, other) or 0) <= 6],
            "caption": lambda: search.draw(lm.start([row]), 1, temperatures=[0.0], max_tokens=20, min_tokens=20),
        }
    )
    return {
        "exact_hit_over_caption": round(took["hit"] / 1000 / took["caption"], 7),
        "near_scan_of_12000_over_caption": round(took["near"] / took["caption"], 3),
    }


def main() -> None:
    torch.set_num_threads(1)
    lm = model()
    print(json.dumps({"prefill": prefill(lm), "samples": samples(lm), "dedupe": dedupe()}))


if __name__ == "__main__":
    main()
