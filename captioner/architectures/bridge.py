"""The native prefix captioner as one module: reduce -> project -> splice into a frozen language model.

Reads image tokens, not images, so that training can cache what the frozen encoder gives. Gate, page and pixels are
elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from captioner.prepare.prompts import Prompt
from captioner.rooms import project, reduce
from captioner.rooms.decode.language_model import LanguageModel
from captioner.rooms.project import ProjectConfig
from captioner.rooms.reduce import ReduceConfig

IMAGE_MARK = "\x00"  # cannot stand in a prompt: page text is cleaned of control characters


@dataclass(frozen=True, slots=True)
class BridgeConfig:
    """:ivar width: C of the encoder's tokens.  :ivar text_width: D of the language model."""

    width: int
    text_width: int
    reduce: ReduceConfig = field(default_factory=ReduceConfig)
    project: ProjectConfig = field(default_factory=ProjectConfig)


class Bridge(nn.Module):
    """(B, P, C) -> (B, T, D): the trained part between two frozen models."""

    def __init__(self, config: BridgeConfig) -> None:
        super().__init__()
        self.config = config
        self.reduce = reduce.build(config.reduce, config.width)
        self.project = project.build(config.project, config.width, config.text_width)

    def forward(self, patches: Tensor) -> Tensor:
        return self.project(self.reduce(patches))


@dataclass(frozen=True, slots=True)
class Frame:
    """Token ids around the image: before it and after it, the opening of the answer included."""

    before: tuple[int, ...]
    after: tuple[int, ...]


def frame(model: LanguageModel, prompt: Prompt, *, image: bool = True) -> Frame:
    """Token ids of `prompt` in the chat form of `model`, or plain lines where it has none. One BOS, at the front.

    :param image: False leaves the place of the image empty (a model that is to write blind).
    """
    mark = IMAGE_MARK + "\n" if image else IMAGE_MARK
    user = mark + prompt.after_image
    tokenizer = model.tokenizer
    if getattr(tokenizer, "chat_template", None):
        text = tokenizer.apply_chat_template(
            [{"role": "system", "content": prompt.system}, {"role": "user", "content": user}],
            tokenize=False,
            add_generation_prompt=True,
        )
    else:
        text = f"{tokenizer.bos_token or ''}{prompt.system}\n{user}\n"
    before, _, after = text.partition(IMAGE_MARK)
    return Frame(tuple(model.ids(before)), tuple(model.ids(after)))


def splice(model: LanguageModel, frame: Frame, image: Tensor | None) -> Tensor:
    """(T, D) image tokens between the embedded texts -> (L, D); None leaves them out."""
    before, after = (model.embed(torch.tensor([ids], dtype=torch.long))[0] for ids in (frame.before, frame.after))
    return torch.cat([before, image.to(before.dtype), after] if image is not None else [before, after])


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows ready for teacher forcing, right-padded.

    :ivar embeds: (B, L, D).  :ivar mask: (B, L).  :ivar labels: (B, L) the token at each place, -100 outside captions.
    """

    embeds: Tensor
    mask: Tensor
    labels: Tensor


def collate(
    model: LanguageModel, frames: Sequence[Frame], images: Sequence[Tensor | None], captions: Sequence[Sequence[int]]
) -> Batch:
    """Prompts with image tokens and their captions, the end token included by the caller."""
    rows, labels = [], []
    for one, image, caption in zip(frames, images, captions, strict=True):
        prefix = splice(model, one, image)
        ids = torch.tensor(list(caption), dtype=torch.long)
        rows.append(torch.cat([prefix, model.embed(ids[None])[0]]))
        labels.append(torch.cat([torch.full((len(prefix),), -100), ids]))
    longest = max(map(len, rows))
    return Batch(
        torch.stack([nn.functional.pad(row, (0, 0, 0, longest - len(row))) for row in rows]),
        torch.stack([(torch.arange(longest) < len(row)).long() for row in rows]),
        torch.stack([nn.functional.pad(row, (0, longest - len(row)), value=-100) for row in labels]),
    )


def token_losses(model: LanguageModel, batch: Batch) -> tuple[Tensor, Tensor]:
    """(N,) negative log-probability of each caption token, and the row (N,) it belongs to.

    The first caption token is predicted from the last place of the prompt. Logits are made only where they count:
    the vocabulary is a fifth of the cost of a small model.
    """
    hidden, _ = model.hidden(batch.embeds, batch.mask, keep=False)  # (B, L, D)
    targets = batch.labels[:, 1:]
    rows, places = (targets != -100).nonzero(as_tuple=True)
    logits = model.head(hidden[rows, places])  # (N, V)
    return nn.functional.cross_entropy(logits, targets[rows, places], reduction="none"), rows


def caption_loss(model: LanguageModel, batch: Batch) -> Tensor:
    """Mean over caption tokens; prefix and padding weigh nothing."""
    losses, _ = token_losses(model, batch)
    return losses.mean()


def log_probabilities(model: LanguageModel, batch: Batch) -> Tensor:
    """(B,) sum of log-probabilities over the caption tokens of each row."""
    losses, rows = token_losses(model, batch)
    return torch.zeros(len(batch.labels), dtype=losses.dtype).index_add(0, rows, -losses)
