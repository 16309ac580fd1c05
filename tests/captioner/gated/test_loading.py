"""From a name to a captioner: names, prefixes with a file, and words for whatever is wrong with them."""

import json
import subprocess
import sys

import pytest

from captioner import CaptionError, CaptionRequest, PageContext, WeightsMissing, isolation, versions_key
from captioner.architectures.capabilities import Misconfigured
from captioner.architectures.checkpoint import CheckpointBroken
from captioner.architectures.gated import Gated
from captioner.loading import NAMES, UnknownCaptioner, load_captioner
from captioner.prepare import phrases
from captioner.prepare.phrases import PhraserMissing
from captioner.rooms.encode.eyes import Eyes as RealEyes
from captioner.types import CaptionerUnavailable
from tests.captioner.backends import tiny
from tests.captioner.gate.sights import photo
from tests.captioner.policy.sights import Eyes, picture

SERVER = {"base_url": "http://127.0.0.1:9/v1", "model": "tiny", "languages": ["en"]}
STARTER_KEY = "24b8a80a915db21c"  # another one voids what was measured for the starter


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nobody", "Known: canned, starter, starter-lm, starter-page, native:/folder"),
        ("", "No captioner"),
        ("vlm:", "write it like vlm:/path/config.json"),
        ("native: ", "write it like native:"),
        ("captioner.nothing:Class", "cannot be imported"),
        ("captioner.types:Nothing", "cannot be imported"),
        ("..types:Outcome", "No captioner"),
        ("captioner.types:Outcome", "no load"),
    ],
)
def test_a_name_that_leads_nowhere_is_unknown(name, message):
    with pytest.raises(UnknownCaptioner, match=message):
        load_captioner(name)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "config.json cannot be read as JSON"),
        ("[]", "must hold one JSON object"),
        ({"model": "tiny"}, "config.json: base_url: this key is required"),
        ({**SERVER, "modle": "x"}, "unknown key 'modle'"),
        ({**SERVER, "max_tokens": "64"}, "max_tokens: must be a whole number"),
        ({**SERVER, "api_key_env": "ALTTEXT_NO_SUCH_KEY"}, "ALTTEXT_NO_SUCH_KEY is not set"),
        ({**SERVER, "gate": []}, "gate: must be an object"),
        ({**SERVER, "gate": {"treshold": 1}}, "gate: unknown key 'treshold'"),
        ({**SERVER, "gate": {"require_calibration": 1}}, "gate: require_calibration: must be true or false"),
        ({**SERVER, "gate": {"agreement": 2}}, "gate: agreement: must lie between 0 and 1"),
        ({**SERVER, "gate": {"samples": 0}}, "gate: samples: must be above 0"),
        ({**SERVER, "gate": {"calibration": "c.json"}}, "gate: score: a calibration holds"),
        (
            {**SERVER, "gate": {"open_vocabulary": {"model": "owl"}}},
            "gate: open_vocabulary: score: this key is required",
        ),
    ],
)
def test_a_file_that_does_not_fit_is_told_with_the_key(tmp_path, content, message):
    file = tmp_path / "config.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(CaptionError, match=message):
        load_captioner(f"remote:{file}")


@pytest.mark.parametrize(
    ("gate", "message"),
    [
        ({"score": "none.json"}, "none.json"),
        ({"score": "config.json"}, "no score"),
        ({"safety": "no.such.module:Class"}, "safety classifier"),
        ({"open_vocabulary": {"model": "/no/such/owl", "score": 0.3}}, "not whole on this machine"),
    ],
)
def test_a_part_of_the_gate_that_is_missing_is_an_error_and_not_left_out(tmp_path, monkeypatch, gate, message):
    monkeypatch.setattr(RealEyes, "load", classmethod(lambda cls: Eyes()))
    file = tmp_path / "config.json"
    file.write_text(json.dumps({**SERVER, "gate": gate}))
    with pytest.raises(CaptionError, match=message):
        load_captioner(f"remote:{file}")


def test_a_file_or_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(CaptionError, match="absent.json cannot be read"):
        load_captioner(f"vlm:{tmp_path}/absent.json")
    with pytest.raises(WeightsMissing, match="is no checkpoint"):
        load_captioner(f"native:{tmp_path}")


def test_a_vlm_writes_behind_the_gate(tmp_path, monkeypatch, phraser):
    """A tiny LLaVA with random weights: its nonsense stays, with all numbers told."""
    monkeypatch.setattr(RealEyes, "load", classmethod(lambda cls: Eyes(photo("dog"))))
    keys = {"model": str(tiny.llava(tmp_path / "llava")), "languages": ["en"], "max_tokens": 6, "device": "cpu"}
    (tmp_path / "vlm.json").write_text(json.dumps({**keys, "gate": {"agreement": 1.0, "samples": 2}}))
    captioner = load_captioner(f"vlm:{tmp_path}/vlm.json")
    assert isinstance(captioner, Gated)
    assert (captioner.name, captioner.limits.agreement) == ("vlm", 1.0)
    assert captioner.versions["writer.family"] == "llava"
    request = CaptionRequest("7", picture(), "hash", PageContext(title="Beach"))
    first, second = captioner.describe([request, request])
    assert first.reasons
    assert len(first.evidence["samples"]) == 2
    assert first.evidence["mean_log_probability"] < 0
    assert first.evidence["tokens"]["image"] == 4
    assert first.evidence == second.evidence


def test_an_error_of_a_part_reaches_the_parent_under_the_nearest_name_it_knows():
    """The site treats outages, missing weights and other errors differently."""
    errors = (PhraserMissing("x"), CheckpointBroken("x"), Misconfigured("x"), UnknownCaptioner("x"), ValueError("x"))
    assert [isolation._name_of(error) for error in errors] == [
        "CaptionerUnavailable",
        "WeightsMissing",
        "CaptionError",
        "CaptionError",
        "ValueError",
    ]


@pytest.mark.weights
@pytest.mark.slow
def test_the_starter_keeps_its_versions_key():
    try:
        starter = load_captioner("starter")
    except WeightsMissing as error:
        pytest.skip(str(error))
    if "absent" in starter.versions.values():
        pytest.skip("a part of the starter is not installed")
    assert versions_key(starter.versions) == STARTER_KEY


def test_names_and_the_order_of_the_rooms_load_no_torch():
    code = (
        "import sys, captioner.loading, captioner.rooms.line, captioner.architectures.gated; "
        "print([m for m in ('torch', 'transformers', 'open_clip', 'timm', 'peft') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
    assert set(NAMES) == {"canned", "starter", "starter-lm", "starter-page"}


def test_a_package_that_is_absent_is_told_with_the_extra_that_brings_it(monkeypatch):
    """None in `sys.modules` makes an import fail as if the package were not installed."""
    monkeypatch.setitem(sys.modules, "spacy", None)
    phrases._model.cache_clear()
    with pytest.raises(CaptionerUnavailable, match=r"starter-page.*\[starter,page\]"):
        load_captioner("starter-page")
