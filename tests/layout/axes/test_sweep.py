"""Tens of thousands of random chains of operations on a mode, each against NumPy on its offsets."""

import random

import numpy as np

from tensorwrapper.layout.axes._axis import Cycle, Stride, Table
from tensorwrapper.layout.axes._values import positions_of
from tensorwrapper.layout.boxes._modes import pad_positions
from tests.support.long_runs import IS_LONG

CHAINS = 1_000_000 if IS_LONG else 10_000
_LONG = 48  # offsets beyond which a chain is only cut


def _slice(draw, axis, model):
    count = len(model)
    start, step = draw.randrange(count), draw.choice((-3, -2, -1, 1, 2, 3))
    most = (count - 1 - start) // step + 1 if step > 0 else start // -step + 1
    count = draw.randint(0, most)
    return axis.take(start, step, count), model[start + step * np.arange(count)]


def _reverse(draw, axis, model):
    del draw
    return axis.reverse(), model[::-1]


def _rotate(draw, axis, model):
    shift = draw.randint(-9, 9)
    return axis.rotate(shift), np.roll(model, shift)


def _repeat(draw, axis, model):
    times = draw.randint(1, 3)
    return axis.repeat(times), np.tile(model, times)


def _repeat_each(draw, axis, model):
    times = draw.randint(1, 3)
    return axis.repeat_each(times), np.repeat(model, times)


def _wrap_pad(draw, axis, model):
    before, after = draw.randint(0, 9), draw.randint(0, 9)
    places = np.arange(-before, len(model) + after) % len(model)
    return axis.wrap_pad(before, after), model[places]


def _mirror(draw, axis, model):
    mode = draw.choice(("edge", "reflect", "symmetric"))
    before, after = draw.randint(0, 5), draw.randint(0, 5)
    places = pad_positions(len(model), before, after, mode)
    return axis.gather(places), np.pad(model, (before, after), mode=mode)


def _gather(draw, axis, model):
    places = np.array([draw.randrange(len(model)) for _ in range(draw.randint(0, 8))], dtype=np.int64)
    return axis.gather(places), model[places]


CLOSED = (_slice, _reverse, _rotate, _repeat, _repeat_each, _wrap_pad)
ANY = (*CLOSED, _mirror, _gather)


def chain(draw, steps):
    """Return a base, an axis map and its offsets after a few operations."""
    extent, step = draw.randint(1, 9), draw.randint(-5, 5)
    base, axis, model = 0, Stride(extent, step), step * np.arange(extent)
    for _ in range(draw.randint(1, 6)):
        if not len(model):
            break
        (more, axis), model = draw.choice(steps if len(model) < _LONG else (_slice, _reverse, _rotate))(
            draw, axis, model
        )
        base += more
    return base, axis, model


def check(base, axis, model, some):
    assert axis.extent == len(model)
    if not len(model):
        assert axis.bounds() == (0, -1)
        return
    own = model - base
    assert np.array_equal(axis.offsets(), own)
    assert axis.bounds() == (own.min(), own.max())
    values = np.unique(own)
    assert axis.is_injective == (len(values) == len(own))
    assert list(axis.distinct()) == values.tolist()
    place = some % len(own)
    assert axis.at(place) == own[place]
    assert positions_of(axis, int(own[place]), 10**6) == np.flatnonzero(own == own[place]).tolist()
    missing = int(values[0]) + some % 7
    assert positions_of(axis, missing, 10**6) == np.flatnonzero(own == missing).tolist()
    steps = np.diff(own)
    assert isinstance(axis, Stride) == (len(own) < 3 or bool((steps == steps[0]).all()))


def test_any_chain_keeps_its_offsets_and_its_exact_answers():
    draw = random.Random(2024)
    seen = {Stride: 0, Cycle: 0, Table: 0}
    for number in range(CHAINS):
        base, axis, model = chain(draw, ANY if number % 3 else CLOSED)
        check(base, axis, model, number)
        seen[type(axis)] += 1
    assert min(seen.values()) > CHAINS // 20
