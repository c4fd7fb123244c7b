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


@given(block_tensors(fills=(0, 3)), st.data())
def test_positions_of_a_box_of_blocks_are_a_view(pair, data):
    [(t, x)] = pair
    box = t.untiled()
    for mode, n in enumerate(x.shape):
        chosen = np.array(data.draw(st.lists(st.integers(-n, n - 1), max_size=5)) if n else [], np.int64)
        with tw.buffer.count_copies() as copied:
            box = box.gather(mode, chosen)
        x = x.take(chosen, mode)
        assert not copied.nbytes
        np.testing.assert_array_equal(np.asarray(box.to_dense()), x)
        np.testing.assert_array_equal(np.asarray((box + 1).to_dense()), x + 1)
        assert np.sum(box) == x.sum()


def test_outer_positions_of_a_box_of_blocks_write_through():
    t = D.copy()
    part = t.untiled().oindex[[5, 3], [4, 5]]
    part[...] = 7.0
    assert t.untiled()[3:6:2, 4:].tolist() == [[7.0, 7.0], [7.0, 7.0]]
    assert t.untiled().gather(0, [5, 5]).is_readonly
