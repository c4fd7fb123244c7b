"""Wrong ranks that checkers find without a run. Checked, never run."""

import numpy as np

from tensorwrapper.layout import Layout
from tensorwrapper.shape import Mask, Shape, Tiling
from tensorwrapper.typing import Rank2

s1, s2, s3 = Shape(2), Shape(2, 3), Shape(2, 3, 4)
unknown = Shape.from_json(b"{}")
tiling = Tiling([1, 2], [3])
lay = Layout(s2)
msk = Mask(s2)


def matrix(shape: Shape[Rank2]) -> int:
    """Take shapes of rank 2."""
    return shape.size


def anything(shape: Shape) -> int:
    """Take shapes of any rank."""
    return shape.rank


matrix(s3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
matrix(s2[0])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
matrix((2, 3))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
matrix(Shape.jagged([[1], [2]]))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
joined = Shape.concat([s3, s3])  # Without a name between, mypy takes the overload of unknown rank.
matrix(joined)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
s2.ordinal((1,))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
s2.ordinal((np.int64(0), 1))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
s2.extent_at((0, 1))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
s3.extent_at((0, 1, 2))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
(1, 2, 3) in s2  # type: ignore[operator]  # pyright: ignore[reportOperatorIssue, reportUnusedExpression]
"a" in s2  # type: ignore[operator]  # pyright: ignore[reportOperatorIssue, reportUnusedExpression]
1 in s1  # type: ignore[operator]  # pyright: ignore[reportOperatorIssue, reportUnusedExpression]
i, j, k = s2.index(0)  # type: ignore[misc]  # pyright: ignore[reportAssignmentType, reportUnknownVariableType]
for _a, _b in s3.indices():  # type: ignore[misc]  # pyright: ignore[reportAssignmentType]
    pass
s2[1.5]  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]
s2.slice((0,), (1, 1))  # type: ignore[arg-type]  # pyright: ignore[reportCallIssue, reportArgumentType]
s2.translate_to((1, 2, 3))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
lay.offset_of((1, 2, 3))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
lay.offset_of((1,))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
lay.offset_of(3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
lay.offset_of("ab")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
lay.offset_of((1.5, 2))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
tiling.tile((1,))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
tiling.tile_of((1, 2, 3))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
(1,) in msk  # type: ignore[operator]  # pyright: ignore[reportOperatorIssue, reportUnusedExpression]

# Accepted: what has no known rank goes wherever one is wanted, and who asks for any rank takes every one.

matrix(unknown)
matrix(Shape.jagged([1, 2]))
anything(s1)
anything(s3)
shapes: list[Shape] = [s1, s2, unknown]
