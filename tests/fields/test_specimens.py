"""Records as others make them: faults that were found from outside."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.errors import ConversionError, DTypeError, IndexTypeError, TensorNameError
from tensorwrapper.selection import as_view

ak = pytest.importorskip("awkward")
pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
feather = pytest.importorskip("pyarrow.feather")
parquet = pytest.importorskip("pyarrow.parquet")

WITH_NULL = {"t": [[1], None, [2, 3]], "r": [1, 2, 3]}


def as_structs(columns):
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


TABLES = {
    "table": pa.table,
    "chunks": lambda columns: pa.concat_tables([pa.table(columns).slice(0, 1), pa.table(columns).slice(1)]),
    "batch": pa.record_batch,
    "structs": lambda columns: pa.array(as_structs(columns)),
    "awkward": lambda columns: ak.Array(as_structs(columns)),
    "pandas": pd.DataFrame,
    "pandas of Arrow": lambda columns: pa.table(columns).to_pandas(types_mapper=pd.ArrowDtype),
    "mapping": lambda columns: {name: pa.array(own) for name, own in columns.items()},
}


@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
def test_null_rows_become_empty_if_asked(make):
    with pytest.raises(ConversionError, match="null_rows='empty'"):
        tw.records(make(WITH_NULL))
    r = tw.records(make(WITH_NULL), null_rows="empty")
    assert r.to_dict() == {"t": [[1], [], [2, 3]], "r": [1, 2, 3]}
    assert tw.records(WITH_NULL, null_rows="empty").to_dict() == r.to_dict()
    assert r.shape == tw.Shape.jagged([1, 0, 2])


@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
def test_a_field_tells_null_rows_from_empty_ones(make):
    r = tw.records(make(WITH_NULL), null_rows="field")
    assert r.to_dict() == {"t": [[1], [], [2, 3]], "t.is_valid": [True, False, True], "r": [1, 2, 3]}
    whole = tw.records(make({**WITH_NULL, "t": [[1], [], [2, 3]]}), null_rows="field")
    assert whole.names == r.names
    assert whole["t.is_valid"].tolist() == [True] * 3


rows_or_none = st.lists(st.none() | st.lists(st.integers(0, 9), max_size=3), min_size=1).filter(any)


@given(rows_or_none, st.sampled_from(sorted(TABLES)))
def test_null_rows_are_told_apart_from_any_table(rows, name):
    r = tw.records(TABLES[name]({"t": rows}), null_rows="field")
    assert r["t"].tolist() == [row or [] for row in rows]
    assert r["t.is_valid"].tolist() == [row is not None for row in rows]


def test_null_lists_of_structs_and_null_structs_are_rows_too():
    structs = pa.array([[{"x": 1, "y": [1]}], None, [{"x": 2, "y": [2]}, {"x": 3, "y": None}]])
    r = tw.records(structs, null_rows="empty")
    assert r.shape == tw.Shape.jagged([1, 0, 2])
    assert r.to_dict() == {"x": [[1], [], [2, 3]], "y": [[[1]], [], [[2], []]]}
    inner = tw.records(structs[2:], null_rows="field")
    assert inner["y.is_valid"].tolist() == [[True, False]]
    with pytest.raises(ConversionError, match=r"modes 0 and 1 .* null_rows='empty'"):
        tw.records(structs, null_rows="field")
    gone = tw.records(pa.table({"m": [{"t": [1]}, None]}), null_rows="field")
    assert gone.to_dict() == {"m.t": [[1], []], "m.t.is_valid": [True, False]}


def test_a_field_of_null_rows_takes_no_name_of_another():
    with pytest.raises(TensorNameError, match=r"'t\.is_valid'"):
        tw.records(pa.table({"t": [[1], None], "t.is_valid": [1, 2]}), null_rows="field")
    with pytest.raises(ConversionError, match="'refuse', 'empty' or 'field', not 'drop'"):
        tw.records({"x": [1]}, null_rows="drop")
    lazy = as_view(np.arange(3))
    assert tw.records({"x": lazy}, null_rows="field").names == ("x",)


def test_objects_that_are_no_lists_are_read_or_refused_as_ever():
    frame = pd.DataFrame({"s": ["a", None], "t": [[1], None]})
    assert tw.records(frame, null_rows="empty").to_dict() == {"s": ["a", None], "t": [[1], []]}
    with pytest.raises(DTypeError):
        tw.records(pd.DataFrame({"o": [1, "a"]}), null_rows="empty")


def jagged(lengths, elements):
    return tw.from_buffer(np.array(elements), tw.Shape.jagged(lengths))


@pytest.mark.parametrize("form", ["columns", "structs"])
@pytest.mark.parametrize("rows", [slice(1), slice(1, 2), slice(0)])
def test_the_type_in_arrow_does_not_depend_on_how_long_rows_happen_to_be(form, rows):
    r = tw.records({"x": jagged([[0, 1], [1]], [7, 8]), "y": jagged([2, 1], [1, 2, 3])})
    whole, part = r.to_arrow(form), r[rows].compute().to_arrow(form)
    assert (part.schema == whole.schema) if form == "columns" else (part.type == whole.type)
    assert part.to_pylist() == whole.to_pylist()[rows]
    (part.validate if form == "structs" else part.combine_chunks().validate)(full=True)


@given(
    st.lists(st.lists(st.lists(st.integers(0, 2), max_size=2), max_size=2), max_size=3).filter(
        lambda lengths: any(map(any, lengths))
    )
)
def test_jagged_rows_are_large_lists_at_any_depth(lengths):
    shape = tw.Shape.jagged(lengths, rank=4)
    found = tw.from_buffer(np.arange(shape.size), shape).to_arrow()
    assert str(found.type).count("large_list") == 3
    found.validate(full=True)
    assert found.to_pylist() == tw.from_buffer(np.arange(shape.size), shape).tolist()


IN_BOXES = [[{"x": [1], "y": 1, "v": [1, 2]}, {"x": [], "y": 2, "v": [3, 4]}]]
KIND = pa.struct([("y", pa.int64()), ("v", pa.list_(pa.int64(), 2)), ("x", pa.list_(pa.int64()))])


@pytest.mark.parametrize(
    "structs",
    [
        pa.array(IN_BOXES, pa.list_(KIND, 2)),
        ak.to_regular(ak.to_regular(ak.Array(IN_BOXES), axis=1)[["v", "y"]], axis=1),
        ak.to_regular(ak.Array(IN_BOXES), axis=1),
    ],
    ids=["Arrow", "boxes of Awkward", "Awkward"],
)
def test_structs_in_lists_of_one_size_may_have_lists(structs):
    r = tw.records(structs)
    assert r.rank == 2
    assert r["y"].tolist() == [[1, 2]]
    assert r["v"].tolist() == [[[1, 2], [3, 4]]]
    assert "x" not in r.names or r["x"].tolist() == [[[1], []]]
    assert [list(map(dict, row)) for row in r.to_arrow("structs").to_pylist()] == structs.tolist()


@given(st.lists(st.lists(st.lists(st.integers(0, 9), max_size=2), min_size=3, max_size=3), max_size=4))
def test_any_lists_are_in_structs_in_boxes(lists):
    rows = [[{"n": len(x), "x": x} for x in row] for row in lists]
    kind = pa.struct([("n", pa.int64()), ("x", pa.list_(pa.int64()))])
    r = tw.records(pa.array(rows, pa.list_(kind, 3)))
    assert r.to_dict() == {"n": [[len(x) for x in row] for row in lists], "x": lists}


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_columns_of_structs_are_fields_with_dotted_names(tmp_path, suffix):
    table = pa.table({"det": [{"x": 1, "y": 2}], "s": [[{"a": 1}]], "run": [1]})
    path = tmp_path / f"run.{suffix}"
    feather.write_feather(table, path) if suffix == "feather" else parquet.write_table(table, path)
    f = tw.open(path)
    assert f.losses == ()
    found = f.records().to_dict()
    assert found == {"det.x": [1], "det.y": [2], "s.a": [[1]], "run": [1]}
    read = feather.read_table if suffix == "feather" else parquet.read_table
    assert tw.records(read(path)).to_dict() == found


def events():
    return tw.records({"t": tw.jagged([[5, 1, 7], [], [2, 9]]), "run": [10, 20, 30]})


@pytest.mark.parametrize(
    "convert",
    [
        lambda e: e.to_arrow(),
        lambda e: e.to_arrow("structs"),
        pa.table,
        lambda e: e.to_awkward(),
        lambda e: e.to_pandas(),
    ],
    ids=["table", "structs", "C interface", "Awkward", "pandas"],
)
@pytest.mark.parametrize("row", [1, 2])
def test_a_single_element_beside_rows_is_refused_by_tables(convert, row):
    with pytest.raises(ConversionError, match=r"'run'.* drop\('run'\).* r\[k:k \+ 1\]"):
        convert(events()[row])
    assert len(convert(events()[row].drop("run"))) == len(events()[row])


@pytest.mark.parametrize("row", [1, 2])
def test_one_row_is_the_same_through_arrow_and_awkward(row):
    e = events()[row : row + 1]
    assert tw.records(e.to_arrow()).to_dict() == e.to_dict()
    assert tw.records(e.to_awkward()).to_dict() == e.to_dict()


def refusal(call, error=ConversionError):
    with pytest.raises(error) as caught:
        call()
    return str(caught.value)


@pytest.mark.parametrize(
    ("key", "advice"),
    [
        (("t", 0), "r['t'][0]"),
        ((0, "t"), "r['t'][0]"),
        (("t", slice(1), 0), "r['t'][:1, 0]"),
        (("t", "run"), "r[['t', 'run']]"),
        (("t", "run", slice(2)), "r[['t', 'run']][:2]"),
    ],
)
def test_names_among_positions_are_told_the_two_keys(key, advice):
    r = events()[:1]
    assert f"`{advice}`" in refusal(lambda: r[key], IndexTypeError)
    eval(advice, {"r": r})


def test_records_are_called_records_where_a_tensor_is_wanted():
    e = events()
    calls = [
        lambda: tw.as_tensor(e),
        lambda: as_view(e),
        lambda: tw.where(e, e, e),
        lambda: tw.concat([e["t"], e]),
        lambda: tw.stack([e["t"], e]),
        lambda: e.with_field("z", e),
    ]
    for call in calls:
        assert "records are one tensor for each field: `r['t']`" in refusal(call)


def test_drop_takes_names_one_by_one():
    said = refusal(lambda: events().drop(["run"]))
    assert "drop('run')" in said
    assert events().drop("run").names == ("t",)


def test_text_with_nulls_is_a_field_as_other_text_is(tmp_path):
    for text in (["a", None], tw.strings(["a", None])):
        assert tw.records({"s": text}).to_dict() == {"s": ["a", None]}
        with tw.TensFile(tmp_path / f"{type(text).__name__}.tens", "a") as f:
            f.extend("w", {"s": text})
            f.extend("w", {"s": [None, "b"]})
            assert f.records("w").to_dict() == {"s": ["a", None, None, "b"]}


@pytest.mark.parametrize("nest", [3, b".", ""])
@pytest.mark.parametrize("form", ["columns", "structs"])
def test_what_nests_names_is_a_text(nest, form):
    r = tw.records({"m.x": [1], "m.y": [2]})
    assert "nest='.'" in refusal(lambda: r.to_arrow(form, nest=nest))
    assert r.to_arrow(form, nest=".").to_pylist() == [{"m": {"x": 1, "y": 2}}]


@pytest.mark.parametrize(
    "index", [[0, 1], pd.RangeIndex(2), pd.Index([0, 1], dtype="u1"), pd.Index([0, 1], name="k")]
)
def test_an_index_that_counts_from_0_is_left_out(index):
    assert tw.records(pd.DataFrame({"a": [1, 2]}, index=index)).to_dict() == {"a": [1, 2]}


@pytest.mark.parametrize(
    "index", [[1, 2], pd.RangeIndex(1, 3), [1, 0], ["a", "b"], [0, 0], [False, True], [0.0, 1.0]]
)
def test_any_other_index_is_refused(index):
    frame = pd.DataFrame({"a": [1, 2]}, index=index)
    assert "reset_index(drop=True) drops it" in refusal(lambda: tw.records(frame))
    assert tw.records(frame.reset_index(drop=True)).to_dict() == {"a": [1, 2]}
    assert tw.records(frame.reset_index()).names == ("index", "a")
    empty = frame[:0].reset_index(drop=True)
    assert len(tw.records(empty)) == 0


def test_names_with_the_separator_at_an_end_come_back():
    columns = {"a.": [1, 2], "n.q": [3, 4], ".b": [5, 6], "n.z..y": [7, 8], "m.x.y": [9, 0]}
    table = tw.records(columns).to_arrow(nest=".")
    again = tw.records(table)
    assert {name: again[name].tolist() for name in again.names} == columns


def test_structures_with_one_name_for_two_fields_are_refused():
    array = np.zeros(2, [("a.b", "i4"), ("a", [("b", "i4")])])
    with pytest.raises(TensorNameError, match=r"'a\.b'"):
        tw.records(array)


def test_text_in_structures_comes_back():
    columns = {"w": ["x", "yz"], "i": [1, 2]}
    made = tw.records({"w": tw.strings(columns["w"]), "i": columns["i"]})
    assert tw.records(made.to_structured()).to_dict() == columns
    assert tw.records(np.array([(b"a", 1)], [("s", "S2"), ("i", "i4")])).to_dict() == {"s": [b"a"], "i": [1]}


KEYS = {
    "points": ([0, 2], [1, 0]),
    "a list and a number": ([0, 2], 0),
    "a number and a list": (0, [1, 0]),
    "a list behind all rows": (..., [0, 1]),
    "a list and a number with dots between": ([0, 1], ..., 1),
    "points of two modes": ([[0], [1]], [0, 1]),
    "a slice and a list": (slice(1, None), [1]),
    "a mask and a list": ([True, False, True], [1, 0]),
}


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize("of", [lambda t: t, as_view], ids=["tensors", "views"])
@pytest.mark.parametrize(
    "rows", [tw.jagged([[1, 2], [3, 4], [5, 6]]), tw.as_tensor([[1, 2], [3, 4], [5, 6]])]
)
def test_each_key_selects_of_records_what_it_selects_of_a_field(rows, of, key):
    found = tw.records({"a": of(rows), "b": of(rows * 2)})[key]
    for name, factor in (("a", 1), ("b", 2)):
        assert found[name].tolist() == (rows[key] * factor).tolist()
        assert found[name].shape == rows[key].shape
