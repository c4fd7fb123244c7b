"""Selections pushed into sources: no more pieces and elements than before, and none that was not selected."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tests.support.selection.costs import pieces_of, places_of
from tests.support.selection.counting_source import CountingSource
from tests.support.selection.normal_forms import SAME, line
from tests.support.selection.trees.random_trees import tree_of

# Each row: what is written, and what it comes down to.


@pytest.mark.parametrize("pair", SAME.values(), ids=SAME)
def test_fusion_adds_no_pieces_and_no_elements(pair):
    written = pair[0]()
    normal = written.normal_form()
    assert pieces_of(normal) <= pieces_of(written._expression)
    before = places_of(written._expression)
    for source, places in places_of(normal).items():
        assert places <= before[source]


@given(st.integers(0, 100_000))
def test_fusion_reaches_no_element_that_was_not_selected(seed):
    view = tree_of(seed).view
    before = places_of(view._expression)
    for source, places in places_of(view.normal_form()).items():
        assert places <= before[source]


def test_slices_of_a_joined_mode_cost_only_what_they_meet():
    many = sel.concat([line()[k % 7 :] for k in range(2000)])
    assert pieces_of(many[8:12].normal_form()) == 1
    assert pieces_of(many[10:15].normal_form()) == 2


def test_a_repeated_position_of_a_joined_mode_is_read_once():
    first, second = CountingSource(np.arange(12).reshape(4, 3)), CountingSource(np.arange(6).reshape(2, 3))
    view = sel.concat([first, second]).gather(0, [0, 0, 4, 4, 4, 1])
    assert view.compute()[:, 0].tolist() == [0, 0, 0, 0, 0, 3]
    assert (first.nbytes, second.nbytes) == (2 * 24, 24)
    assert view.plan().bytes_read == 3 * 24


def test_positions_of_parts_of_one_memory_are_one_selection_in_any_order():
    x = tw.as_tensor(np.arange(12).reshape(4, 3))
    view = sel.concat([x[:1], x[1:]]).gather(0, [1, 0, 1, 2])
    assert view.normal_form().node.tensor is not None
    assert view.compute().tolist() == x[[1, 0, 1, 2]].tolist()


def test_what_only_selects_of_what_is_made_once_keeps_its_places():
    rows = tw.jagged([list(range(100 * k, 100 * k + 90 + k % 5)) for k in range(50)])
    joined = sel.concat([rows, rows, rows[:3]])
    firsts = sel.concat([joined, joined[:, ::-1]], mode=1).pad_rows(2, clip=True)
    numbers = firsts.compute().tolist()
    for cut in (1, 51, 102):
        turned = sel.concat([firsts[cut:], firsts[:cut]])
        assert turned.compute().tolist() == numbers[cut:] + numbers[:cut]
