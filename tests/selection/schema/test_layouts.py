"""What reads memory stays within what was given: the quick test never says yes where a search says no."""

import random

import numpy as np

from tensorwrapper.layout._layout import wrap_layout
from tensorwrapper.layout.axes._axis import Stride, Table
from tensorwrapper.layout.boxes._separable import over_box
from tensorwrapper.selection.schema._limits import _is_inside


def _layout(base, axes):
    return wrap_layout(over_box(tuple([axis.extent for axis in axes]), (0,) * len(axes), base, tuple(axes)))


def _given(rng):
    steps = [1, 2, 3, 4, 6, 8, 12, 24]
    return _layout(
        rng.randint(0, 5), [Stride(rng.randint(1, 4), rng.choice(steps)) for _ in range(rng.randint(1, 3))]
    )


def _asked(rng):
    def axis(extent):
        if rng.random() < 0.5:
            return Table(np.array([rng.randint(-8, 30) for _ in range(extent)]))
        return Stride(extent, rng.choice([-3, -1, 0, 1, 2, 3, 4, 6, 8, 12, 24]))

    return _layout(rng.randint(0, 40), [axis(rng.randint(1, 4)) for _ in range(rng.randint(0, 2))])


def test_what_is_found_inside_is_inside():
    found = 0
    for seed in range(4000):
        rng = random.Random(seed)
        given, asked = _given(rng), _asked(rng)
        (low, high), (least, greatest) = given.bounds(), asked.bounds()
        if low <= least and greatest <= high and _is_inside(asked, given):
            found += 1
            assert set(asked.to_numpy().reshape(-1).tolist()) <= set(given.to_numpy().reshape(-1).tolist()), (
                seed
            )
    assert found > 50
