"""What checkers know of patterns of shapes. Checked, never run."""

from typing import assert_type

from tensorwrapper.shape import Shape, ShapeMatch, ShapePattern

pattern = ShapePattern("*batch", 3, None, ..., "n")
match = pattern.match((2, 3))

assert_type(ShapePattern.parse("[n]"), ShapePattern)
assert_type(pattern.matches(Shape(2, 3)), bool)
assert_type(match, ShapeMatch)
assert_type(pattern.match_each([Shape(2, 3), (2, 3)]), tuple[ShapeMatch, ...])
assert_type(pattern.resolve(n=3, batch=(2, 3)), Shape | ShapePattern)
assert_type(pattern.resolve(match.unknowns), Shape | ShapePattern)
assert_type(pattern.max_rank, int | None)

assert_type(match.modes("batch"), range)
assert_type(match.mode("n"), int)
assert_type(match.extent("n"), int)
assert_type(match.extents("batch"), tuple[int, ...])
assert_type(match.named(), Shape)
assert_type(match.locations, dict[str, range])
assert_type(match.sizes, dict[str, tuple[int, ...]])
assert_type(match.unknowns, dict[str, int | tuple[int, ...]])

ShapePattern(2.5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
pattern.resolve(n="3")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
