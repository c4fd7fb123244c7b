"""Arrays that nobody here reads are told with what helps, and hide no other."""

import json

import numpy as np
import pytest
import zarr

import tensorwrapper as tw
from tensorwrapper.errors import DataFileError


@pytest.fixture
def path(tmp_path):
    group = zarr.create_group(str(tmp_path / "a.zarr"))
    group.create_array("x", data=np.array([1.0, 2.0]))
    group.create_array("odd", data=np.array([1.0, 2.0]))
    return tmp_path / "a.zarr"


def change(path, **fields):
    node = json.loads((path / "zarr.json").read_text())
    (path / "zarr.json").write_text(json.dumps(node | fields))


@pytest.mark.parametrize(
    ("fields", "code", "words"),
    [
        ({"data_type": "bfloat16"}, "type", "bfloat16"),
        ({"data_type": {"name": "mystery", "configuration": {}}}, "type", "mystery"),
        ({"codecs": [{"name": "bytes"}, {"name": "mystery"}]}, "codec", "mystery"),
        ({"codecs": [{"name": "numcodecs.mystery"}]}, "codec", "numcodecs"),
        (
            {"codecs": [{"name": "sharding_indexed", "configuration": {"codecs": [{"name": "mystery"}]}}]},
            "codec",
            "mystery",
        ),
        ({"zarr_format": 9}, "damage", "no array or group"),
        ({"node_type": 3}, "damage", "no array or group"),
    ],
)
def test_one_array_hides_no_other(path, fields, code, words):
    change(path / "odd", **fields)
    f = tw.open(path)
    assert (list(f), f["x"].tolist()) == (["x"], [1.0, 2.0])
    (told,) = f.losses
    assert (told.name, told.code, words in told) == ("odd", code, True)


def test_codecs_of_numcodecs_are_read_where_it_is(path):
    from numcodecs import Zlib

    zarr.create_array(
        str(path / "old"), shape=(4,), dtype="i4", zarr_format=2, compressors=Zlib(), overwrite=True
    )[:] = [1, 2, 3, 4]
    assert tw.open(path)["old"].tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("value", [float("nan"), [0, -float("inf")]])
def test_attributes_may_say_that_nothing_is_a_number(path, value):
    zarr.open_group(str(path), mode="a")["x"].attrs["nodata"] = value
    f = tw.open(path)
    assert (sorted(f), f["x"].tolist(), f.losses) == (["odd", "x"], [1.0, 2.0], ())


def test_nothing_else_may(path):
    text = (path / "odd" / "zarr.json").read_text()
    assert '"shape": [\n    2' in text
    (path / "odd" / "zarr.json").write_text(text.replace('"shape": [\n    2', '"shape": [\n    NaN'))
    f = tw.open(path)
    assert [(loss.name, loss.code) for loss in f.losses] == [("odd", "damage")]


def test_numbers_with_a_scale_are_told(path):
    zarr.open_group(str(path), mode="a")["x"].attrs["add_offset"] = 1
    assert [(loss.name, loss.code) for loss in tw.open(path).losses] == [("x", "scaled")]


@pytest.mark.parametrize(
    ("how", "dtype"),
    [({"order": "F"}, ">i2"), ({"chunk_key_encoding": {"name": "v2", "separator": "/"}}, "<f8")],
)
def test_stores_of_version_2_are_read(tmp_path, how, dtype):
    made = zarr.create_array(
        str(tmp_path / "a"), shape=(3, 2), chunks=(1, 2), dtype=dtype, fill_value=9, zarr_format=2, **how
    )
    made[:2] = [[0, 1], [2, 3]]
    found = tw.open(tmp_path / "a")["array"]
    assert (found.dtype, found.tolist()) == (np.dtype(dtype), [[0, 1], [2, 3], [9, 9]])
    group = zarr.create_group(str(tmp_path / "b"), zarr_format=2)
    group.create_array("g/x", shape=(2,), dtype="i4", chunks=(2,))[:] = [1, 2]
    group.create_array("words", shape=(2,), dtype="U3", chunks=(2,))[:] = ["ab", "c"]
    group.create_array("records", shape=(2,), dtype=np.dtype([("a", "i2")]), chunks=(2,))
    f = tw.open(tmp_path / "b")
    assert (sorted(f), f["g/x"].tolist(), f["words"].tolist()) == (["g/x", "words"], [1, 2], ["ab", "c"])
    assert [(loss.name, loss.code) for loss in f.losses] == [("records", "type")]
    (tmp_path / "b" / "g" / "x" / ".zarray").write_text('{"zarr_format": 3}')
    assert ("g/x", "damage") in [(loss.name, loss.code) for loss in tw.open(tmp_path / "b").losses]
    (tmp_path / "b" / ".zgroup").write_text("{")
    with pytest.raises(DataFileError):
        tw.open(tmp_path / "b")


@pytest.mark.parametrize("kind", ["bool"])
def test_a_third_truth_value_is_refused(path, kind):
    group = zarr.open_group(str(path), mode="a")
    made = group.create_array("t", shape=(2,), dtype=kind, compressors=None)
    made[:] = True
    (path / "t" / "c" / "0").write_bytes(b"\x01\x02")
    with pytest.raises(DataFileError, match="neither"):
        np.asarray(tw.open(path)["t"])
