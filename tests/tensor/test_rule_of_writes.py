"""S3: whatever writes refuses what the type cannot hold; a table of types and of every way to write."""

import inspect

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape, Tensor
from tensorwrapper import selection as sel
from tensorwrapper.errors import DTypeError, SizeOverflowError
from tensorwrapper.selection import View

DTYPES = ["?", "i1", "u1", "i2", "i8", "u8", "f2", "f4", "f8", "c8", "c16", "M8[s]", "m8[s]"]


def dense(dtype):
    return tw.as_tensor(np.zeros(4, dtype))


def rows(dtype):
    return tw.from_buffer(np.zeros(4, dtype), Shape.jagged([3, 1]))


def sparse(dtype):
    return tw.sparse([(0,)], np.ones(1, dtype), Shape(4))


def joined(dtype):
    return sel.concat([dense(dtype), dense(dtype)])[2:6]


def set_key(t, value):
    t[:] = value


def set_list(t, value):
    t[[0, 1, 2, 3]] = value


def set_outer(t, value):
    t.oindex[[0, 1, 2, 3]] = value


def set_points(t, value):
    t.vindex[[0, 1, 2, 3]] = value


WAYS = {
    "assign": (dense, lambda t, value: t.assign(value)),
    "t[:]": (dense, set_key),
    "t[list]": (dense, set_list),
    "oindex": (dense, set_outer),
    "vindex": (dense, set_points),
    "rows": (rows, lambda t, value: t.assign(value)),
    "a row": (rows, lambda t, value: t[0].assign(value)),
    "turned": (lambda dtype: dense(dtype).rotate((1,)), lambda t, value: t.assign(value)),
    "sparse": (sparse, lambda t, value: t.assign(value)),
    "sparse[:]": (sparse, set_key),
    "view": (lambda dtype: sel.as_view(dense(dtype)), lambda t, value: t.assign(value)),
    "view[:]": (lambda dtype: sel.as_view(dense(dtype)), set_key),
    "joined views": (joined, lambda t, value: t.assign(value)),
    "joined views[:]": (joined, set_key),
}
FORMS = {
    "number": lambda n: n,
    "array": lambda n: np.full(1, n),
    "tensor": lambda n: tw.as_tensor(np.full(1, n)),
}


def elements(t):
    t = t.compute() if isinstance(t, View) else t
    return np.asarray(t.elements()).copy()


@pytest.mark.parametrize(("make", "write"), WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("given", DTYPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_kinds_meet_as_numpys_same_kind_says(make, write, given, dtype):
    t = make(dtype)
    before = elements(t)
    value = np.ones((), given)[()]
    if np.can_cast(given, dtype, "same_kind"):
        write(t, value)
        return
    with pytest.raises(DTypeError):
        write(t, value)
    assert np.array_equal(elements(t), before)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize(("make", "write"), WAYS.values(), ids=WAYS)
@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (np.int64(300), "i1"),
        (np.int16(-200), "i1"),
        (np.uint64(2**63), "u4"),
        (np.float64(1e300), "f4"),
        (np.float32(1e6), "f2"),
    ],
)
def test_what_is_out_of_range_is_refused_and_changes_nothing(make, write, form, value, dtype):
    t = make(dtype)
    if t.shape.kind == "jagged" and form is not FORMS["number"]:
        return
    before = elements(t)
    with pytest.raises(SizeOverflowError):
        write(t, form(value))
    assert np.array_equal(elements(t), before)


@pytest.mark.parametrize(("make", "write"), WAYS.values(), ids=WAYS)
def test_pythons_numbers_go_where_they_fit(make, write):
    for value, dtype in ((1, "u1"), (True, "i8"), (1, "f4"), (1.5, "f2"), (1, "c8"), (1, "?"), (1.5, "c16")):
        t = make(dtype)
        write(t, value)
        assert elements(t)[0] == np.dtype(dtype).type(value)
    for value, dtype, error in (
        (300, "i1", SizeOverflowError),
        (-1, "u8", SizeOverflowError),
        (2**70, "i8", SizeOverflowError),
        (3, "?", SizeOverflowError),
        (1.0, "i8", DTypeError),
        (1j, "f8", DTypeError),
        (1e300, "f4", SizeOverflowError),
        ("1", "i8", DTypeError),
    ):
        t = make(dtype)
        with pytest.raises(error):
            write(t, value)


def test_not_a_number_and_infinity_are_numbers():
    t = dense("f2")
    t.assign([np.nan, np.inf, -np.inf, 65504.0])
    assert elements(t).tolist()[1:] == [np.inf, -np.inf, 65504.0]


@pytest.mark.parametrize("make", [dense, rows, lambda dtype: sel.as_view(dense(dtype)), sparse])
def test_unsafe_takes_what_is_lost(make):
    t = make("i1")
    t.assign(np.float64(44.9), casting="unsafe")
    assert elements(t)[0] == 44


def test_fill_values_follow_the_same_rule():
    for call in (
        lambda: tw.full((2,), 1.5, dtype="i8"),
        lambda: tw.jagged([[1], [2, 3]]).to_padded(fill_value=1.5),
        lambda: tw.jagged([[1], [2, 3]]).pad_rows(4, fill_value=1.5),
        lambda: sel.pad([1, 2], [(1, 1)], fill_value=1.5),
        lambda: sel.full((2,), 1.5, dtype="i8"),
        lambda: tw.sparse([(0,)], [1], Shape(2), fill_value=1.5),
    ):
        with pytest.raises(DTypeError):
            call()
    with pytest.raises(SizeOverflowError):
        tw.full((2,), 1e300, dtype="f4")


def test_every_way_to_write_is_in_the_table():
    writers = {
        name
        for cls in (Tensor, View)
        for name, member in inspect.getmembers(cls, inspect.isfunction)
        if not name.startswith("_") or name == "__setitem__"
        if name == "__setitem__" or "casting" in inspect.signature(member).parameters
    }

    assert writers == {"assign", "__setitem__", "astype"}
