"""Series and frames of pandas, both ways."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, DTypeError


@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "f4", "f8", "c16", "M8[ns]", "m8[s]"])
def test_numbers_and_times_stay_in_their_memory(dtype):
    x = np.arange(6).astype(dtype)
    series = tw.as_tensor(x).to_pandas()
    back = tw.as_tensor(series)

    assert series.dtype == x.dtype
    assert np.shares_memory(series.to_numpy(), x)
    assert back.tolist() == x.tolist()
    assert np.shares_memory(back.to_numpy(), x)


def test_a_matrix_is_a_frame_with_origin_and_names():
    x = np.arange(12.0).reshape(3, 4)
    part = tw.as_tensor(x).named("event", "wire")
    part = part.window(part.shape[1:, 2:])
    frame = part.to_pandas()

    assert frame.loc[2, 3] == x[2, 3]
    assert (frame.index.name, frame.columns.name) == ("event", "wire")
    assert tw.as_tensor(frame).shape == part.shape
    assert tw.as_tensor(frame).array_equal(part)


def test_rows_and_strings_are_columns_of_arrow():
    rows = tw.jagged([[1, 2], [], [3]])
    words = tw.strings(["a", None, ""])

    assert rows.to_pandas().list.len().tolist() == [2, 0, 1]
    assert tw.as_tensor(rows.to_pandas()).tolist() == rows.tolist()
    assert tw.as_tensor(words.to_pandas()).tolist() == ["a", None, ""]
    assert tw.as_tensor(pd.Series(["a", None])).tolist() == ["a", None]
    assert tw.as_tensor(pd.Series([[1, 2], [3]])).tolist() == [[1, 2], [3]]


def test_sparse_matrices_are_sparse_columns():
    tensor = tw.sparse([(0, 1), (2, 3)], [5.0, 7.0], tw.Shape(3, 4))
    frame = tensor.to_pandas()

    assert frame.sparse.density == pytest.approx(2 / 12)
    assert tw.as_tensor(frame).array_equal(tensor)


def test_masked_columns_without_nulls_are_numbers():
    assert tw.as_tensor(pd.Series([1, 2], dtype="Int64")).dtype == np.int64
    assert tw.as_tensor(pd.Series([True, False], dtype="boolean")).tolist() == [True, False]
    assert tw.as_tensor(pd.Series([1, 2], dtype=pd.ArrowDtype(pa.int32()))).dtype == np.int32
    assert tw.as_tensor(pd.DataFrame({"a": [1.5], "b": [1]})).tolist() == [[1.5, 1.0]]
    assert tw.as_tensor(pd.Index([3, 1])).tolist() == [3, 1]
    assert tw.as_tensor(pd.array([1, 2], "Int8")).dtype == np.int8
    both = pd.DataFrame({"a": pd.array([1], "Int64"), "b": pd.array([2], "Int32")})
    assert (tw.as_tensor(both).tolist(), tw.as_tensor(both).dtype) == ([[1, 2]], np.int64)


def test_an_index_that_does_not_count_up_by_one_says_nothing():
    assert tw.as_tensor(pd.Series([1, 2], index=[5, 9])).shape == tw.Shape(2)
    assert tw.as_tensor(pd.Series([1, 2, 3])[1:]).shape == tw.Shape(2, origin=(1,))


def test_views_are_computed():
    tensor = tw.as_tensor([1, 2, 3])

    assert sel.concat([tensor, tensor])[2:4].to_pandas().tolist() == [3, 1]


def _of_two_levels():
    return pd.Series([1, 2], index=pd.MultiIndex.from_product([[0], [1, 2]], names=["a", "b"]))


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: tw.as_tensor(pd.Series([[1], None])), ConversionError, "null_rows"),
        (lambda: tw.as_tensor(pd.Series(["a"], dtype="category")), DTypeError, "codes"),
        (lambda: tw.as_tensor(pd.Series(pd.to_datetime(["2020"]).tz_localize("UTC"))), DTypeError, "zone"),
        (lambda: tw.as_tensor(pd.DataFrame({"a": [1], "b": ["x"]})), DTypeError, "take one"),
        (lambda: tw.as_tensor(pd.Series([object()])), DTypeError, "Arrow"),
        (lambda: tw.as_tensor(np.ones((2, 2, 2))).to_pandas(), ConversionError, "matrix"),
        (lambda: tw.as_tensor(pd.MultiIndex.from_tuples([(1, 2)])), ConversionError, "get_level_values"),
        (lambda: tw.as_tensor(_of_two_levels()), ConversionError, "reset_index"),
        (lambda: tw.as_tensor(_of_two_levels().to_frame()), ConversionError, "unstack"),
        (lambda: tw.as_tensor(pd.Timestamp("2020")), ConversionError, "to_numpy"),
        (lambda: tw.as_tensor(pd.interval_range(0, 2)), DTypeError, "left"),
        (lambda: tw.as_tensor(1.0).to_pandas(), ConversionError, "matrix"),
    ],
)
def test_what_is_no_table_is_refused_by_name(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_objects_beyond_64_bits_are_refused_and_the_advice_takes_them():
    series = pd.Series([2**63, 1, 0], dtype=object)
    for make in (lambda: tw.as_tensor(series), lambda: tw.records(pd.DataFrame({"o": series}))):
        with pytest.raises(DTypeError, match=r"astype\('u8'\)"):
            make()
    assert tw.as_tensor(series.astype("u8")).tolist() == [2**63, 1, 0]
    assert tw.as_tensor(pd.Series([2**70], dtype=object).astype("f8")).tolist() == [2.0**70]
