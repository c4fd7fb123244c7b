"""Places that layouts reach together: against the set of all of them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import Layout, Shape
from tensorwrapper.selection.plans._places import places_together

LAYOUTS = st.builds(
    lambda extents, strides, offset: Layout(Shape(*extents), strides=strides, offset=offset),
    st.tuples(st.integers(0, 3), st.integers(0, 4)),
    st.tuples(st.sampled_from([-8, -4, 0, 4]), st.integers(-1, 1)),
    st.integers(0, 30),
)


@given(st.lists(LAYOUTS, max_size=4))
def test_each_place_counts_once(layouts):
    places = [np.ravel(layout.to_numpy()) for layout in layouts]

    assert places_together(layouts) == len(set(np.concatenate([*places, []]).tolist()))


def test_runs_of_any_size_are_counted_without_a_list():
    halves = [Layout(Shape(2**40), offset=offset) for offset in (0, 2**39, 2**50)]

    assert places_together(halves) == 2**40 + 2**39 + 2**40
