"""Tables that stand beside every plan: the values of the design texts, the FLOP model over text tokens, the flags.

Every figure is computed by `captioner.planner`; nothing here was measured by this package.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from captioner.planner import (
    HOUR_SECONDS,
    LANES,
    PLAIN,
    TEXT,
    YEAR_HOURS,
    Lane,
    Latency,
    Machine,
    Row,
    Work,
    ab_factor,
    ab_size,
    break_even,
    cost_per_million,
    encoder_flop,
    lane_flop,
    lane_rate,
    measured,
    modelled,
    patches,
    projector_parameters,
    rerouted,
    training_bytes,
)

TABLE_TOKENS = (37, 150, 300, 600)  # T: system and instruction alone; the context budget; two larger ones


@dataclass(frozen=True, slots=True)
class FlopLine:
    """Rates of the FLOP model at one number of text tokens."""

    text_tokens: int
    at_64: float
    at_576: float
    at_2880: float
    routed: float
    cost: float

    @property
    def ratio(self) -> float:
        """What 64 tokens gain against 576."""
        return self.at_64 / self.at_576


def flop_table(
    lanes: Sequence[Lane] = LANES, work: Work | None = None, machine: Machine | None = None
) -> list[FlopLine]:
    """The FLOP model over text tokens; `work` gives all but those."""
    machine = machine or Machine()
    lines = []
    for tokens in TABLE_TOKENS:
        each = replace(work or Work(), text_tokens=tokens)
        small, full, tiled = (lane_rate(seen, each, machine, tiles) for seen, tiles in ((64, 1), (576, 1), (2880, 5)))
        row = modelled(lanes, each, machine)
        lines.append(FlopLine(tokens, small, full, tiled, row.rate, row.cost))
    return lines


DESIGN = measured(LANES, {PLAIN: 115, TEXT: 6.1}, 2.50)  # rates of the design texts; on an unnamed machine
DESIGN_WORK = Work(text_tokens=37)
DESIGN_API, DESIGN_FIXED = 0.00495, 71_900


@dataclass(frozen=True, slots=True)
class DesignLine:
    """A value of the design texts beside what the formulas give."""

    what: str
    design: str
    gives: str


def design_table() -> list[DesignLine]:
    flop, attention = encoder_flop()
    projector, latency = projector_parameters(), Latency()
    images = break_even(DESIGN_FIXED, DESIGN_API, DESIGN.cost / 1e6)
    seen = patches(336, 14)
    plain, text = DESIGN.lane_costs
    rows = [
        ("patches at 336/14; with CLS", "576; 577", f"{seen}; {seen + 1}"),
        ("encoder, GFLOP", "382", f"{flop / 1e9:.2f}, attention {percent(attention / flop, 2)}"),
        ("projector, parameters; share of 8B", "-", f"{projector:,}; {percent(projector / 8e9, 3)}"),
        ("full fine-tune memory", "96 GB", _memory(8e9)),
        ("funnel survival; negatives", "7.2 %; 32,767", f"{percent(360 / 5000, 1)}; {32_768 - 1:,}"),
        ("text-lane tokens", "2,880", f"{5 * seen:,} = 5 x {seen}"),
        ("27.78 img/s at $2.50/h, $ per million", "25.00", f"{cost_per_million(2.5, 27.78):.2f}"),
        ("115 img/s", "6.04", f"{plain:.2f}"),
        ("6.1 img/s", "113.90", f"{text:.2f} (113.90 is {2.5 / HOUR_SECONDS * 1e6 / 113.9:.3f} img/s)"),
        ("routed 0.92/0.08, $ per million", "14.66", _routed(DESIGN)),
        ("API $4,950 / routed", "338x", f"{DESIGN_API * 1e6 / DESIGN.cost:.1f}x"),
        ("break-even of $71,900", "14.6 M a year", f"{images / 1e6:.2f} M, {images / 365.25 / 1e3:.1f} k a day"),
        ("ms per token, 16 GB at 3.35 TB/s", "4.8", f"{16e9 / 3.35e12 * 1e3:.3f}"),
        ("image tokens of the prompt at T = 37", "94 %", percent(seen / (seen + 37), 2)),
        ("latency at 576 and 64 tokens, ms", "453; 235", _milliseconds(latency, DESIGN_WORK, (seen, 64))),
        ("rule 16, power 80 % and 90 %", "16", f"{ab_factor(0.8):.2f}; {ab_factor(0.9):.2f}"),
        ("traffic for half the effect", "4x", f"{ab_size(0.5, 0.01) / ab_size(0.5, 0.02):.0f}x"),
        ("evaluation set, $ per image (2,000 for $15,000)", "7.50", f"{15_000 / 2_000:.2f}"),
        ("CHAIR_s ratio .168/.048", "3.5", f"{0.168 / 0.048:.1f}"),
    ]
    return [DesignLine(*row) for row in rows]


def percent(share: float, digits: int = 0) -> str:
    return f"{share * 100:.{digits}f} %"


def _memory(parameters: float) -> str:
    with_master = training_bytes(parameters, has_master=True)
    return f"{training_bytes(parameters) / 1e9:.0f} GB; {with_master / 1e9:.0f} GB with fp32 master weights"


def _routed(row: Row) -> str:
    return f"{row.rate:.2f} img/s, ${row.cost:.2f}, text lane {percent(row.time_shares[-1], 1)} of the time"


def _milliseconds(latency: Latency, work: Work, sizes: Sequence[int]) -> str:
    return "; ".join(f"{latency.of(tokens, work):.0f}" for tokens in sizes)


def flags() -> list[str]:
    """What every plan has to be read with. The figures are those of the design texts, computed here."""
    machine, long = Machine(), Work(text_tokens=300)
    implied = [
        rate * lane_flop(tokens, DESIGN_WORK, machine, tiles) / 1e12
        for rate, tokens, tiles in ((115, 64, 1), (27.78, 576, 1), (6.1, 2880, 5))
    ]
    prefill = {tokens: Latency().prefill_per_token * (tokens + 37) for tokens in (576, 64)}
    shares = {tokens: prefill[tokens] / Latency().of(tokens, DESIGN_WORK) for tokens in prefill}
    at = {
        price: break_even(DESIGN_FIXED, price, DESIGN.cost / 1e6) / 1e6
        for price in (DESIGN_API, 0.0015, 0.0005, 0.0002)
    }
    one, five = (_rerouted(DESIGN, 0.02, wrong) for wrong in (0.01, 0.05))
    gpu_share = at[DESIGN_API] * 1e6 / DESIGN.rate / HOUR_SECONDS / YEAR_HOURS
    return [
        f"Page context is the real cost: 94 % image tokens holds for T = 37 only; at T = 300 it is "
        f"{percent(576 / 876)} (576) and {percent(64 / 364)} (64).",
        f"Throughput and latency disagree: the three rates imply {min(implied):.0f}-{max(implied):.0f} TFLOP/s, "
        f"the latency slope {2 * 8e9 / (Latency().prefill_per_token / 1e3) / 1e12:.1f}. Measure the two "
        "apart; the FLOP model does not hit 115 and 6.1 exactly.",
        f"Prefill dominates at 576 tokens ({percent(shares[576])} of the latency), not at 64 ({percent(shares[64])}): "
        "there decoding leads.",
        f"Contrastive decoding at {25 * 4.8:.0f} ms = 25 tokens x 4.8 is a full second pass. As a second row it costs "
        f"+{percent(_extra(64, DESIGN_WORK))} FLOP (64 tokens, T = 37), +{percent(_extra(64, long))} (T = 300), "
        f"+{percent(_extra(2880, DESIGN_WORK, tiles=5))} (2,880).",
        "Samples, contrastive decoding and detector are in none of the three rates. Three extra samples: "
        f"+{percent(_extra(64, DESIGN_WORK, samples=3))} FLOP at 64 tokens and T = 37, with a shared prefill.",
        f"Router errors: with 2 % misses, false positives of 1 % give {_rerouted_words(one)}; 5 % give "
        f"{_rerouted_words(five)}.",
        f"$71,900 fixed is {DESIGN_FIXED / 2.5 / YEAR_HOURS:.2f} GPU-years at $2.50/h: if GPUs are in it, the marginal "
        f"price counts them twice. {at[DESIGN_API]:.1f} M images a year are {percent(gpu_share)} of one GPU.",
        "The API price is an input: break-even "
        + ", ".join(f"{images:.{1 if images < 100 else 0}f} M at ${price:g}" for price, images in at.items())
        + ".",
        f"Recaptioning 100 M images for $25-40 k is not these rates (${DESIGN.lane_costs[0] * 100:,.0f} to "
        f"${DESIGN.lane_costs[1] * 100:,.0f}): it assumes a larger teacher or dense texts.",
        "About 73 % for the CLIP filter reads as cut or kept; 27 % kept x 26.7 % by other filters = "
        f"{percent(0.27 * 0.267, 1)}.",
        "96 GB leaves out master weights and activations; 382 GFLOP counts one block that is not used; 16 is an arm; "
        "+0.012 CHAIR_s needs a paired design.",
    ]


def _extra(tokens: int, work: Work, *, samples: int | None = None, tiles: int = 1) -> float:
    """Part by which extra samples, or else contrastive decoding, raise the FLOP of a lane."""
    more = replace(work, is_contrastive=True) if samples is None else replace(work, extra_samples=samples)
    return lane_flop(tokens, more, Machine(), tiles) / lane_flop(tokens, work, Machine(), tiles) - 1


def _rerouted(row: Row, misses: float, false_positives: float) -> Row:
    return replace(row, lanes=rerouted(row.lanes, misses, false_positives))


def _rerouted_words(row: Row) -> str:
    return f"{percent(row.lanes[1].share, 1)} text share, {row.rate:.1f} img/s, ${row.cost:.2f}"
