"""One step of a tree of selections: on a view, and on the array of its elements.

Each takes a random generator, a view and an array, and returns both after the step; it raises `StepError`
if it is not for them.
"""

import itertools

import numpy as np

from tensorwrapper import Shape
from tensorwrapper import selection as sel

# ruff: noqa: ARG001 - the functions of the table take the same arguments

__all__ = ["STEPS", "StepError", "conform"]


class StepError(Exception):
    """A step does not fit what it is given."""


def _mode(rng, array, least=0):
    modes = [m for m, n in enumerate(array.shape) if n >= least]
    if not modes:
        raise StepError
    return rng.choice(modes)


def _signed(rng, mode, rank):
    return mode - rank if rng.random() < 0.2 else mode


def _slice(rng, extent):
    def bound():
        return None if rng.random() < 0.4 else rng.randint(-extent - 1, extent + 1)

    for _ in range(3):
        found = slice(bound(), bound(), rng.choice([None, 1, 1, 2, 3, -1, -1, -2, -4]))
        if range(*found.indices(extent)):
            break
    return found


def permute(rng, view, array):
    order = rng.sample(range(array.ndim), array.ndim)
    return view.permute(order), array.transpose(order)


def key(rng, view, array):
    items = []
    for extent in array.shape:
        how = rng.random()
        items.append(
            rng.randint(-extent, extent - 1)
            if how < 0.15 and extent
            else _slice(rng, extent)
            if how < 0.8
            else slice(None)
        )
    if rng.random() < 0.2:
        items.insert(rng.randint(0, len(items)), None)
    if rng.random() < 0.2:
        cut = rng.randint(0, len(items))
        items = [*items[:cut], ...]
    return view[tuple(items)], array[tuple(items)]


def reverse(rng, view, array):
    modes = [m for m in range(array.ndim) if rng.random() < 0.5]
    return view.reverse(*modes), np.flip(array, modes or None)


def rotate(rng, view, array):
    shifts = [rng.randint(-7, 7) if rng.random() < 0.6 else 0 for _ in array.shape]
    return view.rotate(shifts), np.roll(array, shifts, range(array.ndim)) if array.ndim else array


def repeat(rng, view, array):
    times = [rng.choice([1, 2, 2, 3] * 4 + [0]) if rng.random() < 0.5 else 1 for _ in array.shape]
    return view.repeat(times), np.tile(array, times)


def repeat_each(rng, view, array):
    mode, times = _mode(rng, array), rng.choice([1, 2, 2, 3] * 3 + [0])
    return view.repeat_each(_signed(rng, mode, array.ndim), times), np.repeat(array, times, mode)


def gather(rng, view, array):
    mode = _mode(rng, array, 1)
    extent = array.shape[mode]
    positions = [rng.randint(-extent, extent - 1) for _ in range(rng.randint(0, 6) or 2)]
    if rng.random() < 0.2:
        positions = sorted(p % extent for p in positions)
    return view.gather(_signed(rng, mode, array.ndim), positions), np.take(
        array, np.array(positions, dtype="i8"), mode
    )


def mask(rng, view, array):
    mode = _mode(rng, array)
    chosen = np.array([rng.random() < 0.5 for _ in range(array.shape[mode])], dtype=bool)
    item = (slice(None),) * mode + (chosen,)
    return (view.oindex if rng.random() < 0.5 else view)[item], array[item]


def mask_of_many(rng, view, array):
    chosen = np.array([rng.random() < 0.4 for _ in range(array.size)], dtype=bool).reshape(array.shape)
    return view[chosen], array[chosen]


def points(rng, view, array):
    _mode(rng, array, 1)
    count = rng.randint(0, 5)
    shape = rng.choice([(count,), (2, count)])
    chosen = [m for m, n in enumerate(array.shape) if n and rng.random() < 0.6]
    items, moved = [], []
    for m, n in enumerate(array.shape):
        if m in chosen:
            items.append(
                np.array([rng.randint(-n, n - 1) for _ in range(int(np.prod(shape)))], dtype="i8").reshape(
                    shape
                )
            )
            moved.append(m)
        else:
            items.append(_slice(rng, n))
    if not moved:
        raise StepError
    if rng.random() < 0.5:
        return view[tuple(items)], array[tuple(items)]
    # vindex puts the modes of the points first.
    front = array.transpose([*moved, *[m for m in range(array.ndim) if m not in moved]])
    found = front[tuple([items[m] for m in moved] + [i for m, i in enumerate(items) if m not in moved])]
    return view.vindex[tuple(items)], found


def outer(rng, view, array):
    items, found = [], array
    for m, n in enumerate(array.shape):
        if n and rng.random() < 0.6:
            positions = np.array([rng.randint(-n, n - 1) for _ in range(rng.randint(0, 4))], dtype="i8")
            items.append(positions if rng.random() < 0.5 else positions.tolist() or positions)
            found = np.take(found, positions, m)
        else:
            items.append(_slice(rng, n))
            found = found[(slice(None),) * m + (items[-1],)]
    return view.oindex[tuple(items)], found


def _widths(rng, array, least):
    if not array.ndim:
        raise StepError
    return [
        (rng.randint(0, 3), rng.randint(0, 4)) if rng.random() < 0.6 and n >= least else (0, 0)
        for n in array.shape
    ]


def pad_again(rng, view, array):
    widths = _widths(rng, array, 1)
    mode = rng.choice(["edge", "wrap", "reflect", "symmetric"])
    if array.dtype.kind == "T":
        found = array
        for m, (a, b) in enumerate(widths):
            found = np.take(found, np.pad(np.arange(found.shape[m]), (a, b), mode=mode), m)
    else:
        found = array if not array.size else np.pad(array, widths, mode=mode)
    if not array.size:
        raise StepError
    return (
        view.pad(widths, boundary=mode) if rng.random() < 0.5 else sel.pad(view, widths, boundary=mode)
    ), found


def pad_constant(rng, view, array):
    widths = _widths(rng, array, 0)
    value = rng.choice([0, 1, 1, 9]) if array.dtype.kind != "T" else rng.choice(["", "pad"])
    if array.dtype.kind == "b":
        value = bool(value)
    shape = [n + a + b for n, (a, b) in zip(array.shape, widths, strict=True)]
    found = np.full(shape, value, array.dtype)
    found[tuple([slice(a, a + n) for n, (a, _) in zip(array.shape, widths, strict=True)])] = array
    return sel.pad(view, widths, fill_value=value), found


def broadcast(rng, view, array):
    extents = [
        rng.choice([1, 2, 2, 3, 3] * 2 + [0]) if n == 1 and rng.random() < 0.7 else n for n in array.shape
    ]
    extents = [*[rng.randint(1, 3) for _ in range(rng.choice([0, 1, 1, 2]))], *extents]
    return view[...].broadcast(extents), np.broadcast_to(array, extents)


def squeeze(rng, view, array):
    modes = [m for m, n in enumerate(array.shape) if n == 1 and rng.random() < 0.7]
    return view.squeeze(*modes), np.squeeze(array, tuple(modes) or None)


def unsqueeze(rng, view, array):
    mode = rng.randint(0, array.ndim)
    return view.unsqueeze(mode - rng.choice([0, array.ndim + 1])), np.expand_dims(array, mode)


def _factors(rng, size):
    parts = []
    while size > 1 and rng.random() < 0.7:
        options = [k for k in range(2, size + 1) if not size % k]
        parts.append(rng.choice(options))
        size //= parts[-1]
    parts.append(size)
    if rng.random() < 0.2:
        parts.insert(rng.randint(0, len(parts)), 1)
    rng.shuffle(parts)
    return parts


def reshape(rng, view, array):
    wanted = _factors(rng, array.size) if array.size else [0, rng.randint(0, 3)]
    asked = list(wanted)
    if array.size and rng.random() < 0.3:
        asked[rng.randrange(len(asked))] = -1
    return view.reshape(asked), array.reshape(wanted)


def split_mode(rng, view, array):
    mode = _mode(rng, array, 1)
    parts = _factors(rng, array.shape[mode])
    return view.split_mode(mode, parts), array.reshape(
        [*array.shape[:mode], *parts, *array.shape[mode + 1 :]]
    )


def merge_modes(rng, view, array):
    first, last = sorted((_mode(rng, array), _mode(rng, array)))
    total = int(np.prod(array.shape[first : last + 1]))
    return view.merge_modes(first, last), array.reshape(
        [*array.shape[:first], total, *array.shape[last + 1 :]]
    )


def sliding_window(rng, view, array):
    mode = _mode(rng, array, 1)
    length = rng.randint(1, array.shape[mode])
    runs = np.arange(array.shape[mode] - length + 1)[:, None] + np.arange(length)
    found = np.moveaxis(np.take(array, runs, mode), mode + 1, -1)
    return view.sliding_window(mode, length), found


def diagonal(rng, view, array):
    if array.ndim < 2:
        raise StepError
    first, second = rng.sample(range(array.ndim), 2)
    return view.diagonal(first, second), np.diagonal(array, 0, first, second)


def window(rng, view, array):
    starts = [rng.randint(0, n // 2) for n in array.shape]
    stops = [rng.randint(min(n, a + 1), n) for a, n in zip(starts, array.shape, strict=True)]
    region = Shape(
        *[b - a for a, b in zip(starts, stops, strict=True)],
        origin=[a + o for a, o in zip(starts, view.shape.origin, strict=True)],
    )
    found = view.window(region)
    assert found.shape == region
    return found, array[tuple(map(slice, starts, stops))]


def cast(rng, view, array):
    if array.dtype.kind in "Tc":
        raise StepError
    wide = array.astype("f8")
    if not (np.isfinite(wide) & (abs(wide) < 127)).all():
        raise StepError
    wanted = rng.choice(["i1", "i4", "i8", "f4", "f8", ">i4"] + (["u1"] if (wide >= 0).all() else []))
    return view.astype(wanted), array.astype(wanted)


def dealt(rng, view, array):
    """Cut into turns, and interleaved again, perhaps in other turns."""
    mode, many = _mode(rng, array), rng.randint(1, 3)
    keys = [(slice(None),) * mode + (slice(k, None, many),) for k in range(many)]
    if rng.random() < 0.3 and not array.shape[mode] % many:
        rng.shuffle(keys)
    parts = [array[own] for own in keys]
    out = np.empty(array.shape, array.dtype)
    for k, part in enumerate(parts):
        out[(slice(None),) * mode + (slice(k, None, many),)] = part
    return sel.interleave([view[own] for own in keys], mode=mode), out


def cut(rng, view, array):
    """Cut into runs, and joined again, perhaps in another order."""
    mode = _mode(rng, array)
    marks = [
        0,
        *sorted(rng.randint(0, array.shape[mode]) for _ in range(rng.randint(0, 3))),
        array.shape[mode],
    ]
    keys = [(slice(None),) * mode + (slice(a, b),) for a, b in itertools.pairwise(marks)]
    if rng.random() < 0.3:
        rng.shuffle(keys)
    return sel.concat([view[own] for own in keys], mode=mode), np.concatenate(
        [array[own] for own in keys], mode
    )


def optimize(rng, view, array):
    return view.optimize(), array


STEPS = {
    step.__name__: step
    for step in (
        permute, key, reverse, rotate, repeat, repeat_each, gather, mask, mask_of_many, points, outer,
        pad_again, pad_constant, broadcast, squeeze, unsqueeze, reshape, split_mode, merge_modes,
        sliding_window, diagonal, window, cast, dealt, cut, optimize,
    )
}  # fmt: skip


def conform(rng, pair, extents, blank):
    """Return a view and its array with these extents: modes come, go, and are gathered; else another leaf."""
    view, array = pair
    while array.ndim > len(extents):
        if not array.shape[0]:
            return blank(extents)
        k = rng.randrange(array.shape[0])
        view, array = view[k], array[k, ...]
    while array.ndim < len(extents):
        view, array = view.unsqueeze(0), array[None]
    for mode, (have, wanted) in enumerate(zip(array.shape, extents, strict=True)):
        if have == wanted:
            continue
        if not have and wanted:
            return blank(extents)
        if have > wanted:
            start = rng.randint(0, have - wanted)
            own = (slice(None),) * mode + (slice(start, start + wanted),)
            view, array = view[own], array[own]
        else:
            places = np.arange(wanted) % have
            view, array = view.gather(mode, places), np.take(array, places, mode)
    return view, array
