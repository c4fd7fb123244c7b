"""Points of an array that is read in slices."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tensorwrapper import selection as sel
from tests.support.selection.lazy_arrays import EXTENTS, MAKERS, VALUES, Counting


@pytest.fixture(
    scope="module",
    params=[(make, chunks) for make in MAKERS for chunks in (None, (5, 4, 11))],
    ids=[f"{make.__name__}-{how}" for make in MAKERS for how in ("whole", "chunks")],
)
def array(request, tmp_path_factory):
    make, chunks = request.param
    return make(tmp_path_factory.mktemp("arrays"), chunks)


@given(st.lists(st.tuples(*[st.integers(0, n - 1) for n in EXTENTS]), min_size=2, max_size=40))
@settings(max_examples=10, deadline=None)
def test_points_of_any_array_are_what_numpy_selects(array, points):
    key = tuple(np.array(points).T)
    view = sel.as_view(array)
    assert view.vindex[key].compute().tolist() == VALUES[key].tolist()
    (group,) = view.route_many(points)
    assert group.read().tolist() == VALUES[key].tolist()


def test_points_within_a_chunk_are_one_read():
    array = Counting(VALUES, chunks=(10, 17, 11))
    rng = np.random.default_rng(1)
    key = tuple([rng.integers(0, n, 300) for n in EXTENTS])
    assert sel.as_view(array).vindex[key].compute().tolist() == VALUES[key].tolist()
    assert len(array.keys) == 3
