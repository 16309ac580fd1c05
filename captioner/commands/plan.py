"""The command `plan`: what a rollout costs, in rows of measured rates or of the FLOP model, with tables and flags.

Reads options and prints; all arithmetic is in `captioner.planner`.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from captioner import planner
from captioner.commands import plan_tables
from captioner.commands.plan_tables import percent
from captioner.planner import ImpossiblePlan, Lane, Latency, Machine, Row, Work

DONE, FAILED = 0, 2


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `plan` to a parser."""
    add = parser.add_argument
    add("--price", type=float, default=2.50, metavar="DOLLARS", help="of one GPU an hour (2.50)")
    add(
        "--share", action="append", default=[], metavar="LANE=SHARE", help="of the traffic, 0..1 (plain=0.92 text=0.08)"
    )
    add(
        "--lane", action="append", default=[], metavar="LANE=TOKENS[xTILES]", help="image tokens (plain=64 text=2880x5)"
    )
    add("--rate", action="append", default=[], metavar="LANE=IMAGES", help="measured images a second; for every lane")
    add("--text-tokens", type=int, default=150, metavar="T", help="all text tokens: system, instruction, page (150)")
    add("--output-tokens", type=int, default=25, metavar="O", help="of one caption (25)")
    add("--samples", type=int, default=0, metavar="K", help="extra samples for the agreement (0)")
    add("--vcd", action="store_true", help="visual contrastive decoding: a second pass without the image")
    add("--images", type=float, metavar="N", help="images to caption: GPU-hours and cost")
    add("--hours", type=float, metavar="H", help="be done in this time: number of GPUs; needs --images")
    add("--api-price", type=float, metavar="DOLLARS", help="of an API, per image: ratio and break-even")
    add("--fixed", type=float, metavar="DOLLARS", help="fixed cost of running it yourself; needs --api-price")
    add(
        "--router-misses", type=float, default=0.0, metavar="SHARE", help="of text images that go to the plain lane (0)"
    )
    add("--router-false", type=float, default=0.0, metavar="SHARE", help="of plain images that go to the text lane (0)")
    add("--ab-base", type=float, metavar="SHARE", help="share before an A/B test; needs --ab-difference")
    add("--ab-difference", type=float, metavar="SHARE", help="absolute difference to be seen; needs --ab-base")
    add("--parameters", type=float, default=8e9, metavar="P", help="of the language model (8e9)")
    add("--flops", type=float, default=290e12, metavar="E", help="effective FLOP/s of the FLOP model (290e12)")
    add("--prefill-ms", type=float, default=0.4258, metavar="MS", help="a prompt token, for the latency (0.4258)")
    add("--decode-ms", type=float, default=4.8, metavar="MS", help="an output token, for the latency (4.8)")
    add("--rest-ms", type=float, default=72.0, metavar="MS", help="router, encoder and detector together (72)")
    add("--second", type=float, default=1.0, metavar="RHO", help="cost of the second pass of --vcd in decoding (1)")
    add("--json", action="store_true", help="the whole plan as JSON")


def run(options: argparse.Namespace) -> int:
    """Print a plan; 2 and one line on stderr where the values cannot be."""
    try:
        plan = _plan(options)
        answer = json.dumps(as_json(plan), indent=2, allow_nan=False) if options.json else in_words(plan)
    except ImpossiblePlan as error:
        sys.stderr.write(f"captioner plan: {error}\n")
        return FAILED
    except (ArithmeticError, ValueError):  # such as a rate of 1e-320: its reciprocal is no number
        sys.stderr.write("captioner plan: a value is too large or too small to reckon with\n")
        return FAILED
    sys.stdout.write(f"{answer}\n")
    return DONE


@dataclass(frozen=True, slots=True)
class Plan:
    """What was asked and the rows that answer it."""

    machine: Machine
    work: Work
    latency: Latency
    rows: tuple[Row, ...]
    images: float | None = None
    hours: float | None = None
    api_price: float | None = None
    fixed: float | None = None
    ab_items: int | None = None

    @property
    def lanes(self) -> tuple[Lane, ...]:
        return self.rows[0].lanes


def _plan(options: argparse.Namespace) -> Plan:
    _paired(options, "hours", "images")
    _paired(options, "fixed", "api_price")
    _paired(options, "ab_base", "ab_difference")
    _paired(options, "ab_difference", "ab_base")
    machine = Machine(parameters=options.parameters, flops=options.flops, hour_price=options.price)
    work = Work(options.text_tokens, options.output_tokens, options.samples, options.vcd)
    lanes = _lanes(options.lane, options.share)
    if options.router_misses or options.router_false:
        lanes = planner.rerouted(lanes, options.router_misses, options.router_false)
    rows = [planner.modelled(lanes, work, machine)]
    if rates := _numbers("rate", options.rate):
        rows.insert(0, planner.measured(lanes, rates, options.price))
    ab_items = None if options.ab_base is None else planner.ab_size(options.ab_base, options.ab_difference)
    return Plan(
        machine=machine,
        work=work,
        latency=Latency(options.prefill_ms, options.decode_ms, options.rest_ms, options.second),
        rows=tuple(rows),
        images=options.images,
        hours=options.hours,
        api_price=options.api_price,
        fixed=options.fixed,
        ab_items=ab_items,
    )


def _paired(options: argparse.Namespace, name: str, needs: str) -> None:
    if getattr(options, name) is not None and getattr(options, needs) is None:
        raise ImpossiblePlan(f"--{name.replace('_', '-')} needs --{needs.replace('_', '-')}")


def _lanes(sizes: Sequence[str], shares: Sequence[str]) -> tuple[Lane, ...]:
    """The lanes plain and text, or those that are named, each with its share."""
    given = _numbers("share", shares)
    lanes = [_lane(*_pair("lane", text)) for text in sizes] or list(planner.LANES)
    names = [lane.name for lane in lanes]
    if len(set(names)) < len(names):
        raise ImpossiblePlan(f"--lane names a lane twice: {', '.join(names)}")
    if strangers := sorted(set(given) - set(names)):
        raise ImpossiblePlan(f"a share for {', '.join(strangers)}, but the lanes are {', '.join(names)}")
    if given or sizes:
        lanes = [replace(lane, share=given.get(lane.name, 1.0 if len(lanes) == 1 else 0.0)) for lane in lanes]
    return tuple(lanes)


def _lane(name: str, size: str) -> Lane:
    tokens, _, tiles = size.partition("x")
    try:
        return Lane(name, int(tokens), 0.0, tiles=int(tiles or 1))
    except ValueError as error:
        raise ImpossiblePlan(f"--lane {name}={size}: expected LANE=TOKENS or LANE=TOKENSxTILES") from error


def _numbers(option: str, texts: Iterable[str]) -> dict[str, float]:
    numbers: dict[str, float] = {}
    for text in texts:
        name, value = _pair(option, text)
        if name in numbers:
            raise ImpossiblePlan(f"--{option} names lane {name} twice")
        try:
            numbers[name] = float(value)
        except ValueError as error:
            raise ImpossiblePlan(f"--{option} {text}: {value or 'nothing'} is no number") from error
    return numbers


def _pair(option: str, text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    if not name or not value:
        raise ImpossiblePlan(f"--{option} {text}: expected LANE=NUMBER")
    return name, value


# ---- output ----


def as_json(plan: Plan) -> dict[str, Any]:
    """All figures, unrounded. No break-even is null: JSON has no infinity."""
    return {
        "machine": asdict(plan.machine),
        "work": asdict(plan.work),
        "latency": asdict(plan.latency) | {"milliseconds": _waits(plan)},
        "rows": [_row_as_json(plan, row) for row in plan.rows],
        "ab_items_per_arm": plan.ab_items,
        "training_bytes": {
            "all": planner.training_bytes(plan.machine.parameters),
            "all_with_master_weights": planner.training_bytes(plan.machine.parameters, has_master=True),
        },
        "flop_table": [asdict(line) | {"ratio": line.ratio} for line in _flop_table(plan)],
        "design_values": [asdict(line) for line in plan_tables.design_table()],
        "flags": plan_tables.flags(),
    }


def _row_as_json(plan: Plan, row: Row) -> dict[str, Any]:
    lanes = [
        {
            "name": lane.name,
            "image_tokens": lane.image_tokens,
            "tiles": lane.tiles,
            "share": lane.share,
            "images_per_second": rate,
            "cost_per_million": cost,
            "time_share": time,
        }
        for lane, rate, cost, time in zip(row.lanes, row.rates, row.lane_costs, row.time_shares, strict=True)
    ]
    answer: dict[str, Any] = {
        "source": row.source,
        "lanes": lanes,
        "images_per_second": row.rate,
        "cost_per_million": row.cost,
    }
    if plan.images is not None:
        hours = row.gpu_hours(plan.images)
        answer |= {"images": plan.images, "gpu_hours": hours, "cost": hours * row.hour_price}
        if plan.hours is not None:
            answer |= {"hours": plan.hours, "gpus": row.gpus(plan.images, plan.hours)}
    if plan.api_price is not None:
        even = _break_even(plan, row)
        answer |= {
            "api_ratio": plan.api_price * 1e6 / row.cost if row.cost else None,
            "break_even_images": even if even is not None and math.isfinite(even) else None,
        }
    return answer


def _break_even(plan: Plan, row: Row) -> float | None:
    """Images; None where no fixed cost was given."""
    api_price = plan.api_price or 0.0
    even = planner.break_even(plan.fixed or 0.0, api_price, row.cost / 1e6)
    return None if plan.fixed is None else even


def _waits(plan: Plan) -> dict[str, float]:
    """Milliseconds by lane."""
    return {lane.name: plan.latency.of(lane.image_tokens, plan.work) for lane in plan.lanes}


def _flop_table(plan: Plan) -> list[plan_tables.FlopLine]:
    return plan_tables.flop_table(plan.lanes, plan.work, plan.machine)


def in_words(plan: Plan) -> str:
    """Tables for a person to read."""
    work, latency = plan.work, plan.latency
    lines = [
        f"T = {work.text_tokens} text tokens, {work.output_tokens} out, {work.extra_samples} extra samples, "
        f"contrastive decoding {'on' if work.is_contrastive else 'off'}, ${plan.machine.hour_price:.2f} a GPU-hour",
        f"FLOP model: {plan.machine.parameters / 1e9:g} G parameters, {plan.machine.flops / 1e12:g} TFLOP/s",
        "",
        *_table(_row_cells(plan)),
        "",
        f"Latency, not derived from the rates: {', '.join(f'{name} {ms:.0f} ms' for name, ms in _waits(plan).items())} "
        f"({latency.prefill_per_token:g} ms a prompt token, {latency.decode_per_token:g} an output token, "
        f"{latency.rest:g} for the rest)",
        *(line for row in plan.rows for line in _answers(plan, row)),
        *_more_answers(plan),
        "",
        "FLOP model over text tokens, images a second:",
        *_table(_flop_cells(plan)),
        "",
        "Values of the design texts beside what the formulas give:",
        *_table(
            [("value", "design", "formula"), *((one.what, one.design, one.gives) for one in plan_tables.design_table())]
        ),
        "",
        "Read with any plan:",
        *(f"{number:>2}. {flag}" for number, flag in enumerate(plan_tables.flags(), 1)),
    ]
    return "\n".join(lines)


def _row_cells(plan: Plan) -> Iterable[tuple[str, ...]]:
    yield "source", "lane", "tokens", "traffic", "img/s", "$ per million", "GPU time"
    for row in plan.rows:
        for lane, rate, cost, time in zip(row.lanes, row.rates, row.lane_costs, row.time_shares, strict=True):
            yield (
                row.source,
                lane.name,
                f"{lane.image_tokens:,}",
                percent(lane.share, 1),
                f"{rate:.2f}",
                f"{cost:.2f}",
                percent(time, 1),
            )
        yield row.source, "routed", "", "100.0 %", f"{row.rate:.2f}", f"{row.cost:.2f}", "100.0 %"


def _answers(plan: Plan, row: Row) -> Iterable[str]:
    if plan.images is not None:
        hours = row.gpu_hours(plan.images)
        line = f"{row.source}: {plan.images:,.0f} images take {hours:,.1f} GPU-hours, ${hours * row.hour_price:,.2f}"
        in_time = "" if plan.hours is None else f"; {row.gpus(plan.images, plan.hours)} GPUs for {plan.hours:g} hours"
        yield line + in_time
    if plan.api_price is not None:
        even = _break_even(plan, row)
        ratio = f"{plan.api_price * 1e6 / row.cost:.1f}x" if row.cost else "any number of times"
        line = f"{row.source}: the API at ${plan.api_price:g} costs {ratio} the routed price"
        if even is None:
            yield line
        else:
            yield f"{line}; break-even {f'after {even:,.0f} images' if math.isfinite(even) else 'never'}"


def _more_answers(plan: Plan) -> Iterable[str]:
    if plan.ab_items is not None:
        yield f"A/B test: {plan.ab_items:,} items an arm, two arms (rule 16: 5 % level, 80 % power)"
    every, with_master = (
        planner.training_bytes(plan.machine.parameters, has_master=one) / 1e9 for one in (False, True)
    )
    yield f"Training all parameters: {every:.0f} GB, {with_master:.0f} GB with fp32 master weights, without activations"


def _flop_cells(plan: Plan) -> Iterable[tuple[str, ...]]:
    yield "T", "64", "576", "2,880", "routed", "$ per million", "64 against 576"
    for line in _flop_table(plan):
        rates = (f"{rate:.1f}" for rate in (line.at_64, line.at_576, line.at_2880, line.routed))
        yield (str(line.text_tokens), *rates, f"{line.cost:.2f}", f"{line.ratio:.2f}x")


def _table(rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Left-aligned columns, two spaces apart."""
    every = list(rows)
    widths = [max(map(len, column)) for column in zip(*every, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in every]
