"""Swizzles: permutations of offsets by their bits."""

import copy
import pickle

import attrs
import numpy as np
import pytest

from tensorwrapper.errors import ConversionError, ExtentError, LayoutError, OutOfBoundsError
from tensorwrapper.layout import Layout, Swizzle, compose

CASES = [(b, m, s) for b in range(4) for m in range(3) for s in range(-4, 5) if abs(s) >= b]


def by_bits(offset, bits, base, shift):
    """Bit j of the result, from the definition: one bit at a time."""
    low, high = (base, base + shift) if shift >= 0 else (base - shift, base)
    result = offset
    for k in range(bits):
        if offset >> (high + k) & 1:
            result ^= 1 << (low + k)
    return result


@pytest.mark.parametrize("case", CASES)
def test_bits_are_combined_one_by_one(case):
    swizzle = Swizzle(*case)
    expected = [by_bits(k, *case) for k in range(600)]
    assert [swizzle(k) for k in range(600)] == expected
    assert swizzle.apply(np.arange(600)).tolist() == expected
    assert [swizzle(k) for k in expected] == list(range(600))
    blocks = np.arange(600) // swizzle.period
    assert (np.array(expected) // swizzle.period == blocks).all()
    assert all(k == expected[k] for k in range(min(600, 1 << swizzle.source_place)))


def test_a_swizzle_is_a_value():
    swizzle = Swizzle(2, 1, -3)
    assert swizzle == Swizzle(np.int8(2), 1, -3) != Swizzle(2, 1, 3)
    assert {swizzle: 1}[Swizzle(2, 1, -3)] == 1
    assert (repr(swizzle), str(swizzle)) == ("Swizzle(2, 1, -3)", "S<2,1,-3>")
    assert pickle.loads(pickle.dumps(swizzle)) == copy.deepcopy(swizzle) == swizzle
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        swizzle.bits = 1


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("order", ["lex", "colex"])
def test_after_a_layout_every_element_is_moved(case, order):
    layout = Layout.parse("((2,4),8):((32,8),1)", order=order)
    swizzle = Swizzle(*case)
    made = compose(swizzle, layout)
    expected = [swizzle(layout.offset_of_ordinal(k)) for k in range(64)]
    assert [made.offset_of_ordinal(k) for k in range(64)] == expected
    assert made.is_injective
    assert made.bounds() == (min(expected), max(expected))


def test_a_swizzle_that_moves_nothing_leaves_the_layout():
    layout = Layout.parse("(4,4):(4,1)")
    assert compose(Swizzle(1, 0, 4), layout) == layout
    assert compose(Swizzle(0, 2, 1), layout) == layout
    assert compose(Swizzle(1, 0, 4), Layout.parse("(0,4):(4,1)")) == Layout.parse("(0,4):(4,1)")
    assert compose(Swizzle(1, 0, 3), layout).is_composite


def test_columns_of_a_swizzled_matrix_meet_every_bank():
    plain = Layout.parse("(8,8):(8,1)")
    made = compose(Swizzle(3, 0, 3), plain)
    assert {made.offset_of((row, 0)) % 8 for row in range(8)} == set(range(8))
    assert {plain.offset_of((row, 0)) % 8 for row in range(8)} == {0}


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: Swizzle(2, 0, 1), LayoutError, "overlap"),
        (lambda: Swizzle(2, 0, -1), LayoutError, "overlap"),
        (lambda: Swizzle(-1, 0, 1), ExtentError, "negative"),
        (lambda: Swizzle(1, -1, 1), ExtentError, "negative"),
        (lambda: Swizzle(1, 60, 5), LayoutError, "63 bits"),
        (lambda: Swizzle(1.0, 0, 1), ConversionError, "integer"),
        (lambda: Swizzle(True, 0, 1), ConversionError, "bool"),
        (lambda: Swizzle(1, 0, 1)(-1), OutOfBoundsError, "from 0 on"),
        (lambda: Swizzle(1, 0, 1)(1.0), ConversionError, "integer"),
        (lambda: Swizzle(1, 0, 1).apply([3, -1]), OutOfBoundsError, "from 0 on, not -1"),
        (lambda: Swizzle(1, 0, 1).apply([0.5]), ConversionError, "integer"),
        (lambda: Swizzle(1, 0, 1).apply(np.array([2**63], dtype=np.uint64)), OutOfBoundsError, "int64"),
    ],
)
def test_what_is_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_arrays_of_any_shape_and_width_are_swizzled():
    swizzle = Swizzle(1, 0, 7)
    assert swizzle.apply(np.array([[128, 0], [255, 1]], dtype=np.uint8)).tolist() == [[129, 0], [254, 1]]
    assert swizzle.apply(np.empty((0, 3), dtype=int)).shape == (0, 3)
    assert swizzle(2**80 + 128) == 2**80 + 129
