"""The pictures of the guide: run this script to write them. Its output is reproducible."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path as FilePath

import numpy as np

import tensorwrapper
from tensorwrapper import Layout, Mask, Shape, Tiling
from tensorwrapper import layout as lay
from tensorwrapper import selection as sel
from tensorwrapper.drawing import ACCENT, INK, PAPER, Axis, Drawing, Line, Mark, Rectangle, Text, framed, ramp
from tensorwrapper.remote.protocol._state_table import ASKED, SERVED
from tensorwrapper.sharding import BlockOperation, Operand
from tensorwrapper.transport import FLOW_TRANSITIONS

FOLDER = FilePath(__file__).parent / "guide" / "pictures"

_CELL = 34.0


def picked(mask: Mask[tuple[int, ...]]) -> str:
    """Return the source of a mask of rank 2, with the result position in each picked cell."""
    rows, columns = mask.source.extents
    size = (columns * _CELL, rows * _CELL)
    marks: list[Mark] = []
    for index in mask.source.indices():
        down, across = (i - start for i, start in zip(index, mask.source.origin, strict=True))
        x, y = across * _CELL, down * _CELL
        chosen = index in mask
        box = (x + 0.5, y + 0.5, _CELL - 1.0, _CELL - 1.0)
        marks.append(Rectangle(*box, ramp(0.45 if chosen else 0.05), "", "picked" if chosen else "cell"))
        if chosen:
            place = ", ".join(map(str, mask.result_index(index)))
            marks.append(Text(x + 5.0, y + 20.0, place, 9.0, INK))
    start = mask.source.origin
    return framed(
        marks,
        size,
        across=Axis(start[1], start[1] + columns, size[0], "mode 1"),
        down=Axis(start[0], start[0] + rows, size[1], "mode 0"),
        title=f"what {mask} picks, and where it stands in the result",
    ).to_svg()


def events() -> Shape[tuple[int, ...]]:
    """Return a million rows: hits in detector events that become busier, with a beam that pauses."""
    number = np.arange(1_000_000)
    # Scattered by a multiplication, because random numbers need not be the same in every version.
    scatter = number * 2_654_435_761 % 2**32 / 2**32
    busy = 10 + 40 * number / len(number)
    return Shape.jagged(np.where(number // 125_000 % 4 == 2, 0, busy * (0.5 + scatter)).astype(np.int64))


def few_cells() -> Shape[tuple[int, ...]]:
    """Return regions of interest in an image of 40 x 60, as cells with origins."""
    extents = [(9, 14), (12, 10), (6, 22), (15, 9)]
    return Shape.from_cells((4,), extents, origins=[(3, 4), (11, 30), (28, 8), (22, 47)])


def shells() -> Tiling:
    """Return the atomic orbitals of benzene (cc-pVDZ) by shells: 48 x 48 tiles."""
    file = FilePath(tensorwrapper.__file__).parent / "cli" / "demo" / "data" / "benzene_ccpvdz.npz"
    with np.load(file) as arrays:
        marks = arrays["ao_loc"]
    return Tiling.from_marks(marks, marks)


BLOCK, COPIES = Layout.parse("(2,2):(2,1)"), Layout.parse("(2,3):(3,1)")


def interleaved() -> sel.View[np.int64]:
    """Return two matrices with interleaved rows and a border."""
    a = np.arange(6).reshape(2, 3)
    return sel.pad(sel.interleave([a, a + 10]), [(1, 1), (1, 0)], fill_value=-1)


VIEWS: dict[str, Callable[[], str]] = {
    "view-interleaved": lambda: interleaved().to_svg(),
    "view-concat": lambda: sel.concat([np.arange(3), np.arange(5), np.arange(3)]).to_svg(),
    "view-dilated": lambda: sel.interleave([np.arange(4.0), np.arange(4.0)]).to_svg(),
}
"""The pictures of views over many sources."""

LAYOUTS: dict[str, Callable[[], str]] = {
    "layout-box": lambda: Layout(Shape(3, 4, origin=(0, 10))).to_svg(),
    "layout-slice": Layout(Shape(3, 4))[::-1, 1::2].to_svg,
    "layout-rotated": lambda: Layout(Shape(4, 6)).rotate((1, 2)).to_svg(),
    "layout-gathered": lambda: Layout(Shape(3, 6)).gather(1, [5, 0, 5, 2]).to_svg(),
    "layout-windows": lambda: Layout(Shape(6)).sliding_window(0, 3).to_svg(),
    "layout-pads": lambda: Layout(Shape(3, 4)).pad([(1, 1), (2, 1)], boundary="reflect").to_svg(),
    "layout-rows": lambda: Layout(Shape.jagged([3, 1, 0, 4])).to_svg(),
    "layout-large": lambda: Layout(Shape(10**6, 10**6), order="F").to_svg(),
    "storage-c": lambda: Layout(Shape(3, 4)).to_svg(),
    "storage-f": lambda: Layout(Shape(3, 4), order="F").to_svg(),
    "storage-permuted": lambda: Layout(Shape(2, 3, 4), order=(2, 0, 1)).to_svg(),
    "storage-descending": lambda: Layout(Shape(3, 4), ascend=(True, False)).to_svg(),
    "storage-padded": lambda: Layout(Shape(3, 4), strides=(8, 1)).to_svg(),
    "storage-tiles": lambda: Layout.tiled(Tiling([2, 3], [3, 2, 1])).to_svg(),
    "storage-tiles-seen": lambda: Layout(Shape(5, 6)).as_tiled(Tiling([2, 3], [3, 2, 1])).to_svg(),
    "algebra-nested": lambda: Layout.parse("((2,2),4):((1,8),2)").to_svg(),
    "algebra-lex": lambda: lay.make_layout((2, 4)).to_svg(),
    "algebra-colex": lambda: lay.make_layout((2, 4), order="colex").to_svg(),
    "algebra-outer": lambda: Layout.parse("(4,6):(1,4)").to_svg(),
    "algebra-composed": lambda: lay.compose(Layout.parse("(4,6):(1,4)"), (Layout.parse("2:2"), 3)).to_svg(),
    "algebra-complement": lambda: lay.make_layout(((2, 2), (2, 3)), ((6, 1), (12, 2))).to_svg(),
    "algebra-gap": lambda: Layout.parse("(3,2):(1,5)").to_svg(),
    "algebra-left-inverse": lambda: lay.left_inverse(Layout.parse("(3,2):(1,5)")).to_svg(),
    "algebra-logical-divide": lambda: lay.logical_divide(Layout.parse("(4,6):(6,1)"), (2, 3)).to_svg(),
    "algebra-zipped-divide": lambda: lay.zipped_divide(Layout.parse("(4,6):(6,1)"), (2, 3)).to_svg(),
    "algebra-logical-product": lambda: lay.logical_product(BLOCK, COPIES).to_svg(),
    "algebra-blocked-product": lambda: lay.blocked_product(BLOCK, COPIES).to_svg(),
    "algebra-raked-product": lambda: lay.raked_product(BLOCK, COPIES).to_svg(),
    "algebra-swizzle": lambda: lay.compose(lay.Swizzle(2, 0, 2), Layout.parse("(4,4):(4,1)")).to_svg(),
}
"""The pictures of layouts."""


def sharded_matmul() -> str:
    """Return the shards of a product of two matrices, cut along both modes."""
    x = Operand.relative(Shape(10, 5, origin=(-10, 0)), "(m, n) -> (m, 0) by (1, 5)")
    y, z = (
        Operand((5, 12), "(m, n) -> (0, n) by (5, 1)"),
        Operand((10, 12), "(m, n) -> (m, n)"),
    )
    return BlockOperation("matmul", (10, 12), {"x": x, "y": y}, {"z": z}).split_grid((5, 4)).to_svg(4)


_PLACES: dict[str, tuple[float, float]] = {
    "idle": (50, 130),
    "offered": (180, 30),
    "asked": (180, 230),
    "giving or taking": (320, 130),
    "ending": (700, 30),
    "leaving": (700, 230),
    "ended": (830, 130),
}


def _place(state: str) -> str:
    return "giving or taking" if state in ("open", "giving", "taking") else state


def flow_states() -> str:
    """Draw the state table of one end of a flow, with its messages."""
    edges: dict[tuple[str, str], list[str]] = {}
    for (state, (way, verb)), to in FLOW_TRANSITIONS.items():
        words = edges.setdefault((_place(state), _place(to)), [])
        word = f"{way} {verb}"
        words += [] if word in words else [word]
    crossing = {("offered", "leaving"), ("asked", "ending")}
    return _states(
        edges, _PLACES, (880, 260), "the states of one end of a flow", dict.fromkeys(crossing, 0.8)
    )


def _arrow(x1: float, y1: float, x2: float, y2: float, goal: str) -> list[Mark]:
    """Return a line to a state; a dot where it meets the box of the state stands for an arrow."""
    across, down = x2 - x1, y2 - y1
    near = min(_width(goal) / 2 / max(abs(across), 1), 13 / max(abs(down), 1))
    dot = Rectangle(x2 - across * near - 3, y2 - down * near - 3, 6, 6, ACCENT)
    return [Line(x1, y1, x2, y2, ACCENT), dot]


def _label(x: float, y: float, words: Sequence[str]) -> list[Mark]:
    """Return lines of text around a point, on the colour of the page."""
    wide, top = 5.6 * max(map(len, words)), y - 6 * len(words)
    texts = [Text(x, top + 9.5 + 12 * k, word, 10.0, INK, "middle") for k, word in enumerate(words)]
    return [Rectangle(x - wide / 2, top, wide, 12 * len(words), PAPER), *texts]


def _width(state: str) -> float:
    return 6.5 * len(state) + 16


def _boxes(places: Mapping[str, tuple[float, float]]) -> list[Mark]:
    marks: list[Mark] = []
    for state, (x, y) in places.items():
        wide = _width(state)
        marks.append(Rectangle(x - wide / 2, y - 13, wide, 26, ramp(0.12), INK))
        marks.append(Text(x, y + 4, state, 12.0, INK, "middle"))
    return marks


_REQUEST: dict[str, tuple[float, float]] = {
    "queued": (60, 120),
    "sent": (300, 120),
    "waiting": (180, 30),
    "done": (540, 50),
    "failed": (540, 200),
}

_TASK: dict[str, tuple[float, float]] = {
    "waiting": (50, 120),
    "running": (210, 40),
    "ready": (390, 40),
    "sending": (570, 40),
    "stopping": (300, 120),
    "over": (570, 200),
}


def request_states() -> str:
    """Draw the state table of a request at the client."""
    ends = {("queued", "done"): 0.62, ("queued", "failed"): 0.62}
    return _states(_edges(ASKED), _REQUEST, (640, 230), "the states of a request", ends)


def task_states() -> str:
    """Draw the state table of a request at the server."""
    return _states(_edges(SERVED), _TASK, (640, 230), "the states of a request at the server", {})


def _edges(table: Mapping[tuple[str, str], str]) -> dict[tuple[str, str], list[str]]:
    """Return the steps that lead from a state to another, in one line."""
    edges: dict[tuple[str, str], list[str]] = {}
    for (state, step), to in table.items():
        edges.setdefault((state, to), []).append(step)
    return {edge: [", ".join(steps)] for edge, steps in edges.items()}


def _states(
    edges: Mapping[tuple[str, str], list[str]],
    places: Mapping[str, tuple[float, float]],
    size: tuple[int, int],
    title: str,
    shares: Mapping[tuple[str, str], float],
) -> str:
    """Draw states and labelled lines between them; `shares` places a label along its line, else halfway."""
    lines, labels = list[Mark](), list[Mark]()
    for (start, goal), words in edges.items():
        (x1, y1), (x2, y2) = places[start], places[goal]
        if start == goal:
            labels += _label(*((x1 - 16, y1 + 34) if start == "ending" else (x1 - 98, y1)), words)
            continue
        # Transitions in both directions are two lines, one a little lower, with labels near their starts.
        is_one_of_two = (goal, start) in edges
        aside = 8 if is_one_of_two and x1 > x2 else 0
        share = 0.35 if is_one_of_two else shares.get((start, goal), 0.5)
        lines += _arrow(x1, y1 + aside, x2, y2 + aside, goal)
        labels += _label(x1 + (x2 - x1) * share, y1 + (y2 - y1) * share + aside, words)
    return Drawing(*size, (*lines, *labels, *_boxes(places)), title).to_svg()


def side_by_side(*pictures: tuple[str, str], height: int = 250) -> str:
    """Return pictures of equal height side by side, each under its caption."""
    parts, width = [], 0
    for caption, picture in pictures:
        (size, across, down), *_ = re.findall(r'(width="([\d.]+)" height="([\d.]+)")', picture)
        wide = round(float(across) * height / float(down))
        # Only the complete picture has the width of the page, and inverts its colours in the dark theme.
        bare = re.sub(r' class="tensorwrapper-picture" style="[^"]*"|<style>.*?</style>\n', "", picture)
        inside = bare.replace(size, f'x="{width}" y="30" width="{wide}" height="{height}"', 1)
        parts.append(f'<text x="{width + wide // 2}" y="20" text-anchor="middle">{caption}</text>\n{inside}')
        width += wide + 10
    head = f'width="{width}" height="{height + 40}" viewBox="0 0 {width} {height + 40}"'
    font = 'font-family="system-ui, Helvetica, Arial, sans-serif" font-size="15" fill="#444444"'
    label = ", ".join(caption for caption, _ in pictures)
    paper = f'<rect width="{width}" height="{height + 40}" fill="#ffffff"/>'
    own = 'class="tensorwrapper-picture" style="max-width:100%;height:auto"'
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" {head} {own} role="img" aria-label="{label}" {font}>'
    style = re.search(r"<style>.*?</style>", Shape(1).to_svg())
    return "\n".join([opening, style[0] if style else "", paper, *parts, "</svg>"])


def one_type() -> str:
    """Return shapes of several kinds with one type: the picture of the README."""
    return side_by_side(
        ("events: rows", Shape.jagged([3, 1, 2, 5, 0, 4]).to_svg()),
        ("a matrix: tiles", Tiling([5, 15, 10], [5, 15, 10]).to_svg()),
        ("regions: anywhere", few_cells().to_svg()),
    )


_DOOR = 240.0, 132.0


def door_events() -> str:
    """Return events with different numbers of hits."""
    rows = [5, 2, 0, 9, 3, 7]
    marks = [
        Rectangle(12 + 24.0 * j, 6 + 20.0 * i, 21.0, 15.0, ramp(0.25 + 0.06 * j))
        for i, length in enumerate(rows)
        for j in range(length)
    ]
    return Drawing(*_DOOR, tuple(marks), "six rows of different lengths").to_svg()


def door_molecules() -> str:
    """Return a matrix in blocks, those near its diagonal darker."""
    sizes = [40.0, 16.0, 56.0, 28.0, 16.0, 56.0]
    marks: list[Mark] = []
    for i, high in enumerate(sizes):
        for j, wide in enumerate(sizes):
            x, y = 12.0 + sum(sizes[:j]), 6.0 + sum(sizes[:i]) * 0.56
            shade = ramp(0.85 / (1 + abs(i - j)) + 0.02)
            marks.append(Rectangle(x, y, wide - 2.0, high * 0.56 - 2.0, shade))
    return Drawing(*_DOOR, tuple(marks), "a matrix in blocks of different sizes").to_svg()


def door_models() -> str:
    """Return a tensor in four files, and the rows that are read from two of them."""
    marks: list[Mark] = []
    for k in range(12):
        y = 4.0 + 9.0 * k + 5.0 * (k // 3)
        marks.append(Rectangle(12.0, y, 216.0, 7.0, ramp(0.85 if 4 <= k < 8 else 0.2 + 0.08 * (k // 3))))
    return Drawing(*_DOOR, tuple(marks), "four pieces, of two of which rows are read").to_svg()


PICTURES: dict[str, Callable[[], str]] = {
    "one-type": one_type,
    "door-events": door_events,
    "door-molecules": door_molecules,
    "door-models": door_models,
    "box": lambda: Shape(4, 5, origin=(-2, 0)).to_svg(),
    "solid": lambda: Shape(4, 5, 6).to_svg(),
    "rows": lambda: Shape.jagged([3, 1, 2]).to_svg(),
    "deep-rows": lambda: Shape.jagged([[10], [20, 30], [30, 10, 20]]).to_svg(),
    "cells": lambda: Shape.jagged([Shape(10, 20), Shape(30, 40), Shape(50, 60)]).to_svg(),
    "labels-of-operands": (Shape(10, 20)("i,j") * Shape(20, 30)("j,k") + Shape(10, 30)("i,k")).to_svg,
    "selector": lambda: sel.Selector.parse("1, ..., ::-2, +3").to_svg((4, 12, 9)),
    "labels": lambda: (
        (Shape.jagged([3, 5, 2, 4])("i,j") * Shape.jagged([3, 5, 2, 4])("i,k")).shape("i,j,k").to_svg()
    ),
    "regions": lambda: few_cells().to_svg(),
    "triangle": lambda: Shape.triangular(8, half="upper").to_svg(),
    "events": lambda: events().to_svg(),
    "view": Shape.jagged([3, 1, 2, 5, 0, 4])[2:5].to_svg,
    "tiles": lambda: Tiling([5, 15, 10], [5, 15, 10]).to_svg(),
    "shells": lambda: shells().to_svg(),
    "many-tiles": lambda: Tiling([1] * 1000 + [10] * 400, [5] * 1000).to_svg(),
    "layers": lambda: Shape.nested(Shape(3, 4, 20, 30), layers=(2, 2)).to_svg(),
    "three-layers": lambda: Shape.nested(Shape(3, 2, 2, 5, 6), layers=(1, 2, 2)).to_svg(),
    "layers-of-cells": lambda: Shape.nested(
        Shape.from_cells((2, 3), [(2, 2), (4, 1), (3, 3), (1, 5), (2, 4), (4, 4)]), layers=(2, 2)
    ).to_svg(),
    "mask-modes": lambda: picked(Mask(Shape(4, 6), slice(None, None, 2), [1, 4, 5])),
    "mask-points": lambda: picked(Mask.of_points(Shape(4, 6), [(3, 0), (0, 1), (2, 4), (1, 5)])),
    "order-c": lambda: Shape.jagged([3, 1, 2]).indices().to_svg(),
    "order-f": lambda: Shape.jagged([3, 1, 2]).indices(order="F").to_svg(),
    "shards": sharded_matmul,
    "flow-states": flow_states,
    "request-states": request_states,
    "task-states": task_states,
    **LAYOUTS,
    **VIEWS,
}
"""The pictures by file name."""


def main() -> None:
    """Write all pictures."""
    for name, make in PICTURES.items():
        (FOLDER / f"{name}.svg").write_text(f"{make()}\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
