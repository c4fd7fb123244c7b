"""Random trees: however they are computed, they have the elements that NumPy finds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import selection as sel
from tests.support.selection.checks import assert_same
from tests.support.selection.counting_source import CountingSource, SlowSource
from tests.support.selection.trees.away_trees import away_tree
from tests.support.selection.trees.random_trees import tree_of

SEEDS = st.integers(0, 2**32)


def put_together(tree, max_bytes):
    """The array that the blocks of a view make, each index of which comes once."""
    view = tree.view
    found = np.zeros(tree.array.shape, tree.array.dtype)
    met = np.zeros(tree.array.shape, int)
    for region, block in view.blocks(max_bytes):
        assert block.shape == region
        pairs = zip(region.origin, view.shape.origin, region.extents, strict=True)
        key = tuple(slice(a - o, a - o + n) for a, o, n in pairs)
        found[key] = np.asarray(block)
        met[key] += 1
    assert (met == 1).all()
    return found


@given(SEEDS)
def test_computing_gives_the_elements_at_the_indices_of_the_view(seed):
    tree = tree_of(seed)
    tensor = tree.view.compute()
    assert tensor.shape == tree.view.shape
    assert_same(tensor, tree.array)
    assert_same(np.asarray(tree.view), tree.array)
    assert tree.view.tolist() == tree.array.tolist()
    assert_same(tree.view.elements(), tree.array.reshape(-1))


@given(SEEDS)
def test_strings_are_put_together_as_numbers_are(seed):
    tree = tree_of(seed, texts=True)
    assert tree.view.compute().tolist() == tree.array.tolist()


@given(SEEDS, st.sampled_from(["C", "F"]), st.booleans())
def test_memory_of_any_order_and_strides_is_written(seed, order, apart):
    tree = tree_of(seed)
    assert_same(tree.view.compute(order=order), tree.array)
    extents = tree.array.shape
    every = (*[slice(None, None, -2) for _ in extents], ...)
    wide = np.full([2 * n for n in extents], 77, tree.array.dtype, order=order)
    out = wide[every] if apart else np.full(extents, 77, tree.array.dtype, order=order)
    tree.view.compute(out)
    assert_same(out, tree.array)


@given(SEEDS)
def test_the_steps_of_a_plan_write_each_element_once(seed):
    tree = tree_of(seed)
    plan = tree.view.plan()
    met = np.zeros(tree.array.shape, int)
    found = np.zeros(tree.array.shape, tree.array.dtype)
    for step in plan.steps:
        met[np.ix_(*step.window)] += 1
        found[np.ix_(*step.window)] = np.asarray(type(tree.view)(step.view))
        assert step.elements == np.prod([len(own) for own in step.window], dtype=int)
        assert 1 <= step.runs <= step.elements
    assert (met == 1).all()
    assert_same(found, tree.array)
    assert sum(step.nbytes for step in plan.steps) == plan.nbytes == tree.view.nbytes
    assert str(plan).count("\n") == min(len(plan.steps), 20) + (len(plan.steps) > 20)


@given(SEEDS, st.integers(16, 400))
def test_blocks_of_any_size_make_up_the_view(seed, max_bytes):
    tree = tree_of(seed)
    assert_same(put_together(tree, max_bytes), tree.array)
    assert all(block.nbytes <= max_bytes for _, block in tree.view.blocks(max_bytes))


@pytest.mark.parametrize("kind", [CountingSource, SlowSource])
@given(seed=SEEDS)
def test_each_source_elsewhere_is_read_once_and_for_what_the_plan_says(kind, seed):
    tree, away = away_tree(seed, kind)
    reads = {own.source: own for own in tree.view.plan().reads}
    assert all(not source.calls for source in away)
    assert_same(tree.view.compute(), tree.array)
    for source in away:
        if source in reads:
            assert source.calls == 1
            assert source.nbytes == reads[source].nbytes
            assert tuple(source.selections) == reads[source].selections
        else:
            assert source.calls == 0


@given(SEEDS)
def test_blocks_of_sources_elsewhere_make_up_the_view(seed):
    tree, _ = away_tree(seed, CountingSource)
    assert_same(put_together(tree, 200), tree.array)


@given(SEEDS)
def test_a_region_is_planned_as_its_window_is(seed):
    tree = tree_of(seed)
    shape = tree.view.shape
    region = shape.slice(
        [a + n // 3 for a, n in zip(shape.origin, shape.extents, strict=True)],
        [a + n for a, n in zip(shape.origin, shape.extents, strict=True)],
    )
    plan = tree.view.plan(region)
    assert plan.shape == region
    assert plan == tree.view.window(region).plan()
    assert isinstance(plan, sel.Plan)
