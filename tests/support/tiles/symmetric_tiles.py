"""Random tensors that store one tile of each orbit, and the dense arrays of the same elements."""

import numpy as np
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import BlockPattern, Tiling
from tests.support.symmetry import symmetric_data, symmetries


def box_of(t):
    return np.asarray((t if t.shape.is_box else t.untiled()).to_dense())


def tiling_of(symmetry, draw):
    """A tiling whose exchanged modes are cut alike; tiles may be empty."""
    cut = st.lists(st.integers(0, 2), min_size=1, max_size=3)
    drawn = [draw(cut) for _ in range(symmetry.rank)]
    first = [min(own.permutation.index(mode) for own in symmetry.operations) for mode in range(symmetry.rank)]
    return Tiling(*[drawn[mode] for mode in first])


@st.composite
def symmetric_tiles(draw, most_rank=3, count=1):
    """A symmetry, tensors in tiles with it, and their dense arrays."""
    symmetry = draw(symmetries(most_rank).filter(lambda own: own[0]))[2]
    tiling = tiling_of(symmetry, draw)
    dtype = draw(st.sampled_from(["f8", "c16", "i8"]))
    dtype = "c16" if symmetry.real.is_zero else dtype
    found = []
    for _ in range(count):
        seed = draw(st.integers(0, 2**31))
        x = symmetric_data(symmetry, tiling.elements.extents, seed, np.dtype(dtype).type, most=3)
        mask = np.random.default_rng(seed).random(tiling.grid.extents) < 0.6
        pattern = BlockPattern.from_mask(tiling, mask).closure(symmetry)
        t = tw.as_tensor(x).tiled(tiling).keep_tiles(pattern, symmetry=symmetry)
        absent = tw.as_tensor(x).tiled(tiling).keep_tiles(pattern)
        found.append((t, box_of(absent), pattern))
    return (symmetry if dtype == "c16" else symmetry.real), found
