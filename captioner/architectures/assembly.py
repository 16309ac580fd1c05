"""A configuration file becomes a gated captioner: `vlm:FILE.json`, `remote:FILE.json`, and the key `gate` of both.

Paths in a file count from its folder. Heavy parts are imported when a file asks for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from captioner.architectures import configuration
from captioner.architectures.capabilities import Misconfigured, Writer
from captioner.architectures.gated import SAMPLES, Gated
from captioner.architectures.opened import Opened, OpenedConfig
from captioner.prepare import phrases, safety
from captioner.rooms.gate import calibration, score
from captioner.rooms.gate.freetext import Limits

GATE = "gate"
USUAL = Limits()


@dataclass(frozen=True, slots=True)
class GateConfig:
    """The key `gate` of a configuration file, or `gate.json` beside a native checkpoint.

    :ivar calibration, score: files that `python -m captioner calibrate` and a fit of the score wrote.
    :ivar require_calibration: `not_calibrated` where no threshold is valid for the version and the kind of request.
    :ivar trust_unread: offer texts in languages without a phrase check although no threshold stands for them.
    :ivar agreement, overlap, gap, copied: see `Limits`.
    :ivar safety: "package.module:Class" of a classifier; "" for none.
    :ivar open_vocabulary: see `OpenedConfig`; {} for none.
    """

    calibration: str = ""
    score: str = ""
    require_calibration: bool = False
    trust_unread: bool = False
    agreement: float = USUAL.agreement
    overlap: float = USUAL.overlap
    gap: float = USUAL.gap
    copied: float = USUAL.copied
    samples: int = SAMPLES
    safety: str = ""
    open_vocabulary: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        configuration.positive(samples=self.samples)
        for name in ("agreement", "overlap", "copied"):
            if not 0 <= getattr(self, name) <= 1:
                raise Misconfigured(f"{name}: must lie between 0 and 1, not {getattr(self, name)}")
        if self.calibration and not self.score:
            raise Misconfigured("score: a calibration holds for the scores of one file; name it")
        if self.open_vocabulary:
            try:
                configuration.read(OpenedConfig, self.open_vocabulary)
            except Misconfigured as error:
                raise Misconfigured(f"open_vocabulary: {error}") from error

    @property
    def limits(self) -> Limits:
        return Limits(
            agreement=self.agreement,
            overlap=self.overlap,
            gap=self.gap,
            copied=self.copied,
            demand_calibration=self.require_calibration,
            trust_unread=self.trust_unread,
        )


def load_vlm(place: str) -> Gated:
    """The transformers model that the JSON file at `place` names.  :raises CaptionError: see `from_file`."""
    from captioner.architectures.vlm import Vlm

    return from_file(place, Vlm)


def load_remote(place: str) -> Gated:
    """The server that the JSON file at `place` names.  :raises CaptionError: see `from_file`."""
    from captioner.architectures.remote import Remote

    return from_file(place, Remote)


def from_file(place: str, writer_class: Any) -> Gated:
    """A writer with its gate.

    :raises Misconfigured: the file is none, or a key in it does not fit; the message names file and key.
    :raises CaptionError: weights, a calibration, a classifier or the phraser are missing.
    """
    file = Path(place).expanduser()
    mapping = configuration.read_file(file)
    try:
        gate = gate_of(mapping.pop(GATE, {}))
        writer = writer_class.from_config(mapping)
        return gated(writer.name, writer, gate, file.parent)
    except Misconfigured as error:
        raise Misconfigured(f"{file}: {error}") from error


def gate_of(mapping: Any) -> GateConfig:
    """:raises Misconfigured: it is no object, or a key in it does not fit."""
    if not isinstance(mapping, dict):
        raise Misconfigured(f"{GATE}: must be an object")
    try:
        return configuration.read(GateConfig, mapping)
    except Misconfigured as error:
        raise Misconfigured(f"{GATE}: {error}") from error


def gated(name: str, writer: Writer, gate: GateConfig, folder: Path) -> Gated:
    """`writer` with the eyes of the starter and the gate that is asked for; relative paths count from `folder`.

    :raises CaptionError: see `from_file`.
    """
    from captioner.architectures.starter_page import load_phraser
    from captioner.rooms.encode.eyes import Eyes

    english = phrases.LANGUAGE in writer.capabilities.languages
    return Gated(
        name,
        Eyes.load(),
        writer,
        load_phraser() if english else None,
        gate.limits,
        calibration.load(folder / Path(gate.calibration).expanduser()) if gate.calibration else None,
        safety.load_classifier(gate.safety),
        Opened.load(gate.open_vocabulary) if gate.open_vocabulary else None,
        score=score.load(folder / Path(gate.score).expanduser()) if gate.score else None,
        samples=gate.samples,
    )
