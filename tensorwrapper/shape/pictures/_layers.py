"""Pictures of nested shapes: the box of each layer, with the boxes of the next layer inside it."""

from collections.abc import Iterator
from itertools import islice
from math import isqrt, prod
from typing import Final, final

from tensorwrapper._value_class import frozen
from tensorwrapper.drawing import (
    MUTED,
    Drawing,
    Mark,
    Path,
    Point,
    Rectangle,
    Swatch,
    count_text,
    framed,
    layer_color,
    range_text,
)
from tensorwrapper.shape.kinds._jagged import JaggedCommon
from tensorwrapper.shape.kinds._nested import Flat, NestedCommon
from tensorwrapper.shape.pictures._boxes import PLOT, scale_note
from tensorwrapper.shape.pictures._rows import bands_of
from tensorwrapper.typing import Extents, Index

MOST_BOXES: Final = 240
"""How many boxes of all layers are drawn; of more cells, the first of every mode are shown."""
_SLOT = 110.0  # pixels of a cell of the outermost layer at most
_GAP = 0.08  # of a cell, what is left free at each side
_BANDS = 24  # rows of an innermost cell that are drawn separately
_BOUND = 4  # how many times as high as wide, or as wide as high, a box may be


@final
@frozen
class _Plan:
    """Plan for drawing a nested shape: per layer its extents, the visible cells, and height by width."""

    layers: tuple[int, ...]
    extents: tuple[Extents, ...]
    seen: tuple[tuple[int, int], ...]
    ratios: tuple[float, ...]

    def color(self, layer: int) -> str:
        return layer_color(layer, len(self.layers))


def _make_plan(shape: NestedCommon) -> _Plan:
    box, _ = shape.flat.bounding_box()
    layers = shape.layers
    ends = [sum(layers[: k + 1]) for k in range(len(layers))]
    extents = tuple([box[end - count : end] for end, count in zip(ends, layers, strict=True)])
    counts = (n for n in range(MOST_BOXES, 0, -1) if sum(n**k for k in range(len(layers))) <= MOST_BOXES)
    each = next(counts, 1)
    seen: list[tuple[int, int]] = []
    for sides in extents[:-1]:
        high, wide = _planar(sides)
        side = isqrt(each)
        columns = min(wide, 16, each if high == 1 else max(side, each // max(high, 1)))
        seen.append((min(high, max(each // columns, 1), 16), columns))
    ratios = [_ratio(*_planar(extents[-1]))]
    for lines, columns in reversed(seen):
        ratios.insert(0, ratios[0] * lines / columns)
    return _Plan(layers, extents, tuple(seen), tuple(ratios))


def _ratio(high: int, wide: int) -> float:
    # Only what is neither too flat nor too high is divided: the extents may be beyond the floats.
    if high * _BOUND <= wide:
        return 1 / _BOUND
    return high / wide if high < _BOUND * wide else float(_BOUND)


def _planar(extents: Extents) -> tuple[int, int]:
    """Return how many lines and columns a layer has: its last mode runs to the right, the others down."""
    return (prod(extents[:-1]), extents[-1]) if extents else (1, 1)


def draw_layers(shape: NestedCommon, *, title: str) -> Drawing:
    """Return the picture of a nested shape, not without elements."""
    plan = _make_plan(shape)
    ratio, columns = plan.ratios[0], plan.seen[0][1] if plan.seen else 4
    width = min(PLOT[0], PLOT[1] / ratio, max(columns * _SLOT, _SLOT))
    height = width * ratio
    marks = _fill(plan, shape.flat, 0, (0.0, 0.0, width, height))
    notes = [
        f"of layer {k} the first {lines} x {columns} cells are drawn"
        for k, ((lines, columns), sides) in enumerate(zip(plan.seen, plan.extents[:-1], strict=True))
        if (lines, columns) != _planar(sides)
    ]
    high, wide = _planar(plan.extents[-1])
    notes += scale_note(to_scale=high <= _BOUND * wide and wide <= _BOUND * high)
    swatches = [Swatch(plan.color(k), _layer_text(plan, k, shape)) for k in range(len(plan.layers))]
    return framed(marks, (width, height), legend=swatches, notes=notes, title=title)


def _layer_text(plan: _Plan, layer: int, shape: NestedCommon) -> str:
    first = sum(plan.layers[:layer])
    modes = range(first, first + plan.layers[layer])
    if not modes:
        return f"layer {layer}, no modes"
    names = f"mode {first}" if len(modes) == 1 else f"modes {', '.join(map(str, modes))}"
    return f"layer {layer}, {names}: {' x '.join([range_text(*shape.extent_bounds(m)) for m in modes])}"


_Frame = tuple[float, float, float, float]
"""Left, top, width and height."""


def _fill(plan: _Plan, part: Flat, layer: int, frame: _Frame) -> list[Mark]:
    """Return the box of a layer in a frame, with those of the layers below."""
    x, y, width, height = frame
    if layer == len(plan.layers) - 1:
        return [_innermost(plan, part, frame)] if part.size else []
    marks: list[Mark] = [Rectangle(x, y, width, height, plan.color(layer), "", f"layer-{layer}", MUTED)]
    lines, columns = plan.seen[layer]
    across, down = width / columns, height / lines
    # In proportion, so that what is inside stays to scale.
    aside, above = across * _GAP, down * _GAP
    for line, column, index in _cells(part, plan.layers[layer], lines, columns):
        rest = part.chip(*index) if index else part
        corner = (x + column * across + aside, y + line * down + above)
        marks += _fill(plan, rest, layer + 1, (*corner, across - 2 * aside, down - 2 * above))
    return marks


def _innermost(plan: _Plan, part: Flat, frame: _Frame) -> Mark:
    x, y, width, height = frame
    extents, _ = part.bounding_box()
    (high, wide), (most_high, most_wide) = _planar(extents), _planar(plan.extents[-1])
    size = (width * (wide / most_wide), height * (high / most_high))
    last = len(plan.layers) - 1
    text, name, fill = " x ".join(map(count_text, extents)) or "1 element", f"layer-{last}", plan.color(last)
    if isinstance(part, JaggedCommon) and part.rank == 2:
        runs = tuple(_rows(part, x, y, size))
        return Path(runs, fill, closed=True, name=name, title=f"{part.size} elements in {high} rows")
    return Rectangle(x, y, *size, fill, text, name)


def _rows(part: JaggedCommon, x: float, y: float, size: Point) -> Iterator[tuple[Point, ...]]:
    """Return the rows of an innermost cell that is jagged, or bands of them, as boxes."""
    rows = part.rows
    (a, b), stored = rows.leaves, rows.columns.leaf_origins[0]
    (_, wide), (_, first) = rows.box()
    extents = rows.columns.leaf_extents(a, b)[:, 0]
    bands = bands_of(extents, stored if isinstance(stored, int) else stored[a:b], first, _BANDS)
    pitch, unit = size[1] / bands.count, size[0] / wide
    for k, (low, high) in enumerate(zip(bands.low.tolist(), bands.high.tolist(), strict=True)):
        left, right, top = x + low * unit, x + high * unit, y + k * pitch
        if right > left:
            bottom = top + pitch * (0.85 if pitch > 3.0 else 1.0)
            yield ((left, top), (right, top), (right, bottom), (left, bottom))


def _cells(part: Flat, modes: int, lines: int, columns: int) -> Iterator[tuple[int, int, Index]]:
    """Return line, column and index of the cells of a layer that are seen."""
    if not modes:
        yield 0, 0, ()
        return
    before = part.leading(modes - 1)
    outer = part.leading(modes)
    (*_, first) = outer.bounding_box()[1]
    for line, prefix in enumerate(islice(before.walk("C"), lines)):
        start, extent = outer.origin_at(prefix), outer.extent_at(prefix)
        for i in range(start, min(start + extent, first + columns)):
            yield line, i - first, (*prefix, i)
