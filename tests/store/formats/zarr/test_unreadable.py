"""Arrays that nobody here reads are told with what helps, and hide no other."""

import json

import numpy as np
import pytest
import zarr

import tensorwrapper as tw
from tensorwrapper.errors import DataFileError
from tensorwrapper.store.formats.zarr import _unreadable
from tensorwrapper.store.formats.zarr._grid import knows_grids
from tests.support.store.served_files import served


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
        ({"zarr_format": 4}, "version", "is not of version 3 of Zarr, but 4"),
        ({"zarr_format": "3"}, "version", "version 3"),
        ({"zarr_format": None}, "damage", "version 3"),
        ({"node_type": "table"}, "member", "is neither an array nor a group, but table"),
        ({"node_type": []}, "damage", "neither an array"),
        ({"chunk_grid": {"name": "hexagons"}}, "codec", "'hexagons'"),
        ({"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2], "x": 1}}}, "codec", "'x'"),
        ({"chunk_grid": {"name": "rectilinear", "configuration": {"kind": "far"}}}, "codec", "kind 'far'"),
        (
            {"chunk_key_encoding": {"name": "default", "configuration": {"separator": "_"}}},
            "codec",
            "separator '_'",
        ),
        ({"codecs": [{"name": "bytes", "configuration": {"endian": "middle"}}]}, "codec", "endian 'middle'"),
        ({"codecs": [{"name": "bytes"}, {"name": "gzip", "configuration": {"x": 1}}]}, "codec", "'x'"),
    ],
)
def test_one_array_hides_no_other(path, fields, code, words):
    change(path / "odd", **fields)
    f = tw.open(path)
    assert (list(f), f["x"].tolist()) == (["x"], [1.0, 2.0])
    (told,) = f.losses
    assert (told.name, told.code, words in told) == ("odd", code, True)


@pytest.mark.parametrize(
    ("fields", "code", "words"),
    [
        ({"zarr_format": 4}, "version", "version 2"),
        ({"order": "K"}, "codec", "'K'"),
        ({"dimension_separator": "_"}, "codec", "'_'"),
        ({"compressor": {"id": "mystery"}}, "codec", "mystery"),
        ({"dtype": "<x4"}, "type", "<x4"),
    ],
)
def test_one_array_of_version_2_hides_no_other(tmp_path, fields, code, words):
    group = zarr.create_group(str(tmp_path / "a"), zarr_format=2)
    for name in ("odd", "x"):
        group.create_array(name, shape=(2,), dtype="i4", chunks=(2,))[:] = [1, 2]
    said = json.loads((tmp_path / "a" / "odd" / ".zarray").read_text())
    (tmp_path / "a" / "odd" / ".zarray").write_text(json.dumps(said | fields))
    f = tw.open(tmp_path / "a")
    assert (list(f), f["x"].tolist()) == (["x"], [1, 2])
    (told,) = f.losses
    assert (told.name, told.code, words in told) == ("odd", code, True)
    assert told.help or code == "type"


def test_a_grid_that_no_library_here_reads_is_told(path):
    codecs = [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]
    grid = {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[1, 1]]}}
    change(path / "odd", codecs=codecs, chunk_grid=grid)
    f = tw.open(path)
    if knows_grids():
        assert sorted(f) == ["odd", "x"]
        return
    (told,) = f.losses
    assert (told.name, told.code, told.help) == ("odd", "codec", "zarr 3.2 or later reads it")
    assert "crc32c" in told


def test_options_that_only_the_library_knows_are_its_own(path, monkeypatch):
    # As of a version of Zarr that is older than the library.
    monkeypatch.setattr(_unreadable, "_CODECS_3", {**_unreadable._CODECS_3, "bytes": {}})
    f = tw.open(path)
    assert (sorted(f), f["odd"].tolist(), f.losses) == (["odd", "x"], [1.0, 2.0], ())


def test_rows_of_a_part_that_nobody_reads_are_told_by_its_code(path):
    tw.save(path, {"r": tw.jagged([[1.5], [2.5, 3.5]]), "x": [1.0, 2.0]})
    change(path / "r" / "values", codecs=[{"name": "mystery"}])
    f = tw.open(path)
    assert {name: f[name].tolist() for name in f} == {"r/sizes_1": [1, 2], "x": [1.0, 2.0]}
    assert sorted([(loss.name, loss.code) for loss in f.losses]) == [("r", "codec"), ("r/values", "codec")]


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


@pytest.mark.filterwarnings("ignore:Consolidated metadata")
@pytest.mark.parametrize("version", [2, 3])
def test_attributes_may_say_so_in_consolidated_metadata(tmp_path, version):
    """xarray writes both: a fill value that is not a number, and consolidated metadata."""
    path = tmp_path / "a.zarr"
    group = zarr.create_group(str(path), zarr_format=version)
    group.create_array("g/x", shape=(2,), dtype="f4", chunks=(2,))[:] = [1, 2]
    group["g/x"].attrs["_FillValue"] = float("nan")
    zarr.consolidate_metadata(str(path), zarr_format=version)
    with served(
        {f"a.zarr/{p.relative_to(path)}": p.read_bytes() for p in path.rglob("*") if p.is_file()}, "a.zarr"
    ) as server:
        for source in (path, server.url):
            f = tw.open(source)
            assert (list(f), f["g/x"].tolist(), f.losses) == (["g/x"], [1.0, 2.0], ())


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
    (tmp_path / "b" / "g" / "x" / ".zarray").write_text('{"zarr_format": 2, "shape": NaN}')
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


@pytest.mark.parametrize(("codec", "package"), [("pcodec", "'numcodecs[pcodec]'"), ("lz4", "numcodecs")])
def test_a_codec_whose_own_package_is_not_here_is_told_though_zarr_has_a_class_for_it(
    path, codec, package, monkeypatch
):
    registry = pytest.importorskip("numcodecs.registry")
    for known in (registry.codec_registry, registry.entries):
        monkeypatch.delitem(known, codec, raising=False)
    change(path / "odd", codecs=[{"name": "bytes"}, {"name": f"numcodecs.{codec}", "configuration": {}}])
    f = tw.open(path)
    assert (list(f), f["x"].tolist()) == (["x"], [1.0, 2.0])
    (loss,) = f.losses
    assert (loss.name, loss.code) == ("odd", "codec")
    assert f"`pip install {package}`" in loss.help


@pytest.mark.filterwarnings("ignore:Numcodecs codecs are not in the Zarr version 3")
@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize(("order", "name"), [("<", "Delta"), (">", "Delta"), (">", "Quantize")])
def test_a_filter_whose_bytes_zarr_takes_for_others_is_told(tmp_path, version, order, name):
    filters = pytest.importorskip("zarr.codecs.numcodecs" if version == 3 else "numcodecs")
    dtype = f"{order}{'i2' if name == 'Delta' else 'f8'}"
    own = getattr(filters, name)(dtype=dtype, **({} if name == "Delta" else {"digits": 3}))
    given = np.array([1, 300, 5], dtype)
    zarr.create_array(str(tmp_path / "a.zarr"), data=given, filters=[own], zarr_format=version)
    with tw.open(tmp_path / "a.zarr") as f:
        if version == 3 and order == ">":
            assert (list(f), [(loss.name, loss.code) for loss in f.losses]) == ([], [("array", "codec")])
        else:
            assert (f.losses, f["array"].tolist()) == ((), [1, 300, 5])
