"""Names for ranges of indices, to slice modes by."""

import copy
import pickle

import pytest
from dask.base import tokenize

from tensorwrapper.errors import ConversionError, ExtentError, ModeNameError, OutOfBoundsError
from tensorwrapper.shape import NamedRanges, Shape

ORBITALS = NamedRanges({"core": (0, 2), "occupied": (0, 5), "virtual": range(5, 20)})


def test_a_range_slices_any_mode():
    pairs = Shape(20, 20).named("i", "a")
    part = pairs[{"i": ORBITALS["occupied"], "a": ORBITALS["virtual"]}]

    assert part == Shape(5, 15, origin=(0, 5)).named("i", "a")
    assert part == pairs[ORBITALS["occupied"], ORBITALS["virtual"]]
    assert Shape.jagged([3] * 20)[ORBITALS["virtual"]].extent(0) == 15


def test_ranges_that_leave_the_shape_are_out_of_bounds():
    with pytest.raises(OutOfBoundsError, match=r"slice \[5, 20\) is outside \[0, 10\) of mode 0"):
        Shape(10)[ORBITALS["virtual"]]


def test_an_unknown_range_says_which_there_are():
    with pytest.raises(ModeNameError, match="no range has the name 'active'; there are 'core', 'occupied'"):
        ORBITALS["active"]
    with pytest.raises(KeyError):
        NamedRanges({})["active"]


def test_facts():
    assert ORBITALS.names == tuple(ORBITALS) == ("core", "occupied", "virtual")
    assert "core" in ORBITALS
    assert "active" not in ORBITALS
    assert [ORBITALS.names_at(k) for k in (1, 4, 5, 20)] == [
        ("core", "occupied"),
        ("occupied",),
        ("virtual",),
        (),
    ]
    assert NamedRanges.of_extents({"a": 2, "b": 0, "c": 3}, origin=-1) == NamedRanges(
        {"a": (-1, 1), "b": (1, 1), "c": (1, 4)}
    )


def test_a_value():
    same = NamedRanges({"core": [0, 2], "occupied": range(5), "virtual": (5, 20)})
    assert same == ORBITALS
    assert hash(same) == hash(ORBITALS)
    assert same != NamedRanges({"core": (0, 2)})
    assert eval(repr(ORBITALS)) == ORBITALS
    for twin in (pickle.loads(pickle.dumps(ORBITALS)), copy.deepcopy(ORBITALS)):
        assert twin == ORBITALS
        assert tokenize(twin) == tokenize(ORBITALS)


@pytest.mark.parametrize(
    ("ranges", "error", "text"),
    [
        ({"a b": (0, 1)}, ModeNameError, "name of a range .* 'a b'"),
        ({1: (0, 1)}, ConversionError, "name of a range must be text"),
        ({"a": (3, 1)}, ExtentError, "'a' goes from 3 to 1"),
        ({"a": range(0, 6, 2)}, ExtentError, "'a' has step 2"),
        ({"a": (0, 1, 2)}, ConversionError, "'a' has a first index"),
        ({"a": (0, 1.5)}, ConversionError, "bounds of the range 'a'"),
        ({"a": 3}, ConversionError, "bounds of the range 'a'"),
        ([("a", (0, 1))], ConversionError, "mapping"),
    ],
)
def test_what_is_no_range(ranges, error, text):
    with pytest.raises(error, match=text):
        NamedRanges(ranges)


def test_extents_of_ranges_are_not_negative():
    with pytest.raises(ExtentError, match="'b' goes from 2 to 1"):
        NamedRanges.of_extents({"a": 2, "b": -1})
