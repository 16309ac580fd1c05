"""A packaged GGUF language model -> a folder of config.json, tokenizer and bf16 safetensors that loads in a second.

Used once, while fetching. Needs the `gguf` package; the captioner itself does not.
"""

from __future__ import annotations

from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerBase


def from_gguf(file: Path, folder: Path) -> None:
    """Dequantise `file` and save it into `folder`. About 25 CPU-seconds for 135 M parameters.

    `save_pretrained` straight from a GGUF model raises, so the state goes into a model made from the config. The
    values are those of Q4_1 blocks, so bf16 loses less than the quantisation did, and halves the file.
    """
    loaded = AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, dtype=torch.float32)
    config = loaded.config
    for name in ("quantization_config", "_name_or_path"):
        if hasattr(config, name):
            delattr(config, name)
    plain = AutoModelForCausalLM.from_config(config).to(torch.bfloat16)
    plain.load_state_dict(
        {name: tensor.to(torch.bfloat16) for name, tensor in loaded.state_dict().items()}, strict=True
    )
    plain.save_pretrained(folder, safe_serialization=True)
    tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
    tokenizer.save_pretrained(folder)
