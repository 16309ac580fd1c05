"""Captioners with something to say of their risk. Loaded in a child process, too, so nothing here knows Django."""

from __future__ import annotations

from captioner.architectures.canned import Canned
from captioner.types import versions_key

KEY = versions_key(Canned.versions)
CALIBRATION = {
    "method": "ltt", "alpha": 0.1, "delta": 0.1, "n": 400, "accepted": 120, "errors": 4.0, "coverage": 0.3,
    "interval": [0.01, 0.08], "base_risk": 0.35, "threshold": 0.7, "stratum": "", "versions_key": KEY,
    "date": "2026-03-01", "sentence": "Per accepted caption: ...",
}  # fmt: skip


class Calibrated(Canned):
    """The canned captioner with a warrant."""

    calibration = CALIBRATION

    @classmethod
    def load(cls):
        return cls()


class Unspeakable(Canned):
    """One whose calibration no frame can hold."""

    calibration = {"alpha": float("nan")}

    @classmethod
    def load(cls):
        return cls()
