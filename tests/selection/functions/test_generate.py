"""S3: what is generated fits the type that was named, or is refused: nothing wraps or becomes infinite."""

import numpy as np
import pytest

from tensorwrapper import Shape
from tensorwrapper import selection as sel
from tensorwrapper.errors import DTypeError, SelectionError, SizeOverflowError


@pytest.mark.parametrize(
    ("start", "stop", "count", "dtype"),
    [
        (0, 300, 4, "i1"),
        (-300, 0, 4, "i1"),
        (0, 2**63, 3, "i8"),
        (-1, 1, 3, "u1"),
        (0, 2, 3, "?"),
        (0.0, 1e6, 3, "f2"),
        (-6e4, 6e4, 2, "f2"),
        (-1.7e308, 1.7e308, 2, "f8"),
        (-(10**308), 10**308, 2, "f8"),
        (0, 10**400, 3, "f8"),
        (0, 1, 70_001, "f2"),
        (0, 1e300, 3, "c8"),
        (0, float("inf"), 3, "i4"),
    ],
)
def test_s3_linspace_refuses_what_leaves_its_type(start, stop, count, dtype):
    with pytest.raises(SizeOverflowError):
        sel.linspace(start, stop, count, dtype=dtype)


@pytest.mark.parametrize("arguments", [(0, 10, 4), (0.0, 10, 3), (0, 10.0, 3), (0, 1.5, 2)])
def test_s3_linspace_makes_no_integers_of_fractions(arguments):
    with pytest.raises(DTypeError):
        sel.linspace(*arguments, dtype="i8")


@pytest.mark.parametrize(
    ("start", "stop", "count", "dtype"),
    [
        (0, 120, 4, "i1"),
        (-128, 127, 2, "i1"),
        (-128, 127, 256, "i1"),
        (255, 0, 256, "u1"),
        (0, 255, 2, "u1"),
        (-(2**63), 2**63 - 1, 2, "i8"),
        (2**53 + 1, 2**53 + 3, 3, "i8"),
        (0, 2**64 - 1, 2, "u8"),
        (5, 5, 300, "u1"),
        (np.int8(-100), np.int8(100), 3, "i2"),
        (0, 300, 0, "i4"),
        (7, 300, 1, "i1"),
        (0, 1, 2, "?"),
    ],
)
def test_s3_linspace_of_integers_is_exact(start, stop, count, dtype):
    step = (int(stop) - int(start)) // max(count - 1, 1)
    expected = [int(start) + k * step for k in range(count)]
    view = sel.linspace(start, stop, count, dtype=dtype)
    assert view.dtype == np.dtype(dtype)
    assert view.compute().tolist() == expected
    assert [view[k].compute().item() for k in range(min(count, 3))] == expected[:3]
    if count > 2:
        assert view[::-2].compute().tolist() == expected[::-2]
    assert sel.from_json(sel.to_json(view), sources={}).compute().tolist() == expected


@pytest.mark.parametrize(
    ("start", "stop", "count", "dtype"),
    [
        (0, 6e4, 4, "f2"),
        (np.float16(-3e4), np.float16(3e4), 4, "f2"),
        (np.int8(-100), np.int8(100), 3, "f4"),
        (0, 3e38, 3, "f4"),
        (1, 2j, 3, "c8"),
    ],
)
def test_s3_linspace_of_floats_goes_to_the_end_of_the_range(start, stop, count, dtype):
    found = np.asarray(sel.linspace(start, stop, count, dtype=dtype).compute())
    np.testing.assert_allclose(found, np.linspace(complex(start), complex(stop), count), rtol=2e-3)


def test_s3_what_was_infinite_stays_so():
    assert np.isinf(sel.iota(Shape(2), start=np.inf, step=0, dtype="f4").compute().tolist()).all()
    assert sel.linspace(np.inf, 0, 1).compute().tolist() == [np.inf]


@pytest.mark.parametrize(
    "make",
    [
        lambda: sel.iota(Shape(70_000), dtype="f2"),
        lambda: sel.iota(Shape(10**400), dtype="f8"),
        lambda: sel.iota(Shape(2, origin=(-70_000,)), dtype="f2"),
        lambda: sel.iota(Shape(3), step=6e4, dtype="f2"),
        lambda: sel.iota(Shape(3), dtype="?"),
        lambda: sel.iota(Shape(2), start=np.int8(100), step=np.int8(100), dtype="i1"),
    ],
)
def test_s3_iota_refuses_what_leaves_its_type(make):
    with pytest.raises(SizeOverflowError, match="the element at"):
        make()


@pytest.mark.parametrize(
    ("function", "dtype"),
    [(lambda i: i * 200, "i1"), (lambda i: i * 1e9, "f2"), (lambda i: (i * 1e39).astype("c16"), "c8")],
)
def test_s3_a_function_of_coordinates_gives_what_the_type_holds(function, dtype):
    view = sel.compute(Shape(3), function, dtype=dtype)
    for part in (view, view[1:], view[::-1], sel.concat([view[:1], view[2:]])):
        with pytest.raises(SizeOverflowError, match=r"do not fit|that do not"):
            part.compute()
    assert view[:1].compute().tolist() == [0]


def test_s3_a_function_of_coordinates_gives_no_floats_for_integers():
    with pytest.raises(DTypeError, match="float64"):
        sel.compute(Shape(3), lambda i: i * 0.5, dtype="i8").compute()
    assert sel.compute(Shape(2), lambda i: np.inf * (i + 1), dtype="f2").compute().tolist() == [np.inf] * 2


@pytest.mark.parametrize("text", [None, 5, b"(1,2)", ["{}"], {}])
def test_section_4_a_view_is_read_from_text_alone(text):
    with pytest.raises(SelectionError, match=f"not from {type(text).__name__}$"):
        sel.from_json(text, sources={})


@pytest.mark.parametrize("dtype", ["m8[s]", "m8", "M8[D]"])
def test_times_are_not_counted_but_numbers_are_cast_to_them(dtype):
    for count in (0, 1, 3):
        with pytest.raises(DTypeError, match=r"iota yields numbers, .*`sel\.iota"):
            sel.iota((count,), dtype=dtype)
    with pytest.raises(DTypeError, match="linspace yields numbers"):
        sel.linspace(0, 3, 4, dtype=dtype)
    expected = np.arange(3).astype("m8[s]")
    assert np.array_equal(sel.iota((3,)).astype("m8[s]").compute(), expected)
