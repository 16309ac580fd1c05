"""Room 1: patch tokens of small random towers, against hooks on the blocks they come from."""

from __future__ import annotations

import pytest
import timm
import torch
from open_clip import factory
from PIL import Image
from safetensors.torch import save_file

from captioner.rooms.encode import towers, vision
from captioner.rooms.encode.vision import EncodeConfig
from captioner.types import WeightsMissing

from . import tiny

TINY = {
    "embed_dim": 16,
    "vision_cfg": {"image_size": 336, "layers": 3, "width": 64, "head_width": 32, "patch_size": 14},
    "text_cfg": {"context_length": 8, "vocab_size": 32, "width": 16, "heads": 2, "layers": 1},
    "quick_gelu": True,
}
CLIP_MEAN = (123, 117, 104)  # .4815, .4578, .4082 of 255


@pytest.fixture
def open_clip_tower(monkeypatch):
    """A ViT of three blocks on 336 px with patches of 14, its class token last to be dropped."""
    monkeypatch.setitem(factory._MODEL_CONFIGS, "tiny", TINY)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return vision.build(EncodeConfig("open_clip", "tiny"))


def test_open_clip_tokens_are_those_of_the_second_last_block_without_the_class_token(open_clip_tower):
    heard = []
    block = open_clip_tower.visual.transformer.resblocks[-2]
    handle = block.register_forward_hook(lambda module, given, out: heard.append(out))
    tokens = open_clip_tower.tokens([tiny.picture(1), tiny.picture(2)])
    handle.remove()
    assert heard[0].shape == (2, 577, 64)
    assert tokens.shape == (2, 576, 64)
    torch.testing.assert_close(tokens, heard[0][:, 1:])
    assert (open_clip_tower.patches, open_clip_tower.width) == (576, 64)


def test_open_clip_tokens_come_row_by_row(open_clip_tower):
    """One cell of a grey picture is painted: most changes its own token, row 3, column 20 of 24."""
    plain = Image.new("RGB", (336, 336), (128, 128, 128))
    painted = plain.copy()
    painted.paste((255, 0, 0), (20 * 14, 3 * 14, 21 * 14, 4 * 14))
    change = (open_clip_tower.tokens([painted]) - open_clip_tower.tokens([plain])).norm(dim=-1)[0]
    assert change.argmax() == 3 * 24 + 20


@pytest.mark.parametrize("library", ["open_clip", "timm"])
def test_a_blank_is_zero_after_normalisation(library, open_clip_tower):
    tower = open_clip_tower if library == "open_clip" else vision.build(EncodeConfig("timm", "test_vit"))
    heard = []
    first = tower.visual.conv1 if library == "open_clip" else tower.model.patch_embed.proj
    handle = first.register_forward_pre_hook(lambda module, given: heard.append(given[0]))
    blank = tower.blank()
    if library == "open_clip":
        tower.tokens([Image.new("RGB", (50, 40), CLIP_MEAN)])  # the mean colour is nearly blank
        assert heard[1].abs().max() < 0.01
    handle.remove()
    assert blank.shape == (1, tower.patches, tower.width)
    assert heard[0].shape == (1, 3, tower.side_px, tower.side_px)
    assert not heard[0].any()


def test_timm_tokens_leave_out_what_is_no_patch():
    tower = vision.build(EncodeConfig("timm", "test_vit"))
    tokens = tower.tokens([tiny.picture(1)])
    side = tower.side_px // 16
    assert tokens.shape == (1, side * side, tower.width) == (1, tower.patches, tower.width)
    with torch.inference_mode():
        everything = tower.model.forward_features(tower.transform(tiny.picture(1))[None])
    assert everything.shape[1] == side * side + 1
    torch.testing.assert_close(tokens, everything[:, 1:])


def test_a_grid_of_timm_is_read_row_by_row():
    tower = vision.build(EncodeConfig("timm", "test_resnet", side_px=96))
    tokens = tower.tokens([tiny.picture(1)])
    with torch.inference_mode():
        grid = tower.model.forward_features(tower.transform(tiny.picture(1))[None])
    height, width = grid.shape[2:]
    assert tokens.shape == (1, height * width, grid.shape[1])
    torch.testing.assert_close(tokens[0, width + 1], grid[0, :, 1, 1])


def test_towers_are_frozen_and_repeat_themselves(open_clip_tower):
    assert not open_clip_tower.visual.training
    assert not any(values.requires_grad for values in open_clip_tower.visual.parameters())
    assert torch.equal(open_clip_tower.tokens([tiny.picture(1)]), open_clip_tower.tokens([tiny.picture(1)]))


def test_timm_weights_are_loaded_strictly(tmp_path):
    state = timm.create_model("test_vit").state_dict()
    save_file(state, tmp_path / "whole.safetensors")
    tower = vision.build(EncodeConfig("timm", "test_vit", weights=str(tmp_path / "whole.safetensors")))
    assert torch.equal(tower.model.cls_token, state["cls_token"])
    save_file({name: values for name, values in state.items() if name != "cls_token"}, tmp_path / "less.safetensors")
    for weights, said in (("less", "cls_token"), ("absent", "absent")):
        with pytest.raises(WeightsMissing, match=said):
            vision.build(EncodeConfig("timm", "test_vit", weights=str(tmp_path / f"{weights}.safetensors")))


def test_the_blank_of_the_starter_is_half_a_level_from_zero():
    """127 / 127.5 - 1 = -0.004: no whole level lies in the middle of 0 and 255."""
    shown = []

    class Encoder:
        def encode(self, image):
            shown.append(towers.pixels(image))
            return towers.Encoding(*(torch.zeros(1).numpy(),) * 2, torch.zeros(towers.TOKENS, towers.WIDTH).numpy())

    tower = vision.StarterTower(Encoder())
    assert tower.blank().shape == (1, tower.patches, tower.width) == (1, 81, 1280)
    assert shown[0].abs().max() < 0.0040


def test_an_unknown_library_names_the_known_ones():
    with pytest.raises(ValueError, match="starter, open_clip, timm"):
        vision.build(EncodeConfig("magic"))
