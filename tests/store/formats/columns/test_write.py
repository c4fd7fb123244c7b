"""Tensors are saved as columns; pyarrow says what is in the file."""

import awkward as ak
import numpy as np
import pyarrow as pa
import pyarrow.feather as pf
import pyarrow.parquet as pq
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import ConversionError, TensorNameError
from tests.support.store.foreign_files import names_in
from tests.support.store.saved import BOXES, ROWS, assert_same

KINDS = ["parquet", "feather"]
READ = {"parquet": pq.read_table, "feather": pf.read_table}
STRINGS = {
    "text": tw.strings(["a", None, "ü"]),
    "bytes": tw.strings([b"a", b"\xff"]),
    "words": tw.strings([["a"], [], ["b", None]]),
}
# Arrow has no complex numbers, and no element alone; rows that are alike are a box, cells rows in rows.
OUT = {"scalar", "complex", "uniform", "cells", "triples"}


@pytest.mark.parametrize("compress", [None, "zstd"])
@pytest.mark.parametrize("name", [name for name in [*BOXES, *ROWS, *STRINGS] if name not in OUT])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_saved_comes_back(tmp_path, kind, name, compress):
    tensor = (BOXES | ROWS | STRINGS)[name]
    if (kind, name) == ("parquet", "empty"):
        with pytest.raises(ConversionError, match="fixed-size lists of length 0"):
            tw.save(tmp_path / "a.parquet", {name: tensor}, compress=compress)
        return
    path = tmp_path / f"a.{kind}"
    tw.save(path, {name: tensor}, compress=compress, chunks=(7,))
    f = tw.open(path)
    assert list(f) == [name]
    if name in STRINGS:
        assert f[name].tolist() == tensor.tolist()
        assert f[name].shape == tensor.shape
    else:
        assert_same(f[name], tensor)
    assert names_in(tmp_path) == [path.name]


@pytest.mark.parametrize("kind", KINDS)
def test_pyarrow_and_awkward_read_the_columns(tmp_path, kind):
    path = tmp_path / f"a.{kind}"
    tw.save(path, {"hits": ROWS["rows"], "x": np.arange(6.0).reshape(3, 2), "s": STRINGS["text"]})
    table = READ[kind](path)
    assert table["hits"].to_pylist() == [[1, 2, 3], [], [5, 6]]
    assert table["x"].type == pa.list_(pa.float64(), 2)
    assert table["s"].to_pylist() == ["a", None, "ü"]
    if kind == "parquet":
        assert ak.from_parquet(path)["hits"].to_list() == [[1, 2, 3], [], [5, 6]]


@pytest.mark.parametrize("kind", KINDS)
def test_names_origins_and_metadata_are_kept(tmp_path, kind):
    path = tmp_path / f"a.{kind}"
    box = tw.as_tensor(np.zeros((2, 3))).named("event", None).translate_to((5, -1))
    tw.save(tmp_path / "a.tens", {"x": box}, metadata={"run": [3]})
    with tw.open(tmp_path / "a.tens", "a") as f:
        f.append("y", [1, 2], metadata={"unit": "m"})
    done = tw.store.convert(tmp_path / "a.tens", path)
    assert done.lost == ()
    f = tw.open(path)
    assert (f.metadata, f.tensor_metadata("y")) == ({"run": [3]}, {"unit": "m"})
    assert f["x"].shape == box.shape
    tw.store.convert(path, tmp_path / "b.tens")
    with tw.open(tmp_path / "b.tens") as g:
        assert g["x"].shape == box.shape


def test_rows_are_grouped_as_the_user_says_or_by_bytes(tmp_path):
    tw.save(tmp_path / "a.parquet", {"x": np.zeros((10, 3))}, chunks=(4,))
    assert pq.ParquetFile(tmp_path / "a.parquet").metadata.num_row_groups == 3
    tw.save(tmp_path / "b.parquet", {"x": np.zeros((2**14, 2**10))})
    assert pq.ParquetFile(tmp_path / "b.parquet").metadata.num_row_groups == 2
    tw.save(tmp_path / "a.feather", {"x": np.zeros((10, 3))}, chunks=(4,))
    assert isinstance(tw.open(tmp_path / "a.feather")["x"], tw.selection.View)


def test_what_changes_on_the_way_is_said(tmp_path):
    tw.save(
        tmp_path / "a.tens",
        {"t": np.array(["2026-11-24"] * 3, "M8[s]"), "u": ROWS["uniform"], "c": ROWS["cells"]},
    )
    lost = tw.store.convert(tmp_path / "a.tens", tmp_path / "a.parquet").lost
    assert sorted({text.split("'")[1] for text in lost}) == ["c", "t", "u"]


@pytest.mark.parametrize(
    ("tensor", "words"),
    [
        (tw.sparse([[1, 2]], [3.5], (3, 3)), "to_dense"),
        (np.zeros(3, "c16"), "float"),
        (np.array(1.0), "item"),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_column_is_refused(tmp_path, kind, tensor, words):
    with pytest.raises(ConversionError, match=words):
        tw.save(tmp_path / f"a.{kind}", {"odd": tensor})
    with pytest.raises(ConversionError, match="rows"):
        tw.save(tmp_path / f"a.{kind}", {"x": [1, 2], "y": [1]})
    with pytest.raises(ConversionError, match="the same codec"):
        tw.save(tmp_path / f"a.{kind}", {"x": [1], "y": [1]}, compress={"x": "zstd"})
    with pytest.raises(TensorNameError):
        tw.save(tmp_path / f"a.{kind}", {"x": [1]}, compress={"y": "zstd"})
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("rows", [[[[], []], [[]]], [[[[], []], [[]]], [[[]]]], [[], []], [[[]], []]])
def test_rows_that_happen_to_be_all_empty_are_rows_in_parquet(tmp_path, rows):
    tensor = tw.jagged(rows, dtype="f8")
    tw.save(tmp_path / "a.parquet", {"e": tensor, "n": tw.as_tensor(np.arange(len(rows)))})
    back = tw.open(tmp_path / "a.parquet")["e"]
    assert back.shape == tensor.shape
    assert back.tolist() == rows


@pytest.mark.parametrize("end", [".parquet", ".feather"])
@pytest.mark.parametrize("extents", [(4, 2, 3), (2, 0, 3), (1, 1, 1)])
@pytest.mark.parametrize("layers", [(1, 2), (2, 1), (3, 0)])
def test_a_box_in_layers_comes_back_as_a_box_and_layers_are_told(tmp_path, end, extents, layers):
    if end == ".parquet" and 0 in extents:
        pytest.skip("Parquet has no fixed-size lists of length 0")
    box = tw.from_buffer(np.arange(np.prod(extents)), tw.Shape.nested(tw.Shape(*extents), layers=layers))
    tw.save(tmp_path / "a.tens", {"x": box})
    done = tw.store.convert(tmp_path / "a.tens", tmp_path / f"a{end}")
    assert done.lost == ("the layers of 'x'",)
    found = tw.open(tmp_path / f"a{end}")["x"]
    assert (found.shape, found.tolist()) == (tw.Shape(*extents), box.tolist())
