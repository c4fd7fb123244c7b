"""Rectilinear grids: chunks of any sizes are read one by one, as the extension of Zarr says them."""

import json

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import DataFileError
from tensorwrapper.store.formats.zarr._codecs import encoded_chunk
from tensorwrapper.testing import SourceContract
from tensorwrapper.wire import Limits

EXAMPLE = [[[2, 3]], [[1, 6]], [1, [2, 1], 3], [[1, 3], 3], [6]]
"""The example of the extension: five ways to cut six."""


def document(extents, shapes, **fields):
    return {
        "zarr_format": 3,
        "node_type": "array",
        "shape": list(extents),
        "data_type": "int32",
        "chunk_grid": {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": shapes}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 0,
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "attributes": {},
    } | fields


def written(folder, array, sizes, shapes, separator="/", order="<i4", **fields):
    """Write chunks by hand, as the text of the extension has it."""
    path = folder / "a.zarr"
    path.mkdir()
    (path / "zarr.json").write_text(json.dumps(document(array.shape, shapes, **fields)))
    marks = [np.concatenate([[0], np.cumsum(own)]).tolist() for own in sizes]
    for index in np.ndindex(*map(len, sizes)):
        key = tuple([slice(own[k], own[k + 1]) for own, k in zip(marks, index, strict=True)])
        target = path / separator.join(["c", *map(str, index)])
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(np.ascontiguousarray(array[key], order).tobytes())
    return path


def test_the_example_of_the_extension(tmp_path):
    array = np.arange(6**5, dtype="i4").reshape([6] * 5)
    path = written(tmp_path, array, [[2, 2, 2], [1] * 6, [1, 2, 3], [1, 1, 1, 3], [6]], EXAMPLE)
    found = tw.open(path)["array"]
    assert tw.open(path).describe("array").packing == "rectilinear"
    assert found[1:5:2, ::-1, [5, 0], 2, 3:].array_equal(tw.as_tensor(array)[1:5:2, ::-1, [5, 0], 2, 3:])
    np.testing.assert_array_equal(np.asarray(found), array)


@pytest.mark.parametrize("compress", [None, "zlib", "zstd"])
def test_only_chunks_are_read_that_are_touched(tmp_path, compress):
    tiles = tw.as_tensor(np.arange(100.0).reshape(10, 10)).tiled(tw.Tiling([1, 6, 3], [7, 1, 2]))
    tw.save(tmp_path / "a.zarr", {"t": tiles}, compress=compress)
    view = tw.open(tmp_path / "a.zarr")["t"]
    part = view[2:4, 7:]
    read = part.plan().reads[0]
    assert read.source.cost(read.selections[0]) == 8 * 6 * 3
    for name in ("0/0", "0/1", "1/0", "2/2"):
        (tmp_path / "a.zarr" / "t" / "c" / name).write_bytes(b"spoilt")
    assert part.tolist() == [[27, 28, 29], [37, 38, 39]]
    with pytest.raises(DataFileError):
        view[0].compute()


@pytest.mark.parametrize(
    ("fields", "fill"),
    [({"fill_value": 7}, 7), ({"fill_value": "NaN", "data_type": "float32"}, np.nan), ({}, 0)],
)
def test_chunks_that_are_not_there_are_full_of_one_element(tmp_path, fields, fill):
    path = written(tmp_path, np.ones((3, 2), "i4"), [[1, 2], [2]], [[1, 2], [2]], **fields)
    (path / "c" / "1" / "0").unlink()
    (path / "c" / "0" / "0").unlink()
    np.testing.assert_array_equal(np.asarray(tw.open(path)["array"]), np.full((3, 2), fill))


def test_other_names_of_chunks_and_other_orders_of_bytes(tmp_path):
    array = np.arange(6, dtype="i4").reshape(3, 2)
    path = written(
        tmp_path,
        array,
        [[1, 2], [2]],
        [[1, 2], 2],
        ".",
        order=">i4",
        chunk_key_encoding={"name": "default", "configuration": {"separator": "."}},
        codecs=[{"name": "bytes", "configuration": {"endian": "big"}}],
    )
    np.testing.assert_array_equal(np.asarray(tw.open(path)["array"]), array)


def test_a_type_that_nobody_reads_is_told(tmp_path):
    path = written(tmp_path, np.zeros(3, "i4"), [[1, 2]], [[1, 2]], data_type="string8")
    (told,) = tw.open(path).losses
    assert (told.name, told.code, "string8" in told) == ("array", "type", True)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"fill_value": "abc"}, "abc"),
        ({"fill_value": [1, 2, 3], "data_type": "complex64"}, "fill value"),
    ],
)
def test_what_is_not_read_here_is_said(tmp_path, fields, words):
    path = written(tmp_path, np.zeros(3, "i4"), [[1, 2]], [[1, 2]], **fields)
    with pytest.raises(DataFileError, match=words):
        tw.open(path)["array"]


@pytest.mark.parametrize(
    "fields",
    [
        {"chunk_key_encoding": {"name": "fanout"}},
        {"chunk_grid": {"name": "hexagonal"}},
        {"storage_transformers": [1]},
        {"units": {"must_understand": True}},
    ],
)
def test_what_no_reader_here_knows_is_told(tmp_path, fields):
    path = written(tmp_path, np.zeros(3, "i4"), [[1, 2]], [[1, 2]], **fields)
    assert [(loss.name, loss.code) for loss in tw.open(path).losses] == [("array", "codec")]


def test_what_need_not_be_understood_is_not(tmp_path):
    path = written(tmp_path, np.zeros(3, "i4"), [[1, 2]], [[1, 2]], units={"must_understand": False})
    assert tw.open(path)["array"].tolist() == [0, 0, 0]


def test_a_chunk_that_unpacks_to_more_than_it_has_is_refused(tmp_path):
    gzip = [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "gzip", "configuration": {}}]
    path = written(tmp_path, np.zeros(3, "i4"), [[1, 2]], [[1, 2]], codecs=gzip)
    (path / "c" / "0").write_bytes(encoded_chunk(np.zeros(10**7, "i4"), "gzip"))
    (path / "c" / "1").write_bytes(encoded_chunk(np.zeros(2, "i4"), "gzip")[:-9])
    for place in (0, 1):
        with pytest.raises(DataFileError, match="bytes of a chunk"):
            tw.open(path)["array"][place].item()
    with pytest.raises(DataFileError, match="decompressed_bytes"):
        tw.open(path, limits=Limits(decompressed_bytes=2))["array"][0].item()


class TestGrid(SourceContract):
    """A rectilinear grid is a source that keeps the contract."""

    @pytest.fixture(autouse=True)
    def file(self, tmp_path):
        self.path = written(tmp_path, self.expected(), [[1, 0 + 3], [2, 3, 1]], [[1, 3], [2, 3, 1]])

    def source(self):
        return tw.open(self.path)["array"].plan().reads[0].source

    def expected(self):
        return np.arange(24, dtype="i4").reshape(4, 6)
