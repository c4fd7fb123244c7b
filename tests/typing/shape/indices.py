"""What checkers know of the rank of a shape, and where they know it. Checked, never run."""

from collections.abc import Iterator
from typing import assert_type

import numpy as np

from tensorwrapper.layout import Layout
from tensorwrapper.shape import CellTable, IndexIterator, Indices, Shape, Tiling, as_shape
from tensorwrapper.typing import AnyRank, IntArray, Order, Rank1, Rank2, Rank4

# The number of extents is the number of entries of an index, up to six.

assert_type(Shape(), Shape[tuple[()]])
assert_type(Shape(2), Shape[tuple[int]])
assert_type(Shape(2, 3), Shape[tuple[int, int]])
assert_type(Shape(2, 3, 4), Shape[tuple[int, int, int]])
assert_type(Shape(2, 3, 4, 5), Shape[tuple[int, int, int, int]])
assert_type(Shape(2, 3, 4, 5, 6), Shape[tuple[int, int, int, int, int]])
assert_type(Shape(2, 3, 4, 5, 6, 7), Shape[tuple[int, int, int, int, int, int]])
assert_type(Shape(2, 3, 4, 5, 6, 7, 8), Shape)
assert_type(Shape(2, 3, origin=(0, 1)), Shape[tuple[int, int]])
assert_type(Shape(np.int64(2), np.uint8(3)), Shape[tuple[int, int]])

extents = [2, 3]
# The extents of a list are not counted: checkers take it for any number of them.
assert_type(Shape(*extents), Shape)
assert_type(Shape(2, *extents), Shape)
assert_type(Shape.smooth(extents), Shape)
assert_type(as_shape((2, 3)).rank, int)
assert_type(Shape.jagged([3, 1, 2]), Shape[Rank2])
assert_type(Shape.parse("(2, 3)"), Shape)
assert_type(Shape.from_json(b"{}"), Shape)
assert_type(Shape(2).to_json(), str)
assert_type(Shape.from_cells((2,), [(2, 2), (3, 3)]), Shape)
assert_type(Shape.tiled([1, 2], [3]), Shape[Rank4])
assert_type(Shape.nested(Shape(2, 3), layers=(1, 1)), Shape)
assert_type(Shape.from_layers(Shape(2), (3, 4)), Shape)

Shape(2.5)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]
Shape("2", 3)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]
Shape(2, 3, origin=(0.5, 1))  # type: ignore[arg-type]  # pyright: ignore[reportCallIssue, reportArgumentType]

# A loop unpacks as many numbers as the shape has modes.

for i, j in Shape(3, 4).indices():
    assert_type(i, int)
    assert_type(j, int)

for (k,) in Shape(3).indices(order="F"):
    assert_type(k, int)

for _a, _b, _c in Shape(3, 4).indices():  # type: ignore[misc]  # pyright: ignore[reportAssignmentType, reportUnknownVariableType]
    pass

for index in Shape.parse("(3, 3|1|2)").indices():
    assert_type(index, AnyRank)

run = Shape(3, 4).indices()
assert_type(run, Indices[tuple[int, int]])
assert_type(run[0], tuple[int, int])
assert_type(run[::2], Indices[tuple[int, int]])
assert_type(iter(run), Iterator[tuple[int, int]])
assert_type(next(reversed(run)), tuple[int, int])
assert_type(run.translate_by((1, 1)), Indices[tuple[int, int]])
assert_type(run.to_numpy(), IntArray)
assert_type(run.iterator(), IndexIterator[tuple[int, int]])
assert_type(next(run.iterator()), tuple[int, int])
assert_type(Shape(3, 4).offsets(), Indices[tuple[int, int]])
assert_type(run.size, int)
assert_type(len(run), int)
assert_type(run.places, range)
assert_type(run.order, Order)
assert_type(run.origin, Rank2)
assert_type(run.index((1, 1)), int)
assert_type(run.count((1, 1)), int)
assert_type((1, 1) in run, bool)
assert_type(run.translate_to((1, 1)), Indices[tuple[int, int]])
assert_type(run.batches(100), Iterator[IntArray])

# A running iterator has a position and an origin that can be set, and nothing else.

running = run.iterator()
assert_type(running.position, int)
assert_type(running.remaining, int)
assert_type(running.origin, Rank2)
assert_type(running.indices, Indices[tuple[int, int]])
assert_type(iter(running), IndexIterator[tuple[int, int]])
running.position = 3
running.position = np.int64(3)
running.origin = (1, 2)
running.origin = [np.int8(1), 2]
running.position = "3"  # type: ignore[assignment]  # pyright: ignore[reportAttributeAccessIssue]
running.origin = 3  # type: ignore[assignment]  # pyright: ignore[reportAttributeAccessIssue]
running.remaining = 3  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
running.indices = run  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
run.size = 3  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]

Shape(3, 4).indices(order="A")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

# What keeps the modes keeps the type; an integer key drops a mode, and which is not known.

matrix = Shape(3, 4)
assert_type(matrix[1:2], Shape[tuple[int, int]])
assert_type(matrix[1:2, :], Shape[tuple[int, int]])
assert_type(matrix[1], Shape[Rank1])
assert_type(matrix[1, 2:], Shape[Rank1])
assert_type(matrix[..., 1], Shape)
assert_type(matrix.slice((0, 0), (2, 2)), Shape[tuple[int, int]])
assert_type(matrix.slice_outer(0, 2), Shape[tuple[int, int]])
assert_type(matrix.chip(1), Shape[Rank1])
assert_type(matrix.copy(), Shape[tuple[int, int]])
assert_type(matrix.as_smooth(), Shape[tuple[int, int]])
assert_type(matrix.translate_by((1, 1)), Shape[tuple[int, int]])
assert_type(matrix.translate_to((1, 1)), Shape[tuple[int, int]])
assert_type(matrix.permute((1, 0)), Shape[tuple[int, int]])
assert_type(matrix.intersect((2, 2)), Shape[tuple[int, int]])
assert_type(matrix.hull(Shape(5, 1)), Shape[tuple[int, int]])
assert_type(matrix.index(5), tuple[int, int])
assert_type(matrix.extents, Rank2)
assert_type(matrix.size, int)
assert_type(matrix.ordinal((1, 2)), int)

matrix["a"]  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]
matrix[[0, 1]]  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]
matrix.extents = (1, 2)  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]

# Of which rank an element is, is not known: layers are numbers.

nested = Shape.nested(Shape(3, 4, 5), layers=(1, 2))
assert_type(nested.layers, tuple[int, ...])
assert_type(nested.layer_size(0), int)
assert_type(nested.outer_rank, int)
assert_type(nested.element((1,)), Shape)
assert_type(nested.element((1,), layer=0), Shape)
assert_type(nested.cells(), Iterator[tuple[tuple[int, ...], Shape]])
assert_type(nested.cells(layer=-2), Iterator[tuple[tuple[int, ...], Shape]])
assert_type(nested.cell_table(), CellTable)
assert_type(nested.outer(), Shape)
assert_type(nested.leading(1), Shape)
assert_type(nested.chip(0), Shape)
assert_type(matrix.leading(1), Shape)
assert_type(matrix.flatten(), Shape[tuple[int, int]])

Shape.nested(Shape(2, 3), (1, 1))  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
nested.cells(0)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
nested.cells(layer="0")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
Shape.from_layers(3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

# A layout knows the indices of its shape.

layout = Layout(Shape(2, 3))
assert_type(layout, Layout[tuple[int, int]])
assert_type(layout.shape, Shape[tuple[int, int]])
assert_type(layout.index_of(4), tuple[int, int])
assert_type(layout.offset_of((1, 1)), int)
assert_type(layout.reverse(1), Layout[tuple[int, int]])
assert_type(layout.permute((1, 0)), Layout[tuple[int, int]])
assert_type(layout.permute(1, 0), Layout[tuple[int, int]])
assert_type(layout.window(Shape(1, 1)), Layout[tuple[int, int]])
assert_type(layout[0], Layout[Rank1])
assert_type(layout.broadcast((4, 2, 3)), Layout)
assert_type(layout.as_tiled(Tiling([1, 1], [3])), Layout[Rank4])
assert_type(layout.to_numpy(), IntArray)
assert_type(layout.padding, int)
assert_type(Layout.packed(Shape.jagged([2, 1]), order="F", alignment=np.int64(4)), Layout)
assert_type(Layout.padded(Shape.jagged([2, 1]), order=(1, 0)), Layout)
assert_type(Layout.from_block_offsets(Shape.jagged([2, 1]), [3, 0], strides=[[1], [2]]), Layout)
Layout.packed(Shape.jagged([2]), 4)  # type: ignore[call-arg, arg-type]  # pyright: ignore[reportCallIssue]
Layout.padded(Shape.jagged([2, 1]), order="A")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
row, column = layout.index_of(4)
one, two, three = layout.index_of(4)  # type: ignore[misc]  # pyright: ignore[reportAssignmentType, reportUnknownVariableType]

Layout(Shape(2, 3), order="A")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
layout[0.5]  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]

# Covariance: who asks for a shape takes one of any rank; who asks for a matrix does not.


def takes_any(shape: Shape) -> int:
    """Take a shape of any rank: the default of its type variable."""
    assert_type(shape, Shape)
    return shape.rank


def takes_matrix(shape: Shape[tuple[int, int]]) -> tuple[int, int]:
    """Take shapes of rank 2."""
    return shape.index(0)


def takes_any_layout(given: Layout) -> Indices:
    """Take a layout of any rank and give indices of any rank."""
    return given.shape.indices()


takes_any(Shape())
takes_any(Shape(2, 3))
takes_any(Shape(2, 3)[1])
takes_any(Shape.jagged([3, 1, 2]))
takes_matrix(Shape(2, 3))
takes_any_layout(Layout(Shape(2, 3)))
takes_matrix(Shape(2, 3, 4))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
takes_matrix(Shape(2, 3)[1])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
takes_any((2, 3))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
shapes: list[Shape] = [Shape(2), Shape(2, 3), Shape.jagged([1])]
