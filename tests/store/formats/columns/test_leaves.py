"""Fields of structs are tensors of their own, with pyarrow as the judge; what is none hides no other."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import DataFileError
from tensorwrapper.store.formats.columns import _parquet
from tensorwrapper.store.formats.columns._leaves import leaf_array, leaves_of

KINDS = ["parquet", "feather", "zstd.feather"]
ROWS = [
    {"x": 1, "y": [1], "n": {"q": 1.5, "s": "ab"}},
    None,
    {"x": None, "y": [], "n": {"q": 2.5, "s": ""}},
    {"x": 4, "y": [2, 3], "n": {"q": 3.5, "s": "c"}},
]


def written(folder, kind, table, rows=10**6):
    path = folder / f"a.{kind}"
    if kind == "parquet":
        pq.write_table(table, path, row_group_size=rows)
        return path
    options = pa.ipc.IpcWriteOptions(compression="zstd" if kind.startswith("zstd") else None)
    with pa.ipc.new_file(str(path), table.schema, options=options) as file:
        file.write_table(table, max_chunksize=rows)
    return path


def read(path, **options):
    with tw.open(path, **options) as f:
        return {name: f[name].tolist() for name in f}, [(loss.name, loss.code) for loss in f.losses]


@pytest.mark.parametrize("rows", [1, 3, 100])
@pytest.mark.parametrize("kind", KINDS)
def test_fields_have_dotted_names(tmp_path, kind, rows):
    table = pa.table({"p": pa.array([own for own in ROWS if own]), "z": [1, 2, 3]})
    found, losses = read(written(tmp_path, kind, table, rows))
    assert found == {
        "p.x": [1, None, 4],
        "p.y": [[1], [], [2, 3]],
        "p.n.q": [1.5, 2.5, 3.5],
        "p.n.s": ["ab", "", "c"],
        "z": [1, 2, 3],
    }
    assert not losses


@pytest.mark.parametrize("kind", KINDS)
def test_fields_of_null_structs_are_nulls(tmp_path, kind):
    path = written(tmp_path, kind, pa.table({"p": pa.array(ROWS)}), 3)
    with tw.open(path) as f:
        assert f["p.x"].tolist() == [1, None, None, 4]
        assert f["p.n.q"].tolist() == [1.5, None, 2.5, 3.5]
        assert f["p.n.s"].tolist() == ["ab", None, "", "c"]
        with pytest.raises(DataFileError, match="null"):
            f["p.y"].tolist()
    assert read(path, null_rows="empty")[0]["p.y"] == [[1], [], [], [2, 3]]


LISTS = {
    "list": pa.list_,
    "large_list": pa.large_list,
    "list_view": pa.list_view,
    "large_list_view": pa.large_list_view,
    "fixed_size_list": lambda kind: pa.list_(kind, 2),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lists", LISTS)
def test_structs_in_lists_are_rows_of_fields(tmp_path, kind, lists):
    inner = pa.struct([("pt", pa.float64()), ("v", pa.struct([("i", pa.list_(pa.int8()))]))])
    rows = [
        [{"pt": 1.5, "v": {"i": [1, 2]}}, {"pt": 2.5, "v": {"i": []}}],
        [{"pt": 3.5, "v": {"i": [3]}}, {"pt": 4.5, "v": {"i": [4]}}],
    ]
    rows = rows if lists == "fixed_size_list" else [*rows, [], rows[0][:1]]
    if lists.endswith("_view") and kind == "parquet":
        pytest.skip("pyarrow writes no views of lists of structs to Parquet")
    found, losses = read(written(tmp_path, kind, pa.table({"m": pa.array(rows, LISTS[lists](inner))}), 3))
    assert found == {
        "m.pt": [[own["pt"] for own in row] for row in rows],
        "m.v.i": [[own["v"]["i"] for own in row] for row in rows],
    }
    assert not losses


def test_slices_and_null_lists_keep_their_places():
    kind = pa.list_(pa.struct([("x", pa.int32()), ("y", pa.string())]))
    array = pa.array(
        [[{"x": 9, "y": "i"}], None, [{"x": 1, "y": "a"}, None], [], [{"x": 2, "y": None}]], kind
    )
    (x, y) = leaves_of(kind)
    assert (x.names, y.names, x.parts, y.parts) == (("x",), ("y",), range(1), range(1, 2))
    sliced = array.slice(1, 4)
    assert leaf_array(sliced, x.path).to_pylist() == [None, [1, None], [], [2]]
    assert leaf_array(sliced, y.path).to_pylist() == [None, ["a", None], [], [None]]
    leaf_array(sliced, y.path).validate(full=True)


@pytest.mark.parametrize("kind", KINDS)
def test_a_name_that_is_taken_is_told(tmp_path, kind):
    table = pa.table({"p": pa.array([{"x": 1, "x~1": 2}]), "p.x": [3], "q": pa.array([{"a.b": 4}])})
    found, losses = read(written(tmp_path, kind, table))
    assert found == {"p.x~1": [1], "p.x~1~1": [2], "p.x": [3], "q.a.b": [4]}
    assert losses == [("p.x", "name"), ("p.x~1", "name")]


@pytest.mark.parametrize("kind", KINDS)
def test_a_field_that_is_no_tensor_hides_no_other(tmp_path, kind):
    days = pa.array([1], pa.time32("ms"))
    record = pa.StructArray.from_arrays(
        [days, pa.array([5]), pa.nulls(1), pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int8()))],
        ["t", "x", "n", "m"],
    )
    found, losses = read(written(tmp_path, kind, pa.table({"p": record})))
    assert found == {"p.x": [5]}
    assert losses == [("p.t", "type"), ("p.n", "null"), ("p.m", "type")]


def test_a_struct_without_fields_is_told(tmp_path):
    table = pa.table({"p": pa.array([{}, {}]), "r": pa.array([[{}], []]), "x": [1, 2]})
    found, losses = read(written(tmp_path, "feather", table))
    assert (found, losses) == ({"x": [1, 2]}, [("p", "type"), ("r", "type")])


def cells(data, shapes, rank=2, **said):
    storage = pa.struct([("data", pa.list_(pa.int32())), ("shape", pa.list_(pa.int32(), rank))])
    rows = [{"data": own, "shape": shape} for own, shape in zip(data, shapes, strict=True)]
    metadata = {
        b"ARROW:extension:name": b"arrow.variable_shape_tensor",
        b"ARROW:extension:metadata": json.dumps(said).encode(),
    }
    return pa.array(rows, storage), pa.field("c", storage, metadata=metadata)


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_tensors_of_several_shapes_are_cells(tmp_path, kind, rows, monkeypatch):
    monkeypatch.setattr(_parquet, "_SMALL", 0)
    for order, right in (
        ([0, 1], [[[1, 2], [3, 4], [5, 6]], [[7]]]),
        ([1, 0], [[[1, 3, 5], [2, 4, 6]], [[7]]]),
    ):
        names = ["a", "not a name"]
        array, field = cells([[1, 2, 3, 4, 5, 6], [7]], [[3, 2], [1, 1]], permutation=order, dim_names=names)
        struct = pa.StructArray.from_arrays(
            [array, pa.array([1, 2])], fields=[field, pa.field("k", pa.int64())]
        )
        schema = pa.schema([field, pa.field("s", struct.type)])
        table = pa.Table.from_arrays([array, struct], schema=schema)
        with tw.open(written(tmp_path, kind, table, rows)) as f:
            assert list(f) == ["c", "s.c", "s.k"]
            for name in ("c", "s.c"):
                assert f[name].tolist() == right
                assert f[name].shape.names == (None, *[("a", None)[mode] for mode in order])
            assert [(loss.name, loss.code) for loss in f.losses] == [("c", "name"), ("s.c", "name")]


@pytest.mark.parametrize("kind", KINDS)
def test_tensors_whose_extents_are_wrong_are_refused_alone(tmp_path, kind):
    array, field = cells([[1, 2, 3, 4, 5, 6], [7, 8]], [[3, 2], [1, 1]])
    table = pa.Table.from_arrays(
        [array, pa.array([1, 2])], schema=pa.schema([field, pa.field("x", pa.int64())])
    )
    with tw.open(written(tmp_path, kind, table)) as f:
        assert f["x"].tolist() == [1, 2]
        with pytest.raises(DataFileError, match=r"extents \[1, 1\], and 2 elements") as caught:
            f["c"]
        assert caught.value.args[0].code == "convention"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "said", [{}, {"permutation": [1, 0]}, {"permutation": [1, 0], "dim_names": ["a", "b"]}]
)
def test_tensors_of_one_shape_are_those_of_pyarrow(tmp_path, kind, said):
    form = pa.fixed_shape_tensor(pa.int16(), [2, 3], **said)
    array = pa.ExtensionArray.from_storage(
        form, pa.array(np.arange(12, dtype="i2").reshape(2, 6).tolist(), form.storage_type)
    )
    right = array.to_tensor()
    table = pa.table({"t": array, "none": pa.array([1, 2])})
    found = tw.open(written(tmp_path, kind, table, 1))["t"]
    assert found.tolist() == right.to_numpy().tolist()
    names = right.dim_names or ["", "", ""]
    assert found.shape.names == tuple([name or None for name in names])
    empty = tw.open(written(tmp_path, kind, table.slice(0, 0)))["t"]
    assert (empty.shape.extents, empty.tolist()) == ((0, *right.shape[1:]), [])


def test_wide_files_are_read_by_the_columns_that_are_asked_for(tmp_path):
    kind = pa.struct([("x", pa.int64()), ("y", pa.list_(pa.int64()))])
    table = pa.table({f"c{k}": pa.array([{"x": k, "y": [k] * (k % 3)}], kind) for k in range(300)})
    f = tw.open(written(tmp_path, "parquet", table))
    assert len(f) == 600
    assert (f["c77.x"].tolist(), f["c299.y"].tolist(), f["c298.y"].tolist()) == ([77], [[299] * 2], [[298]])
