"""What a rollout costs and how long an image takes: arithmetic over rates, token budgets and prices.

A row of a plan holds measured rates or the FLOP model, never both. Rates are images a second, prices dollars, one
multiply-add counts as 2 FLOP. Knows no model, no machine and no clock; nothing here was measured by this package.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

MEASURED, MODELLED = "measured", "FLOP model"
PLAIN, TEXT = "plain", "text"
HOUR_SECONDS = 3600
YEAR_HOURS = 8766


class ImpossiblePlan(Exception):
    """A share, price, rate or size that no plan can have; the message says which."""


def _demand(holds: bool, message: str) -> None:
    if not holds:
        raise ImpossiblePlan(message)


# ---- inputs ----


@dataclass(frozen=True, slots=True)
class Machine:
    """One GPU and the model on it.

    :ivar flops: effective FLOP/s of the whole line: measure it, apart from the latency constants.
    :ivar encoder_flop: of one tile (see `encoder_flop`).
    :ivar hour_price: of one GPU.
    """

    parameters: float = 8e9
    flops: float = 290e12
    encoder_flop: float = 0.382e12
    hour_price: float = 2.50

    def __post_init__(self) -> None:
        _demand(_is_positive(self.parameters), f"{self.parameters:g} parameters: a model has more than none")
        _demand(_is_positive(self.flops), f"{self.flops:g} FLOP/s: a machine does more than none")
        _demand(0 <= self.encoder_flop < math.inf, f"{self.encoder_flop:g} encoder FLOP: must be 0 or more")
        _demand(0 <= self.hour_price < math.inf, f"${self.hour_price:g} an hour: a price is 0 or more")


@dataclass(frozen=True, slots=True)
class Work:
    """Tokens of one caption. `text_tokens` counts all text: system, instruction and page.

    :ivar extra_samples: k_s, decoded beside the caption after one shared prefill.
    :ivar is_contrastive: visual contrastive decoding, a second pass without the image.
    """

    text_tokens: int = 150
    output_tokens: int = 25
    extra_samples: int = 0
    is_contrastive: bool = False

    def __post_init__(self) -> None:
        _demand(self.text_tokens >= 0, f"{self.text_tokens} text tokens: must be 0 or more")
        _demand(self.output_tokens >= 1, f"{self.output_tokens} output tokens: a caption has one or more")
        _demand(self.extra_samples >= 0, f"{self.extra_samples} extra samples: must be 0 or more")


@dataclass(frozen=True, slots=True)
class Lane:
    """A queue of images of one token budget. `share` is of the traffic, 0..1."""

    name: str
    image_tokens: int
    share: float
    tiles: int = 1

    def __post_init__(self) -> None:
        _demand(self.image_tokens >= 1 and self.tiles >= 1, f"lane {self.name} needs an image token and a tile or more")
        _demand(0 <= self.share <= 1, f"lane {self.name} has a share of {self.share:g}: must be in 0..1")


LANES = (Lane(PLAIN, 64, 0.92), Lane(TEXT, 2880, 0.08, tiles=5))


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds, each measured on its own: they imply another FLOP/s than the rates do.

    :ivar rest: router, encoder and detector together.
    :ivar second: rho: 1 for a second pass of contrastive decoding, .13-.48 as a second row (CPU), near 0 where decoding
        is bound by memory.
    """

    prefill_per_token: float = 0.4258
    decode_per_token: float = 4.8
    rest: float = 72.0
    second: float = 1.0

    def __post_init__(self) -> None:
        times = (self.prefill_per_token, self.decode_per_token, self.rest, self.second)
        _demand(all(0 <= time < math.inf for time in times), "milliseconds of the latency must be 0 or more")

    def of(self, image_tokens: int, work: Work) -> float:
        """Milliseconds from request to text; extra samples are not in it."""
        decode = self.decode_per_token * work.output_tokens * (1 + (self.second if work.is_contrastive else 0))
        return self.rest + self.prefill_per_token * (image_tokens + work.text_tokens) + decode


# ---- one row of a plan ----


@dataclass(frozen=True, slots=True)
class Row:
    """Lanes with their rates, all from one source."""

    source: str
    lanes: tuple[Lane, ...]
    rates: tuple[float, ...]
    hour_price: float

    def __post_init__(self) -> None:
        total = math.fsum(lane.share for lane in self.lanes)
        each = ", ".join(f"{lane.name} {lane.share:g}" for lane in self.lanes)
        _demand(abs(total - 1) < 1e-6, f"the shares of the traffic ({each}) sum to {total:.6g}, not to 1")
        for lane, rate in zip(self.lanes, self.rates, strict=True):
            _demand(_is_positive(rate), f"lane {lane.name} has a rate of {rate:g} images a second: must be above 0")

    @property
    def rate(self) -> float:
        """Images a second of one GPU over all lanes: 1 / sum of share/rate."""
        return 1 / math.fsum(lane.share / rate for lane, rate in zip(self.lanes, self.rates, strict=True))

    @property
    def time_shares(self) -> tuple[float, ...]:
        """Share of GPU time a lane takes: size workers by it, not by traffic."""
        return tuple(lane.share / rate * self.rate for lane, rate in zip(self.lanes, self.rates, strict=True))

    @property
    def lane_costs(self) -> tuple[float, ...]:
        return tuple(cost_per_million(self.hour_price, rate) for rate in self.rates)

    @property
    def cost(self) -> float:
        """Dollars a million images, routed."""
        return cost_per_million(self.hour_price, self.rate)

    def gpu_hours(self, images: float) -> float:
        _demand(0 <= images < math.inf, f"{images:g} images: must be 0 or more")
        return images / self.rate / HOUR_SECONDS

    def gpus(self, images: float, hours: float) -> int:
        """GPUs that are done with `images` in `hours`."""
        _demand(_is_positive(hours), f"{hours:g} hours: must be above 0")
        return math.ceil(self.gpu_hours(images) / hours - 1e-9)


def measured(lanes: Sequence[Lane], rates: Mapping[str, float], hour_price: float) -> Row:
    """A row of measured rates; tokens and samples are those of the measurement.

    :raises ImpossiblePlan: a lane has no rate (the FLOP model does not fill in), or a rate has no lane.
    """
    names = [lane.name for lane in lanes]
    missing, strangers = [name for name in names if name not in rates], sorted(set(rates) - set(names))
    _demand(not missing, f"measured rates and the FLOP model do not mix: no rate for lane {', '.join(missing)}")
    _demand(not strangers, f"a rate for {', '.join(strangers)}, but the lanes are {', '.join(names)}")
    return Row(MEASURED, tuple(lanes), tuple(rates[name] for name in names), hour_price)


def modelled(lanes: Sequence[Lane], work: Work, machine: Machine) -> Row:
    """A row of the FLOP model."""
    rates = tuple(lane_rate(lane.image_tokens, work, machine, tiles=lane.tiles) for lane in lanes)
    return Row(MODELLED, tuple(lanes), rates, machine.hour_price)


# ---- formulas ----


def lane_flop(image_tokens: int, work: Work, machine: Machine, tiles: int = 1) -> float:
    """2P·(V + T + O·(1+k_s) + v·(T+O)) + F·tiles; attention over long prefixes is left out."""
    text, output = work.text_tokens, work.output_tokens
    tokens = image_tokens + text + output * (1 + work.extra_samples) + work.is_contrastive * (text + output)
    return 2 * machine.parameters * tokens + machine.encoder_flop * tiles


def lane_rate(image_tokens: int, work: Work, machine: Machine, tiles: int = 1) -> float:
    """Images a second of one GPU."""
    return machine.flops / lane_flop(image_tokens, work, machine, tiles)


def cost_per_million(hour_price: float, rate: float) -> float:
    return hour_price / HOUR_SECONDS / rate * 1e6


def break_even(fixed: float, api_price: float, marginal_price: float) -> float:
    """Images after which `fixed` is earned back, prices an image; infinite where the API is no dearer."""
    _demand(0 <= fixed < math.inf, f"fixed cost of ${fixed:g}: must be 0 or more")
    _demand(0 <= api_price < math.inf, f"API price of ${api_price:g}: must be 0 or more")
    return fixed / (api_price - marginal_price) if api_price > marginal_price else math.inf


def with_router_errors(text_share: float, misses: float, false_positives: float) -> float:
    """Share that goes to the text lane when the router misses some of it and sends some plain images there."""
    for name, share in (("text share", text_share), ("misses", misses), ("false positives", false_positives)):
        _demand(0 <= share <= 1, f"router: {name} of {share:g} must be in 0..1")
    return text_share * (1 - misses) + (1 - text_share) * false_positives


def rerouted(lanes: Sequence[Lane], misses: float, false_positives: float) -> tuple[Lane, ...]:
    """The lanes plain and text with the shares that an erring router gives them."""
    _demand(
        [lane.name for lane in lanes] == [PLAIN, TEXT], "router errors need the lanes plain and text, in this order"
    )
    share = with_router_errors(lanes[1].share, misses, false_positives)
    return replace(lanes[0], share=1 - share), replace(lanes[1], share=share)


def ab_size(base: float, difference: float, factor: float = 16) -> int:
    """Items an arm to see an absolute difference of shares: factor·p·(1-p)/difference^2."""
    _demand(0 < base < 1, f"A/B test: a base of {base:g} must lie between 0 and 1")
    _demand(0 < abs(difference) < 1, f"A/B test: a difference of {difference:g} must lie between 0 and 1")
    return math.ceil(factor * base * (1 - base) / difference**2 - 1e-9)


def ab_factor(power: float, level: float = 0.05) -> float:
    """What rule 16 rounds: 2·(z of level/2 + z of power)^2."""
    normal = NormalDist()
    return 2 * (normal.inv_cdf(1 - level / 2) + normal.inv_cdf(power)) ** 2


def training_bytes(parameters: float, trainable: float | None = None, *, has_master: bool = False) -> float:
    """bf16 weights (2), and for each trainable one gradient (2), Adam (8) and an fp32 copy (4); no activations."""
    updated = parameters if trainable is None else trainable
    return 2 * parameters + (2 + 8 + (4 if has_master else 0)) * updated


def patches(side_px: int, patch_px: int) -> int:
    return (side_px // patch_px) ** 2


def encoder_flop(
    side_px: int = 336, patch_px: int = 14, width: int = 1024, blocks: int = 24, hidden: int = 4
) -> tuple[float, float]:
    """FLOP of a ViT with CLS, and the part of it that is attention over tokens (grows with their square)."""
    seen = patches(side_px, patch_px)
    tokens = seen + 1
    attention = blocks * 4 * tokens**2 * width
    linear = blocks * 2 * (4 + 2 * hidden) * width**2 * tokens
    return attention + linear + 2 * seen * 3 * patch_px**2 * width, attention


def projector_parameters(seen_width: int = 1024, text_width: int = 4096) -> int:
    """Two linear layers with bias: a·d + d + d·d + d."""
    return seen_width * text_width + text_width + text_width**2 + text_width


def _is_positive(value: float) -> bool:
    return 0 < value < math.inf
