"""Few positions that are evenly spaced: the short way gives what the general way gives."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Layout, Shape
from tensorwrapper.layout.boxes import _mode_operations
from tensorwrapper.layout.boxes._arithmetic_index import even_positions

SPACED = st.tuples(st.integers(0, 4), st.integers(-3, 3), st.integers(1, 4))


@given(st.lists(st.integers(-7, 6), max_size=5), st.integers(0, 6))
def test_what_is_even_names_the_same_positions(positions, extent):
    even = even_positions(positions, extent)
    good = positions and all(-extent <= place < extent for place in positions)
    places = [place % extent for place in positions] if good else []
    if even is None:
        assert not good or len({b - a for a, b in itertools.pairwise(places)}) > 1
    else:
        start, step, count = even
        assert [start + step * k for k in range(count)] == places
    assert even_positions(np.array(positions, np.int64), extent) == even


@pytest.mark.parametrize(
    "wrong", [[True, False], [0.0], ["a"], (0, 1), [[0, 1]], 0, None, [], np.array([True])]
)
def test_anything_else_goes_the_general_way(wrong):
    assert even_positions(wrong, 5) is None


layouts = st.sampled_from(
    [
        Layout(Shape(5, 4, 6)),
        Layout(Shape(5, 4, 6), order="F", offset=3),
        Layout(Shape(5, 4, 6)).permute((2, 0, 1))[::-1],
        Layout(Shape(5, 4, 6, origin=(3, -2, 1))),
        Layout(Shape(4, 6)).broadcast((5, 4, 6)),
        Layout(Shape(5, 4, 6))[:, 2:2],
    ]
)


@given(layouts, st.integers(0, 2), st.lists(st.integers(-6, 5), min_size=1, max_size=4))
def test_gathers_are_those_of_the_general_way(layout, mode, positions):
    def general():
        return layout._wrap(layout.implementation.change(_mode_operations.gathering(mode, positions)))

    try:
        expected = general()
    except tw.errors.OutOfBoundsError:
        with pytest.raises(tw.errors.OutOfBoundsError):
            layout.gather(mode, positions)
        return
    found = layout.gather(mode, positions)
    assert found == expected
    assert found.shape == expected.shape
    assert found.is_injective == expected.is_injective


items = st.one_of(
    st.integers(-4, 3),
    st.slices(4),
    st.lists(st.integers(-4, 3), min_size=1, max_size=3),
    st.lists(st.integers(-4, 3), min_size=1, max_size=3).map(np.array),
)


@given(st.lists(items, min_size=1, max_size=3), st.booleans())
def test_outer_products_are_those_of_numpy(key, turned):
    array = np.arange(5 * 4 * 6).reshape(5, 4, 6)
    t = tw.as_tensor(array)
    if turned:
        array, t = array.transpose(2, 1, 0), t.permute((2, 1, 0))
    expected = array
    for mode, item in reversed([*enumerate(key)]):
        expected = expected[(slice(None),) * mode + (item,)]
    found = t.oindex[tuple(key)]
    assert found.tolist() == expected.tolist()
    addresses = found.layout.to_numpy()
    assert found.is_readonly == (np.unique(addresses).size < addresses.size)


@given(st.lists(st.lists(st.integers(-4, 3), min_size=2, max_size=2), min_size=1, max_size=3))
def test_points_are_those_of_numpy(key):
    array = np.arange(5 * 4 * 6).reshape(5, 4, 6)
    assert tw.as_tensor(array).vindex[tuple(key)].tolist() == array[tuple(key)].tolist()
    arrays = tuple([np.array(item) for item in key])
    assert tw.as_tensor(array).vindex[arrays].tolist() == array[arrays].tolist()


@given(st.lists(items, min_size=1, max_size=3), st.integers(0, 2))
def test_names_stay_with_their_modes(key, mode):
    t = tw.as_tensor(np.arange(5 * 4 * 6).reshape(5, 4, 6)).named("a", "b", "c")
    kept = [name for name, item in zip("abc", key, strict=False) if type(item) is not int]
    assert (t.oindex[tuple(key)].shape.names or (None,) * 9)[: len(kept)] == tuple(kept)
    assert t.gather(mode, [1, 0]).shape.names == ("a", "b", "c")
