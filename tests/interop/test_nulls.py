"""Nulls of other libraries, in and out: what is missing there is a null here, NaN is a value, rows are there.

The table is that of what others call missing; the laws compare with the library itself, and with Python.
"""

import itertools

import awkward as ak
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from awkward import contents, index
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, DTypeError
from tests.support.nulls import KINDS, garbage_under, same

NAN = float("nan")
ROWS = [[3, None, 1], [], [None], [2, 2]]


def byte_masked(valid):
    return contents.ByteMaskedArray(
        index.Index8(np.array(valid, "i1")), contents.NumpyArray(np.array([5, 6, 7])), valid_when=True
    )


TABLE = {
    "C02, a slice of lists of Arrow": (pa.array([[9, 9], *ROWS])[1:], ROWS),
    "C03, a bitmap at a bit offset": (
        pa.array([0, 1, None, 3, None, 5, 6, 7, 8, None, 10])[3:],
        [3, None, 5, 6, 7, 8, None, 10],
    ),
    "C05, lists of Awkward Array": (ak.Array(ROWS), ROWS),
    "C06, bytes that mask": (ak.Array(byte_masked([0, 1, 0])), [None, 6, None]),
    "C08, a masked array": (np.ma.masked_array([1, 2, 3], [0, 1, 0]), [1, None, 3]),
    "C10, a masked column": (pd.Series([1, None, 3], dtype="Int64"), [1, None, 3]),
    "C11, NaN in a column": (pd.Series([1.0, None]), [1.0, NAN]),
    "C14, NaN and a null": (pa.array([1.5, None, NAN]), [1.5, None, NAN]),
    "truth values": (pa.array([True, None, False]), [True, None, False]),
    "chunks, one with nulls": (pa.chunked_array([[1, 2], [None]]), [1, 2, None]),
    "lists of one length": (pa.array([[1, None], [2, 3]], pa.list_(pa.int64(), 2)), [[1, None], [2, 3]]),
    "views of lists": (pa.array(ROWS, pa.list_view(pa.int64())), ROWS),
    "a scalar that is a list": (pa.array(ROWS)[0], ROWS[0]),
    "a regular array of Awkward Array": (ak.to_regular(ak.Array([[1, None], [2, 3]])), [[1, None], [2, 3]]),
    "a column of objects": (pd.Series([1, None, 3], dtype=object), [1, None, 3]),
    "objects with NA": (pd.Series([1, pd.NA], dtype=object), [1, None]),
    "NaN among objects": (pd.Series([1.5, NAN, None], dtype=object), [1.5, NAN, None]),
    "NaN in lists": (pd.Series([[1.5, NAN], [None]]), [[1.5, NAN], [None]]),
    "NaN beside text": (pd.Series(["a", NAN, None], dtype=object), ["a", None, None]),
    "floats of a masked type": (
        pd.Series(pd.arrays.FloatingArray(np.array([1.5, 0, NAN]), np.array([False, True, False]))),
        [1.5, None, NAN],
    ),
    "floats of Arrow in pandas": (
        pd.Series(pd.arrays.ArrowExtensionArray(pa.array([1.5, None, NAN]))),
        [1.5, None, NAN],
    ),
    "lists of Arrow in pandas": (pd.Series(pd.arrays.ArrowExtensionArray(pa.array(ROWS))), ROWS),
    "truth values of pandas": (pd.Series([True, None], dtype="boolean"), [True, None]),
    "an index of pandas": (pd.Index([1, None], dtype="Int64"), [1, None]),
    "a frame": (
        pd.DataFrame({"a": pd.array([1, None], "Int64"), "b": [1.5, NAN]}),
        [[1.0, 1.5], [None, NAN]],
    ),
    "a masked matrix": (np.ma.masked_array([[1, 2], [3, 4]], [[0, 1], [0, 0]]).T, [[1, 3], [None, 4]]),
}


@pytest.mark.parametrize("name", TABLE)
def test_what_is_missing_is_a_null_and_nan_is_a_value(name):
    given_as, lists = TABLE[name]
    tensor = tw.as_tensor(given_as)
    assert same(tensor.tolist(), lists)
    assert tensor.is_nullable == ("None" in str(lists))
    assert same(tw.selection.as_view(given_as).tolist(), lists)
    assert same(tw.as_tensor(given_as, copy=True).tolist(), lists)


def test_a_time_that_is_missing_is_no_time_c17():
    for given_as in (
        pa.array([1, None], pa.timestamp("s")),
        ak.Array([np.datetime64(1, "s"), None]),
        np.ma.masked_array(np.array([1, 2], "M8[s]"), [0, 1]),
        pd.Series([1, None], dtype="timestamp[s][pyarrow]"),
    ):
        tensor = tw.as_tensor(given_as)
        assert not tensor.is_nullable
        assert np.isnat(np.asarray(tensor)).tolist() == [False, True]


NULL_ROWS = {
    "C15": (pa.array([[1], None, []]), [[1], [], []]),
    "lists with lengths under nulls": (
        pa.Array.from_buffers(
            pa.list_(pa.int64()),
            3,
            [pa.py_buffer(b"\5"), pa.py_buffer(np.array([0, 2, 4, 5], "i4"))],
            children=[pa.array([1, 2, 3, None, 5])],
        ),
        [[1, 2], [], [5]],
    ),
    "lists of one length": (pa.array([[1, 2], None], pa.list_(pa.int64(), 2)), [[1, 2], []]),
    "chunks, one without": (
        pa.chunked_array([pa.array(own, pa.list_(pa.int8(), 1)) for own in ([[1]], [None, [2]])]),
        [[1], [], [2]],
    ),
    "views of lists": (pa.array([[1], None], pa.list_view(pa.int64())), [[1], []]),
    "rows in rows": (pa.array([[[1], None], None]), [[[1], []], []]),
    "text": (pa.array([["a", None], None]), [["a", None], []]),
    "Awkward Array": (ak.Array([[1, None], None, []]), [[1, None], [], []]),
    "rows in rows of Awkward Array": (ak.Array([[[1], None], None]), [[[1], []], []]),
    "regular ones of Awkward Array": (
        ak.mask(ak.from_numpy(np.arange(4).reshape(2, 2)), [True, False]),
        [[0, 1], []],
    ),
    "text of Awkward Array": (ak.Array([["a"], None]), [["a"], []]),
    "pandas": (pd.Series([[1], None]), [[1], []]),
    "Arrow in pandas": (pd.Series(pd.arrays.ArrowExtensionArray(pa.array([[1], None]))), [[1], []]),
}


@pytest.mark.parametrize("name", NULL_ROWS)
def test_null_rows_are_refused_by_name_or_empty(name):
    given_as, lists = NULL_ROWS[name]
    with pytest.raises(ConversionError, match="null_rows"):
        tw.as_tensor(given_as)
    tensor = tw.as_tensor(given_as, null_rows="empty")
    assert tensor.tolist() == lists
    assert bool(tensor.null_count) == ("None" in str(lists))
    with pytest.raises(ConversionError, match="'refuse' or 'empty'"):
        tw.as_tensor(given_as, null_rows="drop")


def test_lists_that_may_be_null_and_are_not_pass():
    rows = ak.Array([[1], None, []])
    for given_as in (pa.array([[1], None, []])[2:], rows[[0, 2]], ak.Array([[1], None])[:1]):
        assert not tw.as_tensor(given_as).is_nullable
    assert tw.as_tensor(pa.array([1, None])[:1], copy=False).tolist() == [1]


def test_a_null_does_not_become_an_empty_tensor():
    kind = pa.fixed_shape_tensor(pa.int64(), [2, 1])
    array = pa.ExtensionArray.from_storage(kind, pa.array([[1, 2], None], pa.list_(pa.int64(), 2)))
    with pytest.raises(ConversionError, match="drop_null"):
        tw.as_tensor(array, null_rows="empty")
    assert tw.as_tensor(array.drop_null()).tolist() == [[[1], [2]]]


def test_nulls_are_copied_and_so_not_shared():
    for given_as in (
        pa.array([1, None]),
        ak.Array([1, None]),
        np.ma.masked_array([1, 2], [0, 1]),
        pd.Series([1, None], dtype="Int64"),
        pd.DataFrame({"a": pd.array([1, None], "Int64")}),
    ):
        with pytest.raises(ConversionError, match="copy=False"):
            tw.as_tensor(given_as, copy=False)
    array = pa.array([1, None, 3])
    assert np.shares_memory(
        tw.as_tensor(array).buffer.sides[0].memory, np.frombuffer(array.buffers()[1], "i8")
    )


def test_a_masked_array_that_hides_nothing_shares_its_memory():
    masked = np.ma.masked_array([1, 2, 3])
    tw.as_tensor(masked)[0] = 9
    assert masked.tolist() == [9, 2, 3]
    hiding = np.ma.masked_array([1, 2], [0, 1])
    tw.as_tensor(hiding)[0] = 9
    assert hiding.tolist() == [1, None]


def test_missing_elements_alone_have_no_type():
    for given_as in (pa.array([None]), ak.Array([None]), ak.Array([[None], []])):
        with pytest.raises(DTypeError, match="type"):
            tw.as_tensor(given_as)
    assert tw.as_tensor(pa.array([None]).cast(pa.float64())).null_count == 1
    assert tw.as_tensor(ak.Array([[], None]), null_rows="empty").tolist() == [[], []]
    with pytest.raises(DTypeError, match="fill_null"):
        tw.nullable(np.zeros(2, "c16"), [True, False]).to_pandas()


OPTIONS = {
    "bytes": lambda x, valid: contents.ByteMaskedArray(index.Index8(valid.view("i1")), x, valid_when=True),
    "bits": lambda x, valid: contents.BitMaskedArray(
        index.IndexU8(np.packbits(~valid)), x, valid_when=False, length=len(valid), lsb_order=False
    ),
    "little bits": lambda x, valid: contents.BitMaskedArray(
        index.IndexU8(np.packbits(valid, bitorder="little")),
        x,
        valid_when=True,
        length=len(valid),
        lsb_order=True,
    ),
    "indices": lambda x, valid: contents.IndexedOptionArray(
        index.Index32(np.where(valid, np.arange(len(valid))[::-1], -1).astype("i4")), x
    ),
    "no mask": lambda x, _: contents.UnmaskedArray(x),
}


@pytest.mark.parametrize("name", OPTIONS)
@given(st.lists(st.booleans(), max_size=20), st.data())
def test_options_of_every_layout_are_read_at_any_depth(name, valid, data):
    values = contents.NumpyArray(np.arange(len(valid)))
    array = ak.Array(OPTIONS[name](values, np.array(valid, np.bool_)))
    assert tw.as_tensor(array).tolist() == array.to_list()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(valid)), max_size=4)))
    rows = contents.ListOffsetArray(index.Index64(np.array([0, *cuts, len(valid)])), array.layout)
    for given_as in (ak.Array(rows), ak.Array(rows)[::-1], ak.Array(contents.RegularArray(rows, 1))):
        assert tw.as_tensor(given_as).tolist() == given_as.to_list()


@st.composite
def nested(draw, depth, rows):
    """Return a list of lists of some depth, elements of which are None, and lists too if `rows` says so."""
    found = st.one_of(st.none(), st.integers(-9, 9))
    for _ in range(depth):
        inner = st.lists(found, max_size=3)
        found = st.one_of(st.none(), inner) if rows else inner
    return draw(st.lists(found, max_size=4))


def emptied(lists, depth):
    return lists if not depth else [[] if own is None else emptied(own, depth - 1) for own in lists]


@pytest.mark.parametrize("make", [pa.list_, pa.large_list, pa.list_view])
@pytest.mark.parametrize("depth", [0, 1, 2])
@given(data=st.data())
def test_nulls_of_arrow_at_any_level_and_in_any_slice(depth, make, data):
    kind = pa.int64()
    for _ in range(depth):
        kind = make(kind)
    lists = data.draw(nested(depth, rows=True))
    first = data.draw(st.integers(0, len(lists)))
    array = pa.array(lists, kind)[first:]
    for given_as in (array, pa.chunked_array([array[:1], array[1:]], kind)):
        found = tw.as_tensor(given_as, null_rows="empty")
        assert found.tolist() == emptied(lists[first:], depth)
        if found.tolist() == lists[first:]:
            assert tw.as_tensor(given_as).tolist() == lists[first:]
        else:
            with pytest.raises(ConversionError, match="null_rows"):
                tw.as_tensor(given_as)


@given(nested(2, rows=True))
def test_nulls_of_awkward_arrays_at_any_level(lists):
    kind = pa.list_(pa.list_(pa.int64()))
    array = ak.from_arrow(pa.array(lists, kind))
    assert tw.as_tensor(array, null_rows="empty").tolist() == emptied(lists, 2)


BACK = {
    "arrow": lambda t: t.to_arrow(),
    "views of arrow": lambda t: t.to_arrow("list_views"),
    "arrow, asked for": pa.array,
    "awkward": lambda t: t.to_awkward(),
    "pandas": lambda t: t.to_pandas(),
    "polars": lambda t: pytest.importorskip("polars").Series(t),
}


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("name", BACK)
@given(data=st.data())
def test_nullable_tensors_come_back_law_10(name, dtype, data):
    rows = data.draw(st.lists(st.lists(st.one_of(st.none(), st.integers(0, 1)), max_size=4), max_size=4))
    flat = list(itertools.chain.from_iterable(rows))
    values = np.array([own or 0 for own in flat]).astype(dtype)
    valid = np.array([own is not None for own in flat], np.bool_)
    shape = tw.Shape.jagged([len(row) for row in rows], rank=2)
    there = tw.nullable(tw.from_buffer(values, shape), valid)
    for tensor in (
        there,
        there[::-1],
        there[:, ::-1],
        tw.nullable(values, valid),
        tw.nullable(values, valid)[::2],
    ):
        back = tw.as_tensor(BACK[name](tensor))
        assert back.shape == tensor.shape
        assert back.dtype == tensor.dtype
        assert same(back.tolist(), tensor.tolist())
        assert back.null_count == tensor.null_count
    box = tw.nullable(np.stack([values, values], 1), np.stack([valid, ~valid], 1))
    assert same(tw.as_tensor(BACK[name](box)).tolist(), box.tolist())


@given(st.lists(st.one_of(st.none(), st.just(NAN), st.floats(-9, 9)), min_size=1, max_size=9))
def test_nan_is_no_null_anywhere(items):
    tensor = tw.nullable([0.0 if own is None else own for own in items], [own is not None for own in items])
    assert same(tensor.to_arrow().to_pylist(), items)
    assert same(tensor.to_awkward().to_list(), items)
    series = tensor.to_pandas()
    assert np.asarray(series.isna()).tolist() == [own is None for own in items]
    for given_as in (tensor.to_arrow(), tensor.to_awkward(), series, tensor.to_masked()):
        assert same(tw.as_tensor(given_as).tolist(), items)


@pytest.mark.parametrize("dtype", ["f8", "i4", "?"])
@given(valid=st.lists(st.booleans(), min_size=1, max_size=12), seed=st.integers(0, 9))
def test_what_stands_under_a_null_is_not_handed_over_law_13(dtype, valid, seed):
    one, other = [garbage_under(valid, dtype, own) for own in (seed, seed + 1)]
    for made in (one.to_arrow(), one.to_arrow("list_views")):
        assert made.buffers()[1].to_pybytes() == other.to_arrow().buffers()[1].to_pybytes()
    bytes_of = [ak.to_layout(own.to_awkward()).content.data.tobytes() for own in (one, other)]
    assert bytes_of[0] == bytes_of[1]
    rows = [own.unflatten([0, len(valid)]) for own in (one, other)]
    views = [own.to_arrow("list_views").buffers()[-1].to_pybytes() for own in rows]
    assert views[0] == views[1]


def test_polars_series_and_frames():
    pl = pytest.importorskip("polars")
    for lists in ([1, None], ROWS, [True, None], [1.5, None, NAN]):
        series = pl.Series(lists)
        tensor = tw.as_tensor(series)
        assert same(tensor.tolist(), lists)
        assert same(pl.Series(tensor).to_list(), lists)
        frame = pl.DataFrame({"x": series})
        assert same(tw.as_tensor(frame["x"]).tolist(), lists)
    for kind in (pl.List(pl.Int64), pl.Array(pl.Int64, 1)):
        rows = pl.Series([[1], None], dtype=kind)
        with pytest.raises(ConversionError, match="null_rows"):
            tw.as_tensor(rows)
        assert tw.as_tensor(rows, null_rows="empty").tolist() == [[1], []]


def test_jagged_keeps_nulls():
    for given_as in (pa.array(ROWS), ak.Array(ROWS)):
        made = tw.jagged(given_as, dtype="f4")
        assert made.tolist() == ROWS
        assert made.dtype == np.float32
    assert tw.jagged(pd.DataFrame({"a": pd.array([1, None], "Int64")})).shape == tw.Shape.jagged([1, 1])


@pytest.mark.parametrize(
    "use",
    [
        np.asarray,
        lambda t: t.elements(),
        lambda t: int(t[1]),
        lambda t: bool(t[1]),
        lambda t: t.to_xarray(),
    ],
)
def test_what_has_no_nulls_names_what_fills_them(use):
    tensor = tw.as_tensor([5, None])
    with pytest.raises(ConversionError, match="fill_null"):
        use(tensor)
    with pytest.raises(BufferError, match="fill_null"):
        np.from_dlpack(tensor)


HIDING = {
    "Dask": lambda: tw.nullable([1, 2], [True, False]).to_dask(),
    "Arrow": lambda: pa.array([1, None]),
    "chunks of Arrow": lambda: pa.chunked_array([[1], [None]]),
    "pandas": lambda: pd.Series([1, None], dtype="Int64"),
    "masked": lambda: np.ma.masked_array([1, 2], [False, True]),
}
READERS = {
    "sparse": lambda own: tw.sparse([(0,), (1,)], own, (2,)),
    "from_packed": lambda own: tw.from_packed(own, tw.Symmetry(1, []), (2,)),
    "histogram": lambda own: tw.jagged([[1, 2]]).rows().histogram(own),
    "full": lambda own: tw.full((2,), lambda _: own),
    "assign": lambda own: tw.zeros((2,)).assign(own),
    "full_like": lambda own: np.full_like(tw.as_tensor([0, 0]), own),
    "compute": lambda own: sel.compute((2,), lambda _: own, dtype="f8").compute(),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", HIDING)
def test_no_reader_makes_numbers_of_what_is_hidden_or_null(kind, reader):
    with pytest.raises((ConversionError, DTypeError)):
        READERS[reader](HIDING[kind]())
    assert tw.as_tensor(HIDING[kind]()).tolist() == [1, None]
    assert tw.as_tensor(pd.Series([1.0, np.nan])).null_count == 0


NULL_PARAMETERS = {
    "list": [1, None, 2],
    "masked array": np.ma.masked_array([1, 2, 3], [0, 1, 0]),
    "pandas": pd.array([1, None, 2], dtype="Int64"),
    "arrow": pa.array([1, None, 2]),
    "tensor": tw.as_tensor([1, None, 2]),
    "view": sel.as_view(tw.as_tensor([1, None, 2]))[0:],
}


@pytest.mark.parametrize("value", NULL_PARAMETERS.values(), ids=NULL_PARAMETERS)
@pytest.mark.parametrize(
    "draw",
    [
        lambda own: sel.normal((3,), own, 1.0, seed=1),
        lambda own: sel.uniform((3,), -1, own, seed=1),
        lambda own: sel.integers((3,), -1, own, seed=1),
    ],
)
def test_a_null_is_no_parameter_of_random_numbers(draw, value):
    with pytest.raises(ConversionError, match=r"fill_null\(0\)"):
        draw(value)
    filled = sel.as_view(tw.as_tensor([1, None, 2])).fill_null(5)
    assert draw(filled).compute().tolist() == draw([1, 5, 2]).compute().tolist()
