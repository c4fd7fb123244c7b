"""Equations of two operands, and patterns that fit to them."""

import numpy as np
from hypothesis import strategies as st

import tensorwrapper as tw

LABELS = "ijkab"


@st.composite
def contractions(draw, max_rank=3):
    """An equation, the patterns of its operands, and the tile sizes of each label."""
    left = draw(st.lists(st.sampled_from(LABELS), unique=True, max_size=max_rank))
    right = draw(st.lists(st.sampled_from(LABELS), unique=True, max_size=max_rank))
    alone = [label for label in left if label not in right] + [label for label in right if label not in left]
    batches = [label for label in left if label in right and draw(st.booleans())]
    result = draw(st.permutations(alone + batches))
    sizes = {label: draw(st.lists(st.integers(0, 3), max_size=3)) for label in dict.fromkeys([*left, *right])}
    origins = {label: draw(st.integers(-2, 2)) for label in sizes}
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    patterns = []
    for labels in (left, right):
        tiling = tw.Tiling(*[sizes[label] for label in labels], origin=[origins[label] for label in labels])
        mask = rng.random(tiling.grid.extents) < draw(st.sampled_from([0.3, 0.6, 1.0]))
        patterns.append(tw.BlockPattern.from_mask(tiling, mask))
    return f"{''.join(left)},{''.join(right)}->{''.join(result)}", *patterns, sizes
