"""The parts of a view that read: each once, and replaced where all that use them see it."""

import numpy as np

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.selection.plans._source_reads import is_away, leaves_of, mapped, source_of
from tests.support.selection.counting_source import CountingSource

X = np.arange(6)


def test_what_is_used_twice_is_one_leaf():
    part = sel.as_view(tw.as_tensor(X))
    view = sel.minimum(sel.maximum(part, X[::-1]), part).normal_form()

    leaves = leaves_of(view)

    assert len({id(leaf) for leaf in leaves}) == len(leaves)
    assert len({id(source_of(leaf)) for leaf in leaves}) == 2
    assert leaves_of(sel.full((3,), 1).normal_form()) == []


def test_what_changes_nothing_gives_the_view_itself():
    view = sel.concat([X, X[::-1].copy() * 2]).normal_form()

    assert mapped(view, lambda leaf: leaf) is view


def test_memory_is_at_hand_and_other_sources_are_away():
    assert [is_away(v) for v in leaves_of(sel.as_view(X).normal_form())] == [False]
    assert [is_away(v) for v in leaves_of(sel.as_view(CountingSource(X)).normal_form())] == [True]
