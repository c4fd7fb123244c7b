"""What may stand beside a tensor in a call of NumPy."""

import datetime as dt
import operator

import awkward as ak
import dask.array as da
import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import (
    ConversionError,
    DTypeError,
    StringDataError,
    TensorWrapperError,
)


def test_masks_are_not_lost_by_writes():
    with pytest.raises(ConversionError, match="mask"):
        tw.as_tensor(np.zeros(2)).assign(np.ma.array([1.0, 2.0], mask=[True, False]))


def test_strangers_have_their_turn():
    t = tw.as_tensor([1, 2, 3])
    assert (t + ak.Array([1, 2, 3])).tolist() == [2, 4, 6]
    assert (ak.Array([1, 2, 3]) + t).tolist() == [2, 4, 6]


@pytest.mark.parametrize("lazy", [False, True])
def test_an_array_of_dask_is_refused_by_the_calls_that_work(lazy):
    t, d = tw.as_tensor([1, 2, 3]), da.from_array(np.array([1, 2, 4]))
    given = sel.as_view(t) if lazy else t
    for call in (
        lambda: given + d,
        lambda: d + given,
        lambda: given == d,  # Dask leaves it to tensors, and Python would compare identities
        lambda: d == given,
        lambda: given != d,
        lambda: np.add(d, given),
        lambda: np.where(d > 1, given, 0),
        lambda: np.concatenate([given, d]),
        lambda: given.__iadd__(d),
        lambda: tw.jagged([[1], [], [2]]) * d,
    ):
        with pytest.raises(ConversionError, match=r"`t\.to_dask\(\) \+ x`.*`t \+ tw\.as_tensor\(x\)`"):
            call()
    assert (t.to_dask() + d).compute(scheduler="sync").tolist() == [2, 4, 7]
    assert (t + tw.as_tensor(d)).tolist() == [2, 4, 7]


@pytest.mark.parametrize(
    "make", [tw.as_tensor, lambda x: sel.as_view(tw.as_tensor(x))], ids=["tensor", "view"]
)
def test_text_is_no_truth(make):
    for value in (tw.strings(["a"]), np.array(["a"], np.dtypes.StringDType())):
        with pytest.raises(DTypeError):
            make(np.zeros(1, bool)).assign(value)


class Declining:
    """Takes part in NumPy's protocol, and knows no tensors."""

    def __array_ufunc__(self, *args, **options):
        return NotImplemented


@pytest.mark.parametrize(
    "make",
    [tw.as_tensor, lambda x: sel.as_view(tw.as_tensor(x)), lambda x: tw.jagged([x]).to_dask()],
    ids=["tensor", "view", "dask"],
)
def test_what_nobody_can_compare_is_not_unequal(make):
    t = make([1, 2])
    for call in (
        lambda: t == Declining(),
        lambda: t != Declining(),
        lambda: Declining() == t,
        lambda: Declining() != t,
    ):
        with pytest.raises(ConversionError, match="Declining"):
            call()
    with pytest.raises(TypeError, match="Declining"):
        _ = t < Declining()


MASKED = np.ma.array([5, 7, 2], mask=[False, True, False])


@pytest.mark.parametrize("of", [lambda t: t, sel.as_view], ids=["a tensor", "a view"])
@pytest.mark.parametrize("nulls", [False, True])
@pytest.mark.parametrize("given", [[5, None, 2], MASKED], ids=["a list", "a masked array"])
def test_lists_with_none_and_masked_arrays_are_nullable_operands_of_every_function(of, nulls, given):
    t = of(tw.as_tensor([1, None if nulls else 7, 3]))
    mine, theirs = t.tolist(), [5, None, 2]
    least = [None if None in own else min(own) for own in zip(mine, theirs, strict=True)]
    most = [None if None in own else max(own) for own in zip(mine, theirs, strict=True)]
    total = [None if None in own else sum(own) for own in zip(mine, theirs, strict=True)]
    for found in (np.minimum(t, given), sel.minimum(t, given), np.clip(t, None, given)):
        assert as_lists(found) == least
    assert as_lists(np.clip(t, given, None)) == most
    assert as_lists(t + given) == as_lists(np.add(given, t)) == total
    chosen = [mine[0], None, mine[2]]
    mask = [True, False, True]
    assert as_lists(np.where(mask, t, given)) == as_lists(tw.where(mask, t, given)) == chosen
    assert as_lists(np.concatenate([t, given])) == as_lists(tw.concat([t, given])) == mine + theirs
    assert as_lists(np.stack([t, given])) == as_lists(tw.stack([t, given])) == [mine, theirs]
    assert as_lists(np.isin(tw.as_tensor([5, 7]), given)) == [True, False]


def test_bounds_of_boxes_and_rows_clip_alike():
    box = tw.as_tensor(np.array([1, 200], np.uint8))
    rows = tw.jagged([box])
    for low, high in ((-1, 300), (None, 300), (-5, 100), (2, None), (-1, None)):
        wanted = np.clip(np.array([1, 200], np.uint8), low, high)
        for found in (np.clip(box, low, high), np.clip(rows, low, high)[0]):
            assert (found.tolist(), found.dtype) == (wanted.tolist(), wanted.dtype)
    days = tw.as_tensor(np.array(["2020-01-01"], "M8[D]"))
    for given in (days, tw.jagged([days])):
        with pytest.raises(ConversionError, match=r"datetime\.date"):
            np.clip(given, dt.date(2020, 1, 2), None)


def as_lists(found):
    return (found.compute() if hasattr(found, "compute") else found).tolist()


def test_lists_of_text_with_none_are_compared():
    words = tw.strings(["a", "b"])
    assert (words == ["a", None]).tolist() == [True, None]
    assert np.where([True, False], words, ["x", None]).tolist() == ["a", None]


def test_a_sparse_array_is_refused_by_the_call_that_works():
    t = tw.as_tensor([10, 20, 30])
    x = pytest.importorskip("sparse").COO(np.array([1, 0, 3]))
    for call in (lambda: t + x, lambda: x + t, lambda: np.minimum(t, x)):
        with pytest.raises(ConversionError, match=r"tw\.as_tensor\(x\)\.to_dense\(\)"):
            call()
    with pytest.raises(ConversionError):
        t[:] = x
    assert (t + tw.as_tensor(x).to_dense()).tolist() == [11, 20, 33]


@pytest.mark.parametrize("of", [lambda t: t, sel.as_view], ids=["a tensor", "a view"])
def test_lists_with_none_lie_where_the_tensor_does(of):
    t = of(tw.as_tensor([1, 2, 3]).translate_to((5,)))
    for more in ([5, None, 2], MASKED):
        for found in (t + more, np.minimum(t, more), np.where([True, False, True], t, more)):
            assert found.shape.origin == (5,)
            assert as_lists(found)[1] is None


def test_lists_that_are_joined_lie_where_the_tensor_does():
    numbers = tw.as_tensor([1, 2, 3]).translate_to((5,))
    words = tw.strings(["x", "y", "z"]).translate_to((5,))
    table = tw.as_tensor([[1, 2], [3, 4]]).translate_to((5, 7))
    for given, more in ((numbers, [1, None, 2]), (words, ["a", "b", "c"])):
        for parts in ([given, more], [more, given]):
            joined = np.stack(parts)
            assert joined.tolist() == [own if own is more else given.tolist() for own in parts]
            assert joined.shape.origin == (0, 5)
    found = np.concatenate([table, [[1, None]]])
    assert (found.tolist(), found.shape.origin) == ([[1, 2], [3, 4], [1, None]], (5, 7))


def test_no_character_of_text_in_lists_is_lost():
    """NumPy drops NULs at the end of text of a fixed width."""
    t = tw.strings(["a\0", "a"])
    for given in (t, sel.as_view(t)):
        assert as_lists(given == ["a\0"]) == as_lists(given == "a\0") == [True, False]
        assert as_lists(np.concatenate([given, ["a\0"]])) == ["a\0", "a", "a\0"]
        assert as_lists(np.where(given == "a", given, ["a\0", "b"])) == ["a\0", "a"]


def test_bytes_beside_views_are_one_value():
    numbers, names = tw.as_tensor([1, 2, 3]), tw.strings([b"ab", b"c"])
    for of in (lambda t: t, sel.as_view):
        assert as_lists(np.where(of(names) == b"c", of(names), b"zz")) == [b"zz", b"c"]
        for call in (lambda t: np.where(numbers == 2, b"a", t), lambda t: np.concatenate([t, b"ab"])):
            with pytest.raises(TensorWrapperError):
                call(of(numbers))


def test_text_that_names_a_type_is_text():
    """NumPy's promotion would read it as a type."""
    numbers, words = tw.as_tensor([1, 2]), tw.strings(["a", "b"])
    for call in (
        lambda: np.where(numbers == 1, "f8", numbers),
        lambda: np.where(numbers == 1, b"a", numbers),
    ):
        with pytest.raises(DTypeError, match="strings"):
            call()
    assert np.where(words == "a", "z", "y").tolist() == ["z", "y"]
    assert np.where(words == "a", ["f8", "x"], ["y", "w"]).tolist() == ["f8", "w"]


def test_a_column_of_pandas_is_added_in_place():
    pd = pytest.importorskip("pandas")
    for of in (lambda t: t, sel.as_view):
        t = tw.as_tensor([10, 20, 30])
        given = of(t)
        given += pd.Series([1, 2, 3])
        assert t.tolist() == [11, 22, 33]
        np.add(given, pd.Series([1, 1, 1]), out=t)
        assert t.tolist() == [12, 23, 34]
        with pytest.raises(ConversionError, match="null"):
            given += pd.Series([1, None, 3], dtype="Int64")
        assert t.tolist() == [12, 23, 34]


@pytest.mark.parametrize("of", [lambda t: t, sel.as_view], ids=["a tensor", "a view"])
def test_chosen_integers_beyond_int64_are_exact(of):
    mask = of(tw.as_tensor([True, False]))
    for found in (np.where(mask, 2**63, 1), tw.where(mask, 2**63, 1)):
        assert (as_lists(found), found.dtype) == ([2**63, 1], np.uint64)
    assert as_lists(np.where(mask, 2, 1)) == [2, 1]
    with pytest.raises(DTypeError, match="below 0"):
        np.where(mask, 2**63, -1)


@pytest.mark.parametrize("of", [lambda t: t, sel.as_view], ids=["a tensor", "a view"])
def test_text_that_is_not_unicode_is_refused_in_one_way(of):
    t, bad = of(tw.strings(["a"])), ["\udc80"]
    calls = [
        lambda: t == bad,
        lambda: np.isin(t, bad),
        lambda: np.where([True], t, bad),
        lambda: tw.where([True], t, bad),
        lambda: np.concatenate([t, bad]),
        lambda: tw.concat([t, bad]),
        lambda: sel.as_view(bad),
    ]
    for call in calls:
        with pytest.raises(StringDataError, match="lone surrogate"):
            call()


def columns_of_pandas():
    pd = pytest.importorskip("pandas")
    return {
        "numbers": (pd.Series([1, 3]), [1, 3]),
        "an index": (pd.Index([1, 3]), [1, 3]),
        "objects": (pd.Series([1, 3], dtype=object), [1, 3]),
        "nullable": (pd.Series([1, None], dtype="Int64"), [1, None]),
        "arrow": (pd.Series([1, 3], dtype="int64[pyarrow]"), [1, 3]),
        "an array": (pd.array([1, 3]), [1, 3]),
        "categories": (pd.Series([1, 3]).astype("category"), [1, 3]),
    }


@pytest.mark.parametrize("of", [lambda t: t, sel.as_view], ids=["a tensor", "a view"])
@pytest.mark.parametrize("name", columns_of_pandas())
def test_columns_of_pandas_are_operands_as_lists_are(of, name):
    t, (column, listed) = of(tw.as_tensor([1, 2])), columns_of_pandas()[name]
    for call in (np.equal, np.less, np.add, np.minimum, np.subtract):
        assert as_lists(call(t, column)) == as_lists(call(t, listed))
        assert as_lists(call(column, t)) == as_lists(call(listed, t))
    for call in (operator.eq, operator.ne, operator.lt, operator.add, operator.sub):
        assert as_lists(call(t, column)) == as_lists(call(t, listed))
        if name not in ("an array", "categories"):
            assert as_lists(call(column, t)) == as_lists(call(listed, t))


def test_text_bytes_dates_and_frames_of_pandas_are_operands():
    pd = pytest.importorskip("pandas")
    words, column = tw.strings(["a", "b"]), pd.Series(["é", None], dtype="str")
    assert (words + column).tolist() == ["aé", None]
    assert (words == column).tolist() == (column == words).tolist() == [False, None]
    assert (tw.strings([b"a", b"b"]) == pd.Series([b"a", b"c"], dtype=object)).tolist() == [True, False]
    days = tw.as_tensor(np.array([1, 2], "M8[s]"))
    assert (days - pd.Series(np.array([0, 0], "M8[ns]"))).tolist() == [10**9, 2 * 10**9]
    table = tw.as_tensor([[1, 2], [3, 4]])
    assert (table + pd.DataFrame([[1, 2], [3, 4]])).tolist() == [[2, 4], [6, 8]]


@pytest.mark.parametrize("of", [lambda t: t, sel.as_view], ids=["a tensor", "a view"])
def test_a_range_is_an_operand_as_the_list_of_its_numbers(of):
    t = of(tw.as_tensor([5, 1, 9]))
    for given in (range(3), range(10, 4, -2)):
        numbers = list(given)
        assert as_lists(t + given) == as_lists(t + numbers)
        assert as_lists(np.minimum(t, given)) == as_lists(np.minimum(t, numbers))
        assert as_lists(np.where(t > 4, t, given)) == as_lists(np.where(t > 4, t, numbers))
        assert as_lists(np.concatenate([t, given])) == as_lists(np.concatenate([t, numbers]))
        assert as_lists(np.stack([t, given])) == as_lists(np.stack([t, numbers]))


@pytest.mark.parametrize("of", [lambda t: t, sel.as_view])
def test_a_list_of_tensors_is_an_operand_as_the_array_of_it_is(of):
    t = of(tw.as_tensor([1, 2]))
    for given in (
        [tw.as_tensor(1), 3.5],
        (of(tw.as_tensor(1)), tw.as_tensor(2)),
        [[tw.as_tensor(1), 2], [t, t][1]],
    ):
        array = np.asarray(tw.as_tensor(given))
        assert (t + given).tolist() == (t + array).tolist()
        assert np.where(t > 1, t, given).tolist() == np.where(t > 1, t, array).tolist()
        if array.ndim == 1:
            assert np.concatenate([t, given]).tolist() == np.concatenate([t, array]).tolist()
