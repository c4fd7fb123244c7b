"""Axis maps against lists: every operation, over and over, keeps the offsets and its exact answers."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper._progressions import progression_bounds, solve_progression
from tensorwrapper.errors import SizeOverflowError
from tensorwrapper.layout.axes._axis import Cycle, Stride, Table
from tensorwrapper.layout.axes._sums import Budget
from tensorwrapper.layout.axes._values import first_of, numbers_of, positions_of, tracks_of

_LONG = 60  # positions up to which a list is a fair model


def _steps(draw, count):
    step = draw(st.sampled_from([-3, -2, -1, 1, 2, 3]))
    start = draw(st.integers(0, count - 1))
    most = (count - 1 - start) // step + 1 if step > 0 else start // -step + 1
    return start, step, draw(st.integers(0, most))


@st.composite
def grown(draw):
    """A base and an axis map that went through some operations, and the list of offsets it stands for."""
    count, step = draw(st.integers(0, 9)), draw(st.integers(-4, 4))
    base, axis, model = 0, Stride(count, step), [step * j for j in range(count)]
    for _ in range(draw(st.integers(0, 5))):
        count = len(model)
        name = draw(st.sampled_from(["take", "reverse", "rotate", "repeat", "repeat_each", "wrap", "gather"]))
        more = None
        if name == "take" and count:
            args = _steps(draw, count)
            more, axis = axis.take(*args)
            model = [model[args[0] + args[1] * j] for j in range(args[2])]
        elif name == "reverse":
            more, axis = axis.reverse()
            model = model[::-1]
        elif name == "rotate":
            shift = draw(st.integers(-5, 5))
            more, axis = axis.rotate(shift)
            model = [model[(j - shift) % count] for j in range(count)]
        elif name in {"repeat", "repeat_each"}:
            times = draw(st.integers(0, 3))
            if count * times <= _LONG:
                more, axis = getattr(axis, name)(times)
                each = name == "repeat_each"
                model = [x for x in model for _ in range(times)] if each else model * times
        elif name == "wrap" and count:
            before, after = draw(st.integers(0, 4)), draw(st.integers(0, 4))
            more, axis = axis.wrap(-before, count + before + after)
            model = [model[(j - before) % count] for j in range(count + before + after)]
        elif name == "gather" and count:
            chosen = draw(st.lists(st.integers(0, count - 1), max_size=6))
            more, axis = axis.gather(np.array(chosen, dtype=np.int64))
            model = [model[j] for j in chosen]
        base += more or 0
    return base, axis, model


@given(grown(), st.integers(-9, 9), st.integers(0, 5))
def test_numbers_and_tracks_are_those_of_the_list(case, total, modulus):
    _, axis, _ = case
    offsets = axis.offsets().tolist()
    firsts = list(dict.fromkeys(offsets))

    tracks = [offset for track in tracks_of(axis, -(10**9), 10**9) for offset in track]
    assert list(dict.fromkeys(tracks)) == firsts
    numbers = numbers_of(axis)
    if len(firsts) < 2:
        assert numbers is None
        return
    spread = [offset - min(firsts) for offset in sorted(firsts)]
    assert numbers.span == spread[-1]
    assert not any(number % numbers.divisor for number in spread)
    inside = [n for n in spread if 1 <= n <= 7 and ((n - total) % modulus == 0 if modulus else n == total)]
    budget = Budget(100, "this")
    assert list(numbers.between(1, 7, total, modulus, budget)) == inside
    assert numbers.count_between(1, 7, total, modulus) >= len(inside)


@given(grown())
def test_an_axis_map_answers_as_the_list_of_its_offsets(case):
    base, axis, model = case

    assert axis.extent == len(model)
    assert [base + axis.at(j) for j in range(axis.extent)] == model
    assert (axis.offsets() + base).tolist() == model
    assert axis.is_injective == (len(set(model)) == len(model))
    if model:
        low, high = axis.bounds()
        assert (low + base, high + base) == (min(model), max(model))
    assert list(axis.distinct()) == sorted({x - base for x in model})
    assert axis.distinct_count() == len(set(model))
    assert axis.gap() == min((b - a for a, b in itertools.pairwise(sorted(set(model)))), default=0)
    for offset in {*model, *[x + 1 for x in model], 0}:
        positions = [j for j, x in enumerate(model) if x == offset]
        assert positions_of(axis, offset - base, 10**6) == positions
        assert first_of(axis, offset - base) == next(iter(positions), None)


@given(grown())
def test_an_axis_map_is_as_simple_as_it_can_be(case):
    _, axis, model = case

    if len({b - a for a, b in itertools.pairwise(model)}) <= 1:
        assert isinstance(axis, Stride)
    assert axis.simplify() == (0, axis)


@given(grown())
def test_an_axis_map_is_a_value(case):
    _, axis, _ = case
    again = pickle.loads(pickle.dumps(axis))

    assert again == axis
    assert hash(again) == hash(axis)
    if isinstance(again, Table):
        assert not again.values.flags.writeable


@pytest.mark.parametrize(
    ("operate", "expected"),
    [
        (lambda a: a.rotate(1), Cycle),
        (lambda a: a.repeat(2), Cycle),
        (lambda a: a.repeat_each(2), Cycle),
        (lambda a: a.wrap(-2, 12), Cycle),
        (lambda a: a.reverse(), Stride),
        (lambda a: a.gather(np.array([0, 3, 1])), Table),
        (lambda a: a.gather(np.array([1, 3, 5])), Stride),
    ],
)
def test_closed_forms_are_used_where_they_exist(operate, expected):
    _, axis = operate(Stride(8, 3))

    assert type(axis) is expected


@pytest.mark.parametrize(
    "operate", [lambda c: c.rotate(5), lambda c: c.repeat(3), lambda c: c.take(7, -3, 3)]
)
def test_a_cycle_stays_in_closed_form(operate):
    _, cycle = Stride(10, 1).rotate(3)

    assert not isinstance(operate(cycle)[1], Table)


def test_a_slice_that_does_not_wrap_is_strided_again():
    _, cycle = Stride(10, 2).rotate(4)

    assert cycle.take(4, 2, 3) == (0, Stride(3, 4))
    assert cycle.take(9, -1, 6) == (10, Stride(6, -2))


def test_closed_forms_do_not_look_at_all_positions():
    huge = 10**15
    base, cycle = Stride(huge, 7).rotate(12345)

    assert base + cycle.at(0) == 7 * (huge - 12345)
    assert cycle.bounds() == (0, 7 * (huge - 1))
    assert positions_of(cycle, 7, 10**6) == [12346]
    assert cycle.is_injective
    assert not cycle.repeat(2)[1].is_injective


def test_offsets_beyond_64_bits_are_refused_before_they_are_made():
    with pytest.raises(SizeOverflowError, match="64 bits"):
        Stride(3, 2**62).offsets()
    with pytest.raises(SizeOverflowError, match="64 bits"):
        Stride(2**40, 2**30).rotate(1)[1].gather(np.array([0, 1, 2**39]))


@given(
    st.integers(-50, 50), st.integers(-60, 60), st.integers(1, 40), st.integers(1, 60), st.integers(-2, 42)
)
def test_progressions_modulo_a_number(start, step, modulus, count, value):
    places = [(start + step * j) % modulus for j in range(count)]

    assert progression_bounds(start, step, modulus, count) == (min(places), max(places))
    assert list(solve_progression(start, step, modulus, count, value)) == [
        j for j, place in enumerate(places) if place == value
    ]
