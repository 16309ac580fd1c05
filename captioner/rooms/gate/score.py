"""The caption score: a logistic model over a few named numbers of the gate, 0..1, higher is surer.

It is a ranking, no probability that may be promised: only a calibration makes a statement of it. Fitting needs numpy,
scoring needs nothing.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from captioner.types import CaptionError

if TYPE_CHECKING:
    import numpy as np

DEFAULTS = {  # name -> what a missing value counts as: the cautious end of each scale
    "min_support": 0.0,  # weakest checked phrase, 0..1
    "min_agreement": 0.0,  # 0, 1/3, 2/3, 1
    "mean_agreement": 0.0,
    "gap": 0.0,  # nats per token
    "mean_log_probability": -5.0,  # nats per token
    "checked": 0.0,  # phrases with evidence
    "unchecked": 0.0,  # attributes, actions, scenes: claims that nothing verifies
    "words": 0.0,
}
RIDGE = 1.0  # on standardised features, in units of one labelled caption; keeps separable data finite
STEPS = 100
Features = Mapping[str, float | None]


class ScoreUnreadable(CaptionError):
    """A score file is none, or has features that this version does not know."""


class TooFewLabels(CaptionError):
    """A score cannot be fitted: both right and wrong captions are needed."""


@dataclass(frozen=True, slots=True)
class Score:
    """Weights on standardised features: sigmoid(intercept + sum w (x - mean) / scale)."""

    features: tuple[str, ...]
    weights: tuple[float, ...]
    means: tuple[float, ...]
    scales: tuple[float, ...]
    intercept: float
    n: int = 0

    def of(self, values: Features) -> float:
        """The score of one caption, 0..1; missing and not finite values count as `DEFAULTS` says."""
        total = self.intercept
        for name, weight, mean, scale in zip(self.features, self.weights, self.means, self.scales, strict=True):
            total += weight * (value_of(values, name) - mean) / scale
        return 1 / (1 + math.exp(-total)) if total >= 0 else math.exp(total) / (1 + math.exp(total))

    @property
    def version(self) -> str:
        """12 hex digits, for `versions`: another score voids a calibration."""
        return hashlib.sha256(json.dumps(self.as_json(), sort_keys=True).encode()).hexdigest()[:12]

    def as_json(self) -> dict[str, Any]:
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Score:
        """:raises ScoreUnreadable: a field is missing, or a feature is unknown."""
        try:
            lists = {name: tuple(map(float, data[name])) for name in ("weights", "means", "scales")}
            score = cls(tuple(data["features"]), **lists, intercept=float(data["intercept"]), n=int(data["n"]))
        except (KeyError, TypeError, ValueError) as error:
            raise ScoreUnreadable(f"this is no score: {error!r}") from error
        if unknown := set(score.features) - set(DEFAULTS):
            raise ScoreUnreadable(f"unknown features: {', '.join(sorted(unknown))}")
        if {len(score.weights), len(score.means), len(score.scales)} != {len(score.features)} or 0 in score.scales:
            raise ScoreUnreadable("each feature needs a weight, a mean and a scale that is not 0")
        return score

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(self.as_json(), indent=2) + "\n", "utf-8")


def load(path: Path) -> Score:
    """:raises ScoreUnreadable: no such file, no JSON, or no score."""
    try:
        return Score.from_json(json.loads(path.read_text("utf-8")))
    except (OSError, ValueError) as error:
        raise ScoreUnreadable(f"cannot read {path}: {error}") from error


def value_of(values: Features, name: str) -> float:
    """The value, or the stated default where it is missing or not finite."""
    value = values.get(name)
    return DEFAULTS[name] if value is None or not math.isfinite(value) else float(value)


def newton(design: np.ndarray, target: np.ndarray, penalty: np.ndarray) -> np.ndarray:
    """Weights (F,) of the logistic model of `target` (N,) 0..1 on `design` (N, F) that maximise the likelihood less
    half of w' P w, P = `penalty` (F, F).
    """
    import numpy as np

    weights = np.zeros(design.shape[1])
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-np.clip(design @ weights, -30, 30)))
        slope = design.T @ (target - chance) - penalty @ weights
        curve = (design * np.maximum(chance * (1 - chance), 1e-10)[:, None]).T @ design + penalty
        step = np.linalg.solve(curve, slope)
        step *= min(1.0, 5 / max(np.abs(step).max(), 1e-12))  # no leap on nearly separable data
        weights = weights + step
        if np.abs(step).max() < 1e-9:
            break
    return weights


def fit(
    rows: Sequence[Features], right: Sequence[bool], features: Sequence[str] = tuple(DEFAULTS), *, ridge: float = RIDGE
) -> Score:
    """Maximum penalised likelihood by Newton's method (iteratively reweighted least squares); intercept not penalised.

    :param right: whether people found the caption right.
    :raises TooFewLabels: all are right, or all are wrong.
    """
    import numpy as np

    target = np.asarray(right, dtype=float)
    if len(target) != len(rows) or not 0 < target.sum() < len(target):
        raise TooFewLabels("a score needs captions that were found right and captions that were found wrong")
    plain = np.array([[value_of(row, name) for name in features] for row in rows], dtype=float)
    means, scales = plain.mean(axis=0), plain.std(axis=0)
    scales[scales < 1e-12] = 1.0
    design = np.column_stack([np.ones(len(plain)), (plain - means) / scales])  # (rows, 1 + features)
    weights = newton(design, target, ridge * np.diag([0.0, *np.ones(len(features))]))
    numbers = {"weights": weights[1:], "means": means, "scales": scales}
    tuples = {name: tuple(float(number) for number in array) for name, array in numbers.items()}
    return Score(tuple(features), **tuples, intercept=float(weights[0]), n=len(rows))
