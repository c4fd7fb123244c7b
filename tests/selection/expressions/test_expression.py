"""Expressions are values: compared in linear work, however often they use themselves."""

import numpy as np

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.selection.expressions._traversal import are_equal

SOURCE = sel.as_view(tw.as_tensor(np.arange(4)))


def doubled(times):
    """A view that is made of itself twice, so many times over."""
    found = SOURCE
    for _ in range(times):
        found = sel.minimum(found, found.reverse(0))
    return found.expression


def test_equality_of_what_is_made_of_itself_many_times_is_linear():
    assert are_equal(doubled(500), doubled(500))
    assert not are_equal(doubled(500), doubled(499))
