"""Work within rows of every type of element: NumPy's answer for each row, and refusals where it has none."""

import warnings

import ml_dtypes
import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, DTypeError, ExtentError, ReadOnlyError

nan, inf = np.nan, np.inf
F = tw.jagged([[nan, 5.0, 1.0], [2.0, nan, 3.0], [4.0]])
HALVES = np.array([1.0, nan, 2.0, nan, nan], ml_dtypes.bfloat16)
B = tw.from_buffer(HALVES, tw.Shape.jagged([4, 1]))
M = tw.from_buffer(np.array([3, "NaT", 0, "NaT"], "m8[s]"), tw.Shape.jagged([3, 1]))
D = tw.from_buffer(np.array([3, "NaT", 0, 7], "M8[s]"), tw.Shape.jagged([3, 1]))
FUNCTIONS = ["sum", "prod", "max", "min", "mean", "var", "std", "median", "argmax", "argmin"]


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("kind", ["f8", "f2", "i4", "c16"])
def test_functions_without_nan_are_those_of_numpy(name, kind):
    if kind == "c16" and name == "median":
        return
    rng = np.random.default_rng(3)
    arrays = [rng.integers(-3, 4, n).astype("f8") for n in (1, 3, 8, 9, 64, 70)]
    for own in arrays:
        own[1:][rng.random(len(own) - 1) < 0.4] = nan if kind != "i4" else 0
    arrays = [own.astype(kind) for own in arrays]
    function = getattr(np, f"nan{name}")
    tensor = tw.from_buffer(np.concatenate(arrays), tw.Shape.jagged(list(map(len, arrays))))
    wanted = np.array([function(own) for own in arrays])
    found = function(tensor, axis=-1)
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-3 if kind == "f2" else 1e-12)


def test_positions_without_nan_count_those_that_are_left_out():
    assert np.nanargmax(F, axis=-1).tolist() == [1, 2, 0]
    assert np.nanargmin(F[::-1], axis=-1).tolist() == [0, 0, 2]
    nested = tw.jagged([[[nan, 2.0], [7.0]], [[nan], [nan, 3.0]]])
    assert np.nanargmax(nested, axis=(1, 2)).tolist() == [2, 2]
    assert F[np.nanargmax(F, axis=-1, keepdims=True)].tolist() == [[5.0], [3.0], [4.0]]
    assert np.nanargmax(F, axis=(0, 1)).item() == 1
    with pytest.raises(ExtentError, match=r"\(1,\)"):
        np.nanargmax(tw.jagged([[1.0], [nan]]), axis=-1)


def test_masks_go_along_with_functions_without_nan():
    mask = tw.jagged([[True, False, True], [True, True, True], [False]])
    assert np.nansum(F, axis=-1, where=mask).tolist() == [1.0, 5.0, 0.0]
    assert np.nanmean(F[:2], axis=-1, where=mask[:2]).tolist() == [1.0, 2.5]
    assert np.nanmax(F, axis=-1, where=mask, initial=0).tolist() == [1.0, 3.0, 0.0]
    assert np.nanvar(F[:1], axis=-1, where=[True]).tolist() == [4.0]


@pytest.mark.parametrize("name", ["nancumsum", "nancumprod"])
@pytest.mark.parametrize("dtype", ["f8", "f4", "c16", "i4", "u1", "?"])
def test_running_numbers_pass_over_nan(name, dtype):
    call, kind = getattr(np, name), np.dtype(dtype).kind
    lists = [[1, np.nan, 3], [], [np.nan], [2, 4]] if kind in "fc" else [[1, 0, 1], [], [1]]
    rows = [np.array(row, dtype) for row in lists]
    t = tw.from_buffer(np.concatenate(rows), tw.jagged(lists).shape)
    for own in (t, tw.concat([t, t])[: len(t)], t.to_dask(max_elements=2)):
        found = call(own, axis=-1)
        found = found if own is t else found.compute()
        assert found.dtype == call(rows[0]).dtype
        assert found.tolist() == [call(row).tolist() for row in rows]
    assert call(t).tolist() == call(t.elements()).tolist()


def test_running_numbers_pass_over_nan_and_keep_nulls():
    t = tw.jagged([[1.0, None, np.nan, 2.0], [], [None]])
    assert np.nancumsum(t, axis=-1).tolist() == [[1.0, None, 1.0, 3.0], [], [None]]
    assert np.nancumprod(t).tolist() == [1.0, None, 1.0, 2.0, None]


def test_extremes_without_nan_begin_with_initial():
    assert np.nanmax(F, axis=-1, initial=4).tolist() == [5.0, 4.0, 4.0]
    assert np.nanmin(F, axis=-1, initial=2).tolist() == [1.0, 2.0, 2.0]
    with pytest.raises(ExtentError, match=r"r\.rows\(\)\.max\(empty=-1\)"):
        np.nanmax(tw.jagged([[1], []]), axis=-1)


def test_extremes_without_nat_are_those_of_numpy():
    for tensor in (M, D):
        kind = tensor.dtype
        assert np.asarray(np.nanmax(tensor[:1], axis=-1)).tolist() == [np.array(3, kind).item()]
        assert np.asarray(np.nanmin(tensor[:1], axis=-1)).tolist() == [np.array(0, kind).item()]
    with pytest.warns(RuntimeWarning, match="All-NaN"):
        assert np.isnat(np.asarray(np.nanmax(M, axis=-1))).tolist() == [False, True]


@pytest.mark.parametrize("name", ["nanmax", "nanmin"])
@pytest.mark.parametrize("kind", ["f4", "i8", "c8", "M8[D]", "m8[s]"])
def test_no_row_without_elements_has_an_extreme_without_nan(kind, name):
    """A NaN was made of it for some types, and not for others."""
    rows = tw.from_buffer(np.ones(3, "i8").astype(kind), tw.Shape.jagged([1, 0, 2]))
    nullable = tw.nullable(rows[[0, 2]], np.array([False, True, True]))
    for given in (rows, sel.as_view(rows), nullable):
        with pytest.raises(ExtentError, match=r"row \([01],\) is empty"):
            getattr(np, name)(given, axis=-1)
    with pytest.raises(ExtentError, match=r"row \(0,\) is empty"):
        getattr(np, name)(rows[[0, 2]], axis=-1, where=rows[[0, 2]] != rows[[0, 2]])


@pytest.mark.parametrize("kind", ["c16", "c8", ">c16"])
def test_running_products_of_complex_numbers_have_the_bits_of_numpy(kind):
    rng = np.random.default_rng(3)
    flat = (rng.normal(size=1200) + 1j * rng.normal(size=1200)).astype(kind)
    tensor = tw.from_buffer(flat, tw.Shape.jagged([3, 2, 7] * 100))
    wanted = np.concatenate([np.cumprod(own) for own in np.split(flat, np.cumsum([3, 2, 7] * 100))])
    np.testing.assert_array_equal(tensor.rows().cumprod().elements(), wanted)
    np.testing.assert_array_equal(np.cumprod(tensor, axis=-1).elements(), wanted)


def test_nan_of_types_that_numpy_does_not_know_is_one_value():
    rows = B.rows()
    assert rows.n_unique().tolist() == [3, 1]
    assert rows.unique_counts()[1].tolist() == [[1, 1, 2], [1]]
    with pytest.warns(RuntimeWarning, match="All-NaN"):
        found = np.nanmax(B, axis=-1)
    assert found.tolist()[0] == 2.0
    assert np.isnan(np.asarray(found[1]).astype("f8"))


def test_means_of_types_that_numpy_does_not_know_are_of_the_type():
    ones = tw.from_buffer(np.ones(1000, ml_dtypes.bfloat16), tw.Shape.jagged([1000], rank=2))
    assert ones.rows().mean().dtype == ones.dtype
    assert ones.rows().mean().tolist() == [1.0]
    assert ones.rows().var().dtype == ones.rows().std().dtype == ones.dtype
    assert ones.rows().var().tolist() == [0.0]
    small = tw.from_buffer(np.full(10, 7, ml_dtypes.int4), tw.Shape.jagged([10], rank=2))
    assert small.rows().mean().dtype == np.float64
    assert small.rows().mean().tolist() == [7.0]


@pytest.mark.parametrize("length", [3, 40, 140, 1100])
@pytest.mark.parametrize("name", ["bfloat16", "float8_e5m2", "float8_e4m3fn"])
def test_rows_of_small_floats_are_those_of_wider_ones(name, length):
    """float8_e5m2 calls itself a float of NumPy: its NaN came anywhere, and its means had 3 digits."""
    small = np.dtype(getattr(ml_dtypes, name))
    values = np.random.default_rng(length).choice([0, 1, 1.5, -1, 2, 3, nan], 3 * length + 2)
    values[[0, length, 3 * length]] = 1
    tensor = tw.from_buffer(values.astype(small), tw.Shape.jagged([length, 0, 2 * length, 2]))
    wide = tensor.astype(np.float64)
    for call in ["sort", "unique"]:
        found = getattr(tensor.rows(), call)()
        assert found.dtype == small
        np.testing.assert_array_equal(found.astype("f8").elements(), getattr(wide.rows(), call)().elements())
    for call in ["argsort", "argmax", "argmin", "rankdata", "n_unique", "top_k", "max", "min"]:
        options = {"empty": 0} if call in ("argmax", "argmin", "max", "min") else {}
        given = (2,) if call == "top_k" else ()
        with np.errstate(invalid="ignore"):
            found, wanted = (getattr(own.rows(), call)(*given, **options) for own in (tensor, wide))
        np.testing.assert_array_equal(found.astype("f8").elements(), wanted.astype("f8").elements())
    with np.errstate(invalid="ignore"):
        running = np.maximum.accumulate(tensor, axis=-1).astype("f8")
    np.testing.assert_array_equal(running.elements(), np.maximum.accumulate(wide, axis=-1).elements())
    for call in ["mean", "var"]:
        found, wanted = (getattr(np, f"nan{call}")(own[::2], axis=-1) for own in (tensor, wide))
        np.testing.assert_array_equal(found.elements(), wanted.elements().astype(small))
    for call in ["nanargmax", "nanargmin"]:
        found, wanted = (getattr(np, call)(own[::2], axis=-1) for own in (tensor, wide))
        np.testing.assert_array_equal(found.elements(), wanted.elements())
    norms, wanted = (own.reduce_tiles(np.linalg.norm).elements() for own in (tensor[::2], wide[::2]))
    np.testing.assert_array_equal(norms, wanted)
    with pytest.raises(DTypeError, match="does not take"):
        tensor.rows().median()


def test_running_numbers_of_small_floats_pass_over_nan():
    assert np.nancumsum(B, axis=-1).astype("f8").tolist() == [[1.0, 1.0, 3.0, 3.0], [0.0]]
    assert np.nansum(B, axis=-1).astype("f8").tolist() == [3.0, 0.0]


def test_any_byte_but_zero_counts_as_one():
    """The bytes themselves were added."""
    truths = np.array([0, 1, 2, 0, 7, 255], np.uint8).view(np.bool_)
    rows = tw.from_buffer(truths, tw.Shape.jagged([3, 0, 3]))
    assert rows.rows().count_nonzero().tolist() == [2, 0, 2]
    assert np.count_nonzero(tw.as_tensor(truths.reshape(2, 3)).rows().sort(), axis=-1).tolist() == [2, 2]
    assert tw.as_tensor(truths).rows().count_nonzero().item() == 4
    many = np.resize(truths, 60)
    long, plain = (tw.from_buffer(own, tw.Shape.jagged([40, 20])) for own in (many, many.view(np.uint8) != 0))
    for call in ["argsort", "rankdata", "sort"]:
        assert getattr(long.rows(), call)().tolist() == getattr(plain.rows(), call)().tolist()


def test_the_first_moment_is_zero():
    epoch = np.array([0, 1, "NaT"], "M8[s]")
    tensor = tw.from_buffer(epoch, tw.Shape.jagged([3], rank=2))
    assert tensor.rows().count_nonzero().tolist() == [np.count_nonzero(epoch)]


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "var", "std"])
def test_moments_have_no_such_numbers(name):
    with pytest.raises(DTypeError, match=name):
        getattr(D.rows(), name)()
    with pytest.raises(DTypeError):
        getattr(np, name)(D, axis=-1)


@pytest.mark.parametrize("name", ["cumprod", "var", "std"])
def test_durations_have_no_such_numbers(name):
    with pytest.raises(DTypeError, match=name):
        getattr(M.rows(), name)()


R = tw.jagged([[5, 1, 7], [2, 9]])


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: (R > 1).rows().ptp(), DTypeError, ["ptp"]),
        (lambda: R.rows().quantile([0.1, 0.2]), ConversionError, ["q"]),
        (lambda: R.rows().histogram([[0, 1], [1]]), ExtentError, ["edges"]),
        (lambda: np.percentile(R, "a", axis=-1), DTypeError, ["np.percentile"]),
        (lambda: np.mean(R, axis=()), ConversionError, ["axis=()", "axis=-1"]),
        (lambda: np.sum(R, axis=()), ConversionError, ["axis=()", "axis=-1"]),
        (lambda: R.rows().quantile("a"), ConversionError, ["'a'"]),
        (lambda: R.rows().var(ddof="a"), ConversionError, ["ddof", "'a'"]),
        (lambda: R.rows().searchsorted(tw.strings([["a"], ["b"]])), DTypeError, ["searchsorted"]),
        (lambda: M.rows().histogram([1, 2]), DTypeError, ["histogram"]),
        (lambda: R.astype("c16").rows().histogram([1, 2]), DTypeError, ["histogram"]),
    ],
)
def test_what_rows_refuse_of_types(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_more_than_a_row_has_are_all_of_it():
    assert R.rows().top_k(2**70).tolist() == R.rows().argsort(descending=True).tolist()


def test_a_view_is_searched_for_as_a_tensor_is():
    view = tw.concat([R])
    assert R.rows().sort().rows().searchsorted(view).tolist() == [[1, 0, 2], [0, 1]]
    assert R.rows().product(view)[0].array_equal(R.rows().product(R)[0])


def test_functions_without_rows_name_the_method_of_rows():
    with pytest.raises(ConversionError, match=r"rows\(\)\.searchsorted"):
        np.searchsorted(R, 3)


@pytest.mark.parametrize("name", ["sum", "mean", "argmax"])
def test_out_that_is_read_only_is_refused(name):
    out = np.zeros(2, getattr(np, name)(R, axis=-1).dtype)
    out.flags.writeable = False
    with pytest.raises(ReadOnlyError, match="out="):
        getattr(np, name)(R, axis=-1, out=out)


def test_warnings_point_at_the_caller():
    rows = tw.jagged([[1.0], []]).rows()
    for call in (rows.mean, rows.var, rows.median, lambda: rows.quantile(0.5)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call()
        assert [own.filename for own in caught] == [__file__]


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("length", [2, 500])
@pytest.mark.parametrize("name", ["mean", "var", "std"])
def test_an_infinity_warns_of_nothing_in_rows_of_any_length(name, length, dtype):
    row = np.ones(length, dtype)
    row[1] = np.inf
    rows = tw.jagged([row, row[:1]])
    with np.errstate(all="raise"):
        found = getattr(rows.rows(), name)()
    with np.errstate(all="ignore"):
        wanted = [getattr(np, name)(own) for own in (row, row[:1])]
    assert np.array_equal(found.elements(), np.array(wanted), equal_nan=True)


_NAMES = (
    "sum",
    "prod",
    "max",
    "min",
    "mean",
    "var",
    "std",
    "median",
    "any",
    "sort",
    "cumsum",
    "diff",
    "ptp",
    "argmax",
    "nanmax",
    "nansum",
    "nanmean",
)


@pytest.mark.parametrize("name", _NAMES)
@pytest.mark.parametrize("dtype", [">f8", ">f4", ">i4"])
@pytest.mark.parametrize("length", [3, 40])
def test_types_are_those_of_numpy_whatever_the_byte_order(name, dtype, length):
    row = np.arange(length).astype(dtype)
    rows = tw.from_buffer(np.concatenate([row, row[:2]]).astype(dtype), tw.jagged([row, row[:2]]).shape)
    function = getattr(np, name)
    wanted = function(row.reshape(1, -1), axis=-1)
    found = function(rows, axis=-1)
    assert (found.dtype, found.dtype.byteorder) == (wanted.dtype, wanted.dtype.byteorder)
    assert np.asarray(found[0]).tolist() == wanted[0].tolist()
