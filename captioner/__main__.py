"""The command line: describe one image, inspect files, fetch weights, evaluate on a data file, serve a parent process.

Exit status: 0 an answer (a text or an abstention), 1 the picture was refused, 2 usage, missing file or infrastructure.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from captioner.commands import calibrate, compare, plan, train
from captioner.types import CaptionError, CaptionRequest, Outcome, PageContext, Role

ANSWERED, REFUSED, FAILED = 0, 1, 2


class Wrong(Exception):
    """Something on the command line cannot be used; the message is for the person who typed it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    options = parser().parse_args(arguments)
    try:
        return options.command(options)
    except (Wrong, CaptionError) as error:
        print(f"captioner {options.name}: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print(f"captioner {options.name}: stopped", file=sys.stderr)
        return FAILED


def parser() -> argparse.ArgumentParser:
    root = argparse.ArgumentParser(
        prog="captioner", description="One image and its page in, one alt text or a reason out."
    )
    commands = root.add_subparsers(dest="name", required=True, metavar="COMMAND")
    _describe_options(_command(commands, "describe", describe, "suggest alt text for one image"))
    inspect = _command(commands, "inspect", inspect_files, "say what the intake makes of files")
    inspect.add_argument("files", nargs="+", metavar="FILE")
    inspect.add_argument("--json", action="store_true", help="one JSON list")
    fetch = _command(commands, "fetch", fetch_weights, "fetch the weights of a captioner")
    fetch.add_argument("captioner", choices=["starter", "starter-page", "starter-lm"])
    evaluate = _command(commands, "evaluate", evaluate_data, "measure a captioner on a JSONL file")
    evaluate.add_argument("data", metavar="DATA.jsonl")
    evaluate.add_argument("--captioner", default="starter")
    evaluate.add_argument("--json", action="store_true", help="the whole report as JSON")
    evaluate.add_argument("--limit", type=_positive, help="use only the first N usable rows")
    evaluate.add_argument("--out", metavar="ROWS.csv", help="write one line a row, while running")
    compare.options(evaluate)
    for name, module, explanation in (
        ("train", train, "train one stage of the native captioner"),
        ("calibrate", calibrate, "from judged captions to a threshold with a stated risk"),
        ("plan", plan, "cost and latency of a rollout"),
    ):
        module.options(_command(commands, name, module.run, explanation))
    serve = _command(commands, "serve", serve_parent, "answer a parent process over stdin and stdout")
    serve.add_argument("--captioner", default="starter")
    serve.add_argument("--safety", default="", metavar="MODULE:CLASS", help="classifier that looks first")
    return root


def _command(commands: Any, name: str, run: Callable[..., int], explanation: str) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(name, help=explanation, description=explanation)
    command.set_defaults(command=run)
    return command


def _describe_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("image", metavar="IMAGE")
    command.add_argument("--title", default="", help="page title")
    command.add_argument("--heading", action="append", default=[], help="outermost first; may be repeated")
    command.add_argument("--before", default="", help="text that ends where the image stands")
    command.add_argument("--after", default="", help="text that starts where the image stands")
    command.add_argument("--caption", default="", help="visible caption")
    command.add_argument("--link", default="", metavar="URL", help="where the link around the image goes")
    command.add_argument("--link-label", default="", help="visible words of the link, or the title of its destination")
    command.add_argument("--link-text-visible", action="store_true", help="the link shows words beside the image")
    command.add_argument("--language", default="en", help="BCP 47 tag of the page")
    command.add_argument("--role", default="unknown", choices=[role.value for role in Role])
    command.add_argument("--captioner", default="starter")
    command.add_argument("--json", action="store_true", help="the whole outcome with its evidence")


def describe(options: argparse.Namespace) -> int:
    """Suggest alt text for one image file."""
    from captioner.loading import load_captioner
    from captioner.prepare import images

    path = Path(options.image)
    data = _bytes_of(path)
    try:
        intake = images.take_in(data, name=path.name)
    except images.SandboxUnavailable as error:
        raise Wrong(str(error)) from error
    if intake.outcome != images.ACCEPT:
        refusal = {"refused": intake.code, "outcome": intake.outcome, "detail": intake.detail}
        print(_json(refusal) if options.json else f"Refused ({intake.code}): {intake.detail}")
        return REFUSED
    context = PageContext(
        title=options.title,
        headings=tuple(options.heading),
        before=options.before,
        after=options.after,
        caption=options.caption,
        link_target=options.link,
        link_label=options.link_label,
        link_text_visible=options.link_text_visible,
        language=options.language,
    )
    request = CaptionRequest(
        path.name, image=intake.large, content_hash=intake.content_hash, context=context, role=Role(options.role)
    )
    [outcome] = load_captioner(options.captioner).describe([request])
    print(_json(outcome.as_json()) if options.json else _in_words(outcome))
    return ANSWERED


def inspect_files(options: argparse.Namespace) -> int:
    """Say what the intake makes of each file."""
    from captioner.prepare import images

    records = images.inspect_files(options.files)
    missing = [name for name in options.files if not Path(name).exists()]
    if options.json:
        print(_json(records))
    for record in records:
        flags = f" [{', '.join(record['flags'])}]" if record["flags"] else ""
        detail = f": {record['detail']}" if record["detail"] else ""
        if not options.json:
            print(f"{record['file']}  {record['outcome']}{flags}{detail}")
    if missing:  # the others were told about first
        raise Wrong(f"no such file: {', '.join(missing)}")
    return ANSWERED


def fetch_weights(options: argparse.Namespace) -> int:
    """Fetch the weights of a captioner into the weights folder."""
    from captioner.fetching import fetch

    print(fetch(options.captioner) or "done")
    return ANSWERED


def evaluate_data(options: argparse.Namespace) -> int:
    """Measure a captioner on a JSONL file of images with human texts or labels."""
    from captioner.metrics import rows

    path = Path(options.data)
    skipped = rows.Skipped()
    if not path.is_file():
        raise Wrong(f"no such file: {path}")
    comparing = bool(compare.wanted(options))  # a wrong name is told before hours of captioning
    with tempfile.TemporaryDirectory(prefix="alttext-sights-") as place:
        eyes = compare.remembering_eyes(options.sights or Path(place)) if comparing else None
        return _evaluate(options, path, skipped, eyes)


def _evaluate(options: argparse.Namespace, path: Path, skipped: Any, eyes: Any) -> int:
    """`eyes` look once for all systems of a comparison; None: the captioner has its own."""
    from captioner.loading import load_captioner
    from captioner.metrics import evaluation, rows
    from captioner.prepare import images

    shared = compare.on_eyes(options.captioner, eyes) if eyes is not None else None
    captioner: Any = shared or load_captioner(options.captioner)
    results = evaluation.run(captioner, rows.read(path, skipped, limit=options.limit), skipped)
    results = evaluation.counted(results, lambda number: print(f"{number} rows", file=sys.stderr))
    try:
        if options.out:
            results = evaluation.write_rows(results, Path(options.out))
        done = list(results)
    except (rows.DataUnreadable, images.SandboxUnavailable) as error:
        raise Wrong(str(error)) from error
    except OSError as error:
        raise Wrong(f"cannot write {options.out}: {error.strerror}") from error
    if not done:
        raise Wrong(f"{path} has no usable row; skipped: {_json(skipped.report())}")
    report = evaluation.report(done, captioner=captioner, data=path.name, skipped=skipped)
    if eyes is not None:
        report["table"] = compare.run(options, [one.row for one in done], eyes)
    print(_json(report) if options.json else _report_in_words(report))
    return ANSWERED


def serve_parent(options: argparse.Namespace) -> int:
    """Body of the child process of `captioner.isolation`."""
    from captioner.isolation import serve

    return serve(options.captioner, safety=options.safety)


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise Wrong(f"cannot read {path}: {error.strerror}") from error


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _in_words(outcome: Outcome) -> str:
    if outcome.text is not None:
        lines = [outcome.text]
    else:
        lines = [f"No text: {', '.join(map(str, outcome.reasons))}", *filter(None, [outcome.detail])]
    lines += [f"  flag: {flag}" for flag in outcome.flags]
    for support in outcome.evidence.get("support", ()):
        detail = f" ({support['detail']})" if support["detail"] else ""
        lines.append(f"  {support['phrase']}: {support['source']} {support['score']:.2f}{detail}")
    unverified = [f"{thing['phrase']} {thing['score']:.2f}" for thing in outcome.evidence.get("unverified", ())]
    if unverified:
        lines.append(f"  unverified: {', '.join(unverified)}")
    if outcome.evidence.get("names_on_page"):
        lines.append(f"  names on the page, to confirm: {', '.join(outcome.evidence['names_on_page'])}")
    return "\n".join(lines)


def _report_in_words(report: dict[str, Any]) -> str:
    lines = [
        f"{report['captioner']} {report['versions_key']} on {report['data']}: {report['n']} rows",
        f"offered: {_share(report['coverage'])}",
        f"distinct texts: {_share(report['distinct_texts'])}",
        f"length: mean {report['length_graphemes']['mean']} graphemes, longest {report['length_graphemes']['max']}",
        f"seconds: mean {report['seconds']['mean']}, p50 {report['seconds']['p50']}, p95 {report['seconds']['p95']}",
    ]
    lines += [f"abstained, {reason}: {count}" for reason, count in sorted(report["abstained"].items())]
    lines += [f"refused, {code}: {count}" for code, count in sorted(report["refused"].items())]
    lines += [
        f"skipped, {reason}: {entry['count']} ({', '.join(entry['rows'][:3])})"
        for reason, entry in report["skipped"].items()
    ]
    lines += [f"kind {kind}: offered {_share(share)}" for kind, share in report["by_kind"].items()]
    if found := report["objects"]:
        for key in (
            "all_judged_names_right",
            "all_names_right_counting_unjudged_as_wrong",
            "CHAIR_s",
            "CHAIR_i",
            "object_recall",
        ):
            lines.append(f"{key}: {_share(found[key])}")
        lines.append(f"false names: {found['names']['false']}; unjudged: {found['names']['unjudged']}")
    for line in report.get("table", {}).get("systems", ()):
        lines.append(
            f"{line['system']:>4} {line['what']}: offered {_share(line['coverage'])}; "
            f"unmentioned {_share(line['unmentioned'])}; CIDEr-D {line['cider_offered']}; {line['seconds']} s"
        )
    if loose := report["unmentioned"]:
        lines.append(f"texts naming what no human text mentions (upper bound of risk): {_share(loose['texts'])}")
    return "\n".join(lines)


def _share(share: dict[str, Any]) -> str:
    if share["share"] is None:
        return "none counted"
    low, high = share["interval"]
    return f"{share['share']:.3f} ({share['k']} of {share['n']}, 95 % {low:.3f}-{high:.3f})"


if __name__ == "__main__":
    sys.exit(main())
