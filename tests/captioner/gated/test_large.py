"""`large` in small: a tiny open_clip tower and a tiny Llama on disk, through fresh, save, load and describe."""

import dataclasses
import json

import open_clip
import pytest
import torch
import transformers
from safetensors.torch import save_file

from captioner.architectures import checkpoint, large
from captioner.architectures.bridge import Bridge
from captioner.architectures.capabilities import Misconfigured, Writer
from captioner.architectures.checkpoint import CheckpointBroken, Native
from captioner.architectures.gated import Gated
from captioner.architectures.large import NativeBackend, cleaned, fresh_config
from captioner.architectures.native import NativeWriter
from captioner.prepare import prompts
from captioner.rooms.encode import vision
from captioner.rooms.encode.eyes import Eyes as RealEyes
from captioner.rooms.reduce import ReduceConfig
from captioner.types import CaptionError, CaptionRequest, Drafts, PageContext, WeightsMissing
from tests.captioner.backends import tiny
from tests.captioner.gate.sights import photo
from tests.captioner.policy.sights import Eyes, picture

ENCODER = "tiny-vit-quickgelu"
SIZES = {  # 4 x 4 patches of width 32
    "embed_dim": 16,
    "quick_gelu": True,
    "vision_cfg": {"image_size": 32, "layers": 3, "width": 32, "head_width": 16, "patch_size": 8},
    "text_cfg": {"context_length": 8, "vocab_size": 64, "width": 16, "heads": 2, "layers": 1},
}


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """The keys of a small `large`: encoder and language model with random weights, saved."""
    root = tmp_path_factory.mktemp("large")
    (root / f"{ENCODER}.json").write_text(json.dumps(SIZES))
    open_clip.add_model_config(root / f"{ENCODER}.json")
    torch.manual_seed(0)
    save_file(open_clip.create_model(ENCODER).state_dict(), root / "vit.safetensors")
    tokens = tiny.tokenizer("<|im_start|>", "<|im_end|>")
    tokens.chat_template = tiny.CHAT
    model = tiny.spread(transformers.LlamaForCausalLM(transformers.LlamaConfig(vocab_size=len(tokens), **tiny.TEXT)))
    model.save_pretrained(root / "llama")
    tokens.save_pretrained(root / "llama")
    keys = {"language_model": "llama", "encoder": ENCODER, "encoder_weights": str(root / "vit.safetensors")}
    return root, {**keys, "side": 2, "lora_rank": 2, "budget": 40}


@pytest.fixture(scope="module")
def made(parts):
    """Bridge and low-rank weights with values that a file in bfloat16 holds exactly."""
    root, keys = parts
    config = fresh_config(keys, root)
    torch.manual_seed(1)
    native = Native(config, Bridge(config.bridge).eval(), checkpoint.load_language_model(config, root))
    native.model.attach_lora(config.lora)
    with torch.no_grad():
        for values in native.model.lora_parameters():
            values.normal_(0, 0.05)
        for values in (*native.model.lora_parameters(), *native.bridge.parameters()):
            values.copy_(values.bfloat16())
    native.model.model.eval().requires_grad_(False)
    return native


@pytest.fixture(scope="module")
def folder(parts, made):
    place = parts[0] / "checkpoint"
    checkpoint.save(made, place, card="# large\n")
    return place


def draft(writer, seed=3):
    prompt = prompts.render(PageContext(title="Beach"), count=writer.count, special=writer.special)
    return writer.draft(tiny.picture(), prompt, samples=3, seed=seed, deadline_seconds=60.0)


def test_the_full_size_has_the_counts_of_the_specification(tmp_path):
    """24 x 24 patches pooled 3 x 3 are 64 tokens; 1024*4096 + 4096 + 4096*4096 + 4096 = 20,979,712 weights."""
    (tmp_path / "llm").mkdir()
    transformers.LlamaConfig(hidden_size=4096).save_pretrained(tmp_path / "llm")
    config = fresh_config({"language_model": "llm"}, tmp_path)
    with torch.device("meta"):
        bridge = Bridge(config.bridge)
        assert bridge(torch.zeros(1, 576, 1024)).shape == (1, 64, 4096)
    assert sum(values.numel() for values in bridge.parameters()) == 20_979_712
    assert (config.encode.model, config.encode.weights) == ("ViT-L-14-336-quickgelu", "openai")
    assert config.lora is not None
    assert (config.name, config.lora.rank, config.budget) == ("large", 16, 113)
    assert checkpoint.NativeConfig.from_json(json.loads(json.dumps(config.as_json()))) == config


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"langauge_model": "x"}, "langauge_model"),
        ({"side": 3}, "side: a grid of 4 x 4"),
        ({"encoder": "ViT-L-14-336", "encoder_weights": "openai"}, "encoder: .*quickgelu"),
        ({"encoder": "RN50-quickgelu", "encoder_weights": "openai"}, "encoder: open_clip has no vision transformer"),
        ({"encoder_weights": ""}, "encoder_weights"),
        ({"lora_rank": 0}, "lora_rank"),
        ({"budget": "many"}, "budget: must be a whole number"),
    ],
)
def test_a_key_that_does_not_fit_is_named(parts, change, message):
    root, keys = parts
    with pytest.raises(Misconfigured, match=message):
        fresh_config({**keys, **change}, root)


def test_a_language_model_that_is_not_here_is_missing(parts):
    root, keys = parts
    with pytest.raises(WeightsMissing, match="language_model"):
        fresh_config({**keys, "language_model": "nothing"}, root)


def test_saved_and_loaded_it_writes_what_it_wrote(parts, made, folder):
    """Two ways agree: low-rank weights beside the model in memory, and merged after the way over the disk."""
    root, _ = parts
    backend = NativeBackend.load(folder, ("en",), root)
    assert isinstance(backend, Writer)
    tower = vision.build(made.config.encode)
    before = draft(NativeBackend(NativeWriter(made, tower), ("en",), parts={}))
    after = draft(backend)
    assert after.text == before.text
    assert after.mean_log_probability == pytest.approx(before.mean_log_probability, abs=1e-3)
    assert after.gap == pytest.approx(before.gap, abs=1e-3)
    assert (after.tokens["image"], len(after.samples)) == (4, 3)
    assert draft(backend) == after
    assert draft(backend, seed=4).samples != after.samples


def test_it_describes_behind_the_gate(parts, folder, phraser, monkeypatch):
    """Random weights write nonsense, which stays; the numbers that were measured are told."""
    root, _ = parts
    monkeypatch.setenv("ALTTEXT_WEIGHTS", str(root))
    monkeypatch.setattr(RealEyes, "load", classmethod(lambda cls: Eyes(photo("dog"))))
    (folder / "gate.json").write_text('{"languages": ["en"], "gap": 0.2, "require_calibration": true}')
    try:
        captioner = large.load(str(folder))
    finally:
        (folder / "gate.json").unlink()
    assert isinstance(captioner, Gated)
    assert captioner.name == "large"
    assert captioner.limits.demand_calibration
    assert "budget=40" in captioner.versions["prompt"]
    assert ENCODER in captioner.versions["writer.encoder"]
    request = CaptionRequest("7", picture(), "hash", PageContext(title="Beach"))
    first, second = captioner.describe([request, request])
    assert first.reasons
    assert first.evidence["tokens"]["image"] == 4
    assert isinstance(first.evidence["gap"], float)
    assert len(first.evidence["samples"]) == 3
    assert first.evidence == second.evidence


def test_other_files_of_the_same_name_are_another_version(parts, folder):
    root, _ = parts
    first = large._parts(checkpoint.read_config(folder), root)
    file = root / "vit.safetensors"
    kept = file.read_bytes()
    torch.manual_seed(9)
    save_file(open_clip.create_model(ENCODER).state_dict(), file)
    second = large._parts(checkpoint.read_config(folder), root)
    file.write_bytes(kept)
    assert first["encoder"] != second["encoder"]
    assert first["language_model"] == second["language_model"]
    assert large._parts(checkpoint.read_config(folder), root) == first


def test_rooms_that_do_not_fit_each_other_are_told_when_loading(parts, made, tmp_path):
    """4 x 4 patches have no 3 x 3 equal bins."""
    root, _ = parts
    bridge = dataclasses.replace(made.config.bridge, reduce=ReduceConfig("pool", side=3))
    broken = Native(dataclasses.replace(made.config, bridge=bridge), made.bridge, made.model)
    checkpoint.save(broken, tmp_path / "broken", card="")
    with pytest.raises(CheckpointBroken, match="do not fit"):
        NativeBackend.load(tmp_path / "broken", ("en",), root)


def test_a_page_that_does_not_fit_into_the_model_is_an_error(parts, folder):
    backend = NativeBackend.load(folder, ("en",), parts[0])
    prompt = prompts.Prompt("Write.", "a " * 1100, "Describe.")
    with pytest.raises(CaptionError, match="do not fit into 1024"):
        backend.draft(tiny.picture(), prompt, samples=1, seed=0, deadline_seconds=60.0)


def test_a_text_that_ran_into_the_limit_ends_at_a_sentence():
    drafts = cleaned(Drafts("**A dog sits.** It looks at", ("Alt text: A dog",), -0.1, 0.5, tokens={"text": 32}))
    assert (drafts.text, drafts.samples, drafts.tokens) == ("A dog sits.", ("A dog",), {"text": 32, "cut": 1})
    assert cleaned(Drafts("A dog", tokens={"text": 4})).tokens == {"text": 4}
