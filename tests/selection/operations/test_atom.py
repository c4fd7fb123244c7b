"""Arguments that a view records: nobody changes them, and they are read twice."""

import numpy as np
import pytest

from tensorwrapper import Shape
from tensorwrapper.selection.operations._operation import Atom, capture


@pytest.mark.parametrize("given", [3, "name", slice(1, 2), None, Ellipsis, Shape(2), (1, slice(None), None)])
def test_what_never_changes_is_kept_as_it_is(given):
    assert capture(given) is given


@pytest.mark.parametrize(
    ("given", "kept"),
    [([1, [2, 3]], (1, (2, 3))), (range(3), (0, 1, 2)), (iter([4, 5]), (4, 5)), (([1], 2), ((1,), 2))],
)
def test_what_is_gone_over_becomes_tuples(given, kept):
    assert capture(given) == kept


def test_an_array_is_copied_and_frozen():
    given = np.array([1, 2])
    kept = capture(given)
    given[0] = 9

    assert kept.tolist() == [1, 2]
    assert not kept.flags.writeable


def test_long_lists_are_shortened_in_text():
    assert str(Atom("gather", (1, tuple(range(20))))) == "gather(1, (0, 1, 2, 3, 4, 5, 6, 7, ... 20 in all))"
    assert str(Atom("permute", ((1, 0),))) == "permute((1, 0))"
