"""Hypothesis strategies for shapes and tilings, small enough to try every index.

They draw the most error-prone shapes: modes and layers without indices, origins of either sign, extents that
follow an empty mode, rows that are shared, and views of views.
"""

import functools
from collections.abc import Collection

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from tensorwrapper.errors import OutOfBoundsError
from tensorwrapper.shape import Shape, Tiling
from tensorwrapper.typing import Half, Index, Kind

KINDS: tuple[Kind, ...] = ("smooth", "jagged", "nested")


def shapes(
    kinds: Collection[Kind] = KINDS, *, max_rank: int = 4, max_extent: int = 3, max_origin: int = 3
) -> SearchStrategy[Shape]:
    """Return a strategy of shapes of every representation, values and views.

    Parameters
    ----------
    kinds
        The kinds to draw.
    max_rank
        The greatest rank; jagged shapes are drawn from rank 2.
    max_extent
        The greatest extent, which is also the greatest number of tiles per mode.
    max_origin
        The greatest absolute value of an origin.

    Examples
    --------
    >>> from hypothesis import given
    >>> @given(shapes(["jagged"], max_rank=3))
    ... def test_the_box_holds_every_index(shape):
    ...     assert shape.as_smooth().contains(shape.indices().to_numpy()).all()
    >>> test_the_box_holds_every_index()
    """
    return _shapes(tuple(kinds), max_rank, max_extent, max_origin)


@functools.cache  # building and validating a strategy takes longer than drawing from it
def _shapes(
    kinds: tuple[Kind, ...], max_rank: int, max_extent: int, max_origin: int
) -> SearchStrategy[Shape]:
    values: dict[Kind, SearchStrategy[Shape]] = {
        "smooth": smooth_shapes(max_rank=max_rank, max_extent=max_extent, max_origin=max_origin),
        "nested": nested_shapes(max_rank=max_rank, max_extent=max_extent, max_origin=max_origin),
    }
    if max_rank >= 2:
        values["jagged"] = st.one_of(
            jagged_shapes(max_rank=max_rank, max_extent=max_extent, max_origin=max_origin),
            tiled_shapes(max_rank=max_rank, max_extent=max_extent, max_origin=max_origin),
            triangular_shapes(max_extent=max_extent + 1),
        )
    chosen = [values[kind] for kind in kinds if kind in values]
    drawn = st.one_of(*chosen, *[views(value) for value in chosen])
    return drawn.filter(lambda shape: shape.kind in kinds)


def smooth_shapes(
    *, min_rank: int = 0, max_rank: int = 4, max_extent: int = 3, max_origin: int = 3
) -> SearchStrategy[Shape]:
    """Return a strategy of boxes with an origin, empty ones and the scalar included.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(smooth_shapes(), lambda shape: shape.rank == 2 and shape.size == 0)
    Shape(0, 0)
    """
    modes = st.tuples(st.integers(0, max_extent), st.integers(-max_origin, max_origin))
    return st.lists(modes, min_size=min_rank, max_size=max_rank).map(
        lambda pairs: Shape.smooth([n for n, _ in pairs], origin=[start for _, start in pairs])
    )


def jagged_shapes(
    *, min_rank: int = 2, max_rank: int = 4, max_extent: int = 3, max_origin: int = 3
) -> SearchStrategy[Shape]:
    """Return a strategy of ragged shapes that own their columns.

    They have up to three unrolled modes above cells of any rank, with separate extents for every prefix and
    every cell (or equal cells), and origins that are all zero or differ everywhere. Rows and whole shapes may
    be empty.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(jagged_shapes(max_rank=2), lambda shape: not shape.is_uniform(1))
    Shape.jagged([0, 1])
    """
    kinds = [
        make(outer, rank - outer, max_extent, origin)
        for rank in range(min_rank, max_rank + 1)
        for outer in range(1, min(rank, 4))
        for origin in sorted({0, max_origin})
        for make in ([_stacks, _from_cells, _evens] if outer == 1 else [_stacks, _from_cells])
    ]
    return st.one_of(kinds)


def _stacks(outer: int, inner: int, max_extent: int, max_origin: int) -> SearchStrategy[Shape]:
    """Return a strategy of lists of children: boxes, or stacks again."""
    if outer == 1:
        children = smooth_shapes(min_rank=inner, max_rank=inner, max_extent=max_extent, max_origin=max_origin)
    else:
        children = _stacks(outer - 1, inner, max_extent, max_origin)
    rank = outer + inner

    def stack(start: int, rows: list[Shape]) -> Shape:
        return Shape.jagged(rows, rank=rank, origin=(start, *[0] * (rank - 1)))

    return st.builds(stack, st.integers(-max_origin, max_origin), st.lists(children, max_size=max_extent))


def _evens(_outer: int, inner: int, max_extent: int, max_origin: int) -> SearchStrategy[Shape]:
    """Return a strategy of equal cells, which are stored once."""
    boxes = smooth_shapes(
        min_rank=inner + 1, max_rank=inner + 1, max_extent=max_extent, max_origin=max_origin
    )
    return boxes.map(lambda box: box.as_jagged())


def _from_cells(outer: int, inner: int, max_extent: int, max_origin: int) -> SearchStrategy[Shape]:
    """Return a strategy of tables of extents over the cells of a box or of a ragged shape."""
    limits = {"max_extent": max_extent, "max_origin": max_origin}
    grids = smooth_shapes(min_rank=outer, max_rank=outer, **limits)
    if outer > 1:
        grids = st.one_of(grids, _stacks(outer - 1, 1, max_extent, max_origin))
    numbers = st.lists(st.integers(0, max_extent), min_size=inner, max_size=inner)
    starts = st.lists(st.integers(-max_origin, max_origin), min_size=inner, max_size=inner)
    return st.builds(_over, grids, st.lists(st.tuples(numbers, starts), min_size=1, max_size=8))


def _over(grid: Shape, cells: list[tuple[list[int], list[int]]]) -> Shape:
    """Return a shape whose cells have the extents and origins in `cells`, repeated in a cycle."""
    table = [cells[k % len(cells)] for k in range(grid.size)]
    extents, origins = (np.array([cell[k] for cell in table], dtype=np.int64) for k in (0, 1))
    inner = len(cells[0][0])
    return Shape.from_cells(grid, extents.reshape(-1, inner), origins=origins.reshape(-1, inner))


def tilings(
    *, min_rank: int = 1, max_rank: int = 2, max_tiles: int = 3, max_extent: int = 3, max_origin: int = 3
) -> SearchStrategy[Tiling]:
    """Return a strategy of tilings with tiles of any sizes, empty ones and modes without tiles included.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(tilings(max_rank=1), lambda tiling: tiling.grid.size == 2)
    Tiling([0, 0])
    """
    modes = st.tuples(
        st.lists(st.integers(0, max_extent), max_size=max_tiles), st.integers(-max_origin, max_origin)
    )
    return st.lists(modes, min_size=min_rank, max_size=max_rank).map(
        lambda pairs: Tiling(*[sizes for sizes, _ in pairs], origin=[start for _, start in pairs])
    )


def tiled_shapes(*, max_rank: int = 4, max_extent: int = 3, max_origin: int = 3) -> SearchStrategy[Shape]:
    """Return a strategy of shapes of tiled boxes, of even rank from 2; `max_origin` is for tile numbers.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(tiled_shapes(), lambda shape: shape.padding > 0)
    Shape.tiled([0, 1])
    """
    cuts = tilings(max_rank=max_rank // 2, max_tiles=max_extent, max_extent=max_extent, max_origin=max_origin)
    return cuts.map(lambda tiling: tiling.shape.translate_by((*tiling.origin, *[0] * tiling.rank)))


def triangular_shapes(*, max_extent: int = 5) -> SearchStrategy[Shape]:
    """Return a strategy of upper and lower triangles, with and without their diagonals.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(triangular_shapes(), lambda shape: shape.size == 3).extent_bounds(1)
    (1, 2)
    """
    halves: list[Half] = ["lower", "upper"]
    sides, choices = st.integers(0, max_extent), st.sampled_from([True, False])
    return st.builds(_triangular, sides, st.sampled_from(halves), diagonal=choices)


def _triangular(n: int, half: Half, *, diagonal: bool) -> Shape:
    return Shape.triangular(n, half, diagonal=diagonal)


def nested_shapes(
    *, max_rank: int = 4, max_extent: int = 3, max_origin: int = 3, max_layers: int = 3
) -> SearchStrategy[Shape]:
    """Return a strategy of nested shapes, smooth and jagged; layers may be empty.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(nested_shapes(), lambda shape: shape.rank == 2 and 0 in shape.layers).layers
    (0, 2)
    """
    limits = {"max_rank": max_rank, "max_extent": max_extent, "max_origin": max_origin}
    flat = smooth_shapes(**limits)
    if max_rank >= 2:
        flat = st.one_of(flat, jagged_shapes(**limits), tiled_shapes(**limits))
    return st.builds(_dealt, flat, st.lists(st.integers(0, max_rank), max_size=max_layers - 1))


def _dealt(shape: Shape, marks: list[int]) -> Shape:
    ends = sorted([min(mark, shape.rank) for mark in marks])
    layers = zip([0, *ends], [*ends, shape.rank], strict=True)
    return Shape.nested(shape, layers=[stop - start for start, stop in layers])


@st.composite
def views(draw: DrawFn, values: SearchStrategy[Shape]) -> Shape:
    """Return a strategy of parts of the shapes that `values` draws, and of parts of those.

    A part is a run of rows, a slice of every mode, the rest under pinned modes (leading ones or any), a
    permutation that the shape allows, the shape moved, its leading modes, or its bounding box. Parts of
    jagged shapes may be smooth.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(views(smooth_shapes()), lambda shape: shape.origin == (2,))
    Shape(0, origin=(2,))
    """
    shape = draw(values)
    for part in draw(_SOME_PARTS):
        shape = part(draw, shape)
    return shape


def _rows(draw: DrawFn, shape: Shape) -> Shape:
    if not shape.rank:
        return shape
    start, stop = _bounds(draw, shape.origin_at(()), shape.extent_at(()))
    return shape.slice_outer(start, stop)


def _bounds(draw: DrawFn, origin: int, extent: int) -> tuple[int, int]:
    # Trim only little, because a part without indices has no further parts.
    start = draw(st.integers(0, extent // 2))
    return origin + start, origin + extent - draw(st.integers(0, extent - start))


def _slice(draw: DrawFn, shape: Shape) -> Shape:
    box = shape.as_smooth()
    pairs = [_bounds(draw, start, extent) for start, extent in zip(box.origin, box.extents, strict=True)]
    return shape.slice([start for start, _ in pairs], [stop for _, stop in pairs], clip=True)


def _chip(draw: DrawFn, shape: Shape) -> Shape:
    pins: list[int] = []
    for _ in range(draw(st.integers(0, min(shape.rank, 2)))):
        extent = shape.extent_at(pins)
        if not extent:
            break
        pins.append(shape.origin_at(pins) + draw(st.integers(0, extent - 1)))
    return shape.chip(*pins)


def _pin(draw: DrawFn, shape: Shape) -> Shape:
    """Pin one mode, if every row has the index."""
    if not shape.size:
        return shape
    index: Index = shape.index(draw(st.integers(0, shape.size - 1)))
    mode = draw(st.integers(0, shape.rank - 1)) if shape.rank else 0
    key = tuple([i if m == mode else slice(None) for m, i in enumerate(index)])
    try:
        return shape[key]
    except OutOfBoundsError:
        return shape


def _permute(draw: DrawFn, shape: Shape) -> Shape:
    """Place the modes in any order in which each follows the modes it depends on and stays in its layer."""
    homes = [layer for layer, count in enumerate(shape.layers) for _ in range(count)]
    left, order = list(range(shape.rank)), list[int]()
    while left:
        ready = [m for m in left if homes[m] == homes[left[0]] and set(shape.dependencies(m)) <= set(order)]
        order.append(draw(st.sampled_from(ready)))
        left.remove(order[-1])
    return shape.permute(order)


def _move(draw: DrawFn, shape: Shape) -> Shape:
    return shape.translate_by([draw(st.integers(-3, 3)) for _ in range(shape.rank)])


def _leading(draw: DrawFn, shape: Shape) -> Shape:
    return shape.leading(draw(st.integers(shape.rank // 2, shape.rank)))


def _box(_draw: DrawFn, shape: Shape) -> Shape:
    return shape.as_smooth()


_PARTS = [_rows, _slice, _chip, _pin, _permute, _move, _leading, _box]
_SOME_PARTS = st.lists(st.sampled_from(_PARTS), min_size=1, max_size=3)
