"""Tiled views of tensors, tile by tile."""

import numpy as np
from hypothesis import strategies as st

from tensorwrapper.shape import Tiling
from tensorwrapper.tensor import as_tensor

SIZES = st.lists(st.integers(0, 3), max_size=4)


@st.composite
def tiled_tensors(draw):
    """An array of some layout, a tiling of it (empty tiles, also none at all), and the tiled view."""
    tiling = Tiling(*draw(st.lists(SIZES, min_size=1, max_size=3)))
    extents = tiling.elements.extents
    x = np.arange(np.prod(extents, dtype=int)).reshape(extents)
    match draw(st.sampled_from(["C", "F", "steps"])):
        case "F":
            x = np.asfortranarray(x)
        case "steps":
            wide = np.arange(np.prod([2 * n for n in extents], dtype=int)).reshape([2 * n for n in extents])
            x = wide[tuple(slice(None, None, draw(st.sampled_from([2, -2]))) for _ in extents)]
    return x, tiling, as_tensor(x).tiled(tiling)


def block(x, tile):
    return x[tuple(slice(o, o + n) for o, n in zip(tile.origin, tile.extents, strict=True))]
