"""Selectors on tensors and layouts: NumPy's results, and the strict ones by their definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.errors import (
    ExtentError,
    JaggedModeError,
    OutOfBoundsError,
    ReadOnlyError,
    TooManyIndicesError,
)
from tensorwrapper.selection import NewMode, Selector, as_view

extents = st.lists(st.integers(0, 4), max_size=4).map(tuple)
bounds = st.none() | st.integers(-6, 6)
steps = st.none() | st.integers(-3, 3).filter(lambda step: step != 0)


@st.composite
def cases(draw):
    """Extents and a selector that fits them, but for the bounds of slices."""
    shape = draw(extents)
    items = []
    for extent in shape[: draw(st.integers(0, len(shape)))]:
        whole = st.builds(slice, bounds, bounds, steps)
        items.append(draw(whole | st.integers(-extent, extent - 1) if extent else whole))
    if draw(st.booleans()):
        items.insert(draw(st.integers(0, len(items))), ...)
        if draw(st.booleans()):
            # What stands behind the ellipsis belongs to the last modes: any position there is in bounds.
            items = [0 if isinstance(item, int) else item for item in items]
            if 0 in shape:
                items = [slice(0, None) if isinstance(item, int) else item for item in items]
        else:
            items = [item for item in items if not isinstance(item, int)]
    for _ in range(draw(st.integers(0, 2))):
        items.insert(draw(st.integers(0, len(items))), NewMode(draw(st.integers(1, 3))))
    return shape, Selector(*items)


def in_numpy(array, selector):
    """What NumPy selects: one new mode for each, then as many as asked for."""
    key = tuple(None if isinstance(atom, NewMode) else atom for atom in selector.atoms)
    part = array[key]
    news = [atom.extent for atom in selector.atoms if isinstance(atom, NewMode)]
    # Which modes of the part are new: those that vanish when the new ones have another extent.
    marks = np.empty([2] * array.ndim)[
        tuple(
            slice(None) if isinstance(atom, slice) else 0 if isinstance(atom, int) else atom for atom in key
        )
    ].shape
    wanted, left = [], iter(news)
    for mark, extent in zip(marks, part.shape, strict=True):
        wanted.append(next(left) if mark == 1 else extent)
    return np.broadcast_to(part, wanted)


@given(cases())
def test_tensors_and_layouts_are_selected_as_numpy_selects(case):
    shape, selector = case
    array = np.arange(int(np.prod(shape))).reshape(shape)
    expected = in_numpy(array, selector)
    assert selector.result_extents(shape) == expected.shape
    part = selector.apply(tw.as_tensor(array))
    assert part.shape.origin == (0,) * expected.ndim
    np.testing.assert_array_equal(np.asarray(part), expected)
    layout = selector.apply(tw.Layout(tw.Shape(*shape)))
    np.testing.assert_array_equal(layout.to_numpy(), expected)
    np.testing.assert_array_equal(
        np.asarray(Selector.parse(str(selector)).apply(tw.as_tensor(array))), expected
    )


def positions(item, extent):
    """The positions of a strict slice, one after another; None if it is not allowed."""
    step = item.step or 1
    start, end = item.start, item.stop
    if end is not None and not -extent - 1 <= end <= extent:
        return None
    end = (extent if step > 0 else -1) if end is None else end + extent if end < 0 else end
    if start is None:
        start = 0 if step > 0 else extent - 1
    elif not -extent <= start <= (extent if step > 0 else extent - 1):
        return None
    else:
        start += extent if start < 0 else 0
    if (end - start) * step < 0:
        return None
    count = -(-abs(end - start) // abs(step))
    return [start + step * k for k in range(count)]


@given(st.integers(0, 4), bounds, bounds, steps)
def test_strict_slices_are_what_their_definition_says(extent, start, stop, step):
    selector = Selector(slice(start, stop, step))
    expected = positions(selector.atoms[0], extent)
    tensor = tw.as_tensor(np.arange(extent))
    if expected is None:
        for call in (
            selector.apply,
            lambda t, *, strict: selector.result_extents(t.shape.extents, strict=strict),
        ):
            with pytest.raises((OutOfBoundsError, ExtentError)):
                call(tensor, strict=True)
        return
    assert selector.apply(tensor, strict=True).tolist() == expected
    assert selector.result_extents((extent,), strict=True) == (len(expected),)
    assert selector.apply(tensor).tolist() == expected


@pytest.mark.parametrize(
    ("text", "extent", "error", "message"),
    [
        ("4:", 3, OutOfBoundsError, r"slice 4: of mode 1: start index 4 out of range \[-3, 3\]"),
        ("-4:", 3, OutOfBoundsError, r"start index -4 out of range \[-3, 3\]"),
        ("3::-1", 3, OutOfBoundsError, r"start index 3 out of range \[-3, 2\]"),
        (":4", 3, OutOfBoundsError, r"slice :4 of mode 1: end index 4 out of range \[-4, 3\]"),
        (":-5", 3, OutOfBoundsError, r"end index -5 out of range \[-4, 3\]"),
        (
            "1:0",
            3,
            ExtentError,
            r"slice start \(1\) must not be greater than end \(0\) for positive step \(1\)",
        ),
        (
            "0:1:-1",
            3,
            ExtentError,
            r"slice start \(0\) must not be less than end \(1\) for negative step \(-1\)",
        ),
        ("-1:-3", 3, ExtentError, r"slice start \(2\) must not be greater than end \(0\)"),
        (":-1", 0, ExtentError, r"slice start \(0\) must not be greater than end \(-1\)"),
        ("3", 3, OutOfBoundsError, "position 3 is outside mode 1, which has extent 3"),
        ("-4", 3, OutOfBoundsError, "position -4 is outside mode 1"),
    ],
)
def test_strict_errors_say_which_mode_and_what_is_allowed(text, extent, error, message):
    with pytest.raises(error, match=message):
        Selector.parse(f"+, :, +2, {text}").apply(tw.Layout(tw.Shape(2, extent)), strict=True)


def test_too_many_positions():
    for strict in (False, True):
        with pytest.raises(TooManyIndicesError, match="3 indices are too many for 2 modes"):
            Selector.parse("+, 0, ..., :, 0").apply(tw.Layout(tw.Shape(2, 3)), strict=strict)


def test_a_repeated_new_mode_is_read_only_and_shares_memory():
    array = np.zeros((2, 3))
    tensor = tw.as_tensor(array)
    repeated = Selector.parse("1, +2").apply(tensor)
    assert repeated.tolist() == [[0, 0, 0], [0, 0, 0]]
    with pytest.raises(ReadOnlyError):
        repeated[0, 0] = 1
    Selector.parse("1, +").apply(tensor)[...] = 7
    assert array.tolist() == [[0, 0, 0], [7, 7, 7]]
    assert repeated.tolist() == [[7, 7, 7], [7, 7, 7]]


@pytest.mark.parametrize("strict", [False, True])
def test_views_are_selected_as_their_keys_select(strict):
    view = as_view(tw.as_tensor(np.arange(24).reshape(2, 3, 4)))
    part = Selector.parse("1, ..., ::-2, +3").apply(view, strict=strict)
    assert part.shape == tw.Shape(3, 2, 3)
    expected = view[1, ..., ::-2, None].broadcast((3, 2, 3))
    assert part.normal_form() == expected.normal_form()


def test_jagged_tensors_take_what_their_keys_take():
    tensor = tw.jagged([[5, 6, 7], [8]])
    assert Selector.parse("0").apply(tensor).tolist() == [5, 6, 7]
    assert Selector.parse("::-1").apply(tensor).tolist() == [[8], [5, 6, 7]]
    with pytest.raises(JaggedModeError):
        Selector.parse("0:1").apply(tensor, strict=True)


def test_modes_of_more_than_64_bits():
    selector = Selector.parse("-1::-100000000000000000000")
    assert selector.result_extents((10**40,), strict=True) == (10**20,)
    assert selector.result_extents((10**40,)) == (10**20,)


def test_negative_extents_are_refused():
    with pytest.raises(ExtentError, match="must not be negative"):
        Selector.parse(":").result_extents((-1,))
