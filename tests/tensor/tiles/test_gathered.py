"""Gathered and reversed tiles of tensors in blocks: nothing becomes dense unasked."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tests.support.tiles.block_tensors import P, X, block_tensors, of

D = of(P, X)


@given(block_tensors(fills=(0, 3)), st.data())
def test_gathered_tiles_are_sparse(pair, data):
    [(t, x)] = pair
    if not x.ndim or not t.tiling.grid.size:
        return
    whole = tw.as_tensor(x).translate_to(t.tiling.origin).tiled(t.tiling)
    count = t.tiling.grid.extents[0]
    chosen = data.draw(st.lists(st.integers(0, count - 1), max_size=4))
    for made, right in (
        (t[chosen], whole[chosen]),
        (t.oindex[chosen], whole.oindex[chosen]),
        (t.gather(0, chosen).copy(), whole.gather(0, chosen)),
        (t[::-1].copy(), whole[::-1]),
    ):
        assert made.is_sparse
        assert made.fill_value == t.fill_value
        assert made.tolist() == right.tolist()
        assert (made + 1).tolist() == (right + 1).tolist()


@pytest.mark.parametrize("chosen", [[2, 0], [0, 0]])
def test_no_more_is_stored_than_was_present(chosen):
    made = D[chosen]
    assert made.nnz <= sum(D[k : k + 1].pattern.elements for k in chosen)
    assert np.asarray(np.sum(made)) == sum(float(np.sum(D[k : k + 1])) for k in chosen)
