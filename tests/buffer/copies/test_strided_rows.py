"""Short lines with one step go where they follow one another."""

import numpy as np
import pytest

from tensorwrapper import Layout, Shape
from tensorwrapper.buffer import run_copy
from tensorwrapper.layout.lowlevel import choose, wrap_layout
from tests.support.layout.copies import places, room

rng = np.random.default_rng(11)


def filled(count, dtype):
    return rng.integers(0, 2, count * np.dtype(dtype).itemsize, dtype=np.uint8).view(dtype)


def chosen_of(layout, mask):
    """The layout of the elements of rows that a mask of them all chooses."""
    return wrap_layout(choose(layout.implementation, layout.shape, mask))


SHORT = Layout(Shape.jagged(rng.integers(0, 9, 3000)))
CHOSEN = rng.random(SHORT.shape.size) > 0.4
LINES = {
    "rows from anywhere": SHORT.gather(0, rng.integers(0, 3000, 4000)),
    "rows backwards": SHORT[:, ::-1],
    "steps in rows": SHORT[:, 1::3],
    "rows of one": SHORT[:, :1],
    "longer rows among short ones": Layout(Shape.jagged([5] * 500 + [9000] + [0, 3] * 300))[::-1],
    "chosen elements": chosen_of(SHORT, CHOSEN),
}


@pytest.mark.parametrize("dtype", ["i1", "f8", "c16", "S3"])
@pytest.mark.parametrize("source", LINES.values(), ids=LINES)
def test_short_lines_and_single_elements_go_where_they_follow_one_another(source, dtype):
    target = Layout(source.shape)
    old, new = filled(room(source), dtype), filled(room(target), dtype)
    run_copy(source.copy_plan(target), old, new)
    assert new.tobytes() == old[places(source)].tobytes()
    assert sum(int(runs[:, 2].sum()) for runs in source.copy_plan(target).run_batches()) == source.shape.size
