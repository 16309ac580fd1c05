"""A captioner on disk: it comes back to the bit, and anything that does not fit is refused by name."""

from __future__ import annotations

import json
import pickle

import pytest
import torch
from safetensors.torch import load_file, save_file

from captioner.architectures import checkpoint
from captioner.architectures.bridge import BridgeConfig
from captioner.architectures.checkpoint import CheckpointBroken, NativeConfig
from captioner.rooms.decode.language_model import LoraConfig
from captioner.rooms.encode.vision import EncodeConfig
from captioner.rooms.project import ProjectConfig
from captioner.rooms.reduce import ReduceConfig
from captioner.types import WeightsMissing

from . import tiny

LORA = LoraConfig(rank=4, alpha=8, targets=("q_proj", "v_proj"))


@pytest.fixture
def native(weights):
    """With low-rank weights, and pinned to its language model."""
    made = tiny.native(
        weights,
        "llama",
        lora=LORA,
        language_model_sha256=checkpoint.sha256(weights / "llama" / "model.safetensors"),
        trained={"stage": "sft", "steps": 3},
    )
    made.model.attach_lora(LORA)
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for values in made.model.lora_parameters():
            values.normal_(0, 0.1, generator=generator)
    return made


@pytest.fixture
def folder(native, tmp_path):
    checkpoint.save(native, tmp_path / "saved", card="# A card\n")
    return tmp_path / "saved"


def rewrite(folder, name: str, content: bytes) -> None:
    """Put `content` into the folder with a fitting checksum: what is left is what the loader itself checks."""
    (folder / name).write_bytes(content)
    sums = json.loads((folder / "checksums.json").read_text())
    sums[name] = checkpoint.sha256(folder / name)
    (folder / "checksums.json").write_text(json.dumps(sums))


def reconfigure(folder, **changed) -> None:
    config = json.loads((folder / "config.json").read_text())
    rewrite(folder, "config.json", json.dumps({**config, **changed}).encode())


def test_a_checkpoint_comes_back_to_the_bit(native, folder, weights, tmp_path):
    loaded = checkpoint.load(folder, weights)
    assert loaded.config == native.config
    for wanted, found in (
        (native.bridge.state_dict(), loaded.bridge.state_dict()),
        (native.model.lora_state(), loaded.model.lora_state()),
    ):
        assert found.keys() == wanted.keys()
        assert len(wanted) > 0
        for name, values in wanted.items():
            assert torch.equal(found[name], values.to(torch.bfloat16).float()), name
    checkpoint.save(loaded, tmp_path / "again", card="# A card\n")
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["bridge.safetensors", "card.md", "checksums.json", "config.json", "lora.safetensors"]
    assert all((tmp_path / "again" / name).read_bytes() == (folder / name).read_bytes() for name in names)
    assert checkpoint.digest(folder) == checkpoint.digest(tmp_path / "again")


def test_a_loaded_captioner_is_frozen(folder, weights):
    loaded = checkpoint.load(folder, weights)
    for module in (loaded.bridge, loaded.model.model):
        assert not module.training
        assert not any(values.requires_grad for values in module.parameters())


def test_files_are_readable_for_other_users_of_the_machine(folder):
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o644}


def test_a_config_survives_json():
    config = NativeConfig(
        name="x",
        encode=EncodeConfig("timm", "test_vit", "w", 96),
        bridge=BridgeConfig(3, 4, ReduceConfig("perceiver", queries=5), ProjectConfig(standardise=True)),
        language_model="lm",
        lora=LORA,
        trained={"seeds": [1, 2]},
    )
    assert NativeConfig.from_json(json.loads(json.dumps(config.as_json()))) == config


@pytest.mark.parametrize("name", ["config.json", "bridge.safetensors", "lora.safetensors", "card.md"])
def test_one_changed_byte_is_noticed_in_every_file(folder, weights, name):
    content = bytearray((folder / name).read_bytes())
    content[-2] ^= 1
    (folder / name).write_bytes(content)
    with pytest.raises(CheckpointBroken, match=rf"{name} has sha256"):
        checkpoint.load(folder, weights)


@pytest.mark.parametrize("name", ["checksums.json", "config.json", "bridge.safetensors", "lora.safetensors"])
def test_a_missing_file_is_named(folder, weights, name):
    (folder / name).unlink()
    with pytest.raises(CheckpointBroken, match=name):
        checkpoint.load(folder, weights)


def test_low_rank_weights_that_the_config_promises_must_be_listed(folder, weights):
    (folder / "lora.safetensors").unlink()
    sums = json.loads((folder / "checksums.json").read_text())
    del sums["lora.safetensors"]
    (folder / "checksums.json").write_text(json.dumps(sums))
    with pytest.raises(CheckpointBroken, match=r"lora\.safetensors"):
        checkpoint.load(folder, weights)


def test_checksums_must_name_config_and_bridge(folder, weights):
    (folder / "checksums.json").write_text("{}")
    with pytest.raises(CheckpointBroken, match=r"does not name config\.json and bridge\.safetensors"):
        checkpoint.load(folder, weights)


@pytest.mark.parametrize("file", ["bridge.safetensors", "lora.safetensors"])
@pytest.mark.parametrize("harm", ["missing", "extra", "shape"])
def test_weights_that_do_not_fit_are_refused_with_file_and_key(folder, weights, file, harm):
    state = load_file(folder / file)
    name = sorted(state)[0]
    if harm == "missing":
        del state[name]
    elif harm == "extra":
        name = "stowaway"
        state[name] = torch.zeros(1)
    else:
        state[name] = torch.zeros(1)
    save_file(state, folder / "changed")
    rewrite(folder, file, (folder / "changed").read_bytes())
    with pytest.raises(CheckpointBroken, match=rf"(?s){file}: .*{name}"):
        checkpoint.load(folder, weights)


def test_another_format_is_refused(folder, weights):
    reconfigure(folder, format=2)
    with pytest.raises(CheckpointBroken, match=r"config\.json has format 2, this version reads 1"):
        checkpoint.load(folder, weights)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"lens": "wide"}, "lens"),
        ({"bridge": {"width": 12, "text_width": 32}}, "reduce"),
        ({"bridge": 3}, "not iterable"),
        ({"lora": {"rank": 4}}, "targets"),
        (
            {"bridge": {"width": 12, "text_width": 32, "reduce": {"method": "shuffle"}, "project": {}}},
            "shuffle",
        ),
        ({"bridge": {"width": "12", "text_width": 32, "reduce": {}, "project": {}}}, ""),
    ],
)
def test_a_config_that_does_not_fit_is_refused(folder, weights, changed, said):
    reconfigure(folder, **changed)
    with pytest.raises(CheckpointBroken, match=rf"config\.json.*{said}"):
        checkpoint.load(folder, weights)


def test_a_config_that_is_no_json_is_refused(folder, weights):
    rewrite(folder, "config.json", b"name: tiny")
    with pytest.raises(CheckpointBroken, match="is no checkpoint"):
        checkpoint.load(folder, weights)


def test_an_absent_language_model_says_how_to_get_it(folder, tmp_path):
    with pytest.raises(WeightsMissing, match=r"llama is not there; run `python -m captioner fetch tiny`"):
        checkpoint.load(folder, tmp_path / "empty")


def test_another_language_model_is_refused(folder, weights, tmp_path):
    tiny.gpt2(tmp_path / "llama")
    with pytest.raises(WeightsMissing, match=r"llama/model\.safetensors is not the model that tiny was trained on"):
        checkpoint.load(folder, tmp_path)


def test_a_folder_without_a_language_model_is_refused(folder, tmp_path):
    (tmp_path / "llama").mkdir()
    reconfigure(folder, language_model_sha256="")
    with pytest.raises(WeightsMissing, match="holds no causal language model"):
        checkpoint.load(folder, tmp_path)


def test_no_pickle_is_ever_read(folder, weights, tmp_path, monkeypatch):
    """A pickle under the name of the weights, with a fitting checksum; reading it would leave a file behind."""

    class Malice:
        def __reduce__(self):
            return (open, (str(tmp_path / "opened"), "w"))

    monkeypatch.setattr(torch, "load", lambda *args, **named: pytest.fail("torch.load reads pickles"))
    checkpoint.load(folder, weights)
    rewrite(folder, "bridge.safetensors", pickle.dumps(Malice()))
    with pytest.raises(CheckpointBroken, match=r"bridge\.safetensors"):
        checkpoint.load(folder, weights)
    assert not (tmp_path / "opened").exists()


def test_a_captioner_without_low_rank_weights_leaves_no_old_ones_behind(folder, weights):
    plain = tiny.native(weights, "llama")
    checkpoint.save(plain, folder, card="# A card\n")
    assert not (folder / "lora.safetensors").exists()
    assert checkpoint.load(folder, weights).model.lora is None
