"""Room 2: means over equal bins, learned queries, and what they weigh."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from captioner.rooms import reduce
from captioner.rooms.reduce import GridDoesNotFit, GridPool, Perceiver, ReduceConfig


def parameters(module: nn.Module) -> int:
    return sum(values.numel() for values in module.parameters())


def test_a_pooled_grid_equals_the_adaptive_pool_of_torch():
    patches = torch.randn(2, 24 * 24, 5, generator=torch.Generator().manual_seed(0))
    grid = patches.transpose(1, 2).view(2, 5, 24, 24)
    wanted = nn.AdaptiveAvgPool2d(8)(grid).flatten(2).transpose(1, 2)
    torch.testing.assert_close(GridPool(8)(patches), wanted)


def test_a_pooled_token_is_the_mean_of_its_own_cells():
    """6 x 6 cells numbered row by row, pooled to 2 x 2: the first bin holds 0 1 2, 6 7 8, 12 13 14, mean 63 / 9 = 7.

    Its right neighbour is 3 further on, those below 3 * 6 = 18 further on.
    """
    cells = torch.arange(36.0).view(1, 36, 1)
    assert GridPool(2)(cells).flatten().tolist() == [7, 10, 25, 28]


@pytest.mark.parametrize(("patches", "side"), [(27 * 27, 8), (24 * 24 + 1, 8), (9 * 9, 2), (12, 2)])
def test_bins_that_would_overlap_are_refused(patches, side):
    with pytest.raises(GridDoesNotFit, match=f"{patches} patches"):
        GridPool(side)(torch.zeros(1, patches, 3))


def test_the_grid_of_384_px_pools_to_nine_by_nine():
    assert GridPool(9)(torch.zeros(1, 27 * 27, 3)).shape == (1, 81, 3)


def test_pooling_has_no_parameters():
    assert parameters(GridPool(8)) == 0


@pytest.mark.parametrize(("blocks", "wanted"), [(1, 12_663_808), (2, 25_262_080)])
def test_a_perceiver_of_width_1024_weighs_what_is_stated(blocks, wanted):
    """A block: attention 4 * (1024 * 1024 + 1024) = 4,198,400; three norms 3 * 2048 = 6,144; MLP 1024 * 4096 + 4096 +
    4096 * 1024 + 1024 = 8,393,728; in all 12,598,272. Queries 64 * 1024 = 65,536, once.
    """
    with torch.device("meta"):
        perceiver = Perceiver(1024, queries=64, blocks=blocks, heads=8)
    assert parameters(perceiver) == 65_536 + blocks * 12_598_272 == wanted


def test_queries_do_not_care_in_which_order_the_patches_come():
    torch.manual_seed(0)
    perceiver = Perceiver(16, queries=3, heads=2)
    patches = torch.randn(2, 9, 16)
    read = perceiver(patches)
    assert read.shape == (2, 3, 16)
    torch.testing.assert_close(perceiver(patches[:, torch.randperm(9)]), read)
    assert not torch.allclose(perceiver(patches + torch.randn(2, 9, 16)), read, atol=1e-3)


def test_a_config_names_its_reducer():
    assert isinstance(reduce.build(ReduceConfig("none"), 4), nn.Identity)
    assert reduce.build(ReduceConfig("pool", side=3), 4)(torch.zeros(1, 81, 4)).shape == (1, 9, 4)
    assert reduce.build(ReduceConfig("perceiver", queries=5, heads=2), 4)(torch.zeros(1, 81, 4)).shape == (1, 5, 4)
    with pytest.raises(ValueError, match="perceiver"):
        reduce.build(ReduceConfig("shuffle"), 4)
