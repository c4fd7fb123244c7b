"""Slices between brackets count positions: who meant indices, and gets nothing, is warned."""

import warnings
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import PositionWarning


def warned(call):
    """Return how many warnings of positions a call gives, and the first text."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    assert all(one.category is PositionWarning and one.filename == __file__ for one in caught)
    return len(caught), str(caught[0].message) if caught else ""


BOX = tw.as_tensor(np.arange(12.0).reshape(3, 4)).translate_to((10, 20))
WAYS = {
    "tensor": lambda t, key: t[key],
    "view": lambda t, key: sel.as_view(t)[key],
    "layout": lambda t, key: t.layout[key],
    "written": lambda t, key: t.copy().translate_to(t.shape.origin).__setitem__(key, 0.0),
    "outer": lambda t, key: t.oindex[key],
    "masked": lambda t, key: t[(key[0], [0, 1])],
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_slice_of_indices_that_selects_nothing_is_told(way):
    count, text = warned(lambda: way(BOX, (slice(10, 12), slice(None))))

    assert count == 1
    assert "mode 0" in text
    assert "10 to 12" in text
    assert "`t.window(t.shape[10:12])`" in text
    assert BOX.window(BOX.shape[10:12]).tolist() == BOX[0:2].tolist()


def test_an_advice_for_a_later_mode_names_it_there():
    _, text = warned(lambda: BOX[:, 21:])

    assert "`t.window(t.shape[:, 21:])`" in text
    assert BOX.window(BOX.shape[:, 21:]).tolist() == BOX[:, 1:].tolist()


@pytest.mark.parametrize("start", [*range(-3, 9), None])
@pytest.mark.parametrize("step", [None, 1, 2, -1])
def test_only_what_selects_nothing_and_names_indices_is_told(start, step):
    """By brute force, over boxes, picked boxes and rows that begin anywhere."""
    made = [
        lambda first: tw.as_tensor(np.arange(4)).translate_to((first,)),
        lambda first: tw.as_tensor(np.arange(9)).gather(0, [0, 5, 2, 7]).translate_to((first,)),
        lambda first: tw.jagged([[1], [2, 3], [], [4]]).translate_to((first, 0)),
    ]
    for make, first, stop in product(made, (-2, 0, 2, 4, 6), [*range(-3, 9), None]):
        tensor, key = make(first), slice(start, stop, step)
        nothing = not range(4)[key]
        low, high = first if start is None else start, first + 4 if stop is None else stop
        indices = range(max(low, first), min(high, first + 4), step or 1)
        split = stop is None and start == 4  # as code does that counts
        meant = bool(first and start is not None and nothing and (step or 1) > 0 and indices and not split)
        assert warned(lambda t=tensor, k=key: t[k])[0] == meant, (first, key)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=3), st.data())
def test_a_tensor_that_begins_at_zero_never_warns(extents, data):
    ends = st.none() | st.integers(-5, 5)
    key = tuple(data.draw(st.builds(slice, ends, ends, st.sampled_from((None, 1, -1, 2)))) for _ in extents)

    assert warned(lambda: tw.zeros(extents)[key])[0] == 0
