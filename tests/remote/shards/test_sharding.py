"""Shardings as values, and what each holder serves of a tensor."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Tiling
from tensorwrapper.errors import ConversionError, ExtentError, OutOfBoundsError, SizeOverflowError
from tensorwrapper.remote import Holder, Sharding

HOLDERS = ["tcp://a:1", "tcp://b:1", Holder("ipc:///c", "k" * 40)]
SIZES = st.lists(st.integers(0, 4), min_size=1, max_size=4)


@st.composite
def shardings(draw):
    tiling = Tiling(*draw(st.lists(SIZES, min_size=1, max_size=3)))
    places = draw(st.lists(st.permutations(range(3)).map(lambda own: own[:2]), min_size=1, max_size=4))
    tiles = draw(
        st.lists(st.integers(0, len(places) - 1), min_size=tiling.grid.size, max_size=tiling.grid.size)
    )
    return Sharding(tiling, "i8", HOLDERS, tiles, placements=places)


@given(shardings())
def test_the_parts_of_all_holders_are_the_tensor(sharding):
    x = np.arange(sharding.size).reshape(sharding.shape.extents)
    found = np.full(x.shape, -1)
    parts = {own.address: sharding.parts("x", x, own) for own in sharding.holders}
    for tile in range(sharding.count):
        box, name = sharding.box_of(tile), sharding.part_name("x", tile)
        holders = sharding.holders_of(sharding.tiling.grid.index(tile))
        assert [own for own in sharding.holders if name in parts[own.address]] == sorted(
            holders, key=sharding.holders.index
        )
        found[box] = parts[holders[0].address][name].compute()
    assert np.array_equal(found, x)
    assert sum(map(len, parts.values())) == 2 * sharding.count


@given(shardings())
def test_equal_shardings_are_one_value(sharding):
    for other in (pickle.loads(pickle.dumps(sharding)), copy.deepcopy(sharding)):
        assert other == sharding
        assert hash(other) == hash(sharding)
        assert repr(other) == repr(sharding)
    assert sharding != Sharding(sharding.tiling, "i4", HOLDERS)


def test_rows_are_served_by_runs():
    rows = tw.jagged([[1, 2], [], [3], [4, 5, 6]])
    sharding = Sharding(Tiling([3, 3]), "i8", ["tcp://a:1", "tcp://b:1"], rows=[3, 1])
    assert (sharding.kind, sharding.row_count, sharding.size) == ("jagged", 4, 6)
    assert {name: part.tolist() for name, part in sharding.parts("r", rows, "tcp://a:1").items()} == {
        "r/0": [[1, 2], [], [3]]
    }
    assert {name: part.tolist() for name, part in sharding.parts("r", rows, "tcp://b:1").items()} == {
        "r/1": [[4, 5, 6]]
    }


def test_tiles_are_dealt_by_volume():
    sharding = Sharding(Tiling([1, 1, 1, 1, 4, 4, 4]), "f4", HOLDERS)
    assert sharding.tiles.tolist() == [0, 0, 0, 0, 1, 1, 2]
    assert Sharding(Tiling([0, 0, 0]), "f4", HOLDERS).tiles.tolist() == [0, 1, 2]
    assert Sharding(Tiling([3, 1, 1]), "f4", HOLDERS).tiles.tolist() == [0, 1, 2]
    assert Sharding(Tiling([]), "f4", HOLDERS).count == 0


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"tiling": [2, 2]}, ConversionError),
        ({"tiling": Tiling.from_marks([1, 3])}, ExtentError),
        ({"holders": []}, ConversionError),
        ({"holders": ["tcp://a:1", "tcp://a:1"]}, ConversionError),
        ({"holders": ["inproc://a"]}, ConversionError),
        ({"holders": ["tcp://a b"]}, ConversionError),
        ({"holders": [7]}, ConversionError),
        ({"tiles": [0]}, ExtentError),
        ({"tiles": [0, 3]}, OutOfBoundsError),
        ({"tiles": [0.0, 1.0]}, ConversionError),
        ({"placements": [[]]}, ConversionError),
        ({"placements": [[0, 0]]}, ConversionError),
        ({"placements": [[3]]}, OutOfBoundsError),
        ({"placements": []}, ConversionError),
        ({"rows": [1]}, ExtentError),
        ({"rows": [1, -1]}, ExtentError),
        ({"dtype": "O"}, ConversionError),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, error):
    with pytest.raises(error):
        Sharding(**({"tiling": Tiling([2, 2]), "dtype": "f4", "holders": HOLDERS} | arguments))


def test_what_is_not_there_is_said():
    sharding = Sharding(Tiling([2, 2]), "f4", HOLDERS)
    with pytest.raises(OutOfBoundsError):
        sharding.holders_of(2)
    with pytest.raises(OutOfBoundsError):
        sharding.box_of(2)
    with pytest.raises(ConversionError):
        sharding.parts("x", np.zeros(4, "f4"), "tcp://d:1")
    with pytest.raises(ExtentError):
        sharding.parts("x", np.zeros(5, "f4"), "tcp://a:1")
    with pytest.raises(ConversionError):
        _ = sharding.row_marks
    with pytest.raises(ConversionError):
        Holder("tcp://a:1", "short")


@pytest.mark.parametrize("rows", [[2**62] * 4, [2**63 - 1, 1]])
def test_rows_have_a_number_of_64_bits(rows):
    """Their sum wrapped around: four times 2**62 rows were none."""
    with pytest.raises(SizeOverflowError):
        Sharding(tw.Tiling([2] * len(rows)), "f8", HOLDERS, rows=rows)
