"""Views of tensors in blocks stay in blocks where the tiles of their operands fit together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import BlockPattern, Tiling
from tests.support.tiles.block_tensors import P, Q, X, block_tensors, dense, of

D, E = of(P, X), of(Q, -X)


@given(block_tensors(count=2, fills=(0, 3)), st.sampled_from(["where", "concat"]), st.data())
def test_boxes_keep_the_tiles_of_their_operands(pair, name, data):
    (t, x), (u, y) = pair
    if t.fill_value != u.fill_value or not x.ndim:
        return
    if name == "where":
        view, expected = tw.where(t.untiled() > 0, t.untiled(), u.untiled()), np.where(x > 0, x, y)
        tiling = t.tiling
    else:
        mode = data.draw(st.integers(0, x.ndim - 1))
        view = tw.concat([t.untiled(), u.untiled()], mode=mode)
        expected = np.concatenate([x, y], axis=mode)
        sizes = [own.sizes for own in t.tiling.partitions]
        sizes[mode] = np.concatenate([sizes[mode], sizes[mode]])
        tiling = Tiling(*sizes)
    made = view.compute()
    np.testing.assert_array_equal(np.asarray(made.to_dense()), expected)
    if x.size:
        assert made.pattern.tiling.elements.extents == expected.shape
        masks = [own.pattern.nonempty().mask() for own in (t, u)]
        mask = masks[0] | masks[1] if name == "where" else np.concatenate(masks, axis=mode)
        assert made.pattern.ordinals().tolist() == BlockPattern.from_mask(tiling, mask).ordinals().tolist()


@given(block_tensors(count=2, fills=(0,)))
def test_tiled_tensors_keep_their_tiles(pair):
    (t, x), (u, y) = pair
    if not x.ndim or not x.size:
        return
    made = tw.where(t > 0, t, u).compute()
    assert made.shape == t.shape
    assert made.pattern == (t.pattern | u.pattern).nonempty()
    np.testing.assert_array_equal(dense(made), np.where(x > 0, x, y))
    joined = tw.concat([t, u]).compute()
    np.testing.assert_array_equal(dense(joined), np.concatenate([x, y]))
    assert joined.pattern.count == t.pattern.nonempty().count + u.pattern.nonempty().count


def test_views_of_views_keep_tiles():
    box = tw.concat([D.untiled(), E.untiled()])
    assert box[::-1].compute().pattern.count == box.compute().pattern.count == 7
    np.testing.assert_array_equal(
        np.asarray(box[::-1].compute().to_dense()), np.concatenate([dense(D), dense(E)])[::-1]
    )
    moved = tw.selection.as_view(D.untiled()).translate_to((0, 5))
    joined = tw.concat([moved, E.untiled().translate_to((0, 5))]).compute()
    assert joined.pattern.count == 7
    assert joined.shape.origin == (0, 5)


@pytest.mark.parametrize(
    "make",
    [
        lambda: tw.concat([D.untiled(), E.retiled(Tiling([3, 3], [6])).untiled()]),
        lambda: tw.concat([D.untiled(), tw.sparse([(0, 0)], [1.0], (6, 6))]),
        lambda: tw.stack([D, E]),
        lambda: tw.selection.as_view(tw.concat([D.untiled(), E.untiled()])).tiled(Tiling([6, 6], [6])),
    ],
)
def test_other_tiles_make_sparse_tensors(make):
    made = make().compute()
    assert made.is_sparse
    assert not made.buffer.in_tiles


def test_symmetric_operands_give_their_tiles():
    cut = Tiling([1, 2], [1, 2])
    t = tw.blocks({(1, 0): [[2.0], [3.0]]}, cut, symmetry="s2")
    made = tw.concat([t.untiled(), t.untiled()]).compute()
    assert made.pattern.count == 4
    assert np.asarray(made.to_dense()).tolist() == [[0, 2, 3], [2, 0, 0], [3, 0, 0]] * 2
