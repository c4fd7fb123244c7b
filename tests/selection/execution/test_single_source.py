"""The short way of one selection of one source: the same as a plan finds, and the same elements."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import Shape
from tensorwrapper import selection as sel
from tensorwrapper.selection.execution._single_source import NOT_DIRECT, direct_of, wanted_by
from tests.support.selection.counting_source import CountingSource


class Prepared(CountingSource):
    """Has a short way, and counts how often it is gone; it is closed on demand."""

    def __init__(self, array):
        super().__init__(array)
        self.prepared, self.reads, self.closed = [], 0, False

    def prepare(self, wanted):
        self.prepared.append(wanted)

        def read():
            if self.closed:
                return None
            self.reads += 1
            out = np.empty(wanted.extents, self.dtype)
            for _ in self.start([wanted], [out]).completed():
                pass
            return out.reshape(-1)

        return read


@st.composite
def keys(draw, extents):
    key = []
    for n in extents:
        if n and draw(st.booleans()):
            key.append(draw(st.integers(-n, n - 1)))
        else:
            ends = st.one_of(st.none(), st.integers(-n - 1, n + 1))
            step = draw(st.sampled_from([None, 1, 2, 3, -1, -2]))
            key.append(slice(draw(ends), draw(ends), step))
    return tuple(key)


@st.composite
def arrays(draw):
    extents = draw(st.lists(st.integers(1, 5), max_size=3))
    return np.arange(float(np.prod(extents))).reshape(extents)


@given(arrays(), st.data())
def test_a_part_by_slices_is_what_a_plan_reads_and_has_its_elements(array, data):
    source = Prepared(array)
    key = data.draw(keys(array.shape))
    view = sel.as_view(source)[key]
    if view.shape.rank > 1 and data.draw(st.booleans()):
        view = view.permute(tuple(range(view.shape.rank))[::-1])
        array, key = array[key].T, ()
    wanted = wanted_by(view.expression)
    if wanted is not None:
        assert view.plan().reads[0].selections == (wanted,)

    for _ in range(2):
        found = view.compute()
        np.testing.assert_array_equal(np.asarray(found), array[key])
        assert found.shape == view.shape
    source.closed = True
    np.testing.assert_array_equal(np.asarray(view.compute()), array[key])


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=6))
def test_points_go_the_short_way_if_they_are_read_in_their_order(points):
    array = np.arange(20.0).reshape(4, 5)
    source = Prepared(array)
    places = tuple(np.array(points).T)
    view = sel.as_view(source).vindex[places]
    ordinals = np.ravel_multi_index(places, array.shape)

    np.testing.assert_array_equal(np.asarray(view.compute()), array[places])
    # What comes twice, or in another order, is not what arrives.
    if (np.diff(ordinals) <= 0).any():
        assert source.reads == 0


def test_a_selection_is_prepared_once_for_a_view_that_is_kept():
    source = Prepared(np.arange(24.0).reshape(4, 6))
    view = sel.as_view(source)[1:3, ::2]
    for _ in range(3):
        view.compute()
    assert (len(source.prepared), source.reads) == (1, 3)


@pytest.mark.parametrize(
    "view",
    [
        lambda v: v[::-1],
        lambda v: v.permute((1, 0)),
        lambda v: v.gather(0, [2, 0]),
        lambda v: v.astype("i4"),
        lambda v: sel.pad(v, [(0, 1), (0, 0)]),
        lambda v: v[:0],
    ],
    ids=["reversed", "permuted", "in another order", "cast", "padded", "nothing"],
)
def test_what_arrives_otherwise_than_it_is_wanted_has_no_short_way(view):
    source = Prepared(np.arange(24.0).reshape(4, 6))
    found = view(sel.as_view(source))
    expected = view(sel.as_view(np.arange(24.0).reshape(4, 6)))
    np.testing.assert_array_equal(np.asarray(found.compute()), np.asarray(expected.compute()))
    assert source.reads == 0


def test_targets_orders_and_whoever_watches_have_a_plan():
    source = Prepared(np.arange(24.0).reshape(4, 6))
    view = sel.as_view(source)[1:3]
    seen = []
    view.compute(np.zeros((2, 6)))
    view.compute(order="F")
    view.compute(progress=lambda *args: seen.append(args))
    assert source.reads == 0
    assert seen


def test_names_and_origins_stay():
    source = Prepared(np.arange(24.0).reshape(4, 6))
    view = sel.as_view(source).named("y", "x").window(Shape(4, 6)[1:3, 2:5])
    found = view.compute()
    assert found.shape == view.shape
    assert source.reads == 1


def test_a_source_without_a_short_way_and_memory_have_none():
    away = sel.as_view(CountingSource(np.arange(6.0)))
    here = sel.as_view(np.arange(6.0))
    assert direct_of(away.expression, away.plan) is NOT_DIRECT
    assert direct_of(here.expression, here.plan) is NOT_DIRECT
    assert NOT_DIRECT.compute() is None
