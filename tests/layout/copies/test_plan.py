"""Copy plans against brute force: where each element goes, and what the plan says that it costs."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given

from tensorwrapper import Layout, Shape, Tiling
from tensorwrapper.errors import ConversionError, ExtentError, LayoutError
from tests.support.layout.copies import moves, pairs
from tests.support.layout.copy_plans import moved

SQUARE = Shape(8, 8)


@given(pairs())
def test_every_element_goes_where_the_layouts_say(pair):
    source, target = pair
    if target.is_injective:
        assert moved(source.copy_plan(target)) == moves(source, target)


@given(pairs())
def test_the_inverse_moves_back(pair):
    source, target = pair
    if not target.is_injective:
        return
    plan = source.copy_plan(target)
    if source.is_injective:
        assert plan.inverse() == target.copy_plan(source)
        assert plan.inverse().inverse() == plan
        assert moved(plan.inverse()) == {a: b for b, a in moved(plan).items()}
    else:
        with pytest.raises(LayoutError, match="one place"):
            plan.inverse()


@given(pairs())
def test_a_plan_is_a_value(pair):
    source, target = pair
    if not target.is_injective:
        return
    plan = source.copy_plan(target)
    for other in (source.copy_plan(target), pickle.loads(pickle.dumps(plan)), copy.deepcopy(plan)):
        assert other == plan
        assert hash(other) == hash(plan)
        assert repr(other) == repr(plan)
        assert (other.method, other.runs) == (plan.method, plan.runs)


TILES = Tiling.make_uniform((8, 8), 4)
EDGES = Tiling([4, 4], [3, 3, 2])
MIXED = np.arange(40) ** 3 % 41
ROWS = Shape.jagged([3, 1, 4])

# Source, target, method, runs, least and greatest length.
METHODS = {
    "the same layout": (Layout(SQUARE), Layout(SQUARE, offset=5), "run", 1, (64, 64)),
    "both in another order": (Layout(SQUARE, order="F"), Layout(SQUARE, order="F"), "run", 1, (64, 64)),
    "both backwards": (Layout(SQUARE).reverse(), Layout(SQUARE).reverse(), "run", 1, (64, 64)),
    "one element": (Layout(Shape()), Layout(Shape(), offset=3), "run", 1, (1, 1)),
    "no element": (Layout(Shape(0, 3)), Layout(Shape(0, 3)), "run", 0, (0, 0)),
    "a transpose": (Layout(SQUARE), Layout(SQUARE, order="F"), "strided", 64, (1, 1)),
    "rows with a gap": (Layout(SQUARE), Layout(Shape(8, 9))[:, :8], "strided", 8, (8, 8)),
    "planes swapped": (Layout(Shape(2, 3, 4)), Layout(Shape(2, 3, 4), order=(2, 0, 1)), "strided", 6, (4, 4)),
    "whole tiles": (Layout(SQUARE), Layout.tiled(TILES), "strided", 16, (4, 4)),
    "tiles that are narrower at the edge": (Layout(SQUARE), Layout.tiled(EDGES), "strided", 24, (2, 3)),
    "from tiles of 4 to tiles of 2": (
        Layout.tiled(TILES),
        Layout.tiled(Tiling.make_uniform((8, 8), 2)),
        "strided",
        32,
        (2, 2),
    ),
    "packed tiles, seen from the box": (
        Layout(TILES.shape),
        Layout(SQUARE).as_tiled(TILES),
        "strided",
        16,
        (4, 4),
    ),
    "rows of all lengths": (Layout(ROWS), Layout.padded(ROWS), "blocks", 3, (1, 4)),
    "rows in another order": (
        Layout(Shape(40, 8)).gather(0, MIXED),
        Layout(Shape(40, 8)),
        "blocks",
        40,
        (8, 8),
    ),
    "columns in another order": (
        Layout(Shape(8, 40)).gather(1, MIXED),
        Layout(Shape(8, 40)),
        "gather",
        320,
        (1, 1),
    ),
    "a rotation": (Layout(Shape(3, 8)).rotate([0, 2]), Layout(Shape(3, 8)), "strided", 6, (2, 6)),
}


@pytest.mark.parametrize("row", METHODS)
def test_methods(row):
    source, target, method, runs, lengths = METHODS[row]
    plan = source.copy_plan(target)

    assert (plan.method, plan.runs, plan.run_length) == (method, runs, lengths)
    assert moved(plan) == moves(source, target)


def test_what_a_plan_says_of_itself():
    plan = Layout(SQUARE).copy_plan(Layout.tiled(EDGES))

    assert repr(plan) == "<CopyPlan of Shape(8, 8): strided, 64 elements in 24 runs of 2 to 3>"
    assert str(plan).splitlines() == [
        "64 elements in 24 runs of 2 to 3, of (8, 8)",
        "  from offsets 0 to 63",
        "  to offsets 0 to 63",
        "  strided: blocks with one step per mode",
    ]
    assert "nothing has to move" in str(Layout(SQUARE).copy_plan(Layout(SQUARE)))
    assert str(Layout(Shape(0)).copy_plan(Layout(Shape(0)))) == "nothing of (0,) to copy"


WRONG = {
    "other extents": (Layout(Shape(2, 3)), Layout(Shape(3, 2)), "layouts of one shape"),
    "another rank": (Layout(Shape(6)), Layout(Shape(2, 3)), "layouts of one shape"),
    "another kind": (Layout(Shape(2, 2)), Layout(Shape.jagged([2, 2])), "layouts of one shape"),
    "a mode that repeats": (Layout(Shape(2, 3)), Layout(Shape(2, 3), strides=(1, 0)), "mode 1 repeats"),
    "a repeated mode": (Layout(Shape(2, 6)), Layout(Shape(2, 3)).repeat([1, 2]), "mode 1 repeats"),
    "modes that meet": (Layout(Shape(2, 3)), Layout(Shape(2, 3), strides=(1, 1)), "step into one another"),
}


@pytest.mark.parametrize("row", WRONG)
def test_refused(row):
    source, target, text = WRONG[row]

    with pytest.raises(LayoutError, match=text):
        source.copy_plan(target)


def test_what_is_no_layout_or_no_size_is_refused():
    plan = Layout(Shape(2)).copy_plan(Layout(Shape(2)))

    with pytest.raises(ConversionError, match="copy_plan needs a Layout"):
        Layout(Shape(2)).copy_plan(Shape(2))
    with pytest.raises(ExtentError, match="item size"):
        plan.nbytes(-1)
    with pytest.raises(ConversionError):
        plan.nbytes(8.0)
