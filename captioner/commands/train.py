"""`python -m captioner train`: one stage of the native captioner, from the stage before, resumable at any moment."""

from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from captioner.types import CaptionError

if TYPE_CHECKING:
    from captioner.architectures.checkpoint import Native
    from captioner.training.corpus import Corpus
    from captioner.training.loop import Run

ANSWERED = 0
HELD_OUT_PAIRS = 0.1  # share of the preference pairs, by author and picture
BEFORE = {"projector": None, "sft": "projector", "lora": "sft", "dpo": "lora"}


class NothingToTrain(CaptionError):
    """No usable example was found; the message says what was dropped."""


def options(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument("--stage", required=True, choices=list(BEFORE))
    parser.add_argument(
        "--data", nargs="+", default=[], type=Path, metavar="DATA.jsonl", help="training records; not needed for dpo"
    )
    parser.add_argument(
        "--pairs",
        nargs="+",
        default=[],
        type=Path,
        metavar="PAIRS.jsonl",
        help="stage dpo: pairs made by --make-pairs, or a site's learning export",
    )
    parser.add_argument(
        "--make-pairs",
        action="store_true",
        help="stage dpo: sample captions for --data, judge them by the detector, write them to --pairs and stop",
    )
    parser.add_argument(
        "--config", type=Path, metavar="FILE.json", help="first stage: another captioner, such as `large`"
    )
    parser.add_argument("--held-out", type=Path, metavar="VAL.jsonl", help="for cross-entropy and shuffled-image gap")
    parser.add_argument("--run", required=True, type=Path, metavar="FOLDER", help="one folder for all stages of a run")
    parser.add_argument(
        "--features", type=Path, metavar="FOLDER", help="cache of image features (default RUN/features)"
    )
    parser.add_argument(
        "--photos-only", action="store_true", help="only pictures that the kind classifier calls photo or art"
    )
    parser.add_argument("--cached-only", action="store_true", help="skip pictures whose features are not cached yet")
    parser.add_argument("--steps", type=int, help="optimiser steps, instead of the stage's own number")
    parser.add_argument("--budget", type=int, default=48, help="tokens of page text in a prompt")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--measure", type=int, default=96, metavar="N", help="held-out items to measure on")


def run(options: argparse.Namespace) -> int:
    """Train one stage and write its checkpoint folder, or make the pairs for stage dpo."""
    from captioner.metrics.rows import DataUnreadable
    from captioner.rooms.encode.towers import bound_threads

    _check(options)
    bound_threads(options.threads)
    options.features = options.features or options.run / "features"
    try:
        if options.make_pairs:
            return _make_pairs(options)
        return _train(options)
    except DataUnreadable as error:
        raise NothingToTrain(str(error)) from error


def _check(options: argparse.Namespace) -> None:
    """Before anything is loaded.  :raises NothingToTrain: an option that this stage needs is absent."""
    if options.make_pairs and options.stage != "dpo":
        raise NothingToTrain(f"--make-pairs belongs to stage dpo, not to {options.stage}")
    if (options.make_pairs or options.stage != "dpo") and not options.data:
        raise NothingToTrain("name the training records with --data")
    if options.make_pairs and len(options.pairs) != 1:
        raise NothingToTrain("--make-pairs writes one file: name it with --pairs")
    if options.stage == "dpo" and not options.pairs:
        raise NothingToTrain("stage dpo learns from --pairs; --make-pairs makes them")


def _train(options: argparse.Namespace) -> int:
    from captioner.architectures import configuration
    from captioner.rooms.encode import shelf
    from captioner.training import native, stages
    from captioner.training.loop import Run

    stage = stages.stage(options.stage)
    if options.steps:
        stage = dataclasses.replace(stage, steps=options.steps)
    config = configuration.read_file(options.config) if options.config else None
    made = native.start(
        options.run, BEFORE[stage.name], stage, shelf.weights_folder(), budget=options.budget, config=config
    )
    options.budget, options.native = made.config.budget, made.config
    run_ = Run(made.model, made.bridge, stage, options.run / stage.name, seed=options.seed)
    count, measured = (_prefer if stage.name == "dpo" else _teach)(options, made, run_)
    if options.held_out:
        measured |= _held_out(options, made)
        print(json.dumps(measured))
    native.finish(made, stage, options.run, examples=count, seed=options.seed, measured=measured)
    return ANSWERED


def _teach(options: argparse.Namespace, made: Native, run_: Run) -> tuple[int, dict[str, Any]]:
    """Stages 1 to 3; gives the number of examples."""
    from captioner.training import corpus, native
    from captioner.training.loop import teach

    found = _gather(options)
    examples = corpus.examples(found, made.model, budget=options.budget)
    if not examples:
        raise NothingToTrain(f"no usable example; dropped: {_told(found.dropped)}")
    print(f"{run_.stage.name}: {len(examples)} examples, {_trained(run_):,} parameters")
    print(f"dropped: {_told(found.dropped)}")
    if run_.stage.name == "projector":
        native.match_scale(made, examples, say=print)
    _resume(run_)
    teach(run_, examples)
    return len(examples), {}


def _prefer(options: argparse.Namespace, made: Native, run_: Run) -> tuple[int, dict[str, Any]]:
    """Stage 4; gives the number of pairs and what it did to pairs that it did not see."""
    from captioner.architectures import checkpoint
    from captioner.funnel import preferences
    from captioner.funnel.records import Skipped
    from captioner.training import dpo, features, pairs

    dropped = Skipped()
    found = pairs.read(options.pairs, dropped)
    cache = options.features / f"{options.pairs[0].parent.name}_{options.pairs[0].stem}"
    images = [pair.image for pair in found if pair.image]
    seen = features.load(cache) if options.cached_only else features.fill(images, cache)
    train, held = (
        dpo.make(part, seen, made.model, dropped, budget=options.budget)
        for part in preferences.hold_out(found, dropped, share=HELD_OUT_PAIRS, salt=str(options.seed))
    )
    if not train:
        raise NothingToTrain(f"no usable pair; dropped: {_told(dropped)}")
    print(f"{run_.stage.name}: {len(train)} pairs, {len(held)} held out, {_trained(run_):,} parameters")
    print(f"dropped: {_told(dropped)}; lengths: {json.dumps(preferences.lengths(found))}")
    origin = checkpoint.digest(options.run / (BEFORE[run_.stage.name] or "") / "captioner")
    before = dpo.reference(run_, [*train, *held], origin=origin)
    _resume(run_)
    dpo.prefer(run_, train, before)
    measured = {"pairs": dpo.measure(run_, train, before), "pairs_held_out": dpo.measure(run_, held, before)}
    print(json.dumps(measured))
    if dpo.collapsed(measured["pairs"]):
        print(f"warning: the chosen texts lost more than {dpo.COLLAPSE} nats a token; use fewer steps or a lower rate")
    return len(train), measured


def _make_pairs(options: argparse.Namespace) -> int:
    from captioner.architectures import checkpoint
    from captioner.rooms.encode import shelf
    from captioner.rooms.encode.detector import Detector
    from captioner.training import pairs

    place = options.run / (BEFORE["dpo"] or "") / "captioner"
    made = checkpoint.load(place, shelf.weights_folder())
    made.model.merge_lora()
    detector = Detector.load(shelf.starter_folder())
    found = _gather(options)
    if not found.records:
        raise NothingToTrain(f"no usable picture; dropped: {_told(found.dropped)}")
    counts = pairs.make(made, found, detector, options.pairs[0], origin=checkpoint.digest(place), seed=options.seed)
    print(json.dumps(counts))
    return ANSWERED


def _held_out(options: argparse.Namespace, made: Native) -> dict[str, Any]:
    from captioner.training import corpus
    from captioner.training.loop import measure

    held = corpus.gather([options.held_out], options.features, photos_only=options.photos_only, config=made.config)
    chosen = corpus.examples(held, made.model, budget=options.budget)[: options.measure]
    return {
        "page": measure(made.model, made.bridge, chosen),
        "bare": measure(made.model, made.bridge, chosen, page=False),
    }


def _gather(options: argparse.Namespace) -> Corpus:
    from captioner.training import corpus

    return corpus.gather(
        options.data,
        options.features,
        cached_only=options.cached_only,
        photos_only=options.photos_only,
        config=getattr(options, "native", None),
    )


def _resume(run_: Run) -> None:
    if resumed := run_.resume():
        print(f"goes on after step {resumed}")


def _trained(run_: Run) -> int:
    from captioner.training import stages

    return stages.count(values for group in run_.groups.values() for values in group)


def _told(dropped: Any) -> str:
    return json.dumps({reason: entry["count"] for reason, entry in dropped.report().items()})
