"""The rule of casts: no value, no not-a-number and no not-a-time is made or lost, whatever the types."""

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.buffer._casts import check_write, convert_elements, fit_number, is_within_kind
from tensorwrapper.errors import ConversionError, DTypeError, SizeOverflowError

INTEGERS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i8", ">u4"]
FLOATS = ["f2", "f4", "f8", "g", ">f4"]
COMPLEX = ["c8", "c16"]
TIMES = ["m8[s]", "m8[ms]", "m8[D]", "M8[s]", "M8[ms]", "M8[D]", ">m8[s]"]
SMALL = [
    name
    for name, own in vars(ml_dtypes).items()
    if isinstance(own, type) and issubclass(own, np.generic) and "complex" not in name
]
"""All that the installed ml_dtypes has: its letters for types are those of NumPy's, such as `e` of int1."""
DTYPES = [
    *[np.dtype(name) for name in ("?", *INTEGERS, *FLOATS, *COMPLEX, *TIMES)],
    *[np.dtype(getattr(ml_dtypes, name)) for name in SMALL],
]
EDGES = [
    *[
        sign * 2**power + more
        for power in (3, 4, 7, 8, 15, 16, 31, 32, 62, 63)
        for sign in (1, -1)
        for more in (-1, 0, 1)
    ],
    *(0, 1, -1, 2, 448, 449, 65504, 65520),
]
FLOATING = [0.0, -0.0, 0.5, -1.5, 1e-300, 1e-45, 1e-8, 6.1, 3e38, 4e38, 1e300, np.inf, -np.inf, np.nan]


def is_integer(dtype):
    return dtype.kind in "iu" or "int" in dtype.name


def is_small(dtype):
    return dtype.type.__module__ == "ml_dtypes"


def is_time(dtype):
    return dtype.kind in "mM"


@st.composite
def elements(draw, dtypes=DTYPES):
    """Return an array of a type, near the ends of types and with what is no number, often."""
    dtype = draw(st.sampled_from(dtypes))
    count = draw(st.integers(0, 3))
    if is_time(dtype):
        numbers = draw(st.lists(st.sampled_from([n for n in EDGES if -(2**63) <= n < 2**63]), min_size=count))
        return np.array(numbers, "i8").astype(dtype)
    if is_integer(dtype):
        wide = np.array([draw(st.sampled_from(EDGES)) % 2**64 for _ in range(count)], "u8")
        return wide.astype(np.uint8 if is_small(dtype) else dtype).astype(dtype)
    number = st.sampled_from([*FLOATING, *map(float, EDGES)])
    with np.errstate(all="ignore"):
        if dtype.kind == "c":
            return np.array(
                [complex(draw(number), draw(number) * draw(st.booleans())) for _ in range(count)], dtype
            )
        return np.array([draw(number) for _ in range(count)], "f8").astype(dtype)


def exact(value):
    """Return what an element is: a number, None for no number and no time, or a sign for an infinity."""
    if isinstance(value, np.datetime64 | np.timedelta64):
        return None if np.isnat(value) else int(value.astype("i8"))
    if np.iscomplexobj(value):
        return exact(value.real), exact(value.imag)
    if isinstance(value, bool | np.bool_ | int | np.integer) or is_integer(np.asarray(value).dtype):
        return int(value)
    if np.isnan(value):
        return None
    if np.isinf(value):
        return "inf" if value > 0 else "-inf"
    # The small types have no ratio of their own.
    own = value if hasattr(value, "as_integer_ratio") else float(value)
    return Fraction(*own.as_integer_ratio())


def wide(value):
    """Return an element of ml_dtypes as a float of NumPy, and others as they are."""
    return np.float64(value) if is_small(np.asarray(value).dtype) and not is_integer(value.dtype) else value


def as_pair(value):
    return value if isinstance(value, tuple) else (value, 0)


def unit_of(dtype):
    """Return the milliseconds of a unit of time."""
    return {"s": 1000, "ms": 1, "D": 86_400_000}[np.datetime_data(dtype)[0]]


def check_one(before, after, given, dtype):
    one, other = exact(wide(before)), exact(wide(after))
    if is_time(given) and is_time(dtype):
        assert (one is None) == (other is None)
        if one is not None:
            assert other == one * unit_of(given) // unit_of(dtype)
        return
    for a, b in zip(as_pair(one), as_pair(other), strict=True):
        if a is None or b is None:
            assert a is b, (one, other)
        elif dtype == np.bool_:
            assert b == (a != 0)
        elif isinstance(a, str) or isinstance(b, str):
            assert a == b
        elif is_integer(dtype) or is_time(dtype):
            assert b == int(a)
        elif a:
            # Rounded to the nearest that the type knows: by half at most, below the smallest to nothing.
            assert abs(b - a) <= abs(a) / 2 or abs(a) < 1


@given(array=elements(), dtype=st.sampled_from(DTYPES))
def test_a_conversion_makes_and_loses_nothing(array, dtype):
    before = array.copy()
    try:
        found = convert_elements(array, dtype)
    except (SizeOverflowError, DTypeError):
        return
    assert found.dtype == dtype
    assert found.shape == array.shape
    for one, other in zip(before, found, strict=True):
        check_one(one, other, array.dtype, dtype)


@given(array=elements(), dtype=st.sampled_from(DTYPES))
def test_a_write_makes_and_loses_nothing(array, dtype):
    try:
        found = check_write(array, dtype).astype(dtype)
    except (SizeOverflowError, DTypeError):
        return
    assert array.dtype == dtype or is_within_kind(array.dtype, dtype)
    for one, other in zip(array, found, strict=True):
        check_one(one, other, array.dtype, dtype)
        if exact(wide(one)) not in (0, (0, 0)):
            assert exact(wide(other)) not in (0, (0, 0))
        if is_time(array.dtype) and is_time(dtype):
            assert other.astype(array.dtype) == one or np.isnat(one)


@given(array=elements(), dtype=st.sampled_from(DTYPES))
def test_numbers_and_arrays_are_written_by_one_rule(array, dtype):
    for one in array:
        with np.errstate(all="ignore"):
            try:
                written = check_write(one, dtype).astype(dtype)
            except (SizeOverflowError, DTypeError):
                continue
        filled = fit_number(one, dtype, "fill_value")
        assert exact(wide(filled[()])) == exact(wide(written[()]))


@given(array=elements(), dtype=st.sampled_from(DTYPES))
def test_what_fits_exactly_is_never_refused(array, dtype):
    kinds = ("b", "iu", "f", "c", "m", "M")
    same = [next((k for k in kinds if own.kind in k), "V") for own in (array.dtype, dtype)]
    if len(set(same)) > 1 or "V" in same:
        return
    with np.errstate(all="ignore"):
        there = array.astype(dtype)
    if all(
        exact(a)
        == exact(b) * (Fraction(unit_of(dtype), unit_of(array.dtype)) if is_time(dtype) and exact(b) else 1)
        if dtype.kind != "c"
        else exact(a) == exact(b)
        for a, b in zip(array, there, strict=True)
    ):
        expected = [exact(own) for own in there]
        assert [exact(own) for own in convert_elements(array, dtype)] == expected
        assert [exact(own) for own in np.array(check_write(array, dtype), dtype)] == expected


LOST = [
    ([1, -(2**63)], "i8", "m8[s]"),
    ([2**63], "u8", "m8[s]"),
    ([-(2**63)], "i8", "M8[s]"),
    ([np.nan], "f8", "i4"),
    ([np.nan], "f8", "?"),
    ([np.inf], "f8", "m8[s]"),
    ([-(2.0**63)], "f8", "m8[s]"),
    ([2.0**63], "f8", "i8"),
    ([2.0**64], "f8", "u8"),
    ([-1.0], "f8", "u1"),
    ([70000], "i4", "f2"),
    ([1e39], "f8", "f4"),
    ([1e300], "f8", "bfloat16"),
    ([500.0], "f8", "float8_e4m3fn"),
    ([np.inf], "f8", "float8_e4m3fn"),
    ([7.0], "f8", "float4_e2m1fn"),
    ([np.nan], "f8", "float4_e2m1fn"),
    ([0.0], "f8", "float8_e8m0fnu"),
    ([9], "i8", "int4"),
    ([127], "i1", "float4_e2m1fn"),
    ([0], "u1", "float8_e8m0fnu"),
    ([-1], "i8", "uint4"),
    *[
        ([number], kind, "int1")
        for number in (np.nan, 300.0, 1.0)
        for kind in ("f2", "f8")
        if "int1" in SMALL
    ],
]


@pytest.mark.parametrize(("numbers", "given_type", "name"), LOST)
def test_what_a_type_cannot_hold_is_refused(numbers, given_type, name):
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    with pytest.raises(SizeOverflowError, match="the first is"):
        convert_elements(np.array(numbers, given_type), dtype)


def test_writes_keep_what_conversions_may_round_to_nothing():
    tiny = np.array([0.0, 1e-300])
    assert convert_elements(tiny, np.dtype("f4")).tolist() == [0.0, 0.0]
    with pytest.raises(SizeOverflowError, match="the first is 1e-300"):
        check_write(tiny, np.dtype("f4"))
    late = np.array([1500], "m8[ms]")
    assert convert_elements(late, np.dtype("m8[s]")).astype(int).tolist() == [1]
    with pytest.raises(SizeOverflowError, match="1500 milliseconds"):
        check_write(late, np.dtype("m8[s]"))


@pytest.mark.parametrize("kind", ["m8", "M8"])
@pytest.mark.parametrize(("unit", "longer"), [("3D", "2W"), ("W", "10D"), ("1000ms", "7s"), ("25us", "ms")])
@given(numbers=st.lists(st.integers(-(2**63) + 1, 2**63 - 1), min_size=1, max_size=9))
def test_counts_of_a_longer_unit_are_right_or_refused(kind, unit, longer, numbers):
    """NumPy multiplies before it divides: products beyond 64 bits came back as other times."""
    given_type, dtype = np.dtype(f"{kind}[{unit}]"), np.dtype(f"{kind}[{longer}]")
    one, step = [int(np.ones(1, f"m8[{own}]").astype("m8[us]").astype(int)[0]) for own in (unit, longer)]
    for number in numbers:
        try:
            found = convert_elements(np.array([number]).view(given_type), dtype)
        except SizeOverflowError:
            assert abs(number) * one >= 2**63
        else:
            assert -step < int(found.astype(int)[0]) * step - number * one < step


@pytest.mark.parametrize(("one", "other"), [("as", "3D"), ("ps", "W"), ("as", "Y")])
def test_times_that_no_number_of_64_bits_counts_are_refused(one, other):
    """Fill values and searches ended in NumPy's OverflowError."""
    number, dates = np.datetime64(5, one), tw.as_tensor(np.zeros((1, 1), f"M8[{other}]"))
    for call in [
        lambda: tw.full((1,), number, dtype=dates.dtype),
        lambda: sel.pad(dates, [(0, 1), (0, 0)], fill_value=number),
        lambda: dates.rows().max(initial=number),
        lambda: dates.assign(number),
    ]:
        with pytest.raises(SizeOverflowError):
            call()
    others = tw.as_tensor(np.array([[number]]))
    with pytest.raises(DTypeError, match="searchsorted compares no"):
        dates.rows().searchsorted(others)
    with pytest.raises(DTypeError, match=r"array_equal: .* are not compared with"):
        dates.array_equal(others)
    with pytest.raises(DTypeError, match="no type in common"):
        sel.minimum(dates, others)


def test_months_and_days_are_not_compared():
    months, days = (tw.as_tensor(np.zeros(1, own)) for own in ("m8[M]", "m8[D]"))
    with pytest.raises(DTypeError, match=r"array_equal: .*\[M\] are not compared with ones of .*\[D\]"):
        months.array_equal(days)
    assert not months.array_equal(tw.as_tensor(np.ones(1)))


def test_integers_of_ml_dtypes_take_no_floats():
    with pytest.raises(DTypeError, match="float64 do not go into elements of type int4"):
        check_write(np.array([1.5]), np.dtype(ml_dtypes.int4))
    assert check_write(np.array([1.5]), np.dtype(ml_dtypes.bfloat16)).tolist() == [1.5]


@pytest.mark.parametrize("name", SMALL)
def test_one_number_is_checked_as_an_array_of_it_is(name):
    """An integer went into types whose letter is that of an integer of NumPy as it was."""
    target = tw.zeros((2,), dtype=np.dtype(getattr(ml_dtypes, name)))
    if name == "float8_e8m0fnu":
        target = tw.full((2,), 1, dtype=target.dtype)
    for number in (300, 2**40, -2, 1):
        before = target.tolist()
        try:
            target[:1] = np.array([number])
        except SizeOverflowError:
            with pytest.raises(SizeOverflowError):
                target[0] = number
            assert target.tolist() == before
        else:
            wanted = target.tolist()
            target[:] = before
            target[0] = number
            assert target.tolist() == wanted


def test_a_number_that_is_none_is_refused():
    with pytest.raises(ConversionError, match="nothing that elements of type int32 can be"):
        fit_number(np.nan, np.dtype("i4"), "fill_value")


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (np.datetime64(1, "s"), "i8"),
        (np.datetime64(1, "s"), "m8[s]"),
        (np.timedelta64(7, "D"), "M8[D]"),
        (np.timedelta64(7, "D"), "f8"),
        (np.float32(1.5), "m8[s]"),
        (np.float64(np.nan), "M8[D]"),
        (np.array(1.5), "m8[D]"),
        (np.complex64(complex(0, np.nan)), "i4"),
        (np.complex64(1 + 2j), "bfloat16"),
        (ml_dtypes.bfloat16(1.5), "i4"),
        (1.5, "int4"),
    ],
    ids=repr,
)
def test_numbers_of_another_kind_are_refused(value, name):
    with pytest.raises(DTypeError, match="another kind"):
        fit_number(value, np.dtype(getattr(ml_dtypes, name, name)), "fill_value")


def test_small_floats_without_a_number_become_no_integers():
    absent = np.array([np.nan, 448.0]).astype(ml_dtypes.float8_e4m3fn)
    with pytest.raises(SizeOverflowError, match="the first is nan"):
        convert_elements(absent, np.dtype(ml_dtypes.int4))
    assert convert_elements(absent[1:], np.dtype("f4")).tolist() == [448.0]


@pytest.mark.parametrize("kind", "mM")
@pytest.mark.parametrize(("coarse", "fine"), [("W", "as"), ("Y", "fs"), ("s", "999999999as")])
def test_units_without_a_factor_of_64_bits_are_refused_in_our_words(kind, coarse, fine):
    times = np.array([1, 0], f"{kind}8[{coarse}]")
    with pytest.raises(SizeOverflowError, match=r"fit none of|do not fit"):
        convert_elements(times, np.dtype(f"{kind}8[{fine}]"))


@pytest.mark.parametrize("kinds", ["mM", "Mm"])
def test_durations_and_dates_of_other_units_do_not_become_each_other(kinds):
    one, other = kinds
    days = np.array([1, 2], f"{one}8[D]")
    with pytest.raises(DTypeError, match="unit differs") as caught:
        convert_elements(days, np.dtype(f"{other}8[s]"))
    assert f"astype('{one}8[s]')" in str(caught.value)
    seconds = tw.as_tensor(days).astype(f"{one}8[s]").astype(f"{other}8[s]")
    assert seconds.astype("i8").tolist() == [86400, 172800]
    assert convert_elements(days, np.dtype(f"{other}8[D]")).astype("i8").tolist() == [1, 2]
    with pytest.raises(DTypeError, match="unit differs"):
        sel.as_view(tw.as_tensor(days)).astype(f"{other}8[s]").compute()
