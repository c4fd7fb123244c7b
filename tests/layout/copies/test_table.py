"""Tables of a plan: their numbers are those of the runs, of any size."""

import numpy as np
import pytest
from hypothesis import given

from tensorwrapper import Layout, Shape
from tensorwrapper.layout.copies._table import CopyTable
from tests.support.layout.copies import least_runs, pairs, places


@given(pairs())
def test_the_facts_are_those_of_the_runs(pair):
    source, target = pair
    if not target.is_injective:
        return
    plan = source.copy_plan(target)
    runs = [run for batch in plan.run_batches(7) for run in batch[:, 2].tolist()]

    assert plan.runs == len(runs)
    assert plan.run_length == ((min(runs), max(runs)) if runs else (0, 0))
    assert plan.elements == sum(runs) == source.shape.size
    assert plan.runs >= least_runs(source, target)
    assert plan.is_view == (places(source).tolist() == places(target).tolist())
    if plan.method == "run":
        assert plan.runs <= 1
    if plan.method == "gather":
        assert plan.run_length == (1, 1)


def test_numbers_of_any_size():
    extents = (10**12, 10**12)
    plan = Layout(Shape(*extents)).copy_plan(Layout(Shape(*extents), order="F"))

    assert plan.elements == plan.runs == 10**24
    assert plan.nbytes(8) == 8 * 10**24
    assert plan.target_bounds == (0, 10**24 - 1)
    with pytest.raises(OverflowError, match="64 bits"):
        next(plan.run_batches())


def test_blocks_that_are_runs_are_told_as_such():
    lengths, ones = np.array([[2], [1], [700]]), np.ones((3, 1), dtype=np.int64)
    source, target = np.array([5, 0, 9]), np.array([0, 2, 3])
    runs = CopyTable(lengths, source, ones, target, ones)
    assert runs.are_runs()
    assert list(runs.runs_of_rows()) == [(2, 5, 0), (1, 0, 2), (700, 9, 3)]
    assert not CopyTable(lengths, source, 2 * ones, target, ones).are_runs()
    two = np.ones((3, 2), dtype=np.int64)
    assert not CopyTable(two, source, two, target, two).are_runs()
