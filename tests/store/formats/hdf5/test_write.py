"""Tensors are saved as HDF5; h5py says what is in the file."""

import h5py
import ml_dtypes
import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import ConversionError, DataFileError, RankError, TensorNameError
from tests.support.store.foreign_files import names_in
from tests.support.store.saved import BOXES, ROWS, assert_same


@pytest.mark.parametrize("name", [*BOXES, *ROWS])
@pytest.mark.parametrize("compress", [None, "zlib"])
def test_what_is_saved_comes_back(tmp_path, name, compress):
    tensor = (BOXES | ROWS)[name]
    tw.save(tmp_path / "a.h5", {name: tensor}, compress=compress)
    f = tw.open(tmp_path / "a.h5")
    assert list(f) == [name]
    assert_same(f[name], tensor)
    assert names_in(tmp_path) == ["a.h5"]


@pytest.mark.parametrize("name", [name for name, a in BOXES.items() if isinstance(a, np.ndarray)])
def test_h5py_reads_boxes(tmp_path, name):
    tw.save(tmp_path / "a.h5", {"g/x": BOXES[name]})
    with h5py.File(tmp_path / "a.h5") as f:
        assert f["g/x"].dtype == BOXES[name].dtype
        np.testing.assert_array_equal(f["g/x"][()], BOXES[name])


def test_h5py_reads_rows_by_where_they_begin(tmp_path):
    tw.save(tmp_path / "a.h5", {"hits": tw.jagged([[1, 2, 3], [], [5, 6]])})
    with h5py.File(tmp_path / "a.h5") as f:
        begin, end = f["hits/offsets_1"][2:4]
        assert f["hits/values"][begin:end].tolist() == [5, 6]


def test_names_origins_strings_and_times_are_said_in_their_words(tmp_path):
    box = tw.as_tensor(np.zeros((2, 3))).named("event", None).translate_to((5, 0))
    days = np.array(["2026-11-24", "NaT"], "M8[D]")
    tw.save(tmp_path / "a.h5", {"x": box, "s": tw.strings([["a", "ü"]]), "days": days}, metadata={"run": [3]})
    with h5py.File(tmp_path / "a.h5") as f:
        assert [dim.label for dim in f["x"].dims] == ["event", ""]
        assert f["x"].attrs["index_origin"].tolist() == [5, 0]
        assert f["s"].asstr()[...].tolist() == [["a", "ü"]]
        np.testing.assert_array_equal(f["days"][...], days)
    f = tw.open(tmp_path / "a.h5")
    assert f.metadata == {"run": [3]}
    assert f["x"].shape == box.shape
    assert f["s"].tolist() == [["a", "ü"]]
    assert f["days"].dtype == days.dtype


@pytest.mark.parametrize(
    ("tensor", "chunks"),
    [
        (np.zeros((10, 20)), None),
        (np.zeros((1000, 1000)), (125, 1000)),
        (tw.as_tensor(np.zeros((1000, 1000))).permute((1, 0)), (1000, 125)),
        (
            tw.from_buffer(np.zeros(40 * 60 * 50), tw.Shape.nested(tw.Shape(40, 60, 50), layers=(1, 2))),
            (1, 60, 50),
        ),
    ],
)
def test_chunks_are_what_lies_together(tmp_path, tensor, chunks):
    tw.save(tmp_path / "a.h5", {"x": tensor})
    with h5py.File(tmp_path / "a.h5") as f:
        assert f["x"].chunks == chunks


def test_chunks_are_what_the_user_says(tmp_path):
    arrays = {"x": np.zeros((30, 40)), "y": np.zeros((5, 5))}
    tw.save(tmp_path / "a.h5", arrays, chunks=(10, 10))
    tw.save(tmp_path / "b.h5", arrays, chunks={"y": (2, 5)})
    with h5py.File(tmp_path / "a.h5") as a, h5py.File(tmp_path / "b.h5") as b:
        assert (a["x"].chunks, a["y"].chunks) == ((10, 10), (5, 5))
        assert (b["x"].chunks, b["y"].chunks) == (None, (2, 5))
    with pytest.raises(RankError, match="'x'"):
        tw.save(tmp_path / "a.h5", arrays, chunks=(10,))
    with pytest.raises(ConversionError, match="piece_bytes"):
        tw.save(tmp_path / "a.tens", arrays, chunks=(10, 10))


@pytest.mark.parametrize(
    ("tensor", "words"),
    [
        (tw.sparse([[1, 2]], [3.5], (3, 3)), "to_dense"),
        (tw.strings(["a", None]), "fill_null"),
        (tw.strings([b"a"]), "binary"),
        (tw.strings([["a"], ["b", "c"]]), r"\.tens"),
        (np.zeros(3, ml_dtypes.bfloat16), "astype"),
        (tw.from_buffer(np.zeros(5), tw.Shape.jagged([tw.Shape(2, origin=(1,)), tw.Shape(3)])), r"\.tens"),
    ],
)
def test_what_hdf5_cannot_say_is_refused_with_the_call_that_works(tmp_path, tensor, words):
    (tmp_path / "a.h5").write_bytes(b"old")
    with pytest.raises(ConversionError, match=words):
        tw.save(tmp_path / "a.h5", {"odd": tensor})
    assert (tmp_path / "a.h5").read_bytes() == b"old"
    assert names_in(tmp_path) == ["a.h5"]


def test_names_that_are_taken_or_no_text_are_refused(tmp_path):
    with pytest.raises(ConversionError, match="'a' is an array in HDF5"):
        tw.save(tmp_path / "a.h5", {"a": [1], "a/b": [2]})
    with pytest.raises(ConversionError, match="cannot write 's'"):
        tw.save(tmp_path / "a.h5", {"s": tw.strings(["a\0b"])})
    with pytest.raises(TensorNameError):
        tw.save(tmp_path / "a.h5", {"a": [1]}, compress={"b": "zlib"})
    with pytest.raises(ConversionError, match="'zlib'"):
        tw.save(tmp_path / "a.h5", {"a": [1]}, compress="zstd")
    with pytest.raises(DataFileError):
        tw.save(tmp_path / "none" / "a.h5", {"a": [1]})
    assert names_in(tmp_path) == []


def test_views_are_written_in_blocks(tmp_path):
    tw.save(tmp_path / "a.h5", {"x": np.arange(40_000).reshape(200, 200), "r": ROWS["many"]}, compress="zlib")
    f = tw.open(tmp_path / "a.h5")
    tw.save(tmp_path / "b.h5", {"x": tw.concat([f["x"], f["x"]]), "r": f["r"][100:]})
    g = tw.open(tmp_path / "b.h5")
    assert g["x"][200:].array_equal(f["x"])
    assert g["r"].array_equal(ROWS["many"][100:])


def test_hdf5_is_converted_both_ways(tmp_path):
    tw.save(tmp_path / "a.tens", {"rows": ROWS["rows"], "x": BOXES["table"]}, metadata={"run": 3})
    tw.store.convert(tmp_path / "a.tens", tmp_path / "b.h5")
    done = tw.store.convert(tmp_path / "b.h5", tmp_path / "c.tens")
    assert (done.names, done.lost) == (("rows", "x"), ())
    with tw.open(tmp_path / "c.tens") as f:
        assert f.metadata == {"run": 3}
        assert_same(f["rows"], ROWS["rows"])
        assert_same(f["x"], BOXES["table"])
    tw.save(tmp_path / "d.hdf5", {"g/x": [1, 2]})
    assert tw.store.convert(tmp_path / "d.hdf5", tmp_path / "d.tens").lost == (
        "the name 'g/x', written as 'g.x'",
    )
    tiles = tw.as_tensor(np.arange(9).reshape(3, 3)).tiled(tw.Tiling([1, 2], [3]))
    tw.save(tmp_path / "e.tens", {"t": tiles})
    assert tw.store.convert(tmp_path / "e.tens", tmp_path / "e.h5").lost == (
        "the tiles of 't', which is a matrix",
    )
    assert tw.open(tmp_path / "e.h5")["t"].tolist() == np.arange(9).reshape(3, 3).tolist()
