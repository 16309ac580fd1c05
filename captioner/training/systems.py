"""The systems that are compared: each turns rows into texts. Baselines that look at nothing, evidence, and the
trained model in its forms.

A text is None where a system stays silent. Knows no measure.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from captioner.architectures import bridge
from captioner.architectures.native import NativeWriter
from captioner.funnel import records
from captioner.metrics.rows import Row, Skipped
from captioner.prepare import candidates, duplicates, hashes, images, pagewords, prompts
from captioner.rooms.decode import search
from captioner.training import features
from captioner.types import CaptionRequest, Outcome, PageContext, Sight

BATCH = 8
MAX_TOKENS = 28


@dataclass(frozen=True, slots=True)
class Seen:
    """One row with its picture opened and looked at once, for all systems."""

    row: Row
    derivative: bytes
    content_hash: str
    picture: Image.Image
    sight: Sight
    pooled: np.ndarray


@dataclass
class Answers:
    """What one system said on all rows, in order.

    :ivar outcomes: only of systems that give evidence.  :ivar seconds: of the whole run, looking not included.
    """

    name: str
    what: str
    texts: list[str | None]
    seconds: float
    outcomes: list[Outcome] = field(default_factory=list)


def look(rows: Sequence[Row], eyes: Any, *, vectors: bool = False) -> Iterator[Seen]:
    """Open and look at every row; rows that the intake refuses are left out.

    :param vectors: encode the picture once more for its pooled vector, which only `nearest` needs.
    """
    for row in rows:
        taken = images.take_in(row.image.read_bytes(), name=row.image.name)
        if taken.outcome != images.ACCEPT:
            continue
        picture = images.open_derivative(taken.large)
        pooled = eyes.tower.encode(picture).pooled if vectors else np.zeros(0)
        yield Seen(row, taken.large, taken.content_hash, picture, eyes.look(picture), pooled)


def captions(seen: Sequence[Seen]) -> Answers:
    """(b) The visible caption, copied without its credit."""
    texts = [candidates.without_credit(pagewords.clean(one.row.context.caption)).strip() or None for one in seen]
    return Answers("b", "visible caption, copied", texts, 0.0)


def nearest(seen: Sequence[Seen], vectors: np.ndarray, texts: Sequence[str]) -> Answers:
    """(c) The human text of the nearest training picture by cosine of pooled features.

    :param vectors: (N, F) of the training pictures; near-duplicates of the rows must have been dropped.
    """
    started = time.perf_counter()
    known = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    own = np.stack([one.pooled / np.linalg.norm(one.pooled) for one in seen])
    best = (own @ known.T).argmax(1)
    return Answers("c", "nearest training text, copied", [texts[i] for i in best], time.perf_counter() - started)


def captioner(
    name: str, what: str, seen: Sequence[Seen], model: Any, contexts: Sequence[PageContext] | None = None
) -> Answers:
    """(d), (g) Any captioner that gives outcomes; `contexts` stand in for the rows' own (swapped pages)."""
    started, outcomes = time.perf_counter(), []
    for index, one in enumerate(seen):
        context = contexts[index] if contexts is not None else one.row.context
        request = CaptionRequest(
            one.row.name, image=one.derivative, content_hash=one.content_hash, context=context, role=one.row.role
        )
        outcomes += model.describe([request])
    texts = [outcome.text for outcome in outcomes]
    return Answers(name, what, texts, time.perf_counter() - started, outcomes)


def free(
    name: str,
    what: str,
    seen: Sequence[Seen],
    writer: NativeWriter,
    *,
    image: bool = True,
    page: bool = True,
    say: Callable[[str], object] = lambda _: None,
) -> Answers:
    """(a), (e), (f) Greedy free text without any gate, in batches."""
    started = time.perf_counter()
    texts: list[str | None] = [None] * len(seen)
    frames = [frame(writer, one, one.row.context, image=image, page=page) for one in seen]
    order = sorted(range(len(seen)), key=lambda index: len(frames[index].after))
    for start in range(0, len(order), BATCH):
        chunk = order[start : start + BATCH]
        rows = [
            bridge.splice(
                writer.model, frames[i], writer.picture(seen[i].picture, seen[i].content_hash) if image else None
            )
            for i in chunk
        ]
        written = search.greedy(writer.model.start(rows), writer.model.end, max_tokens=MAX_TOKENS)
        for index, one in zip(chunk, written, strict=True):
            texts[index] = finished(writer.model.text(one.tokens), ended=one.ended) or None
        say(f"{name}: {min(start + BATCH, len(order))} of {len(order)}")
    return Answers(name, what, texts, time.perf_counter() - started)


def frame(writer: NativeWriter, one: Seen, context: PageContext, *, image: bool, page: bool) -> bridge.Frame:
    """The prompt as in training: with tags where the picture is shown, without where the model is blind."""
    prompt = prompts.render(
        context,
        one.row.role,
        count=writer.count,
        budget=writer.native.config.budget if page else 0,
        special=writer.special,
        notes=prompts.notes(one.sight.tags) if image else (),
    )
    return writer.frame(prompt, image=image)


def finished(text: str, *, ended: bool) -> str:
    """`text`, or its whole sentences where the limit cut it off."""
    if ended or "." not in text:
        return text
    return text[: text.rindex(".") + 1]


@torch.inference_mode()
def losses(
    seen: Sequence[Seen],
    targets: Sequence[str],
    pictures: Sequence[int],
    writer: NativeWriter,
    *,
    tags: bool,
    page: bool = True,
) -> list[tuple[float, int]]:
    """(summed negative log-probability in nats, tokens) of each target under its own page and `pictures[i]`'s image.

    :param tags: the tags in the prompt change with the picture; False leaves the row's own, so that only the image
        tokens change.
    """
    results: list[tuple[float, int]] = []
    for start in range(0, len(seen), BATCH):
        chunk = range(start, min(start + BATCH, len(seen)))
        noted = [seen[pictures[i]] if tags else seen[i] for i in chunk]
        frames = [
            frame(writer, one, seen[i].row.context, image=True, page=page) for i, one in zip(chunk, noted, strict=True)
        ]
        shown: list[Tensor | None] = [
            writer.picture(seen[pictures[i]].picture, seen[pictures[i]].content_hash) for i in chunk
        ]
        ids = [[*writer.model.ids(targets[i]), writer.model.end] for i in chunk]
        batch = bridge.collate(writer.model, frames, shown, ids)
        sums = bridge.log_probabilities(writer.model, batch).tolist()
        results += [(-value, len(one)) for value, one in zip(sums, ids, strict=True)]
    return results


def training_texts(data: Path, cache: Path, rows: Sequence[Seen]) -> tuple[np.ndarray, list[str], int]:
    """Pooled vectors and cleaned human texts of the cached training pictures that are not near one of `rows`.

    The third value counts those dropped: books reuse pictures in slightly other form.
    """
    dropped, vectors, texts = 0, [], []
    seen = features.load(cache)
    known = [duplicates.Print("", hashes.perceptual_hash(one.picture), vector=one.pooled) for one in rows]
    own = np.stack([one.pooled / np.linalg.norm(one.pooled) for one in rows])
    for record in records.read(data, Skipped()):
        picture = features.find(seen, record.image)
        if record.image is None or picture is None:
            continue
        vector = picture.pooled.astype(np.float32)
        alike = np.flatnonzero(own @ (vector / np.linalg.norm(vector)) >= duplicates.LEAK.cosine)
        if _is_near(record.image, vector, [known[int(index)] for index in alike]):
            dropped += 1
            continue
        vectors.append(vector)
        texts.append(record.target)
    return np.stack(vectors), texts, dropped


def _is_near(path: Path, vector: np.ndarray, alike: Sequence[duplicates.Print]) -> bool:
    """The same picture as one of `alike`; the file is opened only where there is one."""
    if not alike:
        return False
    with Image.open(path) as file:
        mine = duplicates.Print("", hashes.perceptual_hash(file.convert("RGB")), vector=vector)
    return any(duplicates.same_picture(mine, other, duplicates.LEAK).same for other in alike)
