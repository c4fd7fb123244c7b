"""Expressions are walked in a loop: each object once, however often it is used and however deep it lies."""

import numpy as np

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.selection.expressions._traversal import are_equal, laid_flat, operands_first

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
