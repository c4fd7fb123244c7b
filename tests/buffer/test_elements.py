"""What elements are, and what becomes of values that are made elements: NumPy says what must come out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import tensorwrapper as tw
from tensorwrapper.buffer._casts import check_write, convert_elements, fit_number
from tensorwrapper.buffer._elements import check_dtype, contains_value, fit_extents, holds_strings, kind_of
from tensorwrapper.errors import ConversionError, DTypeError, ExtentMismatchError, SizeOverflowError

DTYPES = [np.dtype(name) for name in ("?", "i1", "u1", "i4", "i8", "u8", "f2", "f4", "f8", "c8", "c16")]
INTEGERS = st.sampled_from([dtype for dtype in DTYPES if dtype.kind in "iu"])
SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, max_side=2)
NUMBERS = st.one_of(st.integers(-(2**70), 2**70), st.floats(), st.booleans(), st.complex_numbers())


@pytest.mark.parametrize("name", ["?", "i2", "u8", "f2", "f8", "c16", "M8[s]", "m8[ns]", "bfloat16"])
def test_tensors_hold_numbers_and_times(name):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    dtype = np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)
    check_dtype(dtype)

    assert not holds_strings(dtype)


@pytest.mark.parametrize(
    ("dtype", "hint"), [("S3", True), ("U3", True), ("O", True), ([("x", "f8")], False), ("V4", False)]
)
def test_tensors_hold_nothing_else(dtype, hint):
    with pytest.raises(DTypeError, match="are not supported") as caught:
        check_dtype(np.dtype(dtype))

    assert ("tw.strings(...) makes tensors" in str(caught.value)) == hint


def test_complex_numbers_of_other_packages_are_refused():
    """NumPy found no imaginary parts in them, and casts of them ended in its own errors."""
    ml_dtypes = pytest.importorskip("ml_dtypes")
    if not hasattr(ml_dtypes, "complex32"):
        pytest.skip("this ml_dtypes has no complex numbers")
    with pytest.raises(DTypeError, match=r"complex32 are not supported: astype\(np.complex64\)"):
        check_dtype(np.dtype(ml_dtypes.complex32))


def test_durations_whose_bytes_numpy_does_not_swap_are_refused(tmp_path):
    swapped = np.array([2, 7], ">i8").view(">m8")
    with pytest.raises(DTypeError, match=r"array.view\('>m8\[s\]'\) gives them one"):
        check_dtype(swapped.dtype)
    check_dtype(swapped.view(">m8[s]").dtype)
    check_dtype(np.dtype("m8"))
    np.savez(tmp_path / "a.npz", x=swapped, y=[1])
    with tw.open(tmp_path / "a.npz") as file:
        assert (list(file), [(own.name, own.code) for own in file.losses]) == (["y"], [("x", "type")])


def test_strings_are_text_or_bytes():
    text, octets = np.dtypes.StringDType(), np.dtype("O")

    assert [holds_strings(dtype) for dtype in (text, octets)] == [True, True]
    assert [kind_of(dtype) for dtype in (text, octets)] == ["utf8", "binary"]


@given(NUMBERS, st.sampled_from(DTYPES))
def test_a_number_is_an_element_exactly_or_refused(value, dtype):
    try:
        found = fit_number(value, dtype, "value")
    except (SizeOverflowError, DTypeError, ConversionError) as error:
        assert "value=" in str(error)  # noqa: PT017 - what is not refused is right
        # Whatever integers a type can say, it says.
        if type(value) is int and dtype.kind in "iu":
            assert not np.iinfo(dtype).min <= value <= np.iinfo(dtype).max
        return
    assert (found.dtype, found.shape) == (dtype, ())
    if dtype.kind in "biu":
        assert found.item() == value
    elif not isinstance(value, complex) and np.isfinite(float(value)):
        # Rounded as NumPy rounds, and never to infinity.
        assert np.isfinite(found)
        assert found == np.array(value, dtype)


@pytest.mark.parametrize(
    ("value", "dtype", "error"),
    [
        (300, "u1", SizeOverflowError),
        (-1, "u8", SizeOverflowError),
        (1e300, "f4", SizeOverflowError),
        (2**70, "i8", SizeOverflowError),
        (1.5, "i4", DTypeError),
        (1 + 2j, "f8", DTypeError),
        (None, "f8", ConversionError),
        ("1", "i4", ConversionError),
        ([1, 2], "i4", ConversionError),
    ],
)
def test_what_is_no_such_element_is_refused_by_kind(value, dtype, error):
    with pytest.raises(error):
        fit_number(value, np.dtype(dtype), "value")


@given(hnp.arrays(INTEGERS, st.integers(0, 4)), INTEGERS)
def test_integers_are_written_if_all_fit(array, dtype):
    if not np.can_cast(array.dtype, dtype, "same_kind"):
        with pytest.raises(DTypeError, match="only within one kind, or to a wider one"):
            check_write(array, dtype)
        return
    info = np.iinfo(dtype)
    bad = [int(x) for x in array if not info.min <= int(x) <= info.max]
    if bad:
        with pytest.raises(SizeOverflowError, match=f"the first is {bad[0]}"):
            check_write(array, dtype)
    else:
        assert np.array(check_write(array, dtype), dtype).tolist() == array.tolist()
    assert np.array_equal(check_write(array, dtype, casting="unsafe"), array)


@pytest.mark.parametrize(
    ("value", "dtype", "error"),
    [
        (1.0, "i4", DTypeError),
        (np.float64(1), "i4", DTypeError),
        ([1.0], "i4", DTypeError),
        (1j, "f8", DTypeError),
        ("a", "f8", DTypeError),
        (np.array([1]), "?", DTypeError),
        (np.array([1e300]), "f4", SizeOverflowError),
        (2**64, "i8", SizeOverflowError),
        ([2**64], "i8", None),
        ([[1], [1, 2]], "i8", ExtentMismatchError),
        (np.ma.masked_array([1]), "i8", ConversionError),
        (np.datetime64("9999-01-01", "Y"), "M8[ns]", SizeOverflowError),
    ],
)
def test_a_write_of_another_kind_is_refused(value, dtype, error):
    with pytest.raises(error or (SizeOverflowError, DTypeError)):
        check_write(value, np.dtype(dtype))


def test_numbers_of_python_go_where_their_values_fit():
    assert check_write([1, 2], np.dtype("f4")).tolist() == [1, 2]
    assert check_write(3, np.dtype("u1")) == 3
    assert np.isnan(check_write([np.nan], np.dtype("f4"))).all()
    assert check_write("2001-02-03", np.dtype("M8[D]")) == np.datetime64("2001-02-03")


@given(hnp.arrays(st.sampled_from(DTYPES), st.integers(0, 4)), st.sampled_from(DTYPES))
def test_converted_elements_have_lost_fractions_at_most(array, dtype):
    try:
        found = convert_elements(array, dtype)
    except SizeOverflowError:
        assert not np.can_cast(array.dtype, dtype)
        return
    except DTypeError:
        assert array.imag.any()
        return
    assert found.dtype == dtype
    assert not np.shares_memory(found, array)
    parts = array if dtype.kind == "c" else array.real
    with np.errstate(all="ignore"):
        assert np.array_equal(found, parts.astype(dtype), equal_nan=dtype.kind in "fc")
    if array.dtype.kind in "iuf" and dtype.kind in "iu":
        assert [int(x) for x in found] == [int(x) for x in array]


def test_real_parts_become_elements_of_the_type_that_was_asked_for():
    numbers = np.array([1, 2], dtype=np.complex64)
    found = convert_elements(numbers, np.dtype("f8"))

    assert (found.dtype, found.tolist()) == (np.float64, [1, 2])
    assert not np.shares_memory(found, numbers)
    assert convert_elements(numbers, np.dtype("f4")).dtype == np.float32
    with pytest.raises(DTypeError, match="have imaginary parts"):
        convert_elements(numbers * 1j, np.dtype("f8"))


def test_elements_that_surely_fit_stay_where_they_are_if_that_is_wanted():
    array = np.arange(3, dtype=np.int16)

    assert convert_elements(array, np.dtype("i8"), copy=False) is array
    assert not np.shares_memory(convert_elements(array, np.dtype("i2")), array)
    assert convert_elements(np.array([300]), np.dtype("u1"), checked=False).tolist() == [44]
    with pytest.raises(SizeOverflowError, match="do not fit elements of type uint8"):
        convert_elements(np.array([300]), np.dtype("u1"), copy=False)


@given(SHAPES, SHAPES)
def test_values_fit_extents_as_numpy_assigns_them(given_, extents):
    values, target = np.arange(np.prod(given_)).reshape(given_), np.zeros(extents, int)
    try:
        target[...] = values
    except ValueError:
        with pytest.raises(ExtentMismatchError, match="does not broadcast"):
            fit_extents(values, extents)
        return

    assert np.array_equal(np.broadcast_to(fit_extents(values, extents), extents), target)


def test_an_element_is_found_among_others_and_what_is_none_is_refused():
    elements = np.array([1, 2], dtype=np.int8)

    assert [x for x in (1, 2.0, 3, None, 2**80) if contains_value(elements, x)] == [1, 2.0]
    with pytest.raises(ConversionError, match="asks for one element, not for a list"):
        contains_value(elements, [1, 2])


@pytest.mark.parametrize("checked", [True, False])
def test_a_null_does_not_become_the_word_none(checked):
    text = np.dtypes.StringDType
    given = np.array([["a", None]], dtype=text(na_object=None))
    with pytest.raises(ConversionError, match="1 elements are nulls"):
        convert_elements(given, text(), checked=checked)
    assert convert_elements(given[:, :1], text(), checked=checked).tolist() == [["a"]]
    assert convert_elements(given, text(na_object=None), checked=checked).tolist() == [["a", None]]


UNITS = ["D", "h", "m", "s", "ms", "us", "ns"]
NS = {
    "D": 86_400_000_000_000,
    "h": 3_600_000_000_000,
    "m": 60_000_000_000,
    "s": 10**9,
    "ms": 10**6,
    "us": 10**3,
}
NOT_A_TIME = -(2**63)


@pytest.mark.parametrize("kind", ["m8", "M8"])
@given(
    st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-(2**40), 2**40), max_size=4),
    st.sampled_from(UNITS),
    st.sampled_from(UNITS),
)
def test_times_keep_their_moment_or_are_refused(kind, counts, unit, other):
    times = np.array(counts, dtype="i8").view(f"{kind}[{unit}]")
    dtype = np.dtype(f"{kind}[{other}]")
    scale, wanted = NS.get(unit, 1), NS.get(other, 1)
    moments = [None if count == NOT_A_TIME else count * scale // wanted for count in counts]
    if any(own is not None and not -(2**63) < own < 2**63 for own in moments):
        with pytest.raises(SizeOverflowError):
            convert_elements(times, dtype)
        return
    try:
        found = convert_elements(times, dtype)
    except SizeOverflowError:
        # NumPy rounds down past the least time, within one unit of it: refused, not turned back.
        assert min(counts) < -(2**63) + wanted // scale
        return
    assert found.dtype == dtype
    assert found.view("i8").tolist() == [NOT_A_TIME if own is None else own for own in moments]


@given(
    st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-300, 300), max_size=3),
    st.sampled_from(["i1", "i2", "i4", "i8", "u1", "u8"]),
)
def test_times_become_integers_that_hold_their_counts_or_are_refused(counts, dtype):
    times = np.array(counts, dtype="i8").view("m8[s]")
    limits = np.iinfo(dtype)
    if all(limits.min <= count <= limits.max and count != NOT_A_TIME for count in counts):
        assert convert_elements(times, np.dtype(dtype)).tolist() == counts
    else:
        with pytest.raises(SizeOverflowError):
            convert_elements(times, np.dtype(dtype))


@given(st.lists(st.floats() | st.floats(-1e6, 1e6), max_size=3), st.sampled_from(["f4", "f8"]))
def test_numbers_become_times_that_come_back(numbers, dtype):
    with np.errstate(over="ignore"):
        array = np.array(numbers, dtype=dtype)
    try:
        times = convert_elements(array, np.dtype("m8[s]"))
    except SizeOverflowError:
        assert (np.isinf(array) | (np.abs(array) >= 2.0**63)).any()
        return
    back = convert_elements(times, np.dtype("f8"))
    assert np.array_equal(back, np.trunc(array.astype("f8")), equal_nan=True)
