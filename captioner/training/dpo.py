"""Direct preference optimisation (arXiv 2305.18290): the better text gains on the worse one, measured from the start.

The reference is the model as it was when the stage began, low-rank weights of the stages before included. It is asked
once for every pair, before the first step, and its answers are kept on disk: no second model is held. Knows neither
how pairs come about nor how a step is taken.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from captioner.architectures import bridge as bridging
from captioner.architectures.bridge import Bridge
from captioner.funnel.preferences import Preference
from captioner.funnel.records import Skipped
from captioner.prepare import prompts
from captioner.rooms.decode.language_model import LanguageModel
from captioner.rooms.encode.tags import Taxonomy
from captioner.training import examples as making
from captioner.training import features
from captioner.training.examples import Example
from captioner.training.features import Seen
from captioner.training.loop import Run, RunMismatch

BETA = 0.1  # weight of the distance to the reference; a choice, as in most published runs
LONGEST = 384  # tokens of prompt, picture and text; a longer pair is left out, as a cut would go through the picture
COLLAPSE = 0.5  # nats a token that the chosen texts may lose before it is called a collapse; a choice
PART = 32  # pairs between two writes of the reference


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Two texts for one picture, or one text for two pictures, after the same prompt; equal to itself only.

    :ivar longer: words of the chosen text more than of the rejected one.
    """

    chosen: Example
    rejected: Example
    longer: int

    @property
    def size(self) -> int:
        return max(self.chosen.size, self.rejected.size)


def make(
    preferences: Iterable[Preference],
    seen: Mapping[str, Seen],
    model: LanguageModel,
    dropped: Skipped,
    *,
    budget: int,
    longest: int = LONGEST,
) -> list[Pair]:
    """A pair for each preference whose picture was seen and whose prompt and texts fit into `longest` tokens."""
    taxonomy, special = Taxonomy.load(), model.control_tokens
    pairs = []
    for one in preferences:
        picture = features.find(seen, one.image)
        if picture is None:
            dropped.add("no features", one.name)
            continue
        noted = making.noted(picture, taxonomy)
        frame = making.render(model, one.context, budget=budget, special=special, noted=noted, role=one.role)
        chosen, rejected = (
            Example(one.name, picture.tokens, frame, frame, (*model.ids(prompts.neutralise(text, special)), model.end))
            for text in (one.chosen, one.rejected)
        )
        pair = Pair(chosen, rejected, one.length_difference)
        if pair.size > longest:
            dropped.add("too long", one.name)
        else:
            pairs.append(pair)
    return pairs


def of_pictures(examples: Sequence[Example], *, most: int, seed: int) -> list[Pair]:
    """A human text with its own picture over the same text with another's, for `most` examples drawn by `seed`.

    Text, page and tags are equal, so that only the picture can tell them apart: this teaches to look, which pairs of
    texts do not (arXiv 2406.11839).
    """
    drawn = random.Random(seed).sample(list(examples), min(most, len(examples)))  # noqa: S311  (a sample)
    return [
        Pair(one, wrong, 0)
        for one, wrong in zip(drawn, making.deranged(drawn), strict=True)
        if not np.array_equal(one.tokens, wrong.tokens)
    ]


def loss(policy: Tensor, reference: Tensor, *, beta: float = BETA) -> tuple[Tensor, Tensor]:
    """-log sigmoid(margin), mean over pairs, and the margins (B,); ln 2 where policy and reference are equal.

    :param policy, reference: (2, B) log-probabilities of the chosen and of the rejected texts, nats.
    """
    gained = policy - reference
    margins = beta * (gained[0] - gained[1])
    return -functional.logsigmoid(margins).mean(), margins


def log_probabilities(model: LanguageModel, module: Bridge, pairs: Sequence[Pair]) -> Tensor:
    """(2, B) sums over the caption tokens of the chosen and of the rejected texts."""
    rows = [(one.chosen, True) for one in pairs] + [(one.rejected, True) for one in pairs]
    return bridging.log_probabilities(model, making.collate(rows, model, module)).view(2, len(pairs))


@torch.no_grad()
def reference(run: Run, pairs: Sequence[Pair], *, origin: str, beta: float = BETA, size: int = 4) -> dict[Pair, Tensor]:
    """What the model of `run` says of `pairs` now: to be asked before the first step and before `run.resume`.

    Kept in the folder of the run as `reference.jsonl`; what stands there is not computed again.

    :param origin: names the checkpoint that the stage starts from.
    :returns: (2,) for each pair, chosen and rejected.
    :raises RunMismatch: the folder holds steps on other pairs, or from another start.
    """
    keys = {pair: _key(pair, origin) for pair in pairs}
    _settle(run.folder, {"beta": beta, "pairs": hashlib.sha256("".join(keys.values()).encode()).hexdigest()})
    known = _known(run.folder / "reference.jsonl")
    asked = sorted((pair for pair in pairs if keys[pair] not in known), key=lambda pair: pair.size)
    for start in range(0, len(asked), PART):
        lines = []
        for at in range(start, min(start + PART, len(asked)), size):
            chunk = asked[at : min(at + size, start + PART)]
            with run.precision():
                said = log_probabilities(run.model, run.bridge, chunk)
            for pair, values in zip(chunk, said.T.tolist(), strict=True):
                known[keys[pair]] = values
                lines.append(json.dumps({"key": keys[pair], "values": values}) + "\n")
        with (run.folder / "reference.jsonl").open("a", encoding="utf-8") as file:
            file.writelines(lines)
        run.say(f"{run.stage.name}: reference {min(start + PART, len(asked))} of {len(asked)}")
    return {pair: torch.tensor(known[keys[pair]]) for pair in pairs}


def prefer(
    run: Run, pairs: Sequence[Pair], before: Mapping[Pair, Tensor], *, beta: float = BETA, until: int | None = None
) -> None:
    """Stage 4: walk to the last step, or to step `until`. `before` as `reference` gives it."""
    tally = Tally()

    def loss_of(chunk: Sequence[Pair]) -> Tensor:
        policy, start = log_probabilities(run.model, run.bridge, chunk), _stacked(chunk, before)
        value, margins = loss(policy, start, beta=beta)
        tally.add(chunk, policy.detach(), start, margins.detach())
        return value

    run.go(endless(pairs, run.stage.batch, seed=run.seed), loss_of, until=until, facts=tally.take)


def endless(pairs: Sequence[Pair], size: int, *, seed: int) -> Iterator[list[Pair]]:
    """Batches epoch after epoch; equal seeds give equal batches, so a run resumes by counting."""
    for epoch in itertools.count():
        order = random.Random(f"{seed} {epoch}").sample(range(len(pairs)), len(pairs))  # noqa: S311  (an order)
        yield from ([pairs[index] for index in order[at : at + size]] for at in range(0, len(order), size))


@torch.inference_mode()
def measure(
    run: Run, pairs: Sequence[Pair], before: Mapping[Pair, Tensor], *, beta: float = BETA, size: int = 4
) -> dict[str, Any]:
    """Loss and `Tally.take` over all `pairs`; {} without pairs."""
    tally, losses = Tally(), []
    ordered = sorted(pairs, key=lambda pair: pair.size)
    for at in range(0, len(ordered), size):
        chunk = ordered[at : at + size]
        with run.precision():
            policy = log_probabilities(run.model, run.bridge, chunk)
        start = _stacked(chunk, before)
        value, margins = loss(policy, start, beta=beta)
        losses.append(float(value) * len(chunk))
        tally.add(chunk, policy, start, margins)
    return {"pairs": len(pairs), "loss": round(sum(losses) / len(pairs), 4), **tally.take()} if pairs else {}


@dataclass
class Tally:
    """What is to be watched beside the loss, summed up between two notes."""

    margins: list[float] = field(default_factory=list)
    longer: list[int] = field(default_factory=list)
    nats: dict[str, float] = field(default_factory=dict)
    tokens: dict[str, int] = field(default_factory=dict)

    def add(self, pairs: Sequence[Pair], policy: Tensor, start: Tensor, margins: Tensor) -> None:
        self.margins += margins.tolist()
        self.longer += [pair.longer for pair in pairs]
        for row, side in enumerate(("chosen", "rejected")):
            tokens = sum(len(getattr(pair, side).target) for pair in pairs)
            for name, values in ((side, policy), (f"{side}_before", start)):
                self.nats[name] = self.nats.get(name, 0.0) + float(values[row].sum())
                self.tokens[name] = self.tokens.get(name, 0) + tokens

    def take(self) -> dict[str, Any]:
        """Facts since the last call.

        margin: beta * (log-ratio of chosen - log-ratio of rejected), mean.  accuracy: share of margins over 0.
        chosen, rejected and both before the first step: nats a token.  longer: words, chosen - rejected, mean.
        """
        facts: dict[str, Any] = {
            "margin": round(sum(self.margins) / len(self.margins), 4),
            "accuracy": round(sum(margin > 0 for margin in self.margins) / len(self.margins), 3),
            **{name: round(self.nats[name] / self.tokens[name], 4) for name in self.nats},
            "longer": round(sum(self.longer) / len(self.longer), 2),
        }
        self.margins, self.longer, self.nats, self.tokens = [], [], {}, {}
        return facts


def collapsed(facts: Mapping[str, Any]) -> bool:
    """Whether the chosen texts lost more than `COLLAPSE`: a margin can also grow while both texts become unlikely."""
    return bool(facts) and facts["chosen_before"] - facts["chosen"] > COLLAPSE


def _stacked(pairs: Sequence[Pair], values: Mapping[Pair, Tensor]) -> Tensor:
    return torch.stack([values[pair] for pair in pairs], dim=1)  # (2, B)


def _key(pair: Pair, origin: str) -> str:
    """Names start, prompt, both pictures and both texts, 32 hex digits."""
    words = json.dumps([origin, pair.chosen.paged.before, pair.chosen.paged.after, pair.chosen.target])
    total = hashlib.sha256(words.encode() + json.dumps(pair.rejected.target).encode())
    for one in (pair.chosen, pair.rejected):
        total.update(np.ascontiguousarray(one.tokens).tobytes())
    return total.hexdigest()[:32]


def _settle(folder: Path, settings: Mapping[str, Any]) -> None:
    place = folder / "pairs.json"
    stepped = any((folder / name).exists() for name in ("checkpoint", "checkpoint.old"))
    if stepped and (not place.is_file() or json.loads(place.read_text("utf-8")) != settings):
        raise RunMismatch(f"{folder} holds steps on other pairs or from another start; take another folder")
    folder.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(settings), "utf-8")


def _known(place: Path) -> dict[str, list[float]]:
    """Key -> values; a line that was not finished is dropped from the file too."""
    known: dict[str, list[float]] = {}
    if place.is_file():
        for line in place.read_text("utf-8").splitlines():
            try:
                row = json.loads(line)
                known[row["key"]] = row["values"]
            except (ValueError, KeyError):
                continue
        place.write_text(
            "".join(json.dumps({"key": key, "values": values}) + "\n" for key, values in known.items()), "utf-8"
        )
    return known
