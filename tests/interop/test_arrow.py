"""Tensors as arrays of Arrow, against pyarrow and lists."""

from datetime import date
from decimal import Decimal

import awkward as ak
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, DTypeError, ExtentError

LEAVES = [
    "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "M8[s]", "M8[ms]", "M8[us]", "M8[ns]",
    "m8[s]", "m8[ns]", ">i4", ">f8",
]  # fmt: skip


@st.composite
def rows(draw, depth=3):
    """Lists of one depth, with empty ones among them."""
    return [
        draw(rows(depth - 1)) if depth > 1 else draw(st.integers(-100, 100))
        for _ in range(draw(st.integers(0, 4)))
    ]


def test_the_tour_of_arrow_holds():
    tensor = tw.jagged([[1, 2, 3], [], [5, 6]])

    assert tensor.to_arrow().to_pylist() == pa.array(tensor).to_pylist() == [[1, 2, 3], [], [5, 6]]
    assert ak.from_arrow(pa.array(tensor)).to_list() == [[1, 2, 3], [], [5, 6]]


@given(rows())
def test_rows_of_any_depth_go_there_and_back(lists):
    form = pa.large_list(pa.large_list(pa.int64()))
    tensor = tw.as_tensor(pa.array(lists, form))
    there = tensor.to_arrow()

    assert there.to_pylist() == lists
    assert tw.as_tensor(there).tolist() == lists


@pytest.mark.parametrize("dtype", LEAVES)
def test_numbers_and_times_keep_their_memory_and_type(dtype):
    x = np.arange(24).astype(dtype)
    for shape in (tw.Shape(24), tw.Shape(2, 3, 4), tw.Shape.jagged([5, 0, 19])):
        tensor = tw.from_buffer(x, shape)
        there = tensor.to_arrow()
        back = tw.as_tensor(there)

        there.validate(full=True)
        # Before 21, pyarrow makes no halves of numbers of Python.
        plain = tensor.tolist()
        assert there.to_pylist() == (plain if dtype == "f2" else pa.array(plain, there.type).to_pylist())
        assert back.dtype == x.dtype.newbyteorder("=")
        assert back.tolist() == tensor.tolist()
        assert np.shares_memory(back.elements(), x) == x.dtype.isnative


def test_what_is_no_time_is_a_null_and_comes_back():
    x = np.array(["2020-01-01", "NaT", "1969-12-31"], "M8[s]")
    there = tw.as_tensor(x).to_arrow()
    back = tw.as_tensor(there).to_numpy()

    assert there.null_count == 1
    assert np.array_equal(np.isnat(back), np.isnat(x))
    assert (back[[0, 2]] == x[[0, 2]]).all()


def test_truth_values_are_bits():
    x = np.arange(19) % 3 == 0
    there = tw.from_buffer(x, tw.Shape.jagged([3, 0, 16])).to_arrow()

    assert there.to_pylist() == [x[:3].tolist(), [], x[3:].tolist()]


def test_strings_keep_their_nulls_in_rows_and_boxes():
    box = tw.strings([["a", None], ["bc", ""]])
    lists = tw.as_tensor(pa.array([["a"], [], ["b", None]]))

    assert box.to_arrow().to_pylist() == [["a", None], ["bc", ""]]
    assert lists.to_arrow().to_pylist() == [["a"], [], ["b", None]]
    assert tw.as_tensor(lists.to_arrow()).tolist() == lists.tolist()


def test_boxes_are_lists_of_one_length_and_share_their_memory():
    x = np.arange(24.0).reshape(2, 3, 4)
    there = tw.as_tensor(x).to_arrow()

    assert there.type == pa.list_(pa.list_(pa.float64(), 4), 3)
    assert np.shares_memory(there.flatten().flatten().to_numpy(), x)


@pytest.mark.parametrize(
    "make",
    [
        lambda t: t.permute((1, 0)),
        lambda t: t[::-1, ::2],
        lambda t: t.tiled(tw.Tiling([1, 3], [6])),
        lambda t: t.rotate((1, 2)),
        lambda t: sel.concat([t, t])[1:3],
    ],
)
def test_any_order_of_elements_is_that_of_their_indices(make):
    tensor = make(tw.as_tensor(np.arange(24).reshape(4, 6)))

    assert tensor.to_arrow().to_pylist() == tensor.tolist()


def test_a_tensor_without_elements_is_an_array_without_elements():
    for shape in (
        tw.Shape(0),
        tw.Shape(0, 3),
        tw.Shape(3, 0),
        tw.Shape.jagged([], rank=2),
        tw.Shape.jagged([0, 0]),
    ):
        tensor = tw.from_buffer(np.empty(0), shape)

        assert tensor.to_arrow().to_pylist() == tensor.tolist()


def test_the_type_that_is_asked_for_is_made():
    rows, box = tw.jagged([[1], [2, 3]]), tw.as_tensor([[1, 2], [3, 4]])
    for tensor, form in [
        (rows, pa.list_(pa.int32())),
        (rows, pa.large_list(pa.float32())),
        (box, pa.large_list(pa.int64())),
        (box, pa.list_(pa.int8(), 2)),
        (tw.strings(["a", None]), pa.string()),
        (tw.strings(["a", None]), pa.string_view()),
        (tw.as_tensor(np.array(["2020"], "M8[s]")), pa.timestamp("ns")),
    ]:
        assert (pa.array(tensor, form).type, pa.array(tensor, form).to_pylist()) == (
            form,
            pa.array(pa.array(tensor).to_pylist(), form).to_pylist(),
        )
    assert pa.field("x", pa.DataType._import_from_c_capsule(tw.jagged([[1]]).__arrow_c_schema__())).type == (
        pa.large_list(pa.int64())
    )


@pytest.mark.parametrize(
    ("tensor", "error", "words"),
    [
        (lambda: tw.as_tensor(1.0), ConversionError, "item"),
        (lambda: tw.sparse([(0, 1)], [1.0], tw.Shape(2, 2)), ConversionError, "to_dense"),
        (lambda: tw.as_tensor(np.ones(2, "c16")), DTypeError, "complex128"),
        (lambda: tw.as_tensor(np.ones(2, "M8[D]")), DTypeError, "datetime64"),
    ],
)
def test_what_arrow_cannot_say_is_refused_by_name(tensor, error, words):
    with pytest.raises(error, match=words):
        tensor().to_arrow()


def test_columns_scalars_and_tensors_of_arrow_are_read():
    table = pa.table({"a": [[1], [2, 3]], "b": [1, 2]})
    x = np.arange(6.0).reshape(2, 3)
    tensor = pa.Tensor.from_numpy(x, dim_names=["row", "column"])

    assert tw.as_tensor(table["a"]).tolist() == tw.jagged(table["a"]).tolist() == [[1], [2, 3]]
    assert tw.as_tensor(table["a"][1]).tolist() == [2, 3]
    assert tw.as_tensor(tensor).shape == tw.Shape(2, 3).named("row", "column")
    assert np.shares_memory(tw.as_tensor(tensor).to_numpy(), x)
    assert tw.as_tensor(pa.FixedShapeTensorArray.from_numpy_ndarray(x)[1]).tolist() == x[1].tolist()
    assert sel.as_view(table["a"])[1:].compute().tolist() == [[2, 3]]
    assert tw.as_tensor(pa.py_buffer(b"ab")).tolist() == [97, 98]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (pa.table({"a": [1], "b": [2]}), r"'a', 'b'.*table\['name'\]"),
        (pa.record_batch({"a": [1]}), "'a'"),
        (pa.array([{"x": 1}]), r"field\('name'\)"),
        (pa.scalar(1), "as_py"),
        (pa.scalar({"x": 1}), "as_py"),
        (pa.SparseCOOTensor.from_dense_numpy(np.eye(2)), "to_scipy"),
        (pa.schema([("a", pa.int8())]), "holds no elements"),
    ],
)
def test_what_is_no_array_is_refused_by_name(given, words):
    for read in (tw.as_tensor, tw.jagged, sel.as_view):
        with pytest.raises(ConversionError, match=words):
            read(given)


def test_polars_is_read_through_the_c_interface():
    pl = pytest.importorskip("polars")
    x = np.arange(6.0)
    series = pl.Series([[1, 2], [], [3]])

    assert tw.as_tensor(series).shape == tw.Shape.jagged([2, 0, 1])
    assert tw.as_tensor(pl.Series(["a", None])).tolist() == ["a", None]
    assert tw.as_tensor(pl.Series(x)).tolist() == x.tolist()
    assert tw.as_tensor(pl.Series([[1, 2], [3, 4]], dtype=pl.Array(pl.Int8, 2))).shape == tw.Shape(2, 2)
    assert tw.as_tensor(pl.Series([True, False])).tolist() == [True, False]
    assert pl.Series(tw.jagged([[1], [2, 3]]).to_arrow()).to_list() == [[1], [2, 3]]
    assert tw.as_tensor(pl.Series([1, None])).tolist() == [1, None]
    with pytest.raises(ConversionError, match=r"frame\['name'\]"):
        tw.as_tensor(pl.DataFrame({"a": [1]}))


def test_a_schema_that_cannot_be_met_is_refused_and_one_that_is_only_another_view_is_not():
    rows = tw.jagged([[300], [2, 3]])
    for form in (
        pa.string(),
        pa.list_(pa.int8()),
        pa.list_(pa.list_(pa.int64())),
        pa.fixed_shape_tensor(pa.int64(), [2]),
    ):
        with pytest.raises(ConversionError):
            pa.array(rows, form)
    schema, array = rows.__arrow_c_array__(pa.list_view(pa.int64()).__arrow_c_schema__())

    assert pa.Array._import_from_c_capsule(schema, array).to_pylist() == [[300], [2, 3]]


@given(st.permutations([0, 1, 2]), st.integers(0, 3))
def test_tensors_of_one_shape_go_there_and_back(order, count):
    x = np.arange(count * 24.0).reshape(count, 2, 3, 4)
    tensor = tw.as_tensor(x).named(None, "a", None, "c")
    there = tensor.to_arrow("tensor")
    stored = [x.shape[1 + order.index(mode)] for mode in range(3)]
    form = pa.fixed_shape_tensor(pa.float32(), stored, permutation=order)
    asked = tw.as_tensor(
        pa.Array._import_from_c_capsule(*tensor.__arrow_c_array__(form.__arrow_c_schema__()))
    )

    assert there.type.shape == [2, 3, 4]
    assert tw.as_tensor(there).shape == tensor.shape
    assert tw.as_tensor(there).tolist() == asked.tolist() == x.tolist()
    assert asked.dtype == np.float32
    assert not count or np.shares_memory(there.storage.values.to_numpy(), x)


@pytest.mark.parametrize("tensor", [tw.jagged([[1], []]), tw.as_tensor([1]), tw.strings([["a"]])])
def test_what_is_no_box_of_numbers_is_no_tensor_of_arrow(tensor):
    with pytest.raises(ConversionError, match="lists"):
        tensor.to_arrow("tensor")
    with pytest.raises(ConversionError, match="'lists'"):
        tensor.to_arrow("tables")


ROWS_OF_VIEWS = [
    tw.jagged([[1, 2], [3], [], [4, 5, 6]]),
    tw.jagged([[1, 2], [3], [], [4, 5, 6]])[[3, 0, 0]],
    tw.jagged([[1, 2], [3], [], [4, 5, 6]])[::-1],
    tw.jagged([[1, 2], [3], [], [4, 5, 6]])[:, 1:],
    tw.jagged([[1, 2], [3], [], [4, 5, 6]])[:, ::-1],
    tw.jagged([[1, 2], [3], [], [4, 5, 6]])[2:2],
    tw.jagged([[[1], [2, 3]], [], [[]]]),
    tw.as_tensor(np.arange(6).reshape(2, 3)),
    tw.as_tensor(np.arange(3.0)),
    tw.from_buffer(np.arange(10), tw.Shape.jagged([tw.Shape(2, 5), tw.Shape(0, 5)])),
    tw.strings(["a", None, "bc"]).unflatten([2, 1]),
    tw.jagged([[True], [False, True]]),
]


@pytest.mark.parametrize("tensor", ROWS_OF_VIEWS, ids=lambda tensor: str(tensor.shape))
def test_views_of_lists_are_the_rows(tensor):
    there = tensor.to_arrow("list_views")
    assert there.to_pylist() == tensor.tolist()
    there.validate(full=True)
    if tensor.size and not tensor.shape.is_box:
        assert "list_view" in str(there.type)
        assert tw.as_tensor(there).tolist() == tensor.tolist()
    assert sel.as_view(tensor).to_arrow("list_views").to_pylist() == tensor.tolist()


def test_views_of_lists_share_rows_in_any_order():
    rows = tw.from_buffer(np.arange(10**5), tw.Shape.jagged(np.full(10**4, 10)))
    memory = rows.to_numpy_buffer() if hasattr(rows, "to_numpy_buffer") else rows.elements()
    with tw.buffer.count_copies() as count:
        there = rows[::-1][:, 2:].to_arrow("list_views")
    assert count.nbytes == 0
    assert there.values.buffers()[1].address == memory.ctypes.data
    assert there[0].as_py() == rows[-1].tolist()[2:]


@pytest.mark.parametrize("form", [pa.list_view, pa.large_list_view])
def test_views_of_lists_are_handed_over_when_they_are_asked_for(form):
    rows = tw.jagged([[300], [2, 3]])
    for element in (pa.int64(), pa.int32(), pa.float64()):
        schema, array = rows.__arrow_c_array__(form(element).__arrow_c_schema__())
        found = pa.Array._import_from_c_capsule(schema, array)
        assert (found.type, found.to_pylist()) == (form(element), [[300], [2, 3]])
    with pytest.raises(ConversionError, match="int8"):
        rows.__arrow_c_array__(form(pa.int8()).__arrow_c_schema__())


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_what_is_advised_for_times_with_a_zone_loses_nothing(unit):
    array = pa.array([1_700_000_000_000_000_001, 2], pa.timestamp(unit, "UTC"))
    with pytest.raises(DTypeError, match="drops the zone") as caught:
        tw.as_tensor(array)
    call = str(caught.value).rpartition("; ")[2].removesuffix(" drops the zone")
    made = tw.as_tensor(eval(f"array.{call}", {"array": array, "pa": pa}))

    assert made.elements().view("i8").tolist() == [1_700_000_000_000_000_001, 2]


def test_offsets_of_lists_that_descend_are_an_error_of_extents():
    offsets = pa.py_buffer(np.array([0, 2, 1], "i4"))
    lists = pa.Array.from_buffers(pa.list_(pa.int64()), 2, [None, offsets], children=[pa.array([7, 8])])
    with pytest.raises(ExtentError, match="element 1 would reach from 2 to 1"):
        tw.as_tensor(lists)


@pytest.mark.parametrize("kind", [pa.string(), pa.string_view(), pa.int64()])
def test_what_pyarrow_cannot_decode_is_refused_in_our_words(kind):
    words = pa.array([1, 2] if kind == pa.int64() else ["a", "b"], kind)
    given = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0], pa.int32()), words)
    for read in (sel.as_view, tw.as_tensor):
        with pytest.raises(DTypeError, match="dictionary_decode"):
            read(given)


DAY, MOMENT = (np.array([text], "M8[us]") for text in ("2020-01-01", "2020-01-01T13:14:15"))


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda: tw.as_tensor([5, 0]), pa.bool_()),
        (lambda: tw.as_tensor([0.5, np.nan]), pa.bool_()),
        (lambda: tw.as_tensor([1e300]), pa.float32()),
        (lambda: tw.as_tensor([70001]), pa.float16()),
        (lambda: tw.as_tensor([2**53 + 1]), pa.float64()),
        (lambda: tw.as_tensor([1.005]), pa.decimal128(10, 2)),
        (lambda: tw.as_tensor(MOMENT), pa.date32()),
        (lambda: tw.as_tensor(MOMENT), pa.date64()),
        (lambda: tw.as_tensor(MOMENT), pa.time32("s")),
        (lambda: tw.as_tensor([5]), pa.date64()),
        (lambda: tw.jagged([[1, 5], []]), pa.list_(pa.bool_())),
        (lambda: tw.jagged([[5], []]), pa.list_view(pa.bool_())),
        (lambda: sel.as_view(tw.jagged([[1, 5], []])), pa.list_(pa.bool_())),
        (lambda: tw.jagged([[[1]], []]), pa.list_(pa.list_view(pa.int64()))),
    ],
)
def test_a_type_that_does_not_hold_each_element_is_refused(make, kind):
    with pytest.raises(ConversionError, match="handed over as"):
        pa.array(make(), kind)


@pytest.mark.parametrize(
    ("make", "kind", "wanted"),
    [
        (lambda: tw.as_tensor([1, 0]), pa.bool_(), [True, False]),
        (lambda: tw.as_tensor([0.5, np.inf]), pa.float32(), [0.5, np.inf]),
        (lambda: tw.as_tensor([0.1]), pa.float32(), [float(np.float32(0.1))]),
        (lambda: tw.as_tensor([1, None]), pa.float32(), [1.0, None]),
        (lambda: tw.as_tensor([1.25]), pa.decimal128(10, 2), [Decimal("1.25")]),
        (lambda: tw.as_tensor(DAY), pa.date32(), [date(2020, 1, 1)]),
        (lambda: tw.as_tensor(DAY), pa.date64(), [date(2020, 1, 1)]),
        (lambda: tw.as_tensor(np.zeros(0)), pa.bool_(), []),
        (lambda: tw.jagged([[True], []]), pa.large_list(pa.int8()), [[1], []]),
        (lambda: tw.strings(["a", None]), pa.string_view(), ["a", None]),
    ],
)
def test_a_type_that_holds_each_element_is_handed_over(make, kind, wanted):
    assert pa.array(make(), kind).to_pylist() == wanted
