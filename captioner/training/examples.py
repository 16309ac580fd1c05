"""Training records and cached image tokens -> examples, and batches of similar length in a reproducible order.

Knows no optimiser. A prompt is rendered as it will be at work: same order, same budget, same notes from the tags.
"""

from __future__ import annotations

import dataclasses
import hashlib
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from captioner.architectures import bridge
from captioner.architectures.bridge import Batch, Frame
from captioner.funnel.records import Record
from captioner.prepare import prompts
from captioner.rooms.decode.language_model import LanguageModel
from captioner.rooms.encode.tags import Taxonomy
from captioner.training import features
from captioner.training.features import Seen
from captioner.types import PageContext, Role


@dataclass(frozen=True, slots=True)
class Example:
    """:ivar tokens: (P, C) of the picture.  :ivar paged, bare: the prompt with and without the page.

    :ivar target: token ids, the end token included.
    """

    name: str
    tokens: np.ndarray
    paged: Frame
    bare: Frame
    target: tuple[int, ...]
    weight: float = 1.0

    @property
    def size(self) -> int:
        """Length in tokens with the page."""
        return len(self.paged.before) + len(self.tokens) + len(self.paged.after) + len(self.target)


def make(records: Iterable[Record], seen: Mapping[str, Seen], model: LanguageModel, *, budget: int) -> list[Example]:
    """One example for each record whose picture was seen."""
    taxonomy, special = Taxonomy.load(), tuple(model.control_tokens)
    examples = []
    for record in records:
        picture = features.find(seen, record.image)
        if picture is None:
            continue
        seen_notes = noted(picture, taxonomy)
        paged = render(model, record.context, budget=budget, special=special, noted=seen_notes)
        bare = render(model, record.context, budget=0, special=special, noted=seen_notes)
        target = (*model.ids(record.target), model.end)
        examples.append(Example(record.name, picture.tokens, paged, bare, target, record.weight))
    return examples


def digest(examples: Sequence[Example]) -> str:
    """Number and hash of texts, prompts, weights and pictures in their order: names the data of a run."""
    total = hashlib.sha256()
    for one in examples:
        ids = (one.paged.before, one.paged.after, one.bare.before, one.bare.after, one.target)
        total.update(f"{ids} {one.weight} {one.tokens.shape}".encode())
        total.update(np.ascontiguousarray(one.tokens).tobytes())
    return f"{len(examples)} examples {total.hexdigest()[:16]}"


def render(
    model: LanguageModel,
    context: PageContext,
    *,
    budget: int,
    special: Sequence[str],
    noted: Sequence[str],
    image: bool = True,
    role: Role = Role.UNKNOWN,
) -> Frame:
    """Token ids of the prompt for one page."""
    prompt = prompts.render(context, role, count=_counter(model), budget=budget, special=special, notes=noted)
    return bridge.frame(model, prompt, image=image)


def noted(picture: Seen, taxonomy: Taxonomy) -> tuple[str, ...]:
    """The note on a cached picture; () for an encoder that, unlike the starter's, knows no classes."""
    if len(picture.probabilities) != len(taxonomy.classes):
        return ()
    return prompts.notes(taxonomy.tags(picture.probabilities.astype(np.float32)))


def batches(
    examples: Sequence[Example], size: int, *, epoch: int, seed: int, page_dropout: float = 0.0
) -> Iterator[list[tuple[Example, bool]]]:
    """Batches of one epoch: shuffled by seed, sorted by length within windows, so that little padding is computed.

    Each example comes with whether its page is shown. The same seed and epoch give the same batches: a run resumes
    by counting.
    """
    draw = random.Random(f"{seed} {epoch}")  # noqa: S311  (an order, no secret)
    order = draw.sample(range(len(examples)), len(examples))
    shown = {index: draw.random() >= page_dropout for index in order}
    window = 16 * size
    chunks = []
    for start in range(0, len(order), window):
        near = sorted(order[start : start + window], key=lambda index: (shown[index], examples[index].size))
        chunks += [near[at : at + size] for at in range(0, len(near), size)]
    draw.shuffle(chunks)
    for chunk in chunks:
        yield [(examples[index], shown[index]) for index in chunk]


def collate(
    chunk: Sequence[tuple[Example, bool]], model: LanguageModel, module: torch.nn.Module, *, blind: bool = False
) -> Batch:
    """Run the bridge over the pictures of `chunk` and put prompts and targets around them."""
    frames = [one.paged if shown else one.bare for one, shown in chunk]
    images: Sequence[Tensor | None] = [None] * len(chunk)
    if not blind:
        images = list(module(torch.from_numpy(np.stack([one.tokens for one, _ in chunk])).float()))
    return bridge.collate(model, frames, images, [one.target for one, _ in chunk])


def deranged(examples: Sequence[Example]) -> list[Example]:
    """The examples with each other's pictures, none with its own: for the shuffled-image gap.

    Tags stand in the prompt, so prompts keep the right tags: the gap is that of the image tokens alone. Several texts
    about one picture stand together, so the shift is as long as the largest of these groups. Where one picture has
    more than half of the examples there is no derangement, and some keep theirs.
    """
    groups: dict[bytes, list[Example]] = {}
    for one in examples:
        groups.setdefault(one.tokens.tobytes(), []).append(one)
    together = [one for group in groups.values() for one in group]
    shift = max(map(len, groups.values()), default=0)
    others = iter([*together[shift:], *together[:shift]])
    wrong = {id(one): next(others).tokens for one in together}
    return [dataclasses.replace(one, tokens=wrong[id(one)]) for one in examples]


@lru_cache(maxsize=4)
def _counter(model: LanguageModel) -> prompts.Count:
    return lru_cache(maxsize=200_000)(model.count)
