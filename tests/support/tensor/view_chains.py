"""Chains of view operations, each on a tensor and on the NumPy array of its places."""

import numpy as np
from hypothesis import strategies as st

# ruff: noqa: ARG005 - the functions of the table take the same arguments

BOUNDS = st.one_of(st.none(), st.integers(-6, 6))
STEPS = st.sampled_from([None, 1, 2, -1, -3])


def slices(draw, extents):
    return tuple(slice(draw(BOUNDS), draw(BOUNDS), draw(STEPS)) for _ in extents)


def part_of(shape, ends):
    """The box whose mode k goes from half of ``ends[k]`` to it, counted from the origin."""
    starts = [end // 2 + first for end, first in zip(ends, shape.origin, strict=True)]
    return shape.slice(starts, [end + first for end, first in zip(ends, shape.origin, strict=True)])


# One operation on a tensor and the same on an array; `m` is a mode with elements, `a` an argument.
VIEWS = {
    "permute": (
        lambda draw, x, m: draw(st.permutations(range(x.ndim))),
        lambda t, m, a: t.permute(a),
        lambda x, m, a: x.transpose(a),
    ),
    "slice": (
        lambda draw, x, m: slices(draw, x.shape),
        lambda t, m, a: t[a],
        lambda x, m, a: x[a],
    ),
    "chip": (
        lambda draw, x, m: (slice(None),) * m + (draw(st.integers(-x.shape[m], x.shape[m] - 1)),),
        lambda t, m, a: t[a],
        lambda x, m, a: x[(*a, ...)],
    ),
    "new mode": (
        lambda draw, x, m: m,
        lambda t, m, a: t.unsqueeze(a),
        lambda x, m, a: np.expand_dims(x, a),
    ),
    "reverse": (lambda draw, x, m: m, lambda t, m, a: t.reverse(m), lambda x, m, a: np.flip(x, m)),
    "rotate": (
        lambda draw, x, m: [draw(st.integers(-4, 4)) for _ in x.shape],
        lambda t, m, a: t.rotate(a),
        lambda x, m, a: np.roll(x, a, range(x.ndim)),
    ),
    "repeat": (
        lambda draw, x, m: [draw(st.integers(1, 2)) for _ in x.shape],
        lambda t, m, a: t.repeat(a),
        lambda x, m, a: np.tile(x, a),
    ),
    "repeat_each": (
        lambda draw, x, m: draw(st.integers(1, 3)),
        lambda t, m, a: t.repeat_each(m, a),
        lambda x, m, a: np.repeat(x, a, m),
    ),
    "gather": (
        lambda draw, x, m: draw(st.lists(st.integers(0, x.shape[m] - 1), min_size=1, max_size=5)),
        lambda t, m, a: t.gather(m, a),
        lambda x, m, a: np.take(x, a, m),
    ),
    "broadcast": (
        lambda draw, x, m: (2, *x.shape),
        lambda t, m, a: t.broadcast(a),
        lambda x, m, a: np.broadcast_to(x, a),
    ),
    "window": (
        lambda draw, x, m: [draw(st.integers(0, n)) for n in x.shape],
        lambda t, m, a: t.window(part_of(t.shape, a)),
        lambda x, m, a: x[tuple(slice(end // 2, end) for end in a)],
    ),
}


def viewed(draw, tensor, places):
    """A tensor and the array of its places after one operation; as they are if it is not for them."""
    modes = [mode for mode, extent in enumerate(places.shape) if extent]
    if not modes:
        return tensor, places
    choose, ours, numpys = VIEWS[draw(st.sampled_from(sorted(VIEWS)))]
    mode = draw(st.sampled_from(modes))
    argument = choose(draw, places, mode)
    after = numpys(places, mode, argument)
    if after.size > 2000 or after.ndim > 4:
        return tensor, places
    return ours(tensor, mode, argument), after
