"""Nulls in files: Parquet and Feather have them, all other kinds refuse them, and nothing is written."""

import itertools
import pickle

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import feather

import tensorwrapper as tw
from tensorwrapper.errors import ConversionError, DataFileError
from tensorwrapper.selection import View
from tensorwrapper.store.formats.columns import _parquet
from tests.support.nulls import KINDS, garbage_under, same

NAN = float("nan")
COUNT = itertools.count()
COLUMNS = {
    "numbers": pa.array([1, None, 3, 4, None]),
    "floats": pa.array([1.5, None, NAN, 4.0, 5.0]),
    "truths": pa.array([True, None, False, None, True]),
    "rows": pa.array([[3, None, 1], [], [None], [2, 2], [5]]),
    "deep": pa.array([[[1, None]], [], [[], [2]], [[3]], [[None]]]),
    "pairs": pa.array([[1, None], [2, 3], [4, 5], [None, None], [6, 7]], pa.list_(pa.int32(), 2)),
    "none": pa.array([1, 2, 3, 4, 5]),
}


def written(path, columns, **options):
    table = pa.table(columns)
    if path.suffix == ".parquet":
        pq.write_table(table, path, **options)
    else:
        feather.write_feather(table, str(path), chunksize=options.get("row_group_size"))
    return path


@pytest.mark.parametrize("rows", [2, 9])
@pytest.mark.parametrize("kind", ["parquet", "feather"])
@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_with_nulls_is_a_nullable_tensor(tmp_path, kind, name, rows):
    f = tw.open(written(tmp_path / f"a.{kind}", COLUMNS, row_group_size=rows))
    assert f.losses == ()
    found, want = f[name], COLUMNS[name].to_pylist()
    assert same(found.tolist(), want)
    assert found.null_count == str(want).count("None")
    assert found.is_nullable == (name != "none")
    for key in (slice(1, 4), slice(None, None, -1), [4, 0]):
        taken = want[key] if isinstance(key, slice) else [want[place] for place in key]
        assert same(found[key].tolist(), taken)
    assert same(pickle.loads(pickle.dumps(found[1:])).tolist(), want[1:])
    assert f.describe(name).shape == found.shape


def test_of_many_lists_the_groups_with_nulls_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(_parquet, "_SMALL", 0)
    path = written(tmp_path / "a.parquet", COLUMNS, row_group_size=2)
    for name in ("rows", "deep"):
        view = tw.open(path)[name]
        assert isinstance(view, View)
        assert view.is_nullable
        assert same(view.tolist(), COLUMNS[name].to_pylist())
        assert (view + 1).null_count == view.null_count


def test_numbers_are_a_view_where_the_footer_says_that_there_is_no_null(tmp_path):
    table = {
        "none": COLUMNS["none"],
        "some": COLUMNS["numbers"],
        "time": pa.array([1, None], pa.timestamp("us")),
    }
    table = {name: own[:2] for name, own in table.items()}
    f = tw.open(written(tmp_path / "a.parquet", table))
    assert [isinstance(f[name], View) for name in table] == [True, False, True]
    assert np.isnat(np.asarray(f["time"])).tolist() == [False, True]
    unsaid = tw.open(written(tmp_path / "b.parquet", table, write_statistics=False))
    assert [isinstance(unsaid[name], View) for name in table] == [False, False, True]
    assert not unsaid["none"].is_nullable
    schema = pa.schema([pa.field("none", pa.int64(), nullable=False)])
    pq.write_table(pa.table([table["none"]], schema=schema), tmp_path / "c.parquet", write_statistics=False)
    assert isinstance(tw.open(tmp_path / "c.parquet")["none"], View)


def test_a_footer_that_counts_no_nulls_where_there_are_some_is_found_out(tmp_path, monkeypatch):
    path = written(tmp_path / "a.parquet", {"numbers": COLUMNS["numbers"]})
    monkeypatch.setattr(_parquet._Groups, "may_have_nulls", lambda _: False)
    with pytest.raises(DataFileError, match="nulls that its footer does not count"):
        tw.open(path)["numbers"].compute()


NULL_ROWS = {
    "rows": (pa.array([[1], None, [2, None], []]), [[1], [], [2, None], []]),
    "deep": (pa.array([[[1], None], None, [], [[2]]]), [[[1], []], [], [], [[2]]]),
    "pairs": (
        pa.array([[1, 2], [3, 4], None, [5, None]], pa.list_(pa.int8(), 2)),
        [[1, 2], [3, 4], [], [5, None]],
    ),
    "text": (pa.array([["a", None], None, [], ["b"]]), [["a", None], [], [], ["b"]]),
    "times": (
        pa.array([[1], None, [None], [2]], pa.list_(pa.timestamp("us"), 1)),
        [[1], [], [None], [2]],
    ),
}


@pytest.mark.parametrize("rows", [2, 9])
@pytest.mark.parametrize("kind", ["parquet", "feather"])
@pytest.mark.parametrize("name", NULL_ROWS)
def test_null_rows_are_refused_or_empty(tmp_path, kind, name, rows):
    column, lists = NULL_ROWS[name]
    path = written(tmp_path / f"a.{kind}", {"x": column, "fine": pa.array([1, 2, 3, 4])}, row_group_size=rows)
    assert tw.open(path)["fine"].tolist() == [1, 2, 3, 4]
    with pytest.raises((DataFileError, ConversionError), match="null_rows"):
        tw.open(path)["x"].tolist()
    found = tw.open(path, null_rows="empty")["x"]
    if name == "times":
        assert found.shape == tw.Shape.jagged([1, 0, 1, 1])
    else:
        assert found.tolist() == lists
    with pytest.raises(ConversionError, match="'refuse' or 'empty'"):
        tw.open(path, null_rows="drop")


@pytest.mark.parametrize("end", [".parquet", ".feather"])
@pytest.mark.parametrize("dtype", KINDS)
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_nullable_tensors_come_back_from_files_law_10(tmp_path, end, dtype, data):
    rows = data.draw(st.lists(st.lists(st.one_of(st.none(), st.integers(0, 1)), max_size=4), max_size=4))
    flat = list(itertools.chain.from_iterable(rows))
    values = np.array([own or 0 for own in flat]).astype(dtype)
    valid = np.array([own is not None for own in flat], np.bool_)
    shape = tw.Shape.jagged([len(row) for row in rows], rank=2)
    there = tw.nullable(tw.from_buffer(values, shape), valid)
    flat_ones = tw.nullable(values, valid)
    for tensor in (
        there,
        there[:, ::-1],
        tw.concat([there, there]),
        flat_ones,
        tw.concat([flat_ones, flat_ones])[1:],
    ):
        path = tmp_path / f"{next(COUNT)}{end}"
        tw.save(path, {"x": tensor.named("run") if tensor.rank == 1 else tensor})
        back = tw.open(path)["x"]
        assert back.shape.flatten() == (tensor.named("run") if tensor.rank == 1 else tensor).shape.flatten()
        assert back.dtype == tensor.dtype
        assert same(back.tolist(), tensor.tolist())
        assert back.null_count == tensor.null_count


@pytest.mark.parametrize("end", [".parquet", ".feather"])
def test_what_stands_under_a_null_is_not_in_the_file_law_13(tmp_path, end):
    for dtype in ("f8", "i4", "?"):
        files = []
        for seed in (1, 2):
            path = tmp_path / f"{seed}{end}"
            tw.save(path, {"x": garbage_under([True, False, True, False], dtype, seed)})
            files.append(path.read_bytes())
        assert files[0] == files[1]


WITHOUT = [".h5", ".zarr", ".npz", ".npy", ".safetensors", ".tar", ".zip"]
NULLABLE = {
    "numbers": tw.as_tensor([1, None, 3]),
    "box": tw.as_tensor([[1.5, None], [2, 3]]),
    "rows": tw.jagged([[1, None], [2]]),
    "view": tw.concat([tw.as_tensor([1, None]), tw.as_tensor([2])]),
    "truths": tw.as_tensor([True, None]),
}


@pytest.mark.parametrize("name", NULLABLE)
@pytest.mark.parametrize("end", WITHOUT)
def test_kinds_without_nulls_refuse_them_and_write_nothing(tmp_path, end, name):
    key = {".npy": "array", ".tar": "tensor_0_0", ".zip": "tensor_0_0"}.get(end, "x")
    path = tmp_path / f"a{end}"
    with pytest.raises(ConversionError, match=rf"{key}.*fill_null"):
        tw.save(path, {key: NULLABLE[name]})
    assert list(tmp_path.iterdir()) == []
    filled = NULLABLE[name].fill_null(0)
    if filled.shape.is_box:
        tw.save(path, {key: filled})
        assert same(tw.open(path)[key].tolist(), filled.tolist())
        before = path.read_bytes() if path.is_file() else None
        with pytest.raises(ConversionError, match="fill_null"):
            tw.save(path, {key: NULLABLE[name]})
        assert before is None or path.read_bytes() == before


@pytest.mark.parametrize("end", [".h5", ".zarr", ".npz", ".npy", ".safetensors"])
def test_room_for_nulls_and_none_is_written(tmp_path, end):
    path = tmp_path / f"a{end}"
    for tensor in (tw.nullable([1, 2]), tw.concat([tw.nullable([1]), tw.nullable([2])])):
        tw.save(path, {"array": tensor})
        assert tw.open(path)["array"].tolist() == [1, 2]


@pytest.mark.parametrize("end", ["h5", "zarr", "npz", "safetensors", "parquet", "feather"])
def test_a_table_with_nulls_is_converted_where_there_is_a_place_for_them(tmp_path, end):
    source = written(tmp_path / "a.parquet", {"n": pa.array([1, None]), "x": pa.array([1, 2])})
    target = tmp_path / f"b.{end}"
    if end in ("parquet", "feather"):
        assert tw.store.convert(source, target).lost == ()
        assert tw.open(target)["n"].tolist() == [1, None]
        return
    with pytest.raises(ConversionError, match=r"'n'.*fill_null.*strict=False"):
        tw.store.convert(source, target)
    assert not target.exists()
    done = tw.store.convert(source, target, strict=False)
    assert [(loss.name, loss.code) for loss in done.lost] == [("n", "null")]
    assert list(tw.open(target)) == ["x"]
