"""S3: whatever writes refuses what the type cannot hold; a table of types and of every way to write."""

import inspect
import itertools

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape, Tensor
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, DTypeError, SizeOverflowError
from tensorwrapper.selection import View
from tests.support.cases import case

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
def test_kinds_meet_as_numpys_same_kind_says(make, write):
    for given, dtype in itertools.product(DTYPES, repeat=2):
        with case(given, dtype):
            t = make(dtype)
            before = elements(t)
            value = np.ones((), given)[()]
            if np.can_cast(given, dtype, "same_kind"):
                write(t, value)
                continue
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


MADE = {
    "jagged lists": lambda numbers, dtype: tw.jagged([[n] for n in numbers], dtype=dtype),
    "jagged arrays": lambda numbers, dtype: tw.jagged([np.array([n]) for n in numbers], dtype=dtype),
    "jagged cells": lambda numbers, dtype: tw.jagged([np.array([[n]]) for n in numbers], dtype=dtype),
    "jagged tensors": lambda numbers, dtype: tw.jagged([tw.as_tensor([n]) for n in numbers], dtype=dtype),
    "sparse list": lambda numbers, dtype: tw.sparse(
        np.arange(len(numbers))[:, None], numbers, (5,), dtype=dtype
    ),
    "sparse array": lambda numbers, dtype: tw.sparse(
        np.arange(len(numbers))[:, None], np.array(numbers), (5,), dtype=dtype
    ),
}


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_s3_what_makes_tensors_of_a_type_follows_the_same_rule(make):
    for numbers, dtype, error in (
        ([1.5, 2.0], "i4", DTypeError),
        ([2.0], "i8", DTypeError),
        ([1.5], "?", DTypeError),
        ([1j], "f8", DTypeError),
        ([1e300], "f4", SizeOverflowError),
        ([300], "i1", SizeOverflowError),
    ):
        with pytest.raises(error):
            make(numbers, dtype)
    for numbers, dtype in (([1, 2], "f8"), ([0.5], "f4"), ([1, 2], "i1"), ([True], "i8"), ([1.5], "c8")):
        made = make(numbers, dtype)
        assert made.dtype == np.dtype(dtype)
        flat = (made.to_dense() if made.is_sparse else made).elements()
        assert flat[: len(numbers)].tolist() == numbers


def test_s3_lists_of_python_numbers_go_where_they_fit_and_empty_ones_anywhere():
    assert tw.jagged([[], [1, 255]], dtype="u1").tolist() == [[], [1, 255]]
    assert tw.jagged([[], []], dtype="i8").dtype == np.int64
    assert tw.sparse([], [], (3,), dtype="i8").dtype == np.int64
    with pytest.raises(SizeOverflowError):
        tw.jagged([[-1]], dtype="u1")
    with pytest.raises(DTypeError):
        tw.jagged([np.array([1])], dtype="u1")


TARGETS = {
    "dense": lambda dtype: tw.as_tensor(np.ones(4, dtype)),
    "rows": lambda dtype: tw.from_buffer(np.ones(4, dtype), Shape.jagged([3, 1])),
    "sparse": lambda dtype: tw.sparse(np.arange(4)[:, None], np.ones(4, dtype), (4,)),
    "gathered": lambda dtype: tw.as_tensor(np.ones(4, dtype)).gather(0, [0, 1, 0, 1]),
    "view": lambda dtype: sel.as_view(np.ones(4, dtype)),
    "joined views": lambda dtype: sel.concat([np.ones(2, dtype), np.ones(2, dtype)]),
}


def added(target, values, **options):
    given = tw.as_tensor(values)
    if target.shape.kind == "jagged":
        given = tw.from_buffer(np.asarray(values), target.shape)
    given.accumulate_into(target, **options)


@pytest.mark.parametrize("make", TARGETS.values(), ids=TARGETS)
def test_s3_sums_follow_the_same_rule_and_unsafe_is_the_way_round(make):
    for values, dtype, error in (
        (np.full(4, 1.5), "i8", DTypeError),
        (np.full(4, 300), "i1", SizeOverflowError),
        (np.full(4, 1e300), "f4", SizeOverflowError),
        (np.array([1, 1, 1, 127], "i1"), "i1", SizeOverflowError),
    ):
        target = make(dtype)
        before = elements(target)
        with pytest.raises(error):
            added(target, values)
        assert elements(target).tolist() == before.tolist()
    target = make("i1")
    added(target, np.array([1.9, 1.9, 300, 127.0]), casting="unsafe")
    which = [0, 1, 0, 1] if make is TARGETS["gathered"] else [0, 1, 2, 3]
    expected = np.ones(4, "i1")
    with np.errstate(all="ignore"):
        np.add.at(expected, which, np.array([1.9, 1.9, 300, 127.0]).astype("i1"))
    assert elements(target).tolist() == expected[which].tolist()


def test_s3_sums_are_whole_or_not_at_all_over_several_buffers():
    parts = [tw.as_tensor(np.zeros(2, "i1")) for _ in range(3)]
    for bad in range(6):
        values = np.ones(6, "i2")
        values[bad] = 200
        with pytest.raises(SizeOverflowError):
            tw.as_tensor(values).accumulate_into(sel.concat(parts))
        assert [part.tolist() for part in parts] == [[0, 0]] * 3
    with pytest.raises(SizeOverflowError):
        tw.as_tensor(np.full(4, 100, "i1")).accumulate_into(sel.concat([parts[0], parts[0]]))
    assert parts[0].tolist() == [0, 0]


def test_every_way_to_write_is_in_the_table():
    writers = {
        name
        for cls in (Tensor, View)
        for name, member in inspect.getmembers(cls, inspect.isfunction)
        if not name.startswith("_") or name == "__setitem__"
        if name == "__setitem__" or "casting" in inspect.signature(member).parameters
    }

    assert writers == {"assign", "__setitem__", "astype", "accumulate_into"}


@pytest.mark.parametrize("make", [dense, rows, sparse, joined, lambda dtype: sel.as_view(rows(dtype))])
@pytest.mark.parametrize("casting", ["zz", "safe", None, 3, ["unsafe"]])
def test_an_unknown_casting_is_refused(make, casting):
    t = make("i4")
    for call in (t.assign, t.accumulate_into):
        with pytest.raises(ConversionError, match="casting is 'same_kind' or 'unsafe', not"):
            call(t if call == t.accumulate_into else 1, casting=casting)
    for dtype in ("i4", "u1"):
        with pytest.raises(ConversionError, match="casting is 'checked' or 'unsafe', not"):
            t.astype(dtype, casting=casting)
