"""Records of other libraries, and records in them: names, shapes, types and elements there and back."""

import numpy as np
import pytest
from hypothesis import given

import tensorwrapper as tw
from tensorwrapper.errors import ConversionError, TensorNameError
from tests.fields.test_laws import records

ak = pytest.importorskip("awkward")
pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")


def events():
    return tw.records(
        {
            "t": tw.jagged([[5, 1, 7], [], [2, 9]]),
            "q": tw.jagged([[0.5, 1.5, 2.5], [], [3.5, 4.5]]),
            "run": [10, 20, 30],
        }
    )


ROWS = [
    {"t": [5, 1, 7], "q": [0.5, 1.5, 2.5], "run": 10},
    {"t": [], "q": [], "run": 20},
    {"t": [2, 9], "q": [3.5, 4.5], "run": 30},
]


def test_what_speaks_arrow_takes_records():
    assert pa.table(events()).to_pylist() == ROWS
    assert pa.record_batch(events()).to_pylist() == ROWS
    assert events().to_arrow().to_pylist() == ROWS
    assert pd.DataFrame.from_arrow(events())["run"].tolist() == [10, 20, 30]


def test_fields_of_one_shape_share_their_offsets_in_arrow():
    table = pa.table(events())
    offsets = {table[name].chunks[0].buffers()[1].address for name in ("t", "q")}

    assert len(offsets) == 1
    e = events()
    assert e.to_arrow()["t"].chunks[0].values.buffers()[1].address == e["t"].elements().ctypes.data


def test_structs_are_in_the_lists_of_the_shape():
    found = events().drop("run").to_arrow("structs")

    assert found.to_pylist()[2] == [{"t": 2, "q": 3.5}, {"t": 9, "q": 4.5}]
    assert pa.types.is_large_list(found.type)
    found.validate(full=True)
    matrix = tw.records({"x": np.arange(6).reshape(2, 3), "y": np.ones((2, 3, 2))}, shape=(2, 3))
    boxes = matrix.to_arrow("structs")
    assert boxes.to_pylist()[0][1] == {"x": 1, "y": [1.0, 1.0]}
    flat = tw.records({"x": [1, 2], "y": [0.5, 1.5]}).to_arrow("structs")
    assert flat.to_pylist() == [{"x": 1, "y": 0.5}, {"x": 2, "y": 1.5}]


@pytest.mark.parametrize(
    "table",
    [
        pa.table({"t": [[5, 1, 7], [], [2, 9]], "run": [10, 20, 30]}),
        pa.concat_tables(
            [
                pa.table({"t": [[5, 1, 7]], "run": [10]}),
                pa.table({"t": pa.array([[], [2, 9]], pa.list_(pa.int64())), "run": [20, 30]}),
            ]
        ),
        pa.table({"t": [[0], [5, 1, 7], [], [2, 9]], "run": [0, 10, 20, 30]}).slice(1),
        pa.record_batch({"t": [[5, 1, 7], [], [2, 9]], "run": [10, 20, 30]}),
        pa.array([{"t": [5, 1, 7], "run": 10}, {"t": [], "run": 20}, {"t": [2, 9], "run": 30}]),
        pa.array([None, {"t": [5, 1, 7], "run": 10}, {"t": [], "run": 20}, {"t": [2, 9], "run": 30}])[1:],
        pd.DataFrame({"t": [[5, 1, 7], [], [2, 9]], "run": [10, 20, 30]}),
        pd.DataFrame({"t": [[0], [5, 1, 7], [], [2, 9]], "run": [0, 10, 20, 30]})[1:].reset_index(drop=True),
        ak.Array([{"t": [5, 1, 7], "run": 10}, {"t": [], "run": 20}, {"t": [2, 9], "run": 30}]),
    ],
    ids=[
        "table",
        "chunks",
        "slice",
        "batch",
        "structs",
        "part of structs",
        "frame",
        "part of a frame",
        "awkward",
    ],
)
def test_tables_are_read(table):
    found = tw.records(table)

    assert found.to_dict() == {"t": [[5, 1, 7], [], [2, 9]], "run": [10, 20, 30]}
    assert found.shape == events().shape


@pytest.mark.parametrize(
    "array",
    [
        ak.zip({"t": [[5, 1, 7], [], [2, 9]], "q": [[0.5, 1.5, 2.5], [], [3.5, 4.5]]}),
        pa.array(
            [
                [{"t": 5, "q": 0.5}, {"t": 1, "q": 1.5}, {"t": 7, "q": 2.5}],
                [],
                [{"t": 2, "q": 3.5}, {"t": 9, "q": 4.5}],
            ]
        ),
        pa.array(
            [
                [{"t": 0, "q": 0.0}],
                [{"t": 5, "q": 0.5}, {"t": 1, "q": 1.5}, {"t": 7, "q": 2.5}],
                [],
                [{"t": 2, "q": 3.5}, {"t": 9, "q": 4.5}],
            ],
            pa.large_list(pa.struct({"t": pa.int64(), "q": pa.float64()})),
        )[1:],
    ],
    ids=["awkward", "arrow", "large lists, a part"],
)
def test_structs_in_lists_are_read(array):
    found = tw.records(array)

    assert found.to_dict() == events().drop("run").to_dict()
    assert found.shape == events().shape
    assert found["t"].shape is found["q"].shape is found.shape


def test_lists_above_the_structs_are_the_shape():
    pairs = pa.array([[{"xyz": [1, 2, 3]}], []], pa.list_(pa.struct({"xyz": pa.list_(pa.int64(), 3)})))
    fixed = pa.array([[{"x": 1}, {"x": 2}]], pa.list_(pa.struct({"x": pa.int64()}), 2))
    deep = ak.Array([[[{"x": 1}], []], []])
    empty = tw.records({"x": np.zeros((2, 0)), "y": np.zeros((2, 0, 3))}, shape=(2, 0))
    assert tw.records(empty.to_arrow("structs")).to_dict() == {"x": [[], []], "y": [[], []]}

    assert tw.records(pairs).shape == tw.Shape.jagged([1, 0])
    assert tw.records(fixed).to_dict() == {"x": [[1, 2]]}
    assert tw.records(deep).to_dict() == {"x": [[[1], []], []]}
    assert tw.records(deep).rank == 3


def test_structs_in_structs_have_dotted_names_there_and_back():
    rows = [{"m": {"pt": 1, "eta": 2}, "n": [1]}, {"m": {"pt": 3, "eta": 4}, "n": []}]
    for table in (
        pa.array(rows),
        pa.table({name: [row[name] for row in rows] for name in rows[0]}),
        ak.Array(rows),
    ):
        found = tw.records(table)

        assert found.names == ("m.pt", "m.eta", "n")
        assert found.to_arrow(nest=".").to_pylist() == rows
    frame = pd.DataFrame(
        {"m": pd.Series([row["m"] for row in rows], dtype=pd.ArrowDtype(pa.array(rows).type[0].type))}
    )
    assert tw.records(frame).to_dict() == {"m.pt": [1, 3], "m.eta": [2, 4]}
    hits = tw.records(pa.array([[{"m": {"pt": 1}}], []]))
    assert hits.to_arrow("structs", nest=".").to_pylist() == [[{"m": {"pt": 1}}], []]


def test_structured_arrays_there_and_back():
    array = np.array(
        [(1, 2.0, [1, 2], (3,)), (4, 5.0, [3, 4], (6,))],
        [("a", "i4"), ("b", "f8"), ("c", "i2", 2), ("d", [("x", "u1")])],
    )
    found = tw.records(array)

    assert found.to_dict() == {"a": [1, 4], "b": [2.0, 5.0], "c": [[1, 2], [3, 4]], "d.x": [3, 6]}
    assert [str(own) for own in found.dtypes.values()] == ["int32", "float64", "int16", "uint8"]
    assert found.to_structured()["c"].tolist() == [[1, 2], [3, 4]]
    assert tw.records(found.to_structured()).array_equal(found)
    assert {name: own.tolist() for name, own in found.to_dict(arrays=True).items()} == found.to_dict()
    text = tw.records({"s": tw.strings([["é", ""], ["abc", "d"]]), "x": [[1, 2], [3, 4]]})
    assert text.to_structured().dtype == np.dtype([("s", "U3"), ("x", "i8")])
    assert tw.records(text.to_structured()).array_equal(text)
    assert text[:0].to_structured().shape == (0, 2)
    matrix = tw.records(np.zeros((2, 3), [("a", "i4"), ("b", "f4", 2)]))
    assert matrix.shape == tw.Shape(2, 3)
    assert tw.records(matrix.to_structured()).array_equal(matrix)


def test_masks_of_structured_arrays_are_not_lost():
    array = np.ma.masked_array(np.array([(1, 2.0), (3, 4.0)], [("a", "i4"), ("b", "f8")]), [(0, 0), (0, 1)])
    assert tw.records(array).to_dict() == {"a": [1, 3], "b": [2.0, None]}
    records = np.rec.array([(1, 2.0), (3, 4.0)], dtype=[("a", "i4"), ("b", "f8")])
    assert tw.records(records).to_dict() == {"a": [1, 3], "b": [2.0, 4.0]}


def test_awkward_records_share_their_offsets():
    hits = events().drop("run")
    layout = hits.to_awkward().layout

    assert layout.is_list
    assert layout.content.is_record
    assert ak.to_list(events().to_awkward()) == ROWS
    assert np.shares_memory(ak.flatten(hits.to_awkward()["t"]).layout.data, hits["t"].elements())


BAD = [
    ("tw.records(pa.array([1, 2]))", ConversionError, "fields"),
    ("tw.records(pa.array([[{'x': 1}], None]))", ConversionError, "null_rows"),
    ("tw.records(pa.table({'t': [[1], None]}))", ConversionError, "null_rows"),
    ("tw.records(pa.table({'t': [[1], None]}))", ConversionError, "'t'"),
    ("tw.records(ak.Array([{'x': [1]}, {'x': None}]))", ConversionError, "null_rows"),
    ("tw.records(pa.table([[1], [2]], ['x', 'x']))", TensorNameError, "'x'"),
    ("tw.records(pa.table({'m': [{'pt': 1}], 'm.pt': [2]}))", TensorNameError, "'m.pt'"),
    ("tw.records(pd.DataFrame({'x': [1, 2]}, index=[3, 5]))", ConversionError, "reset_index"),
    ("tw.records(pd.DataFrame({3: [1, 2]}))", TensorNameError, "3"),
    ("tw.records(pd.DataFrame([[1, 2]], columns=['x', 'x']))", TensorNameError, "'x'"),
    ("tw.records(pd.Series([1]))", ConversionError, "columns"),
    ("tw.records(ak.Array([1]))", ConversionError, "fields"),
    ("tw.records(ak.Array([{'x': 1}])[0])", ConversionError, "fields"),
    ("e.to_arrow('structs')", ConversionError, "'run'"),
    ("e.to_arrow('rows')", ConversionError, "'rows'"),
    ("e[0, 0].to_awkward()", ConversionError, "rank 0"),
    ("e[0, 0].to_arrow()", ConversionError, "rank 0"),
    ("e.to_structured()", ConversionError, "'run'"),
    ("e.drop('run').to_structured()", ConversionError, "array"),
    ("tw.records({'s': tw.strings(['a', None])}).to_structured()", ConversionError, "null"),
    ("tw.records({'s': tw.strings(['a\\0'])}).to_structured()", ConversionError, "NUL"),
    ("e.to_dict(arrays=True)", ConversionError, "array"),
    ("tw.records({'m': [1], 'm.x': [2]}).to_arrow(nest='.')", TensorNameError, "'m'"),
    ("tw.records(np.zeros(2, [('', 'i4'), ('a/b', 'i4')]))", TensorNameError, "a/b"),
]


@pytest.mark.parametrize(("text", "kind", "part"), BAD, ids=[text for text, *_ in BAD])
def test_it_is_refused(text, kind, part):
    with pytest.raises(kind) as caught:
        eval(text, {"tw": tw, "pa": pa, "pd": pd, "ak": ak, "np": np, "e": events()})
    assert part in str(caught.value) + "".join(getattr(caught.value, "__notes__", []))


def same(found, wanted):
    """Tell whether elements, names and order are the same; boxes come back as such or as rows."""
    return found.names == wanted.names and found.to_dict() == wanted.to_dict()


@given(records())
def test_there_and_back_is_the_same(r):
    made = {name: own for name, own in r.items() if own.dtype.kind != "e"}
    for name, own in r.items():
        if own.dtype == np.float16:
            made[name] = own.astype("f4")
    r = tw.records(made, shape=r.shape)
    back = tw.records(pa.table(r))

    assert same(back, r)
    assert back.dtypes == r.dtypes
    if r.rank > 1 and not r.shape.is_box:
        assert back.shape.same_elements(r.shape)  # Arrow does not say extents behind empty rows
    whole = r.drop("run") if r.rank > 1 else r
    whole = whole.drop("text") if "text" in whole.names and r.rank > 1 else whole
    assert same(tw.records(whole.to_arrow("structs")), whole)
    assert same(tw.records(r.to_awkward()), r)
    assert same(tw.records(whole.to_awkward()), whole)
    assert same(tw.records(r.to_pandas()), r)


@pytest.mark.parametrize(
    "table",
    [
        pa.table({"x": [1, None, 3]}),
        pa.array([{"x": 1}, None, {"x": 3}]),
        pa.array([{"x": 1}, {"x": None}, {"x": 3}]),
        pd.DataFrame({"x": pd.array([1, None, 3], dtype="Int64")}),
        ak.Array([{"x": 1}, {"x": None}, {"x": 3}]),
        ak.Array([{"x": 1}, None, {"x": 3}]),
    ],
    ids=["table", "structs", "in structs", "frame", "in awkward", "awkward"],
)
def test_nulls_there_and_back(table):
    found = tw.records(table)

    assert found["x"].is_nullable
    assert found.to_dict() == {"x": [1, None, 3]}
    for back in (found.to_arrow(), found.to_arrow("structs"), found.to_awkward(), found.to_pandas()):
        assert tw.records(back).to_dict() == {"x": [1, None, 3]}
    rows = tw.records({"n": tw.nullable(tw.jagged([[3, 0], []]), tw.jagged([[True, False], []]))})
    assert rows.to_arrow("structs").to_pylist() == [[{"n": 3}, {"n": None}], []]
    assert tw.records(rows.to_arrow("structs")).to_dict() == rows.to_dict()
    assert tw.records(rows.to_awkward()).to_dict() == rows.to_dict()


def test_frames_of_polars_there_and_back():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(events())

    assert frame.to_dicts() == ROWS
    assert events().to_polars().to_dicts() == ROWS
    assert tw.records(frame).to_dict() == events().to_dict()
    assert tw.records(frame).shape == events().shape
    structs = pl.DataFrame({"m": [{"pt": 1}, {"pt": 2}], "s": ["a", "b"]})
    assert tw.records(structs).to_dict() == {"m.pt": [1, 2], "s": ["a", "b"]}
    with pytest.raises(ConversionError, match="collect"):
        tw.records(frame.lazy())


def test_bytes_of_structures_are_read_back():
    made = tw.records({"s": tw.strings([b"a\0", b"bc"]), "t": tw.strings(["x", "yz"]), "i": [1, 2]})
    assert tw.records(made.to_structured()).to_dict() == made.to_dict()
    with pytest.raises(ConversionError, match="str or bytes"):
        tw.records(np.array([(3,)], [("o", object)]))


@pytest.mark.parametrize("of", ["list_view", "large_list_view"])
@pytest.mark.parametrize("part", [slice(None), slice(1, None), slice(0, 2), slice(3, None), slice(0, 0)])
def test_structs_in_views_of_lists_are_fields(of, part):
    """A cast of pyarrow 26 from views to lists loses rows."""
    pa = pytest.importorskip("pyarrow")
    make = getattr(pa, of)
    kind = make(pa.struct([("a", pa.int8()), ("b", make(pa.int16()))]))
    rows = [[{"a": 1, "b": [1]}], [{"a": 7, "b": [2, 3]}, {"a": 8, "b": []}], [], [{"a": 9, "b": [4]}]]
    found = tw.records(pa.table({"c": pa.array(rows, kind)[part]})).to_dict()
    assert found == {f"c.{key}": [[own[key] for own in row] for row in rows[part]] for key in "ab"}


def test_structs_in_views_of_lists_in_any_order_with_nulls():
    pa = pytest.importorskip("pyarrow")
    structs = pa.array([{"a": 1}, {"a": 2}, {"a": 3}])
    starts, sizes = pa.array([2, 0, 0], pa.int32()), pa.array([1, 2, 1], pa.int32())
    turned = pa.ListViewArray.from_arrays(starts, sizes, structs)
    assert tw.records(pa.table({"c": turned})).to_dict() == {"c.a": [[3], [1, 2], [1]]}
    missing = pa.array([[{"a": 1}], None, [{"a": 7}]], pa.list_view(structs.type))[1:]
    assert tw.records(pa.table({"c": missing}), null_rows="empty").to_dict() == {"c.a": [[], [7]]}
