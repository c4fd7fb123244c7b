"""Views that go from rows to boxes and back, each with the lists that it should be.

What was made before may be taken again as an operand, so that views are shared; a row, the elements in one
line, or the first of each row become boxes, and a line cut at lengths becomes rows. Everything is chosen by a
`random.Random`.
"""

import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tests.support.selection.counting_source import CountingSource

__all__ = ["Known", "crossing", "same_elements"]

MOST = 4000  # elements of a view


@dataclass
class Known:
    """A view, what it should be, and how it was made. Rows are lists of lists, boxes arrays."""

    view: Any
    lists: Any
    said: str

    @property
    def is_box(self) -> bool:
        return isinstance(self.lists, np.ndarray)


class UnfitError(Exception):
    """A step is not for what it is given."""


Found = tuple[Any, Any]
Step = Callable[[random.Random, list[Known], Any, Any], Found]


def _cut(rng: random.Random) -> slice:
    first, last = (rng.choice([None, rng.randint(-7, 7)]) for _ in range(2))
    return slice(first, last, rng.choice([None, 1, 2, 3, -1, -2, -3]))


def _one_of(rng: random.Random, known: list[Known], fits: Callable[[Any], bool], *, box: bool) -> Known:
    found = [own for own in known if own.is_box == box and fits(own.lists)]
    if not found:
        raise UnfitError
    return rng.choice(found)


def _as_many(rng: random.Random, known: list[Known], rows: Any) -> Known:
    return _one_of(rng, known, lambda own: len(own) == len(rows), box=False)


def _alike(rng: random.Random, known: list[Known], rows: Any) -> Known:
    lengths = [len(row) for row in rows]
    return _one_of(rng, known, lambda own: [len(row) for row in own] == lengths, box=False)


def _pairs(function: Callable[..., Any], *rows: Any) -> list[list[int]]:
    return [[function(*own) for own in zip(*beside, strict=True)] for beside in zip(*rows, strict=True)]


def _lines(elements: Any, lengths: list[int]) -> list[list[int]]:
    ends = itertools.accumulate(lengths, initial=0)
    return [elements[a:b].tolist() for a, b in itertools.pairwise(ends)]


def _some_rows(rng: random.Random, view: Any, rows: Any) -> Found:
    key = _cut(rng)
    return view[key], rows[key]


def _within_rows(rng: random.Random, view: Any, rows: Any) -> Found:
    key = _cut(rng)
    return view[:, key], [row[key] for row in rows]


def _gathered(rng: random.Random, view: Any, rows: Any) -> Found:
    numbers = [rng.randrange(-len(rows), len(rows)) for _ in range(rng.randint(0, 7))] if rows else []
    return view[np.array(numbers, dtype=int)], [rows[n] for n in numbers]


def _masked(rng: random.Random, view: Any, rows: Any) -> Found:
    keep = [rng.random() < 0.5 for _ in rows]
    return view[np.array(keep, dtype=bool)], [row for row, kept in zip(rows, keep, strict=True) if kept]


def _joined(rng: random.Random, known: list[Known], view: Any, rows: Any) -> Found:
    other = _one_of(rng, known, lambda _: True, box=False)
    return sel.concat([view, other.view]), rows + other.lists


def _beside(rng: random.Random, known: list[Known], view: Any, rows: Any) -> Found:
    other = _as_many(rng, known, rows)
    return sel.concat([view, other.view], mode=1), [a + b for a, b in zip(rows, other.lists, strict=True)]


def _turns(rng: random.Random, known: list[Known], view: Any, rows: Any) -> Found:
    other = _as_many(rng, known, rows)
    beside = zip(rows, other.lists, strict=True)
    return sel.interleave([view, other.view]), [row for pair in beside for row in pair]


def _chosen(rng: random.Random, known: list[Known], view: Any, rows: Any) -> Found:
    which, other = _alike(rng, known, rows), _alike(rng, known, rows)
    lists = _pairs(lambda c, a, b: a if c > 0 else b, which.lists, rows, other.lists)
    return sel.where(which.view > 0, view, other.view), lists


def _least(rng: random.Random, known: list[Known], view: Any, rows: Any) -> Found:
    other = _alike(rng, known, rows)
    return sel.minimum(view, other.view), _pairs(min, rows, other.lists)


def _stacked(rng: random.Random, known: list[Known], view: Any, rows: Any) -> Found:
    other, number = _as_many(rng, known, rows), rng.randint(0, 1)
    return sel.stack([view, other.view])[number], (rows, other.lists)[number]


def _spread(rng: random.Random, known: list[Known], view: Any, rows: Any) -> Found:
    line = np.arange(len(rows) + 5)
    known.append(Known(sel.as_view(tw.as_tensor(line))[2 : 2 + len(rows)], line[2 : 2 + len(rows)], "a line"))
    of_each = _one_of(rng, known, lambda own: own.ndim == 1 and len(own) == len(rows), box=True)
    numbers = zip(rows, of_each.lists.tolist(), strict=True)
    return of_each.view.broadcast(view.shape), [[number] * len(row) for row, number in numbers]


def _padded(rng: random.Random, view: Any, rows: Any) -> Found:
    length = rng.randint(0, 6)
    clip = rng.random() < 0.5
    lists = [row + [7] * (length - len(row)) for row in rows]
    return view.pad_rows(length, fill_value=7, clip=clip), [row[:length] for row in lists] if clip else lists


def _masked_within(rng: random.Random, known: list[Known], view: Any, rows: Any) -> Found:
    which = _alike(rng, known, rows)
    beside = zip(rows, which.lists, strict=True)
    return view[which.view > 0], [[a for a, c in zip(*own, strict=True) if c > 0] for own in beside]


def _placed_within(rng: random.Random, view: Any, rows: Any) -> Found:
    if not rows or not all(rows):
        raise UnfitError
    places = [[rng.randrange(-len(row), len(row)) for _ in range(rng.randint(0, 3))] for row in rows]
    lists = [[row[n] for n in own] for row, own in zip(rows, places, strict=True)]
    return view[tw.jagged(places, dtype="i8")], lists


def _turned(rng: random.Random, view: Any, rows: Any) -> Found:
    by = rng.randint(-3, 3)
    at = -by % max(len(rows), 1)
    return view.rotate((by, 0)), rows[at:] + rows[:at]


def _again(rng: random.Random, view: Any, rows: Any) -> Found:
    times = rng.randint(1, 3)
    if rng.random() < 0.5:
        return view.repeat((times, 1)), rows * times
    return view.repeat_each(0, times), [row for row in rows for _ in range(times)]


def _row(rng: random.Random, view: Any, rows: Any) -> Found:
    if not rows:
        raise UnfitError
    number = rng.randrange(-len(rows), len(rows))
    return view[number], np.array(rows[number], dtype="i8")


def _firsts(view: Any, rows: Any) -> Found:
    if not all(rows):
        raise UnfitError
    return view[:, 0], np.array([row[0] for row in rows], dtype="i8")


STEPS_OF_ROWS: dict[str, Step] = {
    "rows": lambda r, _, v, m: _some_rows(r, v, m),
    "within rows": lambda r, _, v, m: _within_rows(r, v, m),
    "joined with none": lambda r, _, v, m: (sel.concat([v, v[:0]][:: r.choice([1, -1])]), m),
    "gathered": lambda r, _, v, m: _gathered(r, v, m),
    "by a mask": lambda r, _, v, m: _masked(r, v, m),
    "joined": _joined,
    "beside": _beside,
    "in turns": _turns,
    "chosen": _chosen,
    "least": _least,
    "one of a stack": _stacked,
    "one for each row": _spread,
    "padded": lambda r, _, v, m: _padded(r, v, m),
    "cast": lambda r, _, v, m: (v.astype(r.choice(["f8", "f4", "i4"])).astype("i8"), m),
    "by a mask within": _masked_within,
    "by places within": lambda r, _, v, m: _placed_within(r, v, m),
    "rotated": lambda r, _, v, m: _turned(r, v, m),
    "again": lambda r, _, v, m: _again(r, v, m),
    "a row": lambda r, _, v, m: _row(r, v, m),
    "in one line": lambda _, __, v, m: (v.flatten(), np.array([n for row in m for n in row], dtype="i8")),
    "the first of each": lambda _, __, v, m: _firsts(v, m),
}


def _box_like(rng: random.Random, known: list[Known], array: Any) -> Known:
    return _one_of(rng, known, lambda own: own.shape == array.shape, box=True)


def _key(rng: random.Random, view: Any, array: Any) -> Found:
    key = tuple([_cut(rng) for _ in range(array.ndim)])
    return view[key], array[key]


def _boxes_joined(rng: random.Random, known: list[Known], view: Any, array: Any) -> Found:
    other = _box_like(rng, known, array)
    mode = rng.randrange(array.ndim)
    return sel.concat([view, other.view], mode=mode), np.concatenate([array, other.lists], mode)


def _boxes_stacked(rng: random.Random, known: list[Known], view: Any, array: Any) -> Found:
    other = _box_like(rng, known, array)
    mode = rng.randint(0, array.ndim)
    if array.ndim > 2:
        raise UnfitError
    return sel.stack([view, other.view], mode=mode), np.stack([array, other.lists], mode)


def _boxes_chosen(rng: random.Random, known: list[Known], view: Any, array: Any) -> Found:
    which, other = _box_like(rng, known, array), _box_like(rng, known, array)
    return sel.where(which.view > 0, view, other.view), np.where(which.lists > 0, array, other.lists)


def _unflattened(rng: random.Random, view: Any, array: Any) -> Found:
    if array.ndim != 1 or not array.size:
        raise UnfitError
    lengths: list[int] = []
    while left := array.size - sum(lengths):
        lengths.append(min(left, rng.randint(0, 4)))
    return view.unflatten(lengths), _lines(array, lengths)


def _permuted(rng: random.Random, view: Any, array: Any) -> Found:
    order = rng.sample(range(array.ndim), array.ndim)
    return view.permute(order), array.transpose(order)


def _picked(rng: random.Random, view: Any, array: Any) -> Found:
    mode = rng.randrange(array.ndim)
    if not array.shape[mode]:
        raise UnfitError
    places = [rng.randrange(-array.shape[mode], array.shape[mode]) for _ in range(rng.randint(0, 5))]
    key = (slice(None),) * mode + (places,)
    return view.oindex[key], np.take(array, np.array(places, dtype=int), mode)


def _surrounded(rng: random.Random, view: Any, array: Any) -> Found:
    widths = [(rng.randint(0, 2), rng.randint(0, 2)) for _ in range(array.ndim)]
    # By position again: what is padded begins before its origin.
    return sel.pad(view, widths, fill_value=9)[...], np.pad(array, widths, constant_values=9)


def _broadcast(rng: random.Random, view: Any, array: Any) -> Found:
    if array.ndim > 2:
        raise UnfitError
    extents = rng.randint(1, 4), *array.shape
    return view.broadcast(extents), np.broadcast_to(array, extents)


STEPS_OF_BOXES: dict[str, Step] = {
    "key": lambda r, _, v, m: _key(r, v, m),
    "joined": _boxes_joined,
    "stacked": _boxes_stacked,
    "chosen": _boxes_chosen,
    "cast": lambda r, _, v, m: (v.astype(r.choice(["f8", "f4", "i4"])).astype("i8"), m),
    "cut into rows": lambda r, _, v, m: _unflattened(r, v, m),
    "permuted": lambda r, _, v, m: _permuted(r, v, m),
    "picked": lambda r, _, v, m: _picked(r, v, m),
    "surrounded": lambda r, _, v, m: _surrounded(r, v, m),
    "broadcast": lambda r, _, v, m: _broadcast(r, v, m),
}


def _leaves(rng: random.Random, rows: int) -> list[Known]:
    found = []
    # A source that converts is asked for elements as they are, as narrower ones, or for both.
    away = rng.random() < 0.4

    def leaf(tensor: tw.Tensor[Any]) -> Any:
        return sel.as_view(CountingSource(tensor, abilities=("runs", "casts")) if away else tensor)

    for _ in range(2):
        lists = [
            [rng.randint(-50, 50) for _ in range(rng.choice([0, 1, 2, 3, 5]))]
            for _ in range(rng.randint((rows + 1) // 2, rows))
        ]
        found.append(Known(leaf(tw.jagged(lists, dtype="i8")), lists, "rows"))
    count = len(found[0].lists)
    line, plane = np.arange(count + 5), np.arange(3 * count).reshape(count, 3) * 7 % 11
    found.append(Known(leaf(tw.as_tensor(line))[2 : 2 + count], line[2 : 2 + count], "a line"))
    found.append(Known(leaf(tw.as_tensor(plane)), plane, "a plane"))
    return found


def crossing(rng: random.Random, rows: int, steps: int) -> list[Known]:
    """Return views, each made of those before it; the first four are leaves."""
    known = _leaves(rng, rows)
    for _ in range(steps):
        start = known[-1] if rng.random() < 0.65 else rng.choice(known)
        table = STEPS_OF_BOXES if start.is_box else STEPS_OF_ROWS
        name = rng.choice(list(table))
        try:
            view, lists = table[name](rng, known, start.view, start.lists)
        except (UnfitError, tw.errors.ExtentMismatchError):
            continue  # A stack takes only rows of the same lengths.
        if view.size > MOST:
            continue
        if view.shape.is_box and not isinstance(lists, np.ndarray):
            lists = np.array(lists, dtype="i8").reshape(view.shape.extents)  # Rows of one length are a box.
        known.append(Known(view, lists, name))
    return known


def same_elements(view: Any, lists: Any, rng: random.Random) -> None:
    """Check a view against its lists in every way in which its elements are had."""
    expected = lists.tolist() if isinstance(lists, np.ndarray) else lists
    whole = view.compute()
    assert whole.tolist() == expected
    if not view.size:
        return
    assert view.optimize().compute().tolist() == expected
    assert view.compute(threads=2).tolist() == expected
    size = 0
    for region, block in view.blocks(rng.choice([64, 400, 20_000])):
        assert block.elements().tolist() == whole.window(region).elements().tolist()
        size += block.size
    assert size == view.size
    elements = whole.elements().tolist()
    for number in (rng.randrange(view.size) for _ in range(3)):
        index = view.shape.index(number)
        assert view[index].compute().item() == elements[number]
        route = view.route(index)
        if route.casts == () and isinstance(route.source, tw.Tensor):
            assert route.source.elements()[route.source.shape.ordinal(route.index)] == elements[number]
    key = _cut(rng)
    assert view[key].compute().tolist() == expected[key]
    some = [rng.randrange(len(expected)) for _ in range(4)]
    assert view[np.array(some)].compute().tolist() == [expected[n] for n in some]
