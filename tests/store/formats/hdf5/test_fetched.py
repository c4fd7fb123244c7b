"""HDF5 by byte ranges: elements are those of h5py, and what is fetched is what a plan says."""

import io

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.errors import DataFileError
from tensorwrapper.store import Ranges
from tensorwrapper.store.formats.hdf5._heaps import Heaps
from tests.store.formats.hdf5.test_heaps import FREE, heap, written
from tests.support.store.served_files import served

PACKINGS = (
    {},
    {"compression": "gzip"},
    {"compression": "gzip", "shuffle": True},
    {"shuffle": True},
    {"fletcher32": True},
    {"compression": "lzf"},
    {"scaleoffset": 8},
)
DIRECT = PACKINGS[:3]
MODES = st.lists(st.integers(1, 12), min_size=1, max_size=3)


def in_memory(fill, **options):
    raw = io.BytesIO()
    with h5py.File(raw, "w", **options) as file:
        fill(file)
    return raw.getvalue()


@st.composite
def datasets(draw):
    extents = draw(MODES)
    chunks = tuple([draw(st.integers(1, extent)) for extent in extents])
    dtype = draw(st.sampled_from(["<i2", ">i4", "<f8", "?", "<c8"]))
    packing = draw(st.sampled_from(PACKINGS if dtype == "<i2" else PACKINGS[:-1]))
    count = int(np.prod(extents))
    array = (np.arange(count) % 7).reshape(extents).astype(dtype)
    return array, draw(st.sampled_from([chunks, None])), packing, draw(st.sampled_from([None, "latest"]))


def picked(draw, extents, *values):
    """Return some positions of each mode, in any order, of each value."""
    for mode, extent in enumerate(extents):
        own = draw(
            st.one_of(
                st.lists(st.integers(0, extent - 1), min_size=1, max_size=4),
                st.builds(slice, st.integers(0, extent - 1), st.none(), st.integers(1, 4)),
            )
        )
        values = [value[(*[slice(None)] * mode, own)] for value in values]
    return values


@given(st.data(), datasets(), st.integers(0, 200))
def test_selections_are_those_of_h5py_and_cost_what_their_plan_says(data, given_, gap):
    array, chunks, packing, version = given_
    packing = packing if chunks is not None else {}
    raw = in_memory(
        lambda file: file.create_dataset("x", data=array, chunks=chunks, **packing), libver=version
    )
    f = tw.open(raw)
    f.ranges._gap = gap
    view, expected = picked(data.draw, array.shape, f["x"], array)
    plan = view.plan()
    told = plan.requests, plan.bytes_fetched
    before = f.ranges.requests, f.ranges.bytes_fetched
    found = view.compute()
    assert (found.shape.extents, found.dtype, found.tolist()) == (
        expected.shape,
        array.dtype,
        expected.tolist(),
    )
    if packing in DIRECT:
        assert told == (f.ranges.requests - before[0], f.ranges.bytes_fetched - before[1])


def test_chunks_that_were_never_written_have_the_fill_value():
    def fill(file):
        file.create_dataset("x", (5, 4), "i2", chunks=(2, 2), fillvalue=9)
        file["x"][2:4, :2] = [[1, 2], [3, 4]]

    raw = in_memory(fill)
    with h5py.File(io.BytesIO(raw)) as file:
        expected = file["x"][...].tolist()
    f = tw.open(raw)
    assert f["x"].tolist() == expected
    assert f["x"][4:].plan().requests == 0


def test_a_fill_value_may_be_undefined():
    raw = in_memory(lambda file: file.create_dataset("x", data=np.arange(6.0), chunks=(2,)))
    # Version 2 of the message, its times, and that a value is defined, of no bytes.
    message = bytes([2, 3, 2, 1]) + bytes(4)
    assert raw.count(message) == 1
    changed = raw.replace(message, bytes([2, 3, 2, 0]) + bytes(4))
    with h5py.File(io.BytesIO(changed)) as file, pytest.raises(RuntimeError, match="undefined"):
        repr(file["x"].fillvalue)
    assert tw.open(changed)["x"].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


def test_three_rows_in_chunks_take_eight_requests():
    array = np.arange(6_000_000.0).reshape(3000, 2000)
    raw = in_memory(lambda file: file.create_dataset("x", data=array, chunks=(100, 100)))
    with served(raw, "x.h5") as server:
        view = tw.open(server.url)["x"][[3, 4, 5], :500]
        assert view.tolist() == array[3:6, :500].tolist()
        assert server.requests <= 8
        assert server.nbytes <= 2**19 + 5 * 80_000


def test_rows_of_one_piece_take_one_request_each():
    array = np.arange(600_000.0).reshape(300, 2000)
    raw = in_memory(lambda file: file.create_dataset("x", data=array))
    with served(raw, "x.h5") as server:
        view = tw.open(server.url)["x"][[3, 150, 299]]
        before = server.requests, server.nbytes
        assert view.tolist() == array[[3, 150, 299]].tolist()
        assert (server.requests - before[0], server.nbytes - before[1]) == (3, 48_000)


@pytest.mark.parametrize("chunks", [None, (3000,)])
def test_ragged_groups_fetch_their_rows_alone(tmp_path, chunks):
    tw.save(tmp_path / "r.h5", {"rows": tw.jagged([[k] * 500 for k in range(100)])})
    with h5py.File(tmp_path / "r.h5", "r+") as file:
        values = file["rows/values"][:]
        del file["rows/values"]
        file["rows"].create_dataset("values", data=values, chunks=chunks)
    f = tw.open((tmp_path / "r.h5").read_bytes())
    view = f["rows"][7:9]
    plan = view.plan()
    told = plan.requests, plan.bytes_fetched
    before = f.ranges.requests, f.ranges.bytes_fetched
    assert view.tolist() == [[7] * 500, [8] * 500]
    assert told == (f.ranges.requests - before[0], f.ranges.bytes_fetched - before[1])
    assert told == ((1, 8000) if chunks is None else (1, 24_000))


@pytest.mark.parametrize("block", [512, 4096])
def test_a_user_block_moves_nothing(block):
    def fill(file):
        file["x"] = np.arange(10)
        file.create_dataset("c", data=np.arange(10), chunks=(3,))

    f = tw.open(in_memory(fill, userblock_size=block))
    assert (f["x"].tolist(), f["c"].tolist()) == ([*range(10)], [*range(10)])


def test_a_chunk_that_zlib_does_not_unpack_is_refused():
    array = np.arange(400.0)
    raw = bytearray(
        in_memory(lambda file: file.create_dataset("x", data=array, chunks=(100,), compression="gzip"))
    )
    with h5py.File(io.BytesIO(raw)) as file:
        place = file["x"].id.get_chunk_info(2).byte_offset
    raw[place + 10 : place + 20] = bytes(10)
    f = tw.open(bytes(raw))
    assert f["x"][:200].tolist() == array[:200].tolist()
    with pytest.raises(DataFileError, match="<"):
        f["x"][200:300].compute()


def test_truth_values_in_chunks_are_checked():
    raw = bytearray(in_memory(lambda file: file.create_dataset("x", data=[True] * 8, chunks=(4,))))
    with h5py.File(io.BytesIO(raw)) as file:
        place = file["x"].id.get_chunk_info(1).byte_offset
    raw[place] = 2
    f = tw.open(bytes(raw))
    assert f["x"][:4].tolist() == [True] * 4
    with pytest.raises(DataFileError, match="neither 0 nor 1"):
        f["x"].compute()


def test_names_and_text_are_those_of_the_path(tmp_path):
    path = written(tmp_path / "a.h5", b"no heap")
    f, g = tw.open(path), tw.open(path.read_bytes())
    assert (list(g), g.metadata, g.losses) == (list(f), f.metadata, f.losses)
    assert g["t"].tolist() == f["t"].tolist()
    assert g["x"].shape == f["x"].shape


def test_a_file_that_leads_to_others_tells_it(tmp_path):
    def fill(file):
        file["e"] = h5py.ExternalLink("other.h5", "/x")
        file["x"] = [1, 2]

    raw = in_memory(fill)
    for follow in (None, tmp_path):
        f = tw.open(raw, follow=follow)
        assert (list(f), [(own.name, own.code) for own in f.losses]) == (["x"], [("e", "link")])


@pytest.mark.parametrize("before", [0, 3, 4090])
@pytest.mark.parametrize("size", [0, 2**63])
def test_a_heap_without_an_end_is_refused_where_hdf5_comes_to_it(before, size):
    raw = bytes(before) + heap(FREE) + heap(size)
    heaps = Heaps(Ranges.of(raw))
    heaps.check()
    heaps.check_between(0, before + 100)
    for span in ((before + 128, before + 200), (before + 130, before + 131), (before + 120, before + 129)):
        with pytest.raises(DataFileError, match="never ends"):
            heaps.check_between(*span)
    with pytest.raises(DataFileError, match="never ends"):
        heaps.check()


@pytest.mark.parametrize("version", ["earliest", "v110", "latest"])
@pytest.mark.parametrize("most", [(None, 4), (3, None), (None, None), (9, None), (3, 4)])
@pytest.mark.parametrize("packing", DIRECT)
def test_modes_that_may_grow_move_no_chunks(version, most, packing):
    """HDF5 counts chunks with the one mode first that may grow, and says their places as if it did not."""
    array = np.arange(12, dtype="i4").reshape(3, 4)
    raw = in_memory(
        lambda file: file.create_dataset("x", data=array, chunks=(1, 1), maxshape=most, **packing),
        libver=version,
    )
    f = tw.open(raw)
    assert f["x"].tolist() == array.tolist()
    assert f["x"][1:, 2].tolist() == array[1:, 2].tolist()
