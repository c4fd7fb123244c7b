"""What checkers know of names, set algebra and alignment. Checked, never run."""

from typing import Any, assert_type

from tensorwrapper import Layout, Shape, Tensor
from tensorwrapper.shape import ModeAlignment, NamedRanges, align_modes, broadcast_shapes

matrix = Shape(3, 4).named("atom", None)

assert_type(matrix, Shape[tuple[int, int]])
assert_type(matrix.names, tuple[str | None, ...])
assert_type(matrix.mode("atom"), int)
assert_type(matrix.extent("atom"), int)
assert_type(matrix.permute(("atom", 1)), Shape[tuple[int, int]])
assert_type(matrix[{"atom": slice(1, 2)}], Shape)
assert_type(matrix.split(2, "atom"), tuple[Shape[tuple[int, int]], ...])

matrix.named(1)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
matrix[{0: 1}]  # type: ignore[dict-item]  # pyright: ignore[reportCallIssue, reportArgumentType]

ranges = NamedRanges({"occupied": (0, 5), "virtual": range(5, 20)})
assert_type(ranges["occupied"], slice)
assert_type(ranges.names, tuple[str, ...])

# Set algebra keeps the rank.

assert_type(matrix.intersect((2, 2), matrix), Shape[tuple[int, int]])
assert_type(matrix.difference(matrix), tuple[Shape[tuple[int, int]], ...])
assert_type(matrix.partition_by(matrix, matrix), tuple[Shape[tuple[int, int]], ...])
assert_type(matrix.split_by_extents(2, mode="atom"), tuple[Shape[tuple[int, int]], ...])
assert_type(matrix.encloses((1, 1)), bool)
assert_type(Shape.product([matrix, (2,)]), Shape)
assert_type(Shape.from_bounds((0, 0), (1, 1)), Shape)

# What is stretched stays what it is.

plan = align_modes(matrix, (3, 1), to=(3, 4))
assert_type(plan, ModeAlignment)
assert_type(plan.shape.extents, tuple[Any, ...])
assert_type(broadcast_shapes((1,), matrix).rank, int)


def stretch(layout: Layout, tensor: Tensor) -> None:
    assert_type(plan.stretch(0, layout), Layout)
    assert_type(plan.stretch(1, tensor), Tensor)


# Layouts and tensors keep names, and take modes by them.

assert_type(Layout(Shape(3, 4)).named("a", None), Layout[tuple[int, int]])
assert_type(Layout(Shape(3, 4)).permute("b", "a"), Layout[tuple[int, int]])
assert_type(Layout(matrix)[{"atom": 0}], Layout)


def named_tensors(tensor: Tensor[Any, tuple[int, int]]) -> None:
    assert_type(tensor.named("a", "b"), Tensor[Any, tuple[int, int]])
    assert_type(tensor.permute("b", "a"), Tensor[Any, tuple[int, int]])
    assert_type(tensor[{"a": 0, "b": slice(2)}], Tensor[Any])
    tensor.named(1)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
