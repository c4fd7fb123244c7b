"""What keeps the shape of tiles keeps how they are cut: of tensors and of views alike."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tests.support.tensor.tiled_tensors import block, tiled_tensors

OPERATIONS = {
    "astype": (lambda t: t.astype("f4"), lambda x: x.astype("f4")),
    "astype, unsafe": (
        lambda t: sel.as_view(t).astype("i1", casting="unsafe"),
        lambda x: x.astype("i1"),
    ),
    "where": (lambda t: sel.where(t > 3, t, -1), lambda x: np.where(x > 3, x, -1)),
    "where, of three": (
        lambda t: sel.where(t > 3, t, t.astype("f8")),
        lambda x: np.where(x > 3, x, x.astype("f8")),
    ),
    "minimum": (lambda t: sel.minimum(t, 4), lambda x: np.minimum(x, 4)),
    "maximum": (lambda t: sel.maximum(2.5, t, t), lambda x: np.maximum(2.5, x)),
    "a ufunc": (np.negative, np.negative),
    "an operator": (lambda t: t + 2 * t, lambda x: x + 2 * x),
    "twice": (lambda t: sel.minimum(t.astype("f8"), 4).astype("i8"), lambda x: np.minimum(x, 4)),
}


@given(tiled_tensors(), st.sampled_from(sorted(OPERATIONS)), st.data())
def test_tiles_stay_tiles(drawn, name, data):
    x, tiling, t = drawn
    operation, expected = OPERATIONS[name]
    for given_ in (t, sel.as_view(t), sel.as_view(x).tiled(tiling)):
        found = operation(given_)
        assert found.tiling == tiling
        assert found.shape == t.shape
        assert found.dtype == expected(x).dtype
        assert np.array_equal(found.untiled(), expected(x))
        if all(tiling.grid.extents):
            number = tuple(data.draw(st.integers(0, n - 1)) for n in tiling.grid.extents)
            assert np.array_equal(found.tile(number), block(expected(x), tiling.tile(number)))


def test_tiles_from_the_second_on_stay_tiles():
    x = np.arange(24).reshape(4, 6)
    t = tw.as_tensor(x).tiled(tw.Tiling([1, 3], [2, 4]))
    for given_ in (t[1:], sel.as_view(t)[1:]):
        found = sel.minimum(given_.astype("f4"), 20)
        assert (found.shape, found.tiling) == (t[1:].shape, t[1:].tiling)
        assert np.array_equal(found.untiled(), np.minimum(x[1:], 20))


def test_tiles_that_are_cut_otherwise_are_rows():
    x = np.arange(24).reshape(4, 6)
    one = tw.as_tensor(x).tiled(tw.Tiling([1, 3], [2, 4]))
    chosen = one.select_tiles([(1, 0), (0, 1)])
    assert sel.minimum(chosen, 4).tolist() == np.minimum(chosen, 4).tolist()
    assert sel.as_view(chosen).astype("f4").shape == chosen.shape
