"""Chunk grids of Zarr: what is written, what is read, and what is refused."""

import copy
import json
import pickle

import numpy as np
import pytest
from dask.base import tokenize
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import ConversionError, ExtentError, ParseError, RankError, SizeOverflowError
from tensorwrapper.shape import Tiling
from tensorwrapper.testing import tilings


def rectilinear(*shapes):
    return {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": list(shapes)}}


def regular(*shape):
    return {"name": "regular", "configuration": {"chunk_shape": list(shape)}}


@pytest.mark.parametrize(
    ("tiling", "shapes"),
    [
        (Tiling([10, 20, 30], [50, 50]), ([10, 20, 30], [[50, 2]])),
        (Tiling([10, 10], [5, 5]), ([[10, 2]], [[5, 2]])),
        (Tiling([4], [1, 1, 1, 2, 2, 3]), ([4], [[1, 3], [2, 2], 3])),
        (Tiling([2, 0, 0, 2, 0, 3]), ([[2, 2], 3],)),
        (Tiling([2, 3], origin=(-7,)), ([2, 3],)),
        (Tiling([0]), (1,)),
        (Tiling([]), (1,)),
        (Tiling(), ()),
    ],
)
def test_runs_of_equal_chunks_are_pairs(tiling, shapes):
    grid = tiling.zarr_grid()
    assert grid.to_dict() == rectilinear(*shapes)
    assert json.loads(grid.to_json()) == rectilinear(*shapes)
    assert grid.kind == "rectilinear"
    assert grid.extents == tiling.elements.extents
    assert (
        Tiling.from_zarr(grid.to_json(), grid.extents, origin=tiling.origin, empty_tiles=grid.empty_tiles)
        == tiling
    )


@pytest.mark.parametrize(
    ("tiling", "shape"),
    [
        (Tiling([4, 4, 2], [3]), (4, 3)),
        (Tiling([4, 4]), (4,)),
        (Tiling([4, 0, 4]), (4,)),
        (Tiling([], [0, 0]), (1, 1)),
    ],
)
def test_a_grid_is_regular_only_on_request(tiling, shape):
    grid = tiling.zarr_grid(regular=True)
    assert (grid.kind, grid.to_dict()) == ("regular", regular(*shape))
    assert grid != tiling.zarr_grid()
    assert tiling.zarr_grid().to_dict()["name"] == "rectilinear"
    assert Tiling.from_zarr(grid.to_dict(), grid.extents, empty_tiles=grid.empty_tiles) == tiling


@pytest.mark.parametrize("sizes", [[4, 2, 4], [2, 4], [4, 4, 5], [1, 1, 2]])
def test_chunks_of_different_sizes_are_not_regular(sizes):
    with pytest.raises(ExtentError, match=f"mode 1 has chunks of {min(sizes)} to {max(sizes)}"):
        Tiling([3], sizes).zarr_grid(regular=True)


def test_kept_and_empty_tiles_are_told():
    grid = Tiling([0, 2, 0, 3], [5]).zarr_grid()
    assert [tiles.tolist() for tiles in grid.kept_tiles] == [[1, 3], [0]]
    assert [tiles.tolist() for tiles in grid.empty_tiles] == [[0, 2], []]
    assert grid.lost.lost == ("empty_tiles",)


@pytest.mark.parametrize(
    ("grid", "extents", "chunks"),
    [
        (rectilinear([10, 20, 30], [[50, 2]]), (60, 100), ((10, 20, 30), (50, 50))),
        (rectilinear([10, 20], 2), (30, 5), ((10, 20), (2, 2, 1))),
        (rectilinear([[2, 2], [3, 2]]), (10,), ((2, 2, 3, 3),)),
        # An array that was made smaller: what lies beyond stays in the metadata, inactive.
        (rectilinear([10, 20]), (5,), ((5,),)),
        (rectilinear([10, 20]), (10,), ((10,),)),
        (rectilinear([[10, 100]]), (25,), ((10, 10, 5),)),
        (rectilinear([10, 20, 20]), (31,), ((10, 20, 1),)),
        (rectilinear([[1, 2**62], 5]), (3,), ((1, 1, 1),)),
        (rectilinear([2**62, 2**62, 2**62]), (2**62 + 2**61,), ((2**62, 2**61),)),
        (rectilinear([3]), (0,), ((),)),
        (rectilinear([]), (0,), ((),)),
        (rectilinear(), (), ()),
        (regular(4, 3), (10, 3), ((4, 4, 2), (3,))),
        (regular(4), (0,), ((),)),
        (regular(100), (7,), ((7,),)),
    ],
)
def test_grids_are_read_up_to_the_extents(grid, extents, chunks):
    for document in (grid, json.dumps(grid), json.dumps(grid).encode()):
        tiling = Tiling.from_zarr(document, extents)
        assert tiling.chunks == chunks
        assert tiling.elements.extents == extents


@pytest.mark.parametrize(
    ("grid", "extents", "error", "message"),
    [
        (rectilinear([10, 20]), (31,), ExtentError, "mode 0 add up to 30, but its extent is 31"),
        (rectilinear([[10, 3]]), (50,), ExtentError, "mode 0 add up to 30, but its extent is 50"),
        (rectilinear([]), (1,), ExtentError, "mode 0 add up to 0"),
        (rectilinear([10, 0]), (10,), ParseError, "at least 1, not '0'"),
        (rectilinear([[10, 0]]), (10,), ParseError, "at least 1, not '0'"),
        (rectilinear([-1]), (10,), ParseError, "at least 1, not '-1'"),
        (rectilinear([10.0]), (10,), ParseError, "at least 1, not '10.0'"),
        (rectilinear([True]), (1,), ParseError, "at least 1, not 'True'"),
        (rectilinear(["10"]), (10,), ParseError, "at least 1, not '10'"),
        (rectilinear([[10, 1, 1]]), (10,), ParseError, "pairs of a size and a count"),
        (rectilinear(0), (10,), ParseError, "at least 1, not '0'"),
        (rectilinear(None), (10,), ParseError, "not 'None'"),
        (rectilinear([2**64]), (10,), SizeOverflowError, "64 bits"),
        (rectilinear([10]), (10, 10), RankError, "1 modes, but there are 2 extents"),
        (regular(0), (10,), ParseError, "at least 1"),
        (
            rectilinear([[1, 2**40]]),
            (2**40,),
            SizeOverflowError,
            "1099511627776, but at most 16777216 are read",
        ),
        (regular(1), (2**40,), SizeOverflowError, "max_chunks"),
        (regular(2**62), (2**63,), SizeOverflowError, "extent 9223372036854775808 of mode 0"),
        ({"name": "hexagonal", "configuration": {}}, (1,), ConversionError, "not 'hexagonal'"),
        (
            {"name": "rectilinear", "configuration": {"kind": "external", "chunk_shapes": []}},
            (),
            ConversionError,
            "inline, not as 'external'",
        ),
        ({"name": "regular", "configuration": {}}, (), ParseError, "keys chunk_shape, not none"),
        ({"name": "regular"}, (), ParseError, "keys name, configuration, not name"),
        ({"name": "regular", "configuration": {"chunk_shape": 3}}, (3,), ParseError, "is a list, not a int"),
        ("[]", (), ParseError, "is an object, not a list"),
        ("{", (), ParseError, "the chunk grid is not JSON"),
        (b"\xff", (), ParseError, "not UTF-8"),
        ("[" * 10**5, (), ParseError, "nests over 6 deep"),
        (3, (), ParseError, "an object, not a int"),
    ],
)
def test_what_is_no_chunk_grid_is_refused(grid, extents, error, message):
    with pytest.raises(error, match=message):
        Tiling.from_zarr(grid, extents)


@pytest.mark.parametrize(
    ("empty", "error", "message"),
    [
        ([[0, 0]], ExtentError, "not all different"),
        ([[4]], ExtentError, r"outside \[0, 3\)"),
        ([[-1]], ExtentError, r"outside \[0, 3\)"),
        ([[0], [0]], RankError, "for 2 modes, not for 1"),
        ([[0.5]], ConversionError, "empty tiles of mode 0"),
    ],
)
def test_empty_tiles_that_cannot_be_are_refused(empty, error, message):
    with pytest.raises(error, match=message):
        Tiling.from_zarr(rectilinear([2, 3]), (5,), empty_tiles=empty)
    with pytest.raises(RankError, match="origin"):
        Tiling.from_zarr(rectilinear([2, 3]), (5,), origin=(1, 2))


def test_more_chunks_are_read_if_allowed():
    assert Tiling.from_zarr(regular(1), (100,), max_chunks=100).grid.extents == (100,)
    with pytest.raises(SizeOverflowError, match="at most 99"):
        Tiling.from_zarr(regular(1), (100,), max_chunks=99)
    assert Tiling.from_zarr(rectilinear([1, 2] * 50), (150,), max_chunks=0).grid.extents == (100,)


@given(tilings())
def test_the_runs_say_the_same_as_the_chunks(tiling):
    for entry, sizes in zip(
        tiling.zarr_grid().to_dict()["configuration"]["chunk_shapes"], tiling.sizes, strict=True
    ):
        runs = [] if entry == 1 else entry
        spread = [n for run in runs for n in ([run[0]] * run[1] if isinstance(run, list) else [run])]
        assert spread == sizes[sizes > 0].tolist()
        assert all(run[1] > 1 for run in runs if isinstance(run, list))


@given(
    st.lists(st.integers(1, 5) | st.tuples(st.integers(1, 5), st.integers(1, 4)), max_size=6),
    st.integers(0, 40),
)
def test_reading_is_spreading_and_cutting(runs, extent):
    spread = [n for run in runs for n in ([run[0]] * run[1] if isinstance(run, tuple) else [run])]
    document = rectilinear([list(run) if isinstance(run, tuple) else run for run in runs])
    if sum(spread) < extent:
        with pytest.raises(ExtentError):
            Tiling.from_zarr(document, (extent,))
        return
    ends = np.minimum(np.cumsum([0, *spread]), extent)
    assert Tiling.from_zarr(document, (extent,)).chunks == (tuple(n for n in np.diff(ends).tolist() if n),)


def test_a_grid_is_a_value():
    grid = Tiling([2, 0, 3], origin=(1,)).zarr_grid()
    for back in (pickle.loads(pickle.dumps(grid)), copy.deepcopy(grid)):
        assert back == grid
        assert hash(back) == hash(grid)
        assert tokenize(back) == tokenize(grid)


@pytest.mark.parametrize("pad", [str, lambda text: f" \n{text}\n", lambda text: f"{text}\n".encode()])
def test_white_space_around_the_json_is_of_no_account(pad):
    grid = Tiling([4, 3]).zarr_grid()
    assert Tiling.from_zarr(pad(grid.to_json()), (7,)) == Tiling([4, 3])
