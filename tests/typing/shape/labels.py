"""What labelled shapes answer, as both checkers see it."""

from typing import assert_type

import numpy as np

import tensorwrapper as tw
from tensorwrapper.shape import (
    IndexClasses,
    LabeledShape,
    Labels,
    ScaledShape,
    Shape,
    ShapeExpression,
    ShapeProduct,
    ShapeSum,
    classify_indices,
)

Plain = Shape

a = Shape(2, 3)("i,j")
b = Shape.jagged([3, 1])(Labels.parse("i,j"))

assert_type(a, LabeledShape[Plain])
assert_type(b, LabeledShape[Plain])
assert_type(a.operand, Plain)
assert_type(a.text, Labels)
assert_type(a.labels, tuple[str, ...])
assert_type(a.shape("j,i"), Plain)
assert_type(a * b, ShapeProduct[Plain])
assert_type((a * b * a).factors, tuple[ShapeExpression[Plain], ...])
assert_type(a * 2, ScaledShape[Plain])
assert_type((a * b).shape(Labels.parse("i")), Plain)
assert_type(a + b, ShapeSum[Plain])
assert_type(a - b * a, ShapeSum[Plain])
assert_type((a - b).terms, tuple[ShapeExpression[Plain], ...])
assert_type(2 * a, ScaledShape[Plain])
assert_type(1.5j * a, ScaledShape[Plain])
assert_type(np.int64(2) * a, ScaledShape[Plain])
assert_type(a / np.float32(2), ScaledShape[Plain])
assert_type(a / b, ShapeProduct[Plain])
2 / a  # type: ignore[operator] # pyright: ignore[reportOperatorIssue, reportUnusedExpression]
assert_type((a + b).shape("i").rank, int)

assert_type(tw.einsum_shape("ij,jk->ik", (2, 3), Shape(3, 4)), Plain)
assert_type(classify_indices("i,k", "i,j", "j,k"), IndexClasses)
assert_type(classify_indices("i", "i", Labels(("i",))).batch, tuple[str, ...])
assert_type(Labels.parse("i,j")[0], str)
assert_type(Labels.parse("i,j")[:1], tuple[str, ...])
assert_type(Labels.parse("i,j").permutation("j,i"), tuple[int, ...])

a * "i"  # type: ignore[operator] # pyright: ignore[reportOperatorIssue, reportUnusedExpression]
a + 1  # type: ignore[operator] # pyright: ignore[reportOperatorIssue, reportUnusedExpression]
1 - a  # type: ignore[operator] # pyright: ignore[reportOperatorIssue, reportUnusedExpression]
Shape(2)(3)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
