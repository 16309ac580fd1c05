"""`python -m captioner train`: one stage of the native captioner, from the stage before, resumable at any moment."""

from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from captioner.types import CaptionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from captioner.architectures.checkpoint import Native
    from captioner.funnel.preferences import Preference
    from captioner.training.corpus import Corpus
    from captioner.training.features import Seen
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
        help="stage dpo: sample captions for --data, judge them by labels or the detector, write --pairs and stop",
    )
    parser.add_argument(
        "--picture-pairs",
        type=int,
        default=0,
        metavar="N",
        help="stage dpo: also prefer N texts of --data with their own picture to the same with another's",
    )
    parser.add_argument(
        "--start", type=Path, metavar="FOLDER", help="go on from this checkpoint, not from that of the stage before"
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
    parser.add_argument("--page-dropout", type=float, metavar="SHARE", help="of examples shown without their page")
    parser.add_argument("--lora-rate", type=float, metavar="RATE", help="of low-rank weights, instead of the stage's")
    parser.add_argument("--bfloat16", action="store_true", help="multiply in bfloat16: faster on processors with AMX")
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
    if options.stage == "dpo" and not options.pairs and not options.picture_pairs:
        raise NothingToTrain("stage dpo learns from --pairs; --make-pairs makes them")
    if options.picture_pairs and (options.stage != "dpo" or not options.data):
        raise NothingToTrain("--picture-pairs belongs to stage dpo and takes its texts from --data")


def _train(options: argparse.Namespace) -> int:
    from captioner.architectures import configuration
    from captioner.rooms.encode import shelf
    from captioner.training import native, stages
    from captioner.training.loop import Run

    given = {"steps": options.steps, "page_dropout": options.page_dropout, "lora_rate": options.lora_rate}
    stage = dataclasses.replace(
        stages.stage(options.stage), **{name: value for name, value in given.items() if value is not None}
    )
    config = configuration.read_file(options.config) if options.config else None
    made = native.start(
        _origin(options),
        stage,
        shelf.weights_folder(),
        budget=options.budget,
        config=config,
        seed=options.seed,
    )
    options.budget, options.native = made.config.budget, made.config
    if options.bfloat16:
        made.model.attend_plainly()
    folder = options.run / stage.name
    run_ = Run(made.model, made.bridge, stage, folder, seed=options.seed, bfloat16=options.bfloat16)
    count, measured = (_prefer if stage.name == "dpo" else _teach)(options, made, run_)
    if options.held_out:
        measured |= _held_out(options, made)
        print(json.dumps(measured))
    native.finish(made, stage, options.run, examples=count, seed=options.seed, measured=measured)
    return ANSWERED


def _teach(options: argparse.Namespace, made: Native, run_: Run) -> tuple[int, dict[str, Any]]:
    """Stages 1 to 3; gives the number of examples."""
    from captioner.training import corpus, native
    from captioner.training import examples as making
    from captioner.training.loop import teach

    found = _gather(options)
    examples = corpus.examples(found, made.model, budget=options.budget)
    if not examples:
        raise NothingToTrain(f"no usable example; dropped: {_told(found.dropped)}")
    print(f"{run_.stage.name}: {len(examples)} examples, {_trained(run_):,} parameters")
    print(f"dropped: {_told(found.dropped)}")
    if run_.stage.name == "projector":
        native.match_scale(made, examples, say=print)
    run_.data = f"{making.digest(examples)}, from {_origin_digest(options)}"
    _resume(run_)
    teach(run_, examples)
    return len(examples), {}


def _prefer(options: argparse.Namespace, made: Native, run_: Run) -> tuple[int, dict[str, Any]]:
    """Stage 4; gives the number of pairs and what it did to pairs that it did not see."""
    from captioner.funnel import preferences
    from captioner.funnel.records import Skipped
    from captioner.training import corpus, dpo, pairs

    dropped = Skipped()
    found = pairs.read(options.pairs, dropped)
    train, held = (
        dpo.make(part, _seen_of(found, options), made.model, dropped, budget=options.budget)
        for part in preferences.hold_out(found, dropped, share=HELD_OUT_PAIRS, salt=str(options.seed))
    )
    if options.picture_pairs:
        examples = corpus.examples(_gather(options), made.model, budget=options.budget)
        train += dpo.of_pictures(examples, most=options.picture_pairs, seed=options.seed)
    if not train:
        raise NothingToTrain(f"no usable pair; dropped: {_told(dropped)}")
    print(f"{run_.stage.name}: {len(train)} pairs, {len(held)} held out, {_trained(run_):,} parameters")
    print(f"dropped: {_told(dropped)}; lengths: {json.dumps(preferences.lengths(found))}")
    before = dpo.reference(run_, [*train, *held], origin=_origin_digest(options))
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
    from captioner.training import corpus, pairs

    place = _origin(options)
    assert place is not None
    made = checkpoint.load(place, shelf.weights_folder())
    made.model.merge_lora()
    detector = Detector.load(shelf.starter_folder())
    found = _gather(options, described=False)
    if not found.records:
        raise NothingToTrain(f"no usable picture; dropped: {_told(found.dropped)}")
    known = corpus.labels(options.data)
    print(f"pairs: {len(known)} pictures have labels; the detector judges the others")
    counts = pairs.make(
        made, found, detector, options.pairs[0], origin=checkpoint.digest(place), seed=options.seed, labels=known
    )
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


def _origin(options: argparse.Namespace) -> Path | None:
    """The checkpoint that the stage goes on from; None for a fresh captioner."""
    before = BEFORE[options.stage]
    return options.start or (options.run / before / "captioner" if before else None)


def _origin_digest(options: argparse.Namespace) -> str:
    from captioner.architectures import checkpoint

    place = _origin(options)
    return checkpoint.digest(place) if place else "nothing"


def _seen_of(found: Sequence[Preference], options: argparse.Namespace) -> dict[str, Seen]:
    """What is cached of the pictures of pairs, or made now."""
    from captioner.training import features

    if not options.pairs:
        return {}
    cache = options.features / f"{options.pairs[0].parent.name}_{options.pairs[0].stem}"
    images = [pair.image for pair in found if pair.image]
    return features.load(cache) if options.cached_only else features.fill(images, cache)


def _gather(options: argparse.Namespace, *, described: bool = True) -> Corpus:
    from captioner.training import corpus

    return corpus.gather(
        options.data,
        options.features,
        cached_only=options.cached_only,
        photos_only=options.photos_only,
        described=described,
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
