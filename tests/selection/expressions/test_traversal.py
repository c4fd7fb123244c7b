"""Expressions are walked in a loop: each object once, however often it is used and however deep it lies."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.selection.expressions._traversal import are_equal, laid_flat, operands_first
from tests.benchmarks.measures import calls

SOURCE = sel.as_view(tw.as_tensor(np.arange(4)))


def doubled(times):
    """A view that is made of itself twice, so many times over."""
    found = SOURCE
    for _ in range(times):
        found = sel.minimum(found, found.reverse(0))
    return found.expression


def test_operands_come_first_and_each_once():
    whole = doubled(40)
    found = operands_first([whole, whole])
    places = {id(own): k for k, own in enumerate(found)}

    assert len(places) == len(found) <= 2 * 40 + 1
    assert found[-1] is whole
    assert all(places[id(part)] < k for k, own in enumerate(found) for part in own.node.operands)


def test_what_is_known_is_left_out_with_what_only_it_leads_to():
    part = SOURCE.reverse(0).expression
    whole = sel.concat([sel.View(part), SOURCE]).expression

    assert not any(own is part for own in operands_first([whole], lambda own: own == part))


def test_what_a_loop_appends_to_is_one_node():
    joined = SOURCE
    for _ in range(50):
        joined = sel.concat([joined, SOURCE])
    flat = laid_flat(joined.expression)

    assert len(flat.node.operands) == 51
    assert are_equal(flat.node.operands[0], SOURCE.expression)
    assert laid_flat(flat) is flat


ROWS = sel.as_view(tw.jagged([[1, 2], [3], []]))


def test_rows_that_a_loop_appends_are_one_node_when_they_are_used():
    joined = ROWS
    for _ in range(50):
        joined = sel.concat([joined, ROWS])

    assert len(joined.expression.node.operands) < 50
    assert len(laid_flat(joined.expression).node.operands) == 51
    assert joined.compute().tolist() == [[1, 2], [3], []] * 51
    assert joined[::-1][1:100:7].compute().tolist() == ([[], [3], [1, 2]] * 51)[1:100:7]


LOOPS = {
    "minimum": (SOURCE, sel.minimum),
    "minimum of one view": (SOURCE, lambda view, _: sel.minimum(view, SOURCE)),
    "minimum of rows": (ROWS, sel.minimum),
    "concat": (SOURCE, lambda view, own: sel.concat([view, own])),
    "concat of rows": (ROWS, lambda view, own: sel.concat([view, own])),
    "concat of rows before": (ROWS, lambda view, own: sel.concat([own, view])),
    "concat of rows, mode 1": (ROWS, lambda view, own: sel.concat([view, own], mode=1)),
}


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_takes_calls_in_proportion_to_its_length(name):
    first, step = LOOPS[name]

    def work(count):
        others = [sel.as_view(first.compute() if first is ROWS else np.arange(4)) for _ in range(count)]

        def run():
            view = first
            for own in others:
                view = step(view, own)
            view.compute()

        return run

    short, long = (calls(work(count))[0] for count in (200, 400))

    assert long < 2.3 * short
