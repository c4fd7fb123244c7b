"""Every kind of leaf with every operation of views: what is read, and what memory it takes.

``python -m tests.support.selection.kinds`` writes the page; tests/selection/jagged/test_kinds.py compares it.
"""

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper import selection as sel
from tensorwrapper.errors import TensorWrapperError
from tests.support.selection.counting_source import CountingSource

PAGE: Final = Path(__file__).parents[3] / "docs" / "guide" / "operations-by-kind.md"
MIB: Final = 2**20


def over(shape: Shape, first: int = 0) -> tw.Tensor[Any]:
    """Return a tensor of ascending numbers."""
    return tw.from_buffer(np.arange(shape.size) + first, shape)


def lengths(rows: int) -> Any:
    return np.arange(rows) % 4


def tiles(n: int) -> Shape:
    return Shape.tiled([n, 2 * n], [2 * n, 2 * n])


def cells(n: int) -> Shape:
    return Shape.jagged([Shape(2, 2), Shape(1, 3), Shape(3, 1)] * n)


def words(n: int, first: int = 0) -> tw.Tensor[Any]:
    return tw.strings([["a", "bc", "", "d"][(k + first) % 4] for k in range(4 * n)])


def sparse(n: int, first: int = 0) -> tw.Tensor[Any]:
    k = np.arange(4 * n)
    return tw.sparse(np.stack([k, (3 * k + first) % 8], axis=1), k + 5, Shape(4 * n, 8))


KINDS: Final[dict[str, Callable[[int, int], tw.Tensor[Any]]]] = {
    "box": lambda n, first: over(Shape(4 * n, 3), first),
    "jagged": lambda n, first: over(Shape.jagged(lengths(4 * n)), first),
    "deep": lambda n, first: over(
        Shape.from_offsets(np.arange(0, 4 * n + 1, 2), [0, *np.cumsum(lengths(4 * n))]), first
    ),
    "cells": lambda n, first: over(cells(n), first),
    "tiled": lambda n, first: over(tiles(n), first),
    "nested": lambda n, first: over(Shape.nested(Shape(4 * n, 3), layers=(1, 1)), first),
    "triangular": lambda n, first: over(Shape.triangular(4 * n), first),
    "sparse": sparse,
    "strings": words,
    "rows of strings": lambda n, first: words(n, first).unflatten(np.arange(2 * n) * 0 + 2),
}
"""Leaves by kind: of a size that grows with n, and of elements that begin at another number."""

LARGE: Final = {
    "triangular": 120,
    "tiled": 120,
    "cells": 10_000,
    "box": 10_000,
    "nested": 10_000,
    "jagged": 20_000,
    "deep": 20_000,
}


def mask_of(view: Any) -> Any:
    """Return every other element of a view as a mask of its shape."""
    return tw.from_buffer(np.arange(view.size) % 2 == 0, view.shape)


def firsts_of(view: Any) -> Any:
    """Return for each innermost row the position of its first element, twice."""
    shape = view.shape.flatten().as_jagged()
    splits = [shape.splits(mode) for mode in range(1, shape.rank)]
    some = np.minimum(np.diff(splits[-1]), 1) * 2
    return tw.from_buffer(
        np.zeros(int(some.sum()), dtype="i8"), Shape.from_offsets(*splits[:-1], [0, *np.cumsum(some)])
    )


def turned(view: Any) -> list[int]:
    """Return an order of modes in which no mode stands before one on which it depends, if there is one."""
    outer = view.shape.outer_rank
    tail = list(range(outer, view.rank))
    return [*range(outer), *tail[::-1]] if view.shape.kind == "jagged" else [*range(view.rank)][::-1]


def leading(view: Any, first: int, other: int) -> tuple[int, ...]:
    return (first, *[other] * (view.rank - 1))


def again(view: Any) -> Any:
    frames: list[bytes] = []
    text = sel.to_json(view, frames=frames)
    return sel.from_json(text, sources=sel.sources(view), frames=frames)


OPERATIONS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "concat": lambda v, w: sel.concat([v, w]),
    "concat, last mode": lambda v, w: sel.concat([v, w], mode=v.rank - 1),
    "stack": lambda v, w: sel.stack([v, w]),
    "stack, mode 1": lambda v, w: sel.stack([v, w], mode=1),
    "interleave": lambda v, w: sel.interleave([v, w]),
    "where": lambda v, w: sel.where(mask_of(v), v, w),
    "minimum": sel.minimum,
    "maximum": sel.maximum,
    "pad_rows": lambda v, _: v.pad_rows(9, fill_value="" if v.dtype.kind == "T" else 0),
    "astype": lambda v, _: v.astype("f4"),
    "rows [::2]": lambda v, _: v[::2],
    "rows [::-1]": lambda v, _: v[::-1],
    "one row [1]": lambda v, _: v[1],
    "inside rows [..., 1:]": lambda v, _: v[..., 1:],
    "inside rows [..., ::-1]": lambda v, _: v[..., ::-1],
    "tiles [:, 0]": lambda v, _: v[:, :1],
    "gather [[1, 0, 1]]": lambda v, _: v[[1, 0, 1]],
    "mask of rows": lambda v, _: v[np.arange(len(v)) % 2 == 0],
    "jagged mask": lambda v, _: v[mask_of(v)],
    "jagged positions": lambda v, _: v[firsts_of(v)],
    "rotate": lambda v, _: v.rotate(leading(v, 1, 0)),
    "repeat": lambda v, _: v.repeat(leading(v, 2, 1)),
    "repeat_each": lambda v, _: v.repeat_each(0, 2),
    "reverse": lambda v, _: v.reverse(-1),
    "permute": lambda v, _: v.permute(turned(v)),
    "flatten": lambda v, _: v.flatten(),
    "one for each row": lambda v, _: sel.as_view(CountingSource(np.arange(len(v)))).broadcast(v.shape),
    "selector": lambda v, _: sel.Selector.parse("::-1").apply(v),
    "JSON": lambda v, _: again(v[::-1]),
}

NONE: Final = {
    ("box", "one for each row"): 118,
    ("sparse", "one for each row"): 118,
    ("strings", "jagged positions"): 99,
    ("strings", "tiles [:, 0]"): 109,
    ("strings", "flatten"): 109,
    ("strings", "astype"): 121,
    ("rows of strings", "astype"): 121,
    ("nested", "permute"): 116,
}
"""What is refused, under the number that says why."""

REFUSALS: Final = {
    99: ["concat([a, y])", "concat([a, d])", "concat([c, a])", "w[jagged([[0], [1]])]"],
    100: ["concat([a, b], mode=1)"],
    101: ["concat([])"],
    102: ["interleave([a, b[:1]])"],
    103: ["stack([a, b])"],
    104: ["minimum(a, b)", "where(mask, a, b)"],
    105: ["minimum(a, a[:, :1])"],
    106: ["where(a, a, q)"],
    107: ["a[:, 0]"],
    108: ["a[:, [0]]"],
    109: ["a[[4]]", "a[4]", "a[-5]", "a[3, 3]", "w[:, :1]", "w.flatten()"],
    110: ["a[[True, False]]"],
    111: ["a[jagged([[0], [0]])]"],
    112: ["a[jagged([[3], [], [], []])]", "a[jagged([[0]] * 4)]"],
    113: ["a[jagged([[True], [True], [], [True, True, False]])]"],
    115: ["a[::0]", "a[:, ::0]"],
    116: ["a.permute((1, 0))", "c.permute((1, 0, 2))", "N.permute((1, 0))"],
    117: ["a.rotate((0, 1))", "a.repeat((1, 2))", "a.repeat_each(1, 2)"],
    118: ["y[:3].broadcast(a.shape)", "minimum(a, y[:3])", "y[:3].broadcast(x.shape)"],
    119: ["pad(a, [(0, 1), (0, 0)])"],
    120: ["pad_rows(a, -1)", "pad_rows(a, 2, fill_value=1.5)"],
    121: ["concat([a, w.unflatten([1, 3])])", 'w.astype("f4")'],
    114: ["a[as_view(Elsewhere(array([True] * 6))).unflatten([2, 1, 0, 3])]"],
    122: ["concat([s, x])", "concat([s, ones])"],
    123: ["concat([T, a])", "concat([T, x])"],
    127: ["a.reshape((2, 3))", "a.squeeze(0)", "array(a)"],
}
"""What is refused: for each number expressions over the leaves of tests/selection/jagged/test_rows.py."""


WRITTEN: Final = {
    124: "writing to `a[[3, 3]]`, `y.broadcast(a.shape)`, `pad_rows(a, 3)`",
    125: "writing to `concat([a, a])`",
    126: "writing 300.5 to rows of int8",
    128: "reading a source whose version changes between two answers",
}
"""The same, of what is done with views; tests/selection/jagged/test_numbered.py has it."""


def made(kind: str, n: int) -> tuple[Any, Any, list[CountingSource]]:
    """Return two views of a kind, and the sources beneath them, if such elements can be elsewhere."""
    one, other = [KINDS[kind](n, first) for first in (0, 3)]
    if kind in {"sparse", "strings", "rows of strings"}:
        return sel.as_view(one), sel.as_view(other), []
    sources = [CountingSource(one), CountingSource(other)]
    return sel.as_view(sources[0]), sel.as_view(sources[1]), sources


def bytes_read(view: Any) -> int:
    """Return how many bytes a view reads beside masks in memory, by its plan."""
    return sum([read.nbytes for read in view.plan().reads if read.source.dtype != np.bool_])


def peak(kind: str, name: str) -> float:
    """Return how many MiB computing an operation takes beside its result, on leaves of about one MiB."""
    one, other, _ = made(kind, LARGE.get(kind, 4_000))
    view = OPERATIONS[name](one, other)
    tracemalloc.start()
    result = view.compute()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return float(max(most - result.nbytes, 0) / MIB)


def cells_of() -> dict[str, list[str]]:
    """Return what the page says of each operation, for one kind after the other."""
    found: dict[str, list[str]] = {}
    for name, operation in OPERATIONS.items():
        row: list[str] = []
        for kind in KINDS:
            if (kind, name) in NONE:
                row.append(f"refused: {NONE[kind, name]}")
                continue
            one, other, _ = made(kind, 1)
            read = bytes_read(operation(one, other))
            # Twice what was found: other versions of NumPy, and other days.
            most = 2 ** int(np.ceil(np.log2(max(2 * peak(kind, name), 1))))
            row.append(f"{read} B, {most} MiB")
        found[name] = row
    return found


def planned(kind: str) -> str:
    one, other, _ = made(kind, 1)
    plan = sel.concat([one[::-1], other]).plan()
    return f"{len(plan.steps)} steps, {plan.bytes_read} B"


def explained(kind: str) -> str:
    one, other, _ = made(kind, 1)
    return f"{len(sel.concat([one[::-1], other]).explain().splitlines())} lines"


def in_blocks(kind: str) -> str:
    one, other, sources = made(kind, 1)
    blocks = list(sel.concat([one[::-1], other]).blocks(64))
    read = f", {sum(source.nbytes for source in sources)} B" if sources else ""
    return f"{len(blocks)} blocks{read}"


def written(kind: str) -> str:
    tensor = KINDS[kind](1, 0).copy()
    view = sel.as_view(tensor)[::-1]
    try:
        view.assign(sel.as_view(KINDS[kind](1, 3))[::-1])
    except TensorWrapperError as error:
        return type(error).__name__
    return f"{view.size} elements"


def added_to(kind: str) -> str:
    tensor = KINDS[kind](1, 0).copy()
    view = sel.as_view(tensor)[[1, 1]]
    try:
        view.accumulate_into(sel.as_view(tensor)[[1, 1]])
    except TensorWrapperError as error:
        return type(error).__name__
    return f"{view.size} elements"


USES: Final[dict[str, Callable[[str], str]]] = {
    "plan": planned,
    "explain": explained,
    "blocks of 64 B": in_blocks,
    "written through `[::-1]`": written,
    "added to through `[[1, 1]]`": added_to,
}
"""What is done with views of a kind beside putting them together; each says what came of it."""


def uses_of() -> dict[str, list[str]]:
    """Return what the page says of each use, for one kind after the other."""
    return {name: [use(kind) for kind in KINDS] for name, use in USES.items()}


def table_of(rows: dict[str, list[str]]) -> list[str]:
    """Return the lines of a table over all kinds."""
    head = "| | " + " | ".join(KINDS) + " |"
    line = "| --- " * (len(KINDS) + 1) + "|"
    named = [[f"`{name}`" if "[" in name and "`" not in name else name, *row] for name, row in rows.items()]
    return [head, line, *[f"| {' | '.join(row)} |" for row in named]]


def refusals() -> list[str]:
    """Return the lines of the table of what is refused."""
    said = {n: ", ".join([f"`{own}`" for own in REFUSALS[n]]) for n in REFUSALS} | WRITTEN
    rows = [f"| {n} | {said[n]} |" for n in sorted(said)]
    return ["| | refused |", "| --- | --- |", *rows]


def page() -> str:
    """Return the page."""
    return "\n".join(
        [*INTRODUCTION, *table_of(cells_of()), "", USED, *table_of(uses_of()), "", REFUSED, *refusals(), ""]
    )


USED: Final = """\
The next table has other uses of views. For `concat([v[::-1], w])` these are the steps and the bytes of its
plan, the lines of its explanation, and the blocks in which it is computed, with their bytes. The last two
rows count the elements written through a view that reverses rows, and added through one that repeats a row.
"""

REFUSED: Final = """\
These calls are refused for elements of any type; the numbers are those of the tests. `a`, `b` and
`q` are rows, `d` nested rows, `c` cells, `T` tiles, `N` a box in layers, `x` a box, `y` one number for each
row of `a`, `w` strings, `s` a sparse box, and `mask` has one bool for each element of `a`.
"""

INTRODUCTION: Final = (
    """# Operations by kind

This table has every operation of views for every kind of source. A cell has the bytes that the operation
reads from two small sources (of `tests/support/selection/kinds.py`; elements have 8 bytes, strings have their
text). The plan and a counting source agree on them. The second number bounds the memory of the computation
besides the result, for sources of about one MiB. The tests write this page, and fail if it is wrong.

A number without a unit means that the operation is refused: the last table has the reason under this number.
By NumPy's rule of broadcasting, a box and a sparse tensor do not act as rows with one number each. Strings in
one mode have no second mode, and text is not cast to numbers. A mode cannot move before one of an outer
layer, because it would belong to no layer: `flatten()` drops layers.
""",
)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
