"""Lazy arrays of other libraries are sources: what is asked of them is read, and no more."""

import pickle
import tracemalloc
from pathlib import Path
from typing import Any

import dask.array as da
import h5py
import numpy as np
import pytest
import zarr
from hypothesis import given, settings
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, DataFileError, DTypeError, ReadOnlyError, SizeOverflowError
from tests.support.selection.lazy_arrays import (
    EXTENTS,
    MAKERS,
    VALUES,
    Counting,
    dask_array,
    tensor_store,
)


@pytest.fixture(
    scope="module",
    params=[(make, chunks) for make in MAKERS for chunks in (None, (5, 4, 11))],
    ids=[f"{make.__name__}-{how}" for make in MAKERS for how in ("whole", "chunks")],
)
def array(request, tmp_path_factory):
    make, chunks = request.param
    return make(tmp_path_factory.mktemp("arrays"), chunks)


def positions(extent: int):
    index = st.integers(-extent, extent - 1)
    ends = st.none() | st.integers(-extent - 2, extent + 2)
    steps = st.none() | st.integers(-4, 4).filter(bool)
    return (
        index | st.builds(slice, ends, ends, steps) | st.lists(index, max_size=6).map(lambda own: own or [0])
    )


@given(st.data())
@settings(max_examples=25, deadline=None)
def test_s7_a_view_of_any_array_is_what_numpy_selects(array, data):
    view, expected = sel.as_view(array), VALUES
    assert not isinstance(view, tw.Tensor)
    for mode in range(3):
        key = data.draw(positions(EXTENTS[mode]))
        if isinstance(key, int):
            key = slice(key, key + 1 or None)
        view, expected = view[(slice(None),) * mode + (key,)], expected[(slice(None),) * mode + (key,)]
    view, expected = view.permute(2, 0, 1), expected.transpose(2, 0, 1)
    assert view.compute().tolist() == expected.tolist()


def test_s7_nothing_is_read_before_it_is_asked_for():
    array = Counting(np.arange(100 * 1000).reshape(100, 1000))
    rows = sel.as_view(array)
    view = sel.concat([rows[3:5], rows[77:78, ::2].pad([(0, 0), (0, 500)])])
    plan = view.plan()
    assert array.elements == 0
    assert plan.bytes_read == (2 * 1000 + 500) * 8
    assert view[:1].compute().tolist() == array.values[3:4].tolist()
    assert array.elements == 1000
    assert view.compute().shape == tw.Shape(3, 1000)
    assert array.elements == 1000 + 2500


@pytest.mark.parametrize("chunks", [None, (256, 1024)])
def test_s7_one_row_of_32_megabytes_takes_less_than_one(tmp_path, chunks):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        x = file.create_dataset("x", shape=(4096, 1024), dtype="f8", chunks=chunks and (16, 1024))
        x[7] = np.arange(1024.0)
        sel.as_view(x)[7:8].compute()
        tracemalloc.start()
        try:
            row = sel.as_view(x)[7:8].compute()
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert row.tolist() == [list(range(1024))]
        assert peak < 2**20


def test_s7_dask_makes_only_the_chunks_that_are_touched():
    made: list[Any] = []

    def chunk(block_info=None):
        place = block_info[None]["chunk-location"]
        made.append(place)
        return np.full((5, 5), sum(place))

    array = da.map_blocks(chunk, chunks=((5, 5, 5), (5, 5)), dtype="i8", meta=np.empty((0, 0), "i8"))
    view = sel.as_view(array)
    assert view[6:8, [1, 3]].compute().tolist() == [[1, 1], [1, 1]]
    assert made == [(1, 0)]


def test_several_files_are_one_view(tmp_path):
    parts = []
    for number in range(3):
        file = h5py.File(tmp_path / f"{number}.h5", "w")
        parts.append(file.create_dataset("w", data=VALUES + number))
    whole = tw.concat(parts)
    assert whole.shape.extents == (69, 17, 11)
    expected = np.concatenate([part[...] for part in parts])
    assert whole[[1, 24, 68]].compute().tolist() == expected[[1, 24, 68]].tolist()
    text = repr(whole[20:30].plan().reads)
    assert [f"{number}.h5" in text for number in range(3)] == [True, True, False]


def test_plans_name_the_store_of_an_array_of_zarr(tmp_path):
    root = zarr.create_array(tmp_path / "one.zarr", shape=(2, 3), dtype="i4")
    group = zarr.open_group(tmp_path / "all.zarr", mode="w")
    inner = group.create_array("deep/w", shape=(2, 3), dtype="i4")
    text = repr(tw.concat([root, inner]).plan().reads)
    assert "one.zarr', Shape" in text
    assert "all.zarr/deep/w', Shape" in text


def test_a_dataset_of_a_closed_file_is_a_named_error(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        dataset = file.create_dataset("w", data=VALUES)
        view = sel.as_view(dataset)
    asked = [
        lambda: sel.as_view(dataset),
        lambda: tw.as_tensor(dataset),
        lambda: tw.concat([VALUES, dataset]),
        view.compute,
        lambda: next(view.blocks(1 << 20)),
        view.route_many([(0, 0, 0)])[0].read,
        tw.concat([view, view[::-1]])[[2, 0]].compute,
    ]
    for ask in asked:
        with pytest.raises(DataFileError, match="closed"):
            ask()
    with pytest.raises(ReadOnlyError):
        view.assign(0)
    assert "h5py.Dataset(closed, " in str(view[2:3].plan())


def test_a_tensorstore_keeps_its_origin(tmp_path):
    moved = tensor_store(tmp_path, (5, 4, 11)).translate_to[3, 4, 5]
    view = sel.as_view(moved)
    assert view.shape == tw.Shape(*EXTENTS, origin=(3, 4, 5))
    assert view[2:20:3, [1, 5, 6]].compute().tolist() == VALUES[2:20:3, [1, 5, 6]].tolist()


def test_scalars_and_empty_arrays(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        one = sel.as_view(file.create_dataset("one", data=5.5))
        assert one.compute().tolist() == 5.5
        assert one.route_many([()])[0].read().tolist() == [5.5]
        assert sel.as_view(file.create_dataset("none", shape=(0, 3), dtype="f4")).compute().shape == tw.Shape(
            0, 3
        )
        with pytest.raises(DTypeError):
            sel.as_view(file.create_dataset("text", data=["a", "b"]))


def test_arrays_in_memory_are_shared_not_read():
    x = np.arange(6.0)
    view = sel.as_view(memoryview(x))
    x[2] = 7.0
    assert view[2:3].compute().tolist() == [7.0]
    assert "ArraySource" not in repr(view.plan())


def test_a_source_pickles_where_its_array_does():
    array = dask_array(Path(), (5, 4, 11))
    view = pickle.loads(pickle.dumps(sel.as_view(array)[3:5]))
    assert view.compute().tolist() == VALUES[3:5].tolist()


class Answering(Counting):
    """An array that answers what a function makes of the elements."""

    def __init__(self, values: np.ndarray, answer) -> None:
        super().__init__(values)
        self.answer = answer

    def __getitem__(self, key):
        return self.answer(super().__getitem__(key))


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (lambda x: np.ma.masked_array(x, x == 2), ConversionError),
        (lambda x: x[:1], ConversionError),
        (lambda x: x + 0.5, DTypeError),
        (lambda x: x.astype("i8") + 2**40, SizeOverflowError),
    ],
    ids=["masked", "too few", "of another kind", "out of range"],
)
def test_what_an_array_answers_is_looked_at(answer, error):
    with pytest.raises(error):
        sel.as_view(Answering(np.arange(6, dtype="i4"), answer)).compute()


def test_a_mask_that_hides_nothing_is_no_mask():
    view = sel.as_view(Answering(np.arange(6), np.ma.masked_array))
    assert view.compute().tolist() == list(range(6))


def test_dask_that_does_not_know_its_length_is_not_computed():
    x = da.arange(10, chunks=3)
    with pytest.raises(ConversionError, match="compute_chunk_sizes"):
        sel.as_view(x[x > 2])


@pytest.mark.parametrize("take", [tw.as_tensor, sel.as_view, lambda value: tw.concat([value, value])])
def test_section_4_what_has_no_extents_is_refused(take, tmp_path):
    with h5py.File(tmp_path / "none.h5", "w") as file:
        nothing = file.create_dataset("e", data=h5py.Empty("f4"))
        for value in (nothing, h5py.Empty("f4")):
            with pytest.raises(ConversionError, match="without extents has no elements"):
                take(value)
