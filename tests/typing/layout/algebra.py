"""What the checkers know about the algebra of layouts. Never run."""

from typing import assert_type

import numpy as np
import numpy.typing as npt

from tensorwrapper import Layout, Shape
from tensorwrapper.layout import (
    IntTree,
    OrdinalOrder,
    Swizzle,
    Tiler,
    coalesce,
    compose,
    left_inverse,
    logical_divide,
    logical_product,
    make_layout,
    parse_tiler,
    tile_to_shape,
)

parsed = Layout.parse("((2,2),4):((1,8),2)", order="colex")
assert_type(parsed.offset_of_ordinal(np.int64(3)), int)
assert_type(parsed.offset_of_ordinal(((1, 0), 3)), int)
assert_type(parsed.offsets_of_ordinals(), npt.NDArray[np.int64])
assert_type(parsed.ordinal_order, OrdinalOrder)
assert_type(parsed.is_composite, bool)

plain = Layout(Shape(4, 6))
assert_type(parsed, Layout)
assert_type(coalesce(plain), Layout)
assert_type(compose(plain, (2, None), exact="raise", outside="extend"), Layout)
assert_type(compose(Swizzle(1, 0, 2), plain), Layout)
assert_type(logical_divide(plain, (np.int64(2), plain)), Layout)
assert_type(logical_product(plain, 3), Layout)
assert_type(make_layout(((2, np.int8(3)), 4)), Layout)
assert_type(tile_to_shape(plain, (8, (2, 6)), (1, 0)), Layout)

tree: IntTree = ((2, 3), (4, (5,)))
tiler: Tiler = (plain, 4, None, (2, (None, 3)))
tiler = parse_tiler("[4:1;_]")

compose(plain, 2.0)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
compose(plain, plain, exact="maybe")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
left_inverse(plain, outside="pad")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
Layout.parse("4:1", order="C")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
logical_product(plain, (2, 2))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
make_layout((2, "3"))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
