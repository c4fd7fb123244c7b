"""The table of closed forms: each operation on a cycle against its definition, position by position."""

import itertools

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from tensorwrapper.layout.axes._axis import Cycle, Stride, Table
from tensorwrapper.layout.axes._values import positions_of
from tests.support.layout.axes import cycles, defined, listed, small


@given(cycles())
def test_a_cycle_is_its_formula(axis):
    assert [axis.at(j) for j in range(axis.extent)] == defined(axis) == axis.offsets().tolist()
    assert listed(axis.simplify()) == defined(axis)


@given(cycles(), st.data())
def test_every_slice_of_a_cycle_is_a_cycle(axis, data):
    assume(axis.extent)
    start = data.draw(st.integers(0, axis.extent - 1))
    step = data.draw(st.integers(-5, 5).filter(bool))
    most = (axis.extent - 1 - start) // step + 1 if step > 0 else start // -step + 1
    count = data.draw(st.integers(0, most))
    part = axis.take(start, step, count)

    assert listed(part) == [defined(axis)[start + step * j] for j in range(count)]
    assert not isinstance(part[1], Table)


@given(cycles())
def test_reversal_is_the_slice_that_goes_back(axis):
    assert listed(axis.reverse()) == defined(axis)[::-1]
    if axis.extent:
        assert axis.reverse() == axis.take(axis.extent - 1, -1, axis.extent)


@given(cycles(whole=True), st.integers(-60, 60))
def test_a_rotation_moves_the_start(axis, shift):
    assume(axis.extent)
    turned = axis.rotate(shift)

    assert listed(turned) == np.roll(defined(axis), shift).tolist()
    assert (
        turned
        == Cycle(
            axis.extent,
            axis.start - axis.increment * shift,
            axis.increment,
            axis.modulus,
            axis.divisor,
            axis.step,
        ).simplify()
    )


@given(cycles(whole=True), st.integers(0, 4))
def test_a_repetition_goes_on(axis, times):
    assume(axis.extent)
    again = axis.repeat(times)

    assert listed(again) == defined(axis) * times
    assert not isinstance(again[1], Table)


@given(cycles(whole=True), st.integers(0, 40), st.integers(0, 40))
def test_a_wrapped_pad_starts_earlier_and_ends_later(axis, before, after):
    assume(axis.extent)
    padded = axis.wrap_pad(before, after)

    assert listed(padded) == np.pad(defined(axis), (before, after), mode="wrap").tolist()
    assert not isinstance(padded[1], Table)


@given(cycles(), st.integers(-9, 9), st.integers(0, 40))
def test_what_does_not_close_wraps_all_the_same(axis, start, count):
    assume(axis.extent)

    assert listed(axis.wrap(start, count)) == [defined(axis)[(start + j) % axis.extent] for j in range(count)]


@given(cycles(), st.integers(-9, 9), st.integers(0, 90))
def test_what_closes_once_it_is_given_a_modulus_stays_a_closed_form(axis, start, count):
    assume(axis.extent and axis.increment)
    axis = Cycle(axis.extent, axis.start, axis.increment, None, axis.divisor, axis.step)
    wrapped = axis.wrap(start, count)
    least = min(axis.start, axis.start + axis.increment * (axis.extent - 1))

    assert listed(wrapped) == [defined(axis)[(start + j) % axis.extent] for j in range(count)]
    if least % axis.divisor < abs(axis.increment):
        assert not isinstance(wrapped[1], Table)


@given(cycles(), st.integers(0, 4))
def test_holding_each_position_multiplies(axis, times):
    held = axis.repeat_each(times)

    assert listed(held) == [place for place in defined(axis) for _ in range(times)]
    if abs(axis.increment) == 1:
        assert not isinstance(held[1], Table)


@given(small, st.integers(-6, 6), st.integers(1, 8), st.integers(1, 5), st.integers(3, 20), st.booleans())
def test_a_hold_that_divides_everything_falls_away(start, turn, rounds, hold, extent, wraps):
    modulus = rounds * hold if wraps else None
    _, axis = Cycle(extent, start, turn * hold, modulus, hold, 3).simplify()

    assert isinstance(axis, Stride) or axis.divisor == 1


@given(cycles())
def test_what_does_not_wrap_is_one_step(axis):
    """No hold, and both ends within one round when the turn is taken the short way."""
    turn = axis.increment
    if axis.modulus is not None:
        turn = turn % axis.modulus
        turn -= axis.modulus if 2 * turn > axis.modulus else 0
        last = axis.start % axis.modulus + turn * (axis.extent - 1)
        assume(0 <= last < axis.modulus)
    plain = Cycle(axis.extent, axis.start, turn, axis.modulus, 1, axis.step)
    base, found = plain.simplify()

    assert isinstance(found, Stride)
    assert listed((base, found)) == defined(plain)


@given(cycles())
def test_a_simplified_map_is_one_step_exactly_where_its_steps_are_alike(axis):
    steps = {b - a for a, b in itertools.pairwise(defined(axis))}

    assert isinstance(axis.simplify()[1], Stride) == (len(steps) <= 1)


@given(cycles())
def test_simplifying_keeps_what_is_simple(axis):
    _, simple = axis.simplify()

    assert simple.simplify() == (0, simple)
    if isinstance(simple, Cycle) and not (simple.modulus or 0) % simple.divisor:
        assert simple.step > 0


@given(cycles())
def test_bounds_are_exact(axis):
    places = defined(axis)

    assert axis.bounds() == ((min(places), max(places)) if places else (0, -1))


@given(cycles())
def test_injectivity_is_exact(axis):
    assert axis.is_injective == (len(set(defined(axis))) == axis.extent)


def test_huge_turns_are_exact_without_enumeration():
    """Chosen so that every way through Euclid's algorithm is long."""
    fib = [1, 1]
    while fib[-1] < 10**17:
        fib.append(fib[-1] + fib[-2])
    modulus, turn = fib[-1], fib[-2]
    axis = Cycle(10**12, modulus // 2, turn, modulus, 1, 1)
    low, high = axis.bounds()

    assert axis.is_injective
    for bound in (low, high):
        (place,) = positions_of(axis, bound, 10**6)
        assert axis.at(place) == bound
    assert not positions_of(axis, low - 1, 10**6)
    assert not positions_of(axis, high + 1, 10**6)
    # More positions than that reach further down.
    assert Cycle(10**14, modulus // 2, turn, modulus, 1, 1).bounds()[0] < low
