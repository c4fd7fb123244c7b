"""One target for each class that is made of numbers: a stranger's offsets, lengths, places and marks."""

from collections.abc import Callable
from typing import Any

import numpy as np

import tensorwrapper as tw
from tensorwrapper import Layout, Shape, Tiling, buffer
from tensorwrapper.errors import TensorWrapperError
from tensorwrapper.shape import RowPartition
from tensorwrapper.sharding import BoxTable, Ranges
from tests.fuzz.draw import Draw, random_inputs
from tests.fuzz.target import Target
from tests.fuzz.texts import use_shape

Maker = Callable[[Draw], Any]


def _arrow(d: Draw) -> Shape:
    from tensorwrapper.shape import ArrowList

    kinds = ("list", "large_list", "list_view", "large_list_view", "fixed_size_list")
    wide = np.int32 if d.byte() % 2 else np.int64
    levels = []
    for _ in range(d.byte() % 3):
        kind = d.choice(kinds)
        offsets, sizes = (np.clip(d.ascending(), -(2**31), 2**31 - 1).astype(wide) for _ in range(2))
        levels.append(ArrowList(kind, offsets, sizes, list_size=d.integer()))
    return Shape.from_arrow(levels, d.integer())


SHAPES: dict[str, Maker] = {
    "Shape.from_offsets": lambda d: Shape.from_offsets(*[d.some() for _ in range(1 + d.byte() % 3)]),
    "Shape.from_row_ids": lambda d: Shape.from_row_ids(d.some(), min(d.integer(), 2**20)),
    "Shape.from_starts_stops": lambda d: Shape.from_starts_stops(d.some(), d.some()),
    "Shape.from_uniform": lambda d: Shape.from_uniform(d.integer(), d.integer()),
    "Shape.from_bounds": lambda d: Shape.from_bounds(d.integers(), d.integers()),
    "Shape.from_cells": lambda d: Shape.from_cells(
        d.integers(2),
        [d.integers(2) for _ in range(d.byte() % 6)],
        origins=d.some() if d.byte() % 2 else None,
    ),
    "Shape.from_layers": lambda d: Shape.from_layers(*[d.integers(2) for _ in range(1 + d.byte() % 3)]),
    "Shape.jagged": lambda d: Shape.jagged(d.some()),
    "Shape.triangular": lambda d: Shape.triangular(d.integer(), d.choice(("lower", "upper"))),
    "Shape.tiled": lambda d: Shape.tiled(*[d.some() for _ in range(d.byte() % 3)]),
    "Shape.from_torch_jagged": lambda d: Shape.from_torch_jagged(
        d.some(), [None if d.byte() % 2 else d.integer() for _ in range(d.byte() % 4)]
    ),
    "Shape.from_arrow": _arrow,
    "as_shape": lambda d: tw.as_shape(d.some()),
}
PARTITIONS: dict[str, Maker] = {
    "shape.RowPartition.from_row_splits": lambda d: RowPartition.from_row_splits(d.some()),
    "shape.RowPartition.from_row_lengths": lambda d: RowPartition.from_row_lengths(d.some()),
    "shape.RowPartition.from_row_starts": lambda d: RowPartition.from_row_starts(d.some(), d.integer()),
    "shape.RowPartition.from_row_limits": lambda d: RowPartition.from_row_limits(d.some()),
    "shape.RowPartition.from_uniform_row_length": lambda d: RowPartition.from_uniform_row_length(
        d.integer(), d.integer()
    ),
    "shape.RowPartition.from_value_rowids": lambda d: RowPartition.from_value_rowids(d.some(), d.integer()),
    "sharding.BoxTable.from_arrays": lambda d: BoxTable.from_arrays(
        *[[d.integers(3) for _ in range(d.byte() % 4)] if d.byte() < 220 else d.some() for _ in range(2)]
    ),
    "sharding.Ranges.from_marks": lambda d: Ranges.from_marks(d.some(), origin=d.integer()),
    "sharding.BoxTable.from_boxes": lambda d: BoxTable.from_boxes(
        [d.integers(3) for _ in range(d.byte() % 4)]
    ),
}
TILINGS: dict[str, Maker] = {
    "Tiling.from_chunks": lambda d: Tiling.from_chunks(
        [d.integers() if d.byte() % 2 else d.integer() for _ in range(d.byte() % 4)],
        extents=d.integers(3) if d.byte() % 2 else None,
        origin=d.integers(3) if d.byte() % 4 == 0 else None,
    ),
    "Tiling.from_marks": lambda d: Tiling.from_marks(*[d.some() for _ in range(d.byte() % 4)]),
    "Tiling.from_shape": lambda d: Tiling.from_shape(SHAPES[d.choice(list(SHAPES))](d)),
}
LAYOUTS: dict[str, Maker] = {
    "Layout.from_mdspan": lambda d: Layout.from_mdspan(
        d.integers(),
        d.choice(("right", "left", "stride", "right_padded", "left_padded", "other")),
        strides=d.integers() if d.byte() % 2 else None,
        padding=d.integer() if d.byte() % 4 == 0 else None,
        offset=d.integer(),
    ),
    "Layout.from_halide": lambda d: Layout.from_halide(
        [d.integers(3) if d.byte() < 32 else [d.integer() for _ in range(3)] for _ in range(d.byte() % 4)],
        offset=d.integer(),
    ),
    "Layout.from_block_offsets": lambda d: Layout.from_block_offsets(
        SHAPES[d.choice(list(SHAPES))](d), d.some(), strides=d.some() if d.byte() % 4 == 0 else None
    ),
}


def _tf(d: Draw, *, several: bool) -> Any:
    data = d.raw(d.byte() % 64)
    return buffer.decode_tf_strings(data, d.integer()) if several else buffer.decode_tf_string(data)


STRINGS: dict[str, Maker] = {
    "buffer.StringData.from_offsets": lambda d: buffer.StringData.from_offsets(
        d.some(), d.raw(d.byte() % 32), "binary" if d.byte() % 2 else "utf8"
    ),
    "buffer.StringData.from_ranges": lambda d: buffer.StringData.from_ranges(
        d.some(), d.some(), d.raw(d.byte() % 32), "binary" if d.byte() % 2 else "utf8"
    ),
    "buffer.StringData.from_list": lambda d: buffer.StringData.from_list(
        [d.choice(("a", b"b", None, "\udc00", 3, "")) for _ in range(d.byte() % 5)]  # type: ignore[list-item]
    ),
    "buffer.decode_tf_string": lambda d: _tf(d, several=False),
    "buffer.decode_tf_strings": lambda d: _tf(d, several=True),
}


def _use_layout(layout: Layout) -> None:
    repr(layout)
    layout.bounds()
    if layout.shape.size < 1000:
        for index in layout.shape.indices():
            layout.offset_of(index)


def _use_strings(strings: Any) -> None:
    repr(strings)
    if isinstance(strings, buffer.StringData):
        assert len(strings.to_list()) == len(strings)


def _target(name: str, makers: dict[str, Maker], use: Callable[[Any], object] = repr) -> Target:
    def read(data: bytes) -> Any:
        d = Draw(data)
        return makers[d.choice(list(makers))](d)

    # How much there shall be is an argument of a caller, and taken at its word.
    return Target(name, read, random_inputs, tuple(makers), use, (TensorWrapperError, MemoryError))


TARGETS = [
    _target("shape-numbers", SHAPES, use_shape),
    _target("partition-numbers", PARTITIONS),
    _target("tiling-numbers", TILINGS),
    _target("layout-numbers", LAYOUTS, _use_layout),
    _target("string-data", STRINGS, _use_strings),
]
