"""The cache of features: resumes, tells what it cannot read, and pools as the bridge's grid does. The tower is real,
its weights are random."""

import numpy as np
import pytest
import timm
import torch
from PIL import Image

from captioner.prepare.hashes import content_hash
from captioner.rooms.encode.conversion import ENCODER
from captioner.rooms.encode.towers import TOKENS, WIDTH, Tower
from captioner.rooms.reduce import GridPool
from captioner.training import features


class CountingTower(Tower):
    """Counts the pictures it encodes."""

    looks = 0

    def encode(self, image):
        type(self).looks += 1
        return super().encode(image)


@pytest.fixture(scope="module")
def random_tower():
    torch.manual_seed(0)
    return CountingTower(timm.create_model(ENCODER, pretrained=False))


@pytest.fixture
def tower(random_tower, monkeypatch):
    before = torch.get_num_threads()
    monkeypatch.setattr(Tower, "load", classmethod(lambda cls, folder: random_tower))
    CountingTower.looks = 0
    yield random_tower
    torch.set_num_threads(before)


@pytest.fixture
def image(tmp_path):
    def make(name: str, colour: str = "red"):
        place = tmp_path / name
        Image.new("RGB", (20, 20), colour).save(place)
        return place

    return make


def test_a_pooled_grid_equals_the_pool_of_the_bridge():
    tokens = np.random.default_rng(0).standard_normal((TOKENS, WIDTH)).astype(np.float32)
    wanted = GridPool(features.SIDE)(torch.from_numpy(tokens)[None])[0].numpy()
    np.testing.assert_allclose(features.pooled_grid(tokens), wanted, atol=1e-6)


def test_a_pooled_cell_is_the_mean_of_nine():
    """Cells numbered row by row: the first bin holds 0 1 2, 9 10 11, 18 19 20, mean 90 / 9 = 10; the last is 60 on."""
    tokens = np.repeat(np.arange(81.0)[:, None], WIDTH, axis=1)
    assert features.pooled_grid(tokens)[:, 0].tolist() == [10, 13, 16, 37, 40, 43, 64, 67, 70]


@pytest.mark.slow
def test_the_cache_resumes_where_it_stopped(tower, image, tmp_path):
    first, second = image("a.png"), image("b.png", "blue")
    made = features.fill([first], tmp_path / "cache", say=lambda _: None)
    assert CountingTower.looks == 1
    resumed = features.fill([first, second, first], tmp_path / "cache", say=lambda _: None)
    assert CountingTower.looks == 2
    again = features.load(tmp_path / "cache")
    assert set(resumed) == set(again) == {content_hash(place.read_bytes()) for place in (first, second)}
    for array in features.ARRAYS:
        for seen, place in ((made, first), (resumed, second)):
            one, other = features.find(again, place), features.find(seen, place)
            np.testing.assert_array_equal(getattr(one, array), getattr(other, array))


@pytest.mark.slow
def test_a_picture_that_was_replaced_under_its_name_is_looked_at_anew(tower, image, tmp_path):
    place = image("a.png")
    before = features.find(features.fill([place], tmp_path / "cache", say=lambda _: None), place)
    image("a.png", "blue")
    assert features.find(features.load(tmp_path / "cache"), place) is None
    filled = features.fill([place], tmp_path / "cache", say=lambda _: None)
    assert CountingTower.looks == 2
    assert not np.array_equal(features.find(filled, place).pooled, before.pooled)
    image("a.png")  # the first one again: still known
    features.fill([place], tmp_path / "cache", say=lambda _: None)
    assert CountingTower.looks == 2
    np.testing.assert_array_equal(features.find(features.load(tmp_path / "cache"), place).pooled, before.pooled)


@pytest.mark.slow
def test_one_picture_under_two_names_is_looked_at_once(tower, image, tmp_path):
    first, second = image("a.png"), image("b.png")
    assert len(features.fill([first, second], tmp_path / "cache", say=lambda _: None)) == 1
    assert CountingTower.looks == 1


def test_a_cache_that_knows_only_names_is_not_trusted(tmp_path):
    arrays = {name: np.zeros((1, 2)) for name in features.ARRAYS}
    np.savez(tmp_path / "old.npz", names=np.array(["a.png"]), **arrays)
    assert features.load(tmp_path) == {}


def test_a_file_that_is_gone_was_not_seen(tmp_path):
    assert features.find({}, tmp_path / "gone.png") is None
    assert features.find({}, None) is None


@pytest.mark.slow
def test_what_is_kept_is_what_the_tower_gives(tower, image, tmp_path):
    place = image("a.png")
    [one] = features.fill([place], tmp_path / "cache", say=lambda _: None).values()
    found = tower.encode(Image.open(place).convert("RGB"))
    assert (one.tokens.shape, one.pooled.shape, one.probabilities.shape) == ((9, 1280), (1280,), (1000,))
    assert one.statistics.shape == (18,)
    np.testing.assert_allclose(one.pooled, found.pooled, atol=1e-3, rtol=1e-2)
    np.testing.assert_allclose(one.tokens.astype(float).mean(0), found.pooled, atol=1e-2, rtol=1e-2)


@pytest.mark.slow
def test_a_broken_file_is_told_and_left_out(tower, image, tmp_path):
    broken, told = tmp_path / "broken.png", []
    broken.write_bytes(b"no picture")
    cut = image("cut.png")
    cut.write_bytes(cut.read_bytes()[:-30])
    good = image("a.png", "green")
    found = features.fill([broken, cut, tmp_path / "absent.png", good], tmp_path / "cache", say=told.append)
    assert set(found) == set(features.load(tmp_path / "cache")) == {content_hash(good.read_bytes())}
    for name in ("broken.png", "cut.png", "absent.png"):
        assert any(text.startswith(f"{name}: skipped") for text in told)


def test_nothing_but_broken_files_leave_an_empty_cache(tower, tmp_path):
    assert features.fill([tmp_path / "absent.png"], tmp_path / "cache", say=lambda _: None) == {}
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_folder_that_is_not_there_holds_nothing(tmp_path):
    assert features.load(tmp_path / "nowhere") == {}


@pytest.mark.slow
def test_a_later_part_does_not_overwrite_an_earlier_one(tower, image, tmp_path):
    first, second = image("a.png"), image("a.jpg", "blue")
    features.fill([first], tmp_path / "cache", say=lambda _: None)
    features.fill([first, second], tmp_path / "cache", say=lambda _: None)
    kept = features.load(tmp_path / "cache")
    assert all(features.find(kept, place) is not None for place in (first, second))
