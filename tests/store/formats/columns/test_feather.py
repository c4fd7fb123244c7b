"""Feather files: memory where they are not compressed."""

import numpy as np
import pyarrow as pa
import pyarrow.feather as pf
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import DataFileError


def test_feather_that_is_not_compressed_is_memory(tmp_path):
    array = np.arange(10_000.0)
    shape = tw.Shape.from_offsets(np.arange(0, 10_001, 10))
    tw.save(tmp_path / "a.feather", {"x": array[:1000], "rows": tw.from_buffer(array, shape)})
    f = tw.open(tmp_path / "a.feather")
    before = pa.total_allocated_bytes()
    assert all(isinstance(tensor, tw.Tensor) for tensor in f.values())
    for name in f:
        one, two = f[name].elements(), f[name].elements()
        assert np.shares_memory(one, two)
        assert not one.flags.writeable
    # Footers alone: the elements have 88 000 bytes.
    assert pa.total_allocated_bytes() < before + 8_000


def test_a_column_is_validated_in_full_before_it_is_read(tmp_path):
    """Also its offsets: pyarrow 26 ends the process where they leave the elements and nobody looked before.

    The same validation refuses text that is not UTF-8, of which pyarrow would raise an error.
    """
    path = tmp_path / "a.feather"
    table = pa.table({"words": pa.array([["sense"], ["and"]]), "rows": pa.array([[7, 8], [9]])})
    pf.write_feather(table, path, compression="uncompressed")
    raw = path.read_bytes()
    assert raw.count(b"senseand") == 1
    path.write_bytes(raw.replace(b"senseand", b"s\xffnseand"))
    with pytest.raises(DataFileError, match="UTF"):
        tw.open(path)["words"]
    assert tw.open(path)["rows"].tolist() == [[7, 8], [9]]


@pytest.mark.parametrize(("codec", "magic"), [("lz4", b"\x04\x22\x4d\x18"), ("zstd", b"\x28\xb5\x2f\xfd")])
@pytest.mark.parametrize("end", ["feather", "stream"])
def test_a_column_that_is_damaged_hides_no_other(tmp_path, codec, magic, end):
    table = pa.table({name: np.arange(2000) + k for k, name in enumerate("abc")})
    options = pa.ipc.IpcWriteOptions(compression=codec)
    make = pa.ipc.new_file if end == "feather" else pa.ipc.new_stream
    with make(str(tmp_path / "a"), table.schema, options=options) as f:
        f.write_table(table)
    raw = bytearray((tmp_path / "a").read_bytes())
    second = raw.index(magic, raw.index(magic) + 4)
    raw[second : second + 4] = bytes(4)
    (tmp_path / "a").write_bytes(raw)
    f = tw.open(tmp_path / "a")
    for name in "ac":
        assert np.array_equal(f[name], table[name])
    with pytest.raises(DataFileError, match="damaged"):
        f["b"]
    assert tw.store.convert(tmp_path / "a", tmp_path / "b.tens", strict=False).names == ("a", "c")


@pytest.mark.parametrize(
    "around", [lambda rows: rows, lambda rows: [[row] for row in rows]], ids=["", "lists"]
)
def test_a_field_that_is_not_read_hides_no_other(tmp_path, around):
    """pyarrow finds fault with a dictionary without words whose numbers are all of null structs."""
    words = pa.dictionary(pa.int16(), pa.int64())
    kind = pa.struct([("word", words), ("text", pa.string()), ("x", pa.int32())])
    rows = around([{"word": None, "text": "sense", "x": 1}, {"word": None, "text": "and", "x": 2}, None])
    array = pa.array(rows, pa.list_(kind) if isinstance(rows[0], list) else kind)
    path = tmp_path / "a.feather"
    pf.write_feather(pa.table({"c": array}), path, compression="uncompressed")
    raw = path.read_bytes()
    assert raw.count(b"senseand") == 1
    path.write_bytes(raw.replace(b"senseand", b"s\xffnseand"))
    f = tw.open(path)
    assert (list(f), [(loss.name, loss.code) for loss in f.losses]) == (
        ["c.text", "c.x"],
        [("c.word", "type")],
    )
    assert f["c.x"].tolist() == around([1, 2, None])
    with pytest.raises(DataFileError, match="UTF"):
        f["c.text"]
