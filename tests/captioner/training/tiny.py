"""Tiny random models, saved to disk and loaded as the real ones are, with pictures of random numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers

from captioner.architectures.bridge import Bridge, BridgeConfig, Frame
from captioner.architectures.checkpoint import Native, NativeConfig
from captioner.rooms.decode.language_model import LanguageModel, LoraConfig
from captioner.rooms.encode.vision import EncodeConfig
from captioner.rooms.project import ProjectConfig
from captioner.rooms.reduce import ReduceConfig
from captioner.training.examples import Example
from captioner.training.stages import Stage

WIDTH, PATCHES, CHANNELS = 64, 4, 32
MARKS = {"pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
VOCABULARY = "a the dog cat horse bus on in of grass snow street red black small . page title seen describe image"
WORDS = VOCABULARY.split()


def language_model(folder: Path, *, words=WORDS, family: str = "llama", seed: int = 0) -> LanguageModel:
    """Two layers of width 64 over a vocabulary of `words`; ids: pad 0, bos 1, eos 2, unk 3."""
    names = [*MARKS.values(), *words]
    inner = Tokenizer(models.WordLevel({name: at for at, name in enumerate(names)}, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    transformers.PreTrainedTokenizerFast(tokenizer_object=inner, **MARKS).save_pretrained(folder)
    torch.manual_seed(seed)
    ids = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0, "vocab_size": len(names)}
    if family == "gpt2":
        model = transformers.GPT2LMHeadModel(
            transformers.GPT2Config(n_layer=2, n_embd=WIDTH, n_head=4, n_positions=256, **ids)
        )
    else:
        model = transformers.LlamaForCausalLM(
            transformers.LlamaConfig(
                hidden_size=WIDTH,
                intermediate_size=128,
                num_hidden_layers=2,
                num_attention_heads=4,
                num_key_value_heads=2,
                max_position_embeddings=1024,
                tie_word_embeddings=True,
                initializer_range=0.2,  # with the usual 0.02 no logit can leave -1.3..1.3
                **ids,
            )
        )
    model.save_pretrained(folder)
    return LanguageModel.load(folder)


def bridge(*, method: str = "none", channels: int = CHANNELS, seed: int = 0) -> Bridge:
    """(B, 4, 32) -> (B, T, 64)."""
    torch.manual_seed(seed)
    reduce = ReduceConfig(method, side=1, queries=3, heads=2)
    return Bridge(BridgeConfig(channels, WIDTH, reduce, ProjectConfig(standardise=False)))


def lora(model: LanguageModel, *, fresh: bool = False, seed: int = 1) -> LanguageModel:
    """Low-rank weights; not `fresh` are as after a stage: the second factor is not 0."""
    torch.manual_seed(seed)
    model.attach_lora(LoraConfig(rank=4, alpha=8))
    if not fresh:
        with torch.no_grad():
            for values in model.lora_parameters():
                values.normal_(0, 0.05)
    return model


def native(folder: Path, *, with_lora: bool = True, seed: int = 0) -> Native:
    """A whole captioner, its language model in `folder`."""
    module, model = bridge(seed=seed), language_model(folder, seed=seed)
    config = NativeConfig(
        "tiny",
        EncodeConfig(),
        module.config,
        folder.name,
        lora=LoraConfig(rank=4, alpha=8) if with_lora else None,
        budget=8,
    )
    return Native(config, module, lora(model) if with_lora else model)


def picture(seed: int, channels: int = CHANNELS) -> np.ndarray:
    """(4, C) float16, as the cache holds them."""
    return np.random.default_rng(seed).standard_normal((PATCHES, channels)).astype(np.float16)


def example(model: LanguageModel, text: str, *, seed: int, page: str = "", name: str = "", weight=1.0) -> Example:
    """A picture of random numbers, a prompt of a few words, and what is to be said."""
    before, after = tuple(model.ids("<s> describe")), tuple(model.ids("image"))
    paged = Frame(before, (*model.ids(page), *after))
    target = (*model.ids(text), model.end)
    return Example(name or text, picture(seed), paged, Frame(before, after), target, weight)


def four(model: LanguageModel) -> list[Example]:
    """Four pictures, each with its own text, of different lengths."""
    texts = ("a red bus on the street", "a dog in snow", "the black cat", "a small horse on grass .")
    return [
        example(model, text, seed=seed, page="page title snow" if seed % 2 else "page")
        for seed, text in enumerate(texts)
    ]


def stage(name: str = "lora", *, bridge: bool = True, lora: bool = True, steps: int = 8, **rest) -> Stage:
    """Short stages with rates for tiny models."""
    return Stage(name, bridge=bridge, lora=lora, steps=steps, **{"batch": 2, "page_dropout": 0.3, **rest})
