"""Assignment is whole or not at all; accumulation adds where indices share a place."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape, Tiling
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, DTypeError, ExtentMismatchError, ReadOnlyError
from tensorwrapper.testing import jagged_shapes, tiled_shapes
from tests.support.selection.kinds import KINDS


@pytest.mark.parametrize(
    "view",
    [
        lambda t: t,
        lambda t: t.permute((1, 0)).reverse(0),
        lambda t: t.rotate((1, 2)),
        lambda t: t.gather(1, [3, 0, 2]),
        lambda t: t[1:, ::2].rotate((0, 1)),
        lambda t: t.tiled(Tiling([1, 2], [3, 1])),
        lambda t: t.window(Shape(3, 4)[1:, 2:]),
    ],
)
def test_every_view_that_repeats_nothing_can_be_assigned_to(view):
    base = np.arange(12.0).reshape(3, 4)
    places = view(tw.as_tensor(np.arange(12).reshape(3, 4))).elements()
    part = view(tw.as_tensor(base))
    part.assign(-1.0)
    assert (base.reshape(-1)[places] == -1.0).all()
    assert (base == -1.0).sum() == len(places)
    part.assign(tw.from_buffer(np.arange(100.0, 100 + part.size), part.shape))
    assert base.reshape(-1)[places].tolist() == list(range(100, 100 + part.size))


@given(st.one_of(jagged_shapes(max_rank=3), tiled_shapes()), st.booleans())
def test_jagged_tensors_take_numbers_and_tensors_of_their_shape(shape, computed):
    t = tw.zeros(shape, dtype="i8")
    t.assign(3)
    assert (t.elements() == 3).all()
    if computed:
        given_ = tw.from_buffer(tw.buffer.from_functions(shape.size, "i8", lambda a: a), shape)
    else:
        given_ = tw.from_buffer(np.arange(shape.size), shape)
    t.assign(given_)
    assert t.elements().tolist() == list(range(shape.size))
    t[...] = t
    assert t.elements().tolist() == list(range(shape.size))


def test_an_overlapping_value_is_read_first():
    x = np.arange(6)
    t = tw.as_tensor(x)
    t.rotate([1]).assign(t)
    assert x.tolist() == [1, 2, 3, 4, 5, 0]
    rows = tw.jagged([[1, 2], [3, 4], [5, 6]])
    rows[:2].assign(rows[1:])
    assert rows.tolist() == [[3, 4], [5, 6], [5, 6]]


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (np.array([1.0, "x", 3.0], dtype=object), (ValueError, TypeError)),
        ([1.0, "x", 3.0], (ValueError, TypeError)),
        ([1.0, 2.0], ValueError),
        (np.zeros((2, 3)), ValueError),
        ([[1.0], [2.0]], ValueError),
        (object(), (ValueError, TypeError)),
    ],
)
@pytest.mark.parametrize("view", [lambda t: t, lambda t: t.rotate([1]), lambda t: t.gather(0, [2, 0, 1])])
def test_a_bad_value_changes_nothing(view, value, error):
    x = np.arange(3.0)
    with pytest.raises(error):
        view(tw.as_tensor(x)).assign(value)
    assert x.tolist() == [0.0, 1.0, 2.0]


def test_errors_say_what_does_not_fit():
    rows = tw.jagged([[1, 2, 3], [4]])
    with pytest.raises(ExtentMismatchError, match=r"3\|\) is not one of"):
        rows.assign(tw.jagged([[1, 2, 3]]))
    with pytest.raises(ConversionError, match="cell by cell"):
        rows.assign([1, 2, 3, 4])
    with pytest.raises(ExtentMismatchError, match=r"\(2,\) does not broadcast.*\(3,\)"):
        tw.as_tensor(np.arange(3)).rotate([1]).assign([1, 2])
    assert rows.tolist() == [[1, 2, 3], [4]]


def views():
    base = st.integers(2, 4)
    return st.tuples(base, base, st.integers(0, 3))


@given(views(), st.data())
def test_accumulation_is_add_at(sizes, data):
    n, m, kind = sizes
    x = np.arange(float(n * m)).reshape(n, m)
    t = tw.as_tensor(x.copy())
    positions = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=5))
    make = [
        lambda s: s.gather(0, positions),
        lambda s: s.repeat((2, 1)),
        lambda s: s.broadcast((3, n, m)),
        lambda s: s.sliding_window(0, 2),
    ][kind]
    places = make(tw.as_tensor(np.arange(n * m).reshape(n, m))).elements()
    target = make(t)
    values = data.draw(st.sampled_from([1.0, 0.5])) * np.arange(target.size).reshape(target.shape.extents)
    tw.as_tensor(values).accumulate_into(target)
    expected = x.reshape(-1).copy()
    np.add.at(expected, places, values.reshape(-1))
    assert t.elements().tolist() == expected.tolist()


def test_accumulation_broadcasts_and_goes_into_jagged_tensors():
    x = tw.zeros((2, 3))
    tw.as_tensor([1.0, 2.0, 3.0]).accumulate_into(x)
    tw.as_tensor([10.0]).accumulate_into(x[0])
    assert x.tolist() == [[11.0, 12.0, 13.0], [1.0, 2.0, 3.0]]
    rows = tw.jagged([[1, 2], [3]])
    rows.accumulate_into(rows)
    assert rows.tolist() == [[2, 4], [6]]


def test_accumulation_refuses_what_it_cannot_add():
    frozen = np.zeros(3)
    frozen.flags.writeable = False
    for target in (tw.as_tensor(frozen), tw.as_tensor(frozen).broadcast((2, 3))):
        with pytest.raises(ReadOnlyError):
            tw.as_tensor([1.0, 2.0, 3.0]).accumulate_into(target)
    constant = tw.from_buffer(tw.buffer.constant(1.0, 3), (3,))
    with pytest.raises(ReadOnlyError, match="Constant"):
        tw.as_tensor([1.0, 2.0, 3.0]).accumulate_into(constant)
    x = np.zeros(3, dtype=np.int64)
    with pytest.raises(DTypeError, match="float64 do not go into elements of type int64"):
        tw.as_tensor([1.0, 2.0, 3.0]).accumulate_into(tw.as_tensor(x))
    with pytest.raises(ExtentMismatchError, match="do not broadcast"):
        tw.as_tensor([1, 2]).accumulate_into(tw.as_tensor(x))
    with pytest.raises(ExtentMismatchError, match="one number per prefix"):
        tw.as_tensor([1, 2, 3]).accumulate_into(tw.jagged([[1], [2]]))
    assert x.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    "kind", ["box", "jagged", "deep", "cells", "tiled", "nested", "triangular", "sparse", "rows of strings"]
)
def test_any_tensor_is_assigned_from_a_view(kind):
    new = KINDS[kind](1, 7)
    for value in (sel.as_view(new), sel.as_view(new)[::-1][::-1]):
        tensor = KINDS[kind](1, 0).copy()
        if value.shape != tensor.shape:
            continue  # Steps drop layers and tiles.
        tensor[...] = value
        assert tensor.tolist() == new.tolist()
        assert tensor.array_equal(value)
        again = KINDS[kind](1, 0).copy()
        again.assign(value)
        assert again.tolist() == new.tolist()


@pytest.mark.parametrize(
    "value", [tw.as_tensor(7), sel.as_view(tw.as_tensor(7)), tw.as_tensor([[6, 7]])[0, 1]]
)
@pytest.mark.parametrize(
    "kind", ["box", "jagged", "deep", "cells", "tiled", "nested", "triangular", "sparse"]
)
def test_a_tensor_without_modes_is_written_as_its_number(kind, value):
    for goal in (lambda own: own, sel.as_view, lambda own: own[...]):
        wanted, found = KINDS[kind](1, 0).copy(), KINDS[kind](1, 0).copy()
        wanted.assign(7)
        goal(found).assign(value)
        assert found.tolist() == wanted.tolist()


def test_an_element_of_rows_is_written_into_all_of_them():
    rows = tw.jagged([[1, 2], [3]]).copy()
    rows[:] = rows[0, 1]
    assert rows.tolist() == [[2, 2], [2]]
    rows[[1]] = tw.as_tensor(5)
    rows[rows == 2] = tw.as_tensor(4)
    assert rows.tolist() == [[4, 4], [5]]
    with pytest.raises(DTypeError):
        rows.assign(tw.as_tensor(0.5))
