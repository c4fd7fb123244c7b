"""Random tensors in blocks, and the dense arrays of the same elements."""

import numpy as np
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import BlockPattern, Tiling
from tensorwrapper.testing import tilings

T = Tiling([1, 2, 3], [2, 4])
P = BlockPattern.from_mask(T, [[1, 0], [0, 1], [1, 1]])
Q = BlockPattern.from_mask(T, [[0, 0], [1, 1], [0, 1]])
X = np.arange(36.0).reshape(6, 6) + 1

small = tilings(max_rank=3).filter(lambda tiling: tiling.elements.size <= 400)


def of(pattern, array, fill=0):
    """The tensor of a dense array whose present tiles are those of a pattern: by a loop over the tiles."""
    blocks = {k: np.asarray(tw.as_tensor(array).window(at_zero(pattern.tiling).tile(k))) for k in pattern}
    return tw.blocks(blocks, pattern.tiling, dtype=array.dtype, fill_value=fill)


def at_zero(tiling):
    return tiling.translate_to((0,) * tiling.rank)


def dense_of(pattern, array, fill=0):
    """Return the dense array of a tensor with this pattern."""
    result = np.full_like(array, fill)
    for number in pattern:
        tile = at_zero(pattern.tiling).tile(number)
        place = tuple([slice(o, o + n) for o, n in zip(tile.origin, tile.extents, strict=True)])
        result[place] = array[place]
    return result


def dense(tensor):
    """The elements of a tensor in blocks, or of its box, as an array."""
    box = tensor if tensor.shape.is_box else tensor.untiled()
    return np.asarray(box.to_dense())


@st.composite
def block_tensors(draw, count=1, dtypes=("f8", "i8"), fills=(0, 0, 3), odd=()):
    """Tensors over one tiling, each with the dense array that it stands for."""
    tiling = draw(small)
    extents, found = tiling.elements.extents, []
    dtype = draw(st.sampled_from(dtypes))
    for _ in range(count):
        seed = draw(st.integers(0, 2**32 - 1))
        rng = np.random.default_rng(seed)
        array = rng.integers(-3, 4, extents).astype(dtype)
        if odd and array.size and array.dtype.kind == "f" and draw(st.booleans()):
            array.flat[rng.integers(array.size)] = draw(st.sampled_from(odd))
        pattern = BlockPattern.from_mask(tiling, rng.random(tiling.grid.extents) < 0.5)
        fill = draw(st.sampled_from(fills)) if dtype != "?" else False
        found.append((of(pattern, array, fill), dense_of(pattern, array, fill)))
    return found
