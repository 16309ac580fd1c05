"""One training run of one stage: steps, schedule, checkpoints, resume. The model and its examples come in.

A checkpoint is a folder of safetensors and JSON that appears at once or not at all; an interrupted run goes on from
the last one with the same batches and equal weights.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from captioner.architectures import bridge as bridging
from captioner.architectures.bridge import Bridge
from captioner.rooms.decode.language_model import LanguageModel
from captioner.training import examples as data
from captioner.training import stages
from captioner.training.examples import Example
from captioner.training.stages import Stage
from captioner.types import CaptionError

Loss = Callable[[Any], Tensor]


class RunMismatch(CaptionError):
    """The folder holds a run with other settings or on other data; resuming it would mix two runs."""


@dataclass
class Run:
    """Model, bridge and folder of one run.

    :ivar folder: receives `checkpoint/` and `log.jsonl`.
    :ivar data: names what is learned from, such as `examples.digest`; a run on other data is not gone on with.
    :ivar bfloat16: multiply in bfloat16; weights and moments stay float32. Twice as fast where the processor has
        AMX, slower where it has not.
    """

    model: LanguageModel
    bridge: Bridge
    stage: Stage
    folder: Path
    seed: int = 1
    every: int = 20  # steps between checkpoints
    say: Callable[[str], object] = print
    data: str = ""
    bfloat16: bool = False

    def __post_init__(self) -> None:
        self.groups = stages.set_trainable(self.stage, self.bridge, self.model)
        rates = {"bridge": self.stage.learning_rate, "lora": self.stage.lora_rate}
        self.optimiser = torch.optim.AdamW(
            [
                {"params": self.groups[name], "lr": rates[name], "rate": rates[name]}
                for name in rates
                if self.groups[name]
            ],
            weight_decay=self.stage.weight_decay,
            betas=(0.9, 0.98),
        )
        self.step = 0

    def resume(self) -> int:
        """Take up the last checkpoint; gives the steps done, 0 where there is none.

        :raises RunMismatch: it belongs to other settings.
        """
        place = self.folder / "checkpoint"
        if not place.exists():  # stopped between taking the old one away and putting the new one there
            place = self.folder / "checkpoint.old"
        if not (place / "state.json").is_file():
            return 0
        state = json.loads((place / "state.json").read_text("utf-8"))
        if differing := _differences(state["settings"], self._settings()):
            raise RunMismatch(f"{place} was written with other settings: {differing}; take another folder")
        weights = load_file(place / "weights.safetensors")
        with torch.no_grad():
            for name, values in self._trained():
                values.copy_(weights[name])
        moments = load_file(place / "moments.safetensors")
        for name, values in self._trained():
            self.optimiser.state[values] = {
                "step": torch.tensor(float(state["step"])),
                "exp_avg": moments[f"{name}.first"],
                "exp_avg_sq": moments[f"{name}.second"],
            }
        self.step = int(state["step"])
        return self.step

    def go(
        self,
        batches: Iterator[Any],
        loss_of: Loss,
        *,
        until: int | None = None,
        facts: Callable[[], Mapping[str, Any]] = dict,
    ) -> None:
        """Walk to the last step, or to step `until`; `batches` start at step 0 and are skipped up to here.

        :param facts: gives what else is to be noted beside the loss of the steps since the last note.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        end = min(self.stage.steps, until if until is not None else self.stage.steps)
        started, sums = time.monotonic(), []
        for chunk in itertools.islice(batches, self.step, end):
            self._set_rates()
            with self.precision():
                loss = loss_of(chunk)
            loss.backward()
            nn.utils.clip_grad_norm_([values for _, values in self._trained()], self.stage.clip)
            self.optimiser.step()
            self.optimiser.zero_grad(set_to_none=True)
            self.step += 1
            sums.append(float(loss.detach()))
            if self.step % self.every == 0 or self.step == end:
                mean, seconds = round(sum(sums) / len(sums), 4), round(time.monotonic() - started)
                self.note(step=self.step, loss=mean, seconds=seconds, **facts())
                sums = []
                self.save()

    def precision(self) -> AbstractContextManager[Any]:
        """What a step computes in; a reference that steps are held against has to be computed in it too."""
        return torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.bfloat16)

    def save(self) -> None:
        """Write a checkpoint beside the old one, then put it in its place."""
        fresh, place = self.folder / "checkpoint.new", self.folder / "checkpoint"
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(parents=True)
        save_file({name: values.detach().clone() for name, values in self._trained()}, fresh / "weights.safetensors")
        moments: dict[str, Tensor] = {}
        for name, values in self._trained():
            held = self.optimiser.state[values]
            moments |= {f"{name}.first": held["exp_avg"].clone(), f"{name}.second": held["exp_avg_sq"].clone()}
        save_file(moments, fresh / "moments.safetensors")
        (fresh / "state.json").write_text(json.dumps({"step": self.step, "settings": self._settings()}), "utf-8")
        old = self.folder / "checkpoint.old"
        if place.exists():  # else the old one is the only one
            shutil.rmtree(old, ignore_errors=True)
            os.replace(place, old)
        os.replace(fresh, place)
        shutil.rmtree(old, ignore_errors=True)

    def note(self, **facts: Any) -> None:
        """One line for the person who waits, and for `log.jsonl`."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.say(f"{self.stage.name}: " + ", ".join(f"{name} {value}" for name, value in facts.items()))
        with (self.folder / "log.jsonl").open("a", encoding="utf-8") as log:
            log.write(json.dumps({"stage": self.stage.name, **facts}) + "\n")

    def _set_rates(self) -> None:
        warm = max(1, round(self.stage.warmup * self.stage.steps))
        done = self.step + 1
        share = (
            done / warm
            if done <= warm
            else 0.5 * (1 + math.cos(math.pi * (done - warm) / max(1, self.stage.steps - warm)))
        )
        for group in self.optimiser.param_groups:
            group["lr"] = group["rate"] * share

    def _trained(self) -> Iterator[tuple[str, nn.Parameter]]:
        for group, values in self.groups.items():
            yield from ((f"{group}.{index}", value) for index, value in enumerate(values))

    def _settings(self) -> dict[str, Any]:
        sizes = {name: stages.count(values) for name, values in self.groups.items()}
        own = {"seed": self.seed, "parameters": sizes, "data": self.data, "bfloat16": self.bfloat16}
        return json.loads(json.dumps({**asdict(self.stage), **own}))


def _differences(then: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """What a person has to know of them, "" where there are none."""
    return "; ".join(
        f"{name} was {then.get(name)!r} and is {now.get(name)!r}"
        for name in {**then, **now}
        if then.get(name) != now.get(name)
    )


def teach(run: Run, examples: Sequence[Example], *, until: int | None = None) -> None:
    """Stages 1 to 3: the mean loss over the caption tokens, weighted by record."""
    run.go(endless(examples, run), lambda chunk: weighted_loss(run.model, run.bridge, chunk), until=until)


def endless(examples: Sequence[Example], run: Run) -> Iterator[list[tuple[Example, bool]]]:
    """Batches epoch after epoch."""
    for epoch in itertools.count():
        yield from data.batches(
            examples, run.stage.batch, epoch=epoch, seed=run.seed, page_dropout=run.stage.page_dropout
        )


def weighted_loss(model: LanguageModel, module: Bridge, chunk: Sequence[tuple[Example, bool]]) -> Tensor:
    """Mean negative log-probability of the caption tokens, nats; a token counts as much as its record weighs."""
    batch = data.collate(chunk, model, module)
    losses, rows = bridging.token_losses(model, batch)
    weights = torch.tensor([one.weight for one, _ in chunk])[rows]
    return (losses * weights).sum() / weights.sum()


@torch.inference_mode()
def measure(
    model: LanguageModel, module: Bridge, examples: Sequence[Example], *, page: bool = True, size: int = 8
) -> dict[str, float]:
    """Cross-entropy, nats per token, with right and with deranged pictures, and the gap between them.

    The gap is CE(caption | wrong picture, right page) - CE(caption | right picture, right page).
    """
    right = _entropy(model, module, examples, page, size)
    wrong = _entropy(model, module, data.deranged(examples), page, size)
    return {"n": len(examples), "right": round(right, 4), "shuffled": round(wrong, 4), "gap": round(wrong - right, 4)}


def _entropy(model: LanguageModel, module: Bridge, examples: Sequence[Example], page: bool, size: int) -> float:
    total, tokens = 0.0, 0
    ordered = sorted(examples, key=lambda one: one.size)
    for start in range(0, len(ordered), size):
        batch = data.collate([(one, page) for one in ordered[start : start + size]], model, module)
        losses, _ = bridging.token_losses(model, batch)
        total, tokens = total + float(losses.sum()), tokens + len(losses)
    return total / max(1, tokens)
