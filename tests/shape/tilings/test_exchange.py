"""Chunk grids as Dask and Zarr write them: what is read, and what they accept and we refuse."""

import dask.array.core as dask
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.errors import (
    ConversionError,
    ExtentError,
    ParseError,
    RankError,
    SizeOverflowError,
)
from tensorwrapper.shape import Tiling

marks = st.lists(st.integers(-9, 20), min_size=1, max_size=6).map(sorted)


@pytest.mark.parametrize(
    ("chunks", "extents", "expected"),
    [
        # Dask, normalize_chunks.
        (((2, 2, 1), (2, 2, 2)), (5, 6), ((2, 2, 1), (2, 2, 2))),
        (2, (5, 6), ((2, 2, 1), (2, 2, 2))),
        ((3, 2), (5, 2), ((3, 2), (2,))),
        (((3, 2),), (5,), ((3, 2),)),
        (-1, (5, 6), ((5,), (6,))),
        ((-1, 2), (5, 6), ((5,), (2, 2, 2))),
        ((None, 4), (5, 6), ((5,), (4, 2))),
        ((2, 2), (0, 3), ((0,), (2, 1))),
        (((2, 0, 3),), (5,), ((2, 0, 3),)),
        ((7,), (5,), ((5,),)),
        # Zarr, create_array.
        ([[10, 20, 30], [50, 50]], (60, 100), ((10, 20, 30), (50, 50))),
        ([[10, 10], [5, 5]], (20, 10), ((10, 10), (5, 5))),
        ([[10, 20], 2], (30, 5), ((10, 20), (2, 2, 1))),
        # Ours.
        ([np.array([10, 20], dtype=np.uint8), np.int16(2)], np.array([30, 3]), ((10, 20), (2, 1))),
        (((), (0,), (0, 0)), None, ((), (0,), (0, 0))),
        ((), (), ()),
        (3, (), ()),
    ],
)
def test_a_chunk_grid_is_read(chunks, extents, expected):
    tiling = Tiling.from_chunks(chunks, extents=extents)
    assert tiling.chunks == expected
    assert tiling.origin == (0,) * len(expected)


@pytest.mark.parametrize(
    ("chunks", "extents", "error", "match"),
    [
        # Accepted by Dask, with a wrong total or at a later price.
        (((7, -2),), (5,), ExtentError, "row 1 has -2"),
        ((-2,), (5,), ExtentError, "chunk size of mode 0 must be positive, .* but is -2"),
        (((2.5, 2.5),), (5,), ConversionError, r"the chunks of mode 0 .*2\.5"),
        ((2.5,), (5,), ConversionError, r"the chunk size of mode 0 .*2\.5"),
        (((np.nan, np.nan),), None, ConversionError, "nan"),
        (np.array([[2.5, 2.5]]), (5,), ConversionError, "float64"),
        (((True, 2),), (3,), ConversionError, "True"),
        # Refused by both.
        (((2, 2),), (5,), ExtentError, "mode 0 add up to 4, but its extent is 5"),
        (((3, 3),), (5,), ExtentError, "add up to 6, but its extent is 5"),
        ((0,), (5,), ExtentError, "must be positive, .* but is 0"),
        ((0,), (0,), ExtentError, "must be positive"),
        (((2, 3), (2, 3)), (5,), RankError, "chunks of 2 modes, but there are 1 extents"),
        # The same text would mean chunks of one mode to Dask, and a size for each of two modes elsewhere.
        ((3, 2), (5,), RankError, r"a sequence of their own, as in \(\(3, 2\),\)"),
        # Run lengths, byte limits.
        ([[[10, 3]]], (30,), ConversionError, r"\[10, 3\]"),
        ("auto", (5,), ConversionError, "'auto'"),
        (("auto",), (5,), ConversionError, "'auto'"),
        (("1kiB", 2), (5, 5), ConversionError, "mode 0 .*'1kiB'"),
        # Sizes for all chunks do not tell where a mode ends.
        (3, None, ExtentError, "3 needs extents"),
        (((3, 2), 2), None, ExtentError, "mode 1 has the chunk size 2: without extents"),
        (((3, 2), None), None, ExtentError, "mode 1 .* without extents"),
        (((3, 2),), (-5,), ExtentError, "is -5 for mode 0"),
        (2, (-5,), ExtentError, "-5"),
        (2, 5, ConversionError, "a sequence of integers, not 5"),
        (2, (2.0,), ConversionError, r"2\.0"),
        (((2**62, 2**62, 2**62),), None, SizeOverflowError, "64 bits"),
        (2, (2**64,), SizeOverflowError, "64 bits"),
    ],
)
def test_a_chunk_grid_that_is_refused(chunks, extents, error, match):
    with pytest.raises(error, match=match):
        Tiling.from_chunks(chunks, extents=extents)


def test_an_origin_is_given_beside_the_chunks_or_not_at_all():
    tiling = Tiling.from_chunks(2, extents=(5, 1), origin=(-5, 7))
    assert tiling == Tiling([2, 2, 1], [1], origin=(-5, 7))
    with pytest.raises(RankError, match="1 entry for 2 modes"):
        Tiling.from_chunks(2, extents=(5, 1), origin=(0,))


def test_equal_chunks_are_one_value_however_they_were_asked_for():
    # A list of chunks that happen to be alike stays a list: there is no kind to forget, and no resize in
    # which a forgotten kind would show. What follows them is joined by hand.
    listed, regular = Tiling.from_chunks([[10, 10]]), Tiling.from_chunks(10, extents=(20,))
    assert listed == regular
    assert listed.chunks == regular.chunks == ((10, 10),)
    more = Tiling([5])
    assert Tiling.concat([listed, more]).chunks == Tiling.concat([regular, more]).chunks == ((10, 10, 5),)


def test_irregular_chunks_are_not_coerced_to_the_first():
    assert Tiling.from_chunks([[10, 20, 30]], extents=(60,)).chunks != ((10,) * 6,)
    assert Tiling.from_chunks([[10, 20, 30]], extents=(60,)).tile_of((29,)) == (1,)


@given(st.lists(marks, max_size=3))
def test_chunks_and_origin_say_all_of_a_tiling(boundaries):
    tiling = Tiling.from_marks(*boundaries)
    assert Tiling.from_chunks(tiling.chunks, origin=tiling.origin) == tiling
    assert Tiling.from_chunks(tiling.chunks, extents=tiling.elements.extents, origin=tiling.origin) == tiling
    assert Tiling(*tiling.sizes, origin=tiling.origin) == tiling


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 9) | st.just(-1)), max_size=3))
def test_regular_chunks_are_those_of_dask(modes):
    extents, sizes = [n for n, _ in modes], [c for _, c in modes]
    tiling = Tiling.from_chunks(sizes, extents=extents)
    assert tiling.elements.extents == tuple(extents)
    if extents:
        assert tiling.chunks == dask.normalize_chunks(tuple(sizes), shape=tuple(extents))


@given(st.lists(st.integers(1, 9), min_size=1, max_size=6))
def test_dask_reads_our_chunks(sizes):
    tiling = Tiling(sizes, [3])
    assert dask.normalize_chunks(tiling.chunks, shape=tiling.elements.extents) == tiling.chunks


@given(st.lists(marks, max_size=3))
def test_a_tiling_is_written_as_json_and_read_back(boundaries):
    tiling = Tiling.from_marks(*boundaries)
    text = tiling.to_json()
    assert Tiling.from_json(text) == Tiling.from_json(text.encode()) == tiling
    assert Tiling.from_json(text).to_json() == text


def test_the_json_of_a_tiling_goes_into_metadata(tmp_path):
    tiling = Tiling([1, 2], [3])
    tw.save(tmp_path / "f.tens", {"x": tw.as_tensor([1])}, metadata={"tiling": tiling.to_json()})
    with tw.open(tmp_path / "f.tens") as file:
        assert Tiling.from_json(file.metadata["tiling"]) == tiling


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("{}", "origin"),
        ("[]", "the JSON of a tiling"),
        ('{"origin":[],"sizes":[[1]]}', "origin"),
        ('{"origin":[0],"sizes":[1]}', "one list per mode"),
        ('{"origin":[0],"sizes":[[1,-1]]}', "mode 0"),
        ('{"origin":[0],"sizes":[[9223372036854775807,1]]}', "64 bits"),
        ('{"origin":[9223372036854775807],"sizes":[[1]]}', "tiling"),
        ('{"origin":[0],"sizes":[[1.5]]}', "sizes"),
        ('{"origin":[0],"sizes":[[1]],"kind":"tiled"}', "kind"),
        ('{"origin":[0],"sizes":[[1]]', "JSON"),
    ],
)
def test_what_is_not_the_json_of_a_tiling_is_refused_by_its_key(text, what):
    with pytest.raises(ParseError, match=what):
        Tiling.from_json(text)
    with pytest.raises(ConversionError):
        Tiling.from_json({"sizes": [[1]]})
