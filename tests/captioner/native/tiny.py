"""Language models of two layers and random weights, saved to disk so that the production loader reads them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
import transformers
from PIL import Image
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors

from captioner.architectures.bridge import Bridge, BridgeConfig
from captioner.architectures.checkpoint import Native, NativeConfig
from captioner.rooms.decode.language_model import LanguageModel
from captioner.rooms.encode.vision import EncodeConfig
from captioner.rooms.project import ProjectConfig
from captioner.rooms.reduce import ReduceConfig

WIDTH = 32  # D
PATCHES, CHANNELS = 16, 12  # P, C of `Patches`
CHATML = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
WITH_BOS = "{{ bos_token }}" + CHATML


def tokenizer(*, bos: bool, template: str | None) -> transformers.PreTrainedTokenizerFast:
    """One token a byte, so every text comes back; ids 0 to 5: unk, start, end, <repo_name>, <s>, pad.

    :param bos: <s> opens a text, and the tokenizer adds it by itself (Llama); otherwise <|im_start|> has that role and
        nothing is added (SmolLM2).  <repo_name> is a special token without a role, as SmolLM2 has fourteen.
    """
    names = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<repo_name>", "<s>", "<pad>"]
    names += sorted(pre_tokenizers.ByteLevel.alphabet())
    inner = Tokenizer(models.BPE({name: at for at, name in enumerate(names)}, []))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    inner.add_special_tokens(names[:6])
    if bos:
        inner.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 4)])
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner,
        bos_token="<s>" if bos else "<|im_start|>",
        eos_token="<|im_end|>",
        unk_token="<|endoftext|>",
        pad_token="<pad>",
        chat_template=template,
    )


def spread(model: torch.nn.Module, deviation: float = 0.25) -> torch.nn.Module:
    """Weights large enough that picture and every token matter: with the usual 0.02 all logits are alike."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() > 1 or name.endswith("class_embedding"):
                parameter.normal_(0, deviation, generator=generator)
    return model.float().eval()


def llama(folder: Path, *, bos: bool = False, template: str | None = CHATML) -> Path:
    """Rotary positions, grouped key-value heads, tied embeddings."""
    tokens = tokenizer(bos=bos, template=template)
    config = transformers.LlamaConfig(
        vocab_size=len(tokens),
        hidden_size=WIDTH,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
        tie_word_embeddings=True,
        bos_token_id=tokens.bos_token_id,
        eos_token_id=2,
        pad_token_id=5,
    )
    return _saved(folder, transformers.LlamaForCausalLM(config), tokens)


def gpt2(folder: Path) -> Path:
    """Learned positions, no chat form, and a tokenizer that adds <s> by itself."""
    tokens = tokenizer(bos=True, template=None)
    config = transformers.GPT2Config(
        vocab_size=len(tokens),
        n_embd=WIDTH,
        n_layer=2,
        n_head=4,
        n_positions=512,
        bos_token_id=4,
        eos_token_id=2,
        pad_token_id=5,
    )
    return _saved(folder, transformers.GPT2LMHeadModel(config), tokens)


def _saved(folder: Path, model: torch.nn.Module, tokens: transformers.PreTrainedTokenizerFast) -> Path:
    spread(model).save_pretrained(folder)
    tokens.save_pretrained(folder)
    return folder


def prompt_rows(model: LanguageModel, lengths: Sequence[int], seed: int = 1) -> list[torch.Tensor]:
    """Embedded prompts of random tokens, each (L, D)."""
    generator = torch.Generator().manual_seed(seed)
    return [model.embed(torch.randint(6, 256, (length,), generator=generator)) for length in lengths]


def plain_logits(model: LanguageModel, embeds: torch.Tensor) -> torch.Tensor:
    """(L, D) -> (L, V) by the whole model of transformers, without cache, mask or padding: the reference."""
    with torch.inference_mode():
        return model.model(inputs_embeds=embeds[None], use_cache=False).logits[0].float()


class Patches:
    """A tower without weights: an image is 4 x 4 cells, a cell its own 12 numbers. Counts what it looks at."""

    width, patches = CHANNELS, PATCHES

    def __init__(self) -> None:
        self.looked = 0

    def tokens(self, images: Sequence[Image.Image]) -> torch.Tensor:
        self.looked += len(images)
        return torch.stack([self._one(image) for image in images])

    def blank(self) -> torch.Tensor:
        return torch.zeros(1, PATCHES, CHANNELS)

    def _one(self, image: Image.Image) -> torch.Tensor:
        small = image.convert("RGB").resize((8, 8))
        levels = torch.frombuffer(bytearray(small.tobytes()), dtype=torch.uint8).view(4, 2, 4, 2, 3)
        return levels.permute(0, 2, 1, 3, 4).reshape(PATCHES, CHANNELS).float() / 127.5 - 1


def picture(seed: int = 0) -> Image.Image:
    """Noise of 8 x 8 px."""
    levels = torch.randint(0, 256, (8, 8, 3), generator=torch.Generator().manual_seed(seed))
    return Image.fromarray(levels.to(torch.uint8).numpy())


def native(weights: Path, name: str, **changed: object) -> Native:
    """A captioner over the model in `weights/name`: 4 x 4 patches pooled to 2 x 2, MLP of random weights."""
    fields: dict = {
        "name": "tiny",
        "encode": EncodeConfig(),
        "bridge": BridgeConfig(CHANNELS, WIDTH, ReduceConfig("pool", side=2), ProjectConfig()),
        "language_model": name,
        **changed,
    }
    config = NativeConfig(**fields)
    bridge = spread(Bridge(config.bridge), 0.5)
    assert isinstance(bridge, Bridge)
    return Native(config, bridge.requires_grad_(False), LanguageModel.load(weights / name))
