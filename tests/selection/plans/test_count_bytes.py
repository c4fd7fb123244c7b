"""Places that layouts reach together: against the set of all of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Layout, Shape
from tensorwrapper import selection as sel
from tensorwrapper.selection.plans import _source_reads
from tensorwrapper.selection.plans._source_reads import places_together

LAYOUTS = st.builds(
    lambda extents, strides, offset: Layout(Shape(*extents), strides=strides, offset=offset),
    st.tuples(st.integers(0, 3), st.integers(0, 4)),
    st.tuples(st.sampled_from([-8, -4, 0, 1, 2, 4]), st.integers(-2, 2)),
    st.integers(0, 30),
)


@given(st.lists(LAYOUTS, max_size=4), st.sampled_from([0, 4, 1 << 22]), st.sampled_from([3, 64]))
def test_each_place_counts_once(layouts, listed, window):
    places = [np.ravel(layout.to_numpy()) for layout in layouts]
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"_LISTED": listed, "_WINDOW": window, "_AT_ONCE": 5}.items():
            patch.setattr(_source_reads, name, value)

        assert places_together(layouts) == len(set(np.concatenate([*places, []]).tolist()))


@pytest.mark.parametrize("listed", [0, 1 << 22])
def test_text_that_several_parts_need_counts_once(listed, monkeypatch):
    monkeypatch.setattr(_source_reads, "_LISTED", listed)
    words = sel.as_view(tw.strings(["a", None, "bc", "", "défg"]))
    cases = {
        "repeated": (words[[0, 0, 2]], 3),
        "twice": (sel.concat([words[1:], words[::-1]]), 8),
        "apart": (sel.concat([words[:1], words[4:]]), 6),
        "none": (words[1:2], 0),
    }
    assert {name: view.plan().bytes_read for name, (view, _) in cases.items()} == {
        name: nbytes for name, (_, nbytes) in cases.items()
    }


def test_more_than_four_million_places_are_counted_exactly():
    view = sel.as_view(np.zeros(6_000_000, dtype=np.int8))
    assert sel.concat([view[::2], view[::3]]).plan().bytes_read == 4_000_000


def test_modes_that_overlap_are_counted_once():
    windows = sel.as_view(np.zeros(100))[::2].sliding_window(0, 3)
    assert windows.plan().bytes_read == 400


def test_runs_of_any_size_are_counted_without_a_list():
    halves = [Layout(Shape(2**40), offset=offset) for offset in (0, 2**39, 2**50)]

    assert places_together(halves) == 2**40 + 2**39 + 2**40
