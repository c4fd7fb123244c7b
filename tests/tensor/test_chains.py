"""Chains of views and writes against NumPy, in memory and over functions: results, memory and refusals."""

import contextlib
import functools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper.buffer import count_copies, from_functions
from tensorwrapper.errors import LayoutError, ReadOnlyError, TensorWrapperError

# Each operation draws its arguments for an array x, and returns what the tensor and what NumPy does.


def permute(draw, x):
    order = draw(st.permutations(range(x.ndim)))
    return (lambda t: t.permute(order)), (lambda y: y.transpose(order))


def basic(draw, x):
    key = draw(hnp.basic_indices(x.shape, allow_newaxis=True, max_dims=5))
    # The ellipsis keeps NumPy from making a bare number of what has rank 0.
    whole = (*key, ...) if isinstance(key, tuple) and ... not in key else key
    return (lambda t: t[key]), (lambda y: y[whole])


def reverse(draw, x):
    modes = draw(st.sets(st.integers(0, x.ndim - 1))) if x.ndim else set()
    if not modes:
        return (lambda t: t.reverse()), np.flip
    return (lambda t: t.reverse(*modes)), (lambda y: np.flip(y, tuple(modes)))


def rotate(draw, x):
    shifts = draw(st.tuples(*[st.integers(-7, 7)] * x.ndim))
    return (lambda t: t.rotate(shifts)), (lambda y: np.roll(y, shifts, tuple(range(x.ndim))) if shifts else y)


def repeat(draw, x):
    times = draw(st.tuples(*[st.integers(1, 2)] * x.ndim))
    return (lambda t: t.repeat(times)), (lambda y: np.tile(y, times))


def repeat_each(draw, x):
    mode, times = _mode(draw, x), draw(st.integers(1, 3))
    return (lambda t: t.repeat_each(mode, times)), (lambda y: np.repeat(y, times, axis=mode))


def gather(draw, x):
    mode = _mode(draw, x)
    n = x.shape[mode]
    positions = draw(st.lists(st.integers(-n, n - 1), max_size=4)) if n else []
    return (
        lambda t: t.gather(mode, np.array(positions, dtype=int)),
        lambda y: np.take(y, np.array(positions, dtype=int), axis=mode),
    )


def outer(draw, x):
    mode = _mode(draw, x)
    mask = draw(hnp.arrays(np.bool_, x.shape[mode]))
    key = (slice(None),) * mode + (mask,)
    return (lambda t: t.oindex[key]), (lambda y: y[key])


def window(draw, x):
    mode = _mode(draw, x)
    length = draw(st.integers(1, max(x.shape[mode], 1)))
    if length > x.shape[mode]:
        return gather(draw, x)
    slide = np.lib.stride_tricks.sliding_window_view
    return (lambda t: t.sliding_window(mode, length)), (lambda y: slide(y, length, axis=mode))


def diagonal(draw, x):
    first, second = draw(st.permutations(range(x.ndim)))[:2]
    return (lambda t: t.diagonal(first, second)), (lambda y: np.diagonal(y, axis1=first, axis2=second))


def broadcast(draw, x):
    extra = draw(st.integers(1, 2))
    extents = (extra, *[draw(st.integers(1, 3)) if n == 1 else n for n in x.shape])
    return (lambda t: t.broadcast(Shape.smooth(extents))), (lambda y: np.broadcast_to(y, extents))


def unsqueeze(draw, x):
    mode = draw(st.integers(0, x.ndim))
    return (lambda t: t.unsqueeze(mode)), (lambda y: np.expand_dims(y, mode))


def squeeze(draw, x):  # noqa: ARG001 - it takes no argument
    return (lambda t: t.squeeze()), np.squeeze


def points(draw, x):
    mode = _mode(draw, x)
    n = x.shape[mode]
    positions = draw(hnp.arrays(int, 3, elements=st.integers(-n, n - 1))) if n else np.empty(0, int)
    key = (slice(None),) * mode + (positions,)
    return (lambda t: t[key]), (lambda y: y[key])


def _mode(draw, x):
    return draw(st.integers(0, x.ndim - 1))


ANY_RANK = [basic, reverse, rotate, repeat, permute, unsqueeze, squeeze, broadcast]
RANK_1 = [repeat_each, gather, outer, window, points]


@st.composite
def chains(draw):
    x = np.arange(np.prod(extents := draw(hnp.array_shapes(max_dims=3, max_side=4, min_side=0)), dtype=int))
    y = x.reshape(extents)
    steps = []
    for _ in range(draw(st.integers(1, 6))):
        if y.ndim > 5 or y.size > 500:
            break
        choices = ANY_RANK + (RANK_1 if y.ndim else []) + ([diagonal] if y.ndim > 1 else [])
        step = draw(st.sampled_from(choices))
        ours, numpys = step(draw, y)
        y = numpys(y)
        steps.append((step.__name__, ours, numpys))
    return x.reshape(extents), steps


def over_functions(x):
    store = x.reshape(-1).copy()
    read = functools.partial(np.take, store)
    buffer = from_functions(x.size, x.dtype, read, functools.partial(np.put, store))
    return tw.from_buffer(buffer, Shape.smooth(x.shape))


@given(chains(), st.booleans())
def test_a_chain_of_views_reads_as_numpys(chain, in_memory):
    x, steps = chain
    t = tw.as_tensor(x.copy()) if in_memory else over_functions(x)
    y, places, repeated, points_taken = x, np.arange(x.size).reshape(x.shape), False, 0
    with count_copies() as count:
        for name, ours, numpys in steps:
            try:
                t = ours(t)
            except LayoutError:
                break  # no layout says it: a window over what is rotated
            y, places = numpys(y), numpys(places)
            if name == "points":
                points_taken += 1
                places, repeated = np.arange(y.size).reshape(y.shape), False
            # A part of what repeats stays read-only.
            repeated = repeated or len(np.unique(places)) < places.size
    # What functions compute is no copy of ours.
    assert count.copies == (points_taken if in_memory else max(points_taken - 1, 0))
    assert t.shape.extents == y.shape
    assert t.tolist() == y.tolist()
    assert t.copy().tolist() == y.tolist()
    assert t.is_readonly == repeated


@given(chains(), st.booleans())
def test_a_write_through_a_chain_changes_what_it_shows(chain, in_memory):
    x, steps = chain
    t = base = tw.as_tensor(x.copy()) if in_memory else over_functions(x)
    y = x
    for name, ours, numpys in steps:
        if name == "points":
            break
        try:
            t, y = ours(t), numpys(y)
        except LayoutError:
            break
    values = -1 - np.arange(y.size).reshape(y.shape)
    if t.is_readonly:
        with pytest.raises(ReadOnlyError):
            t.assign(values)
        assert base.tolist() == x.tolist()
        return
    t.assign(values)
    expected = x.copy()
    expected.reshape(-1)[y.reshape(-1)] = values.reshape(-1)
    assert base.tolist() == expected.tolist()


@given(chains(), st.data())
def test_what_is_refused_changes_nothing(chain, data):
    x, steps = chain
    t = base = tw.as_tensor(x.copy())
    with contextlib.suppress(LayoutError):
        for _, ours, _ in steps:
            t = ours(t)
    bad = data.draw(
        st.sampled_from(
            [
                lambda t: t[(0,) * (t.rank + 1)],
                lambda t: t.permute((0,) * (t.rank + 1)),
                lambda t: t.rotate((1,) * (t.rank + 1)),
                lambda t: t.gather(t.rank, [0]),
                lambda t: t.repeat((-1,) * t.rank) if t.rank else t.repeat((1,)),
                lambda t: t.reshape((t.size + 1,)),
                lambda t: t.diagonal(0, 0),
                lambda t: t.assign(np.zeros((7,) * (t.rank + 1))),
                lambda t: t.window(Shape.smooth((1,) * (t.rank + 1))),
                lambda t: t.sliding_window(0, 10**6),
                lambda t: t.squeeze(t.rank),
                lambda t: t[1.5],
            ]
        )
    )
    with pytest.raises((TensorWrapperError, ValueError)):
        bad(t)
    assert base.tolist() == x.tolist()
