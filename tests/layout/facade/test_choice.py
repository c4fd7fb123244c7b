"""Storage orders as Boost.MultiArray has them: literal numbers, recorded from it."""

import itertools

import numpy as np
import pytest

from tensorwrapper.errors import LayoutError, RankError
from tensorwrapper.layout import Layout
from tensorwrapper.shape import Shape


def from_zero(layout):
    """Where index (0, 0, ...) would lie, counted from the lowest place: Boost's base offset."""
    steps = zip(layout.shape.origin, layout.strides, strict=True)
    return layout.offset - sum(start * step for start, step in steps)


UP = (True, True, True)


@pytest.mark.parametrize(
    ("order", "ascend", "origin", "strides", "base"),
    [
        pytest.param("C", None, (0, 0, 0), (12, 4, 1), 0, id="C"),
        pytest.param((2, 0, 1), UP, (0, 0, 0), (4, 8, 1), 0, id="order 2 0 1"),
        pytest.param("C", (False, True, True), (0, 0, 0), (-12, 4, 1), 12, id="mode 0 descends"),
        pytest.param("C", (True, False, True), (10, 20, 30), (12, -4, 1), -62, id="mode 1 descends, bases"),
        pytest.param("C", None, (1, -1, 5), (12, 4, 1), -13, id="ranges from 1, -1 and 5"),
    ],
)
def test_strides_and_base_are_boosts(order, ascend, origin, strides, base):
    layout = Layout(Shape(2, 3, 4, origin=origin), order=order, ascend=ascend)

    assert layout.strides == strides
    assert from_zero(layout) == base
    assert layout.bounds() == (0, 23)


@pytest.mark.parametrize("order", [*itertools.permutations(range(3))], ids=str)
@pytest.mark.parametrize("ascend", [*itertools.product((True, False), repeat=3)], ids=str)
def test_every_order_and_direction_fills_memory_once(order, ascend):
    extents = (2, 3, 4)
    layout = Layout(Shape(*extents), order=order, ascend=ascend)

    assert sorted(layout.to_numpy().ravel().tolist()) == list(range(24))
    assert layout.is_exhaustive
    # By the definition: the first mode of the order moves by one, each next over all before it.
    step = 1
    for mode in order:
        assert layout.strides[mode] == (step if ascend[mode] else -step)
        step *= extents[mode]
    assert layout.offset == sum(
        (n - 1) * abs(s) for n, s, up in zip(extents, layout.strides, ascend, strict=True) if not up
    )


@pytest.mark.parametrize(
    ("order", "strides", "old_draft"),
    [((1, 2, 0), (12, 1, 3), (4, 8, 1)), ((2, 0, 1), (4, 8, 1), (12, 1, 3))],
    ids=str,
)
def test_an_order_lists_modes_and_not_ranks(order, strides, old_draft):
    layout = Layout(Shape(2, 3, 4), order=order)

    assert layout.strides == strides
    # Read the other way, as the rank of each mode, the same numbers would be the inverse permutation.
    assert Layout(Shape(2, 3, 4), order=np.argsort(order)).strides == old_draft != strides


@pytest.mark.parametrize(
    "order", [p for p in itertools.permutations(range(3)) if np.array_equal(np.argsort(p), p)]
)
def test_both_readings_agree_where_an_order_is_its_own_inverse(order):
    assert Layout(Shape(2, 3, 4), order=np.argsort(order)) == Layout(Shape(2, 3, 4), order=order)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"order": (0, 1)}, RankError),
        ({"order": (0, 0, 1)}, RankError),
        ({"order": (1, 2, 3)}, RankError),
        ({"ascend": (True, True)}, LayoutError),
    ],
    ids=str,
)
def test_what_is_no_order_is_refused(options, error):
    with pytest.raises(error):
        Layout(Shape(2, 3, 4), **options)
