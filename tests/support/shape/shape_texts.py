"""Shapes of every kind with the text that each has."""

from tensorwrapper.shape import Shape

HUGE = 10**12


CELLS = Shape.jagged([Shape(10, 20), Shape(30, 40), Shape(50, 60)])


DEEP = Shape.jagged([[10], [20, 30], [30, 10, 20]])


APART = Shape.jagged([Shape.jagged([1, 2], origin=(5, 0)), Shape.jagged([], rank=2, origin=(7, 0))])


def nest(shape, *layers):
    return Shape.nested(shape, layers=layers)


TEXTS = [
    (Shape(), "()"),
    (Shape(3), "(3,)"),
    (Shape(2, 3), "(2, 3)"),
    (Shape(0, 5), "(0, 5)"),
    (Shape(3, 3, origin=(-1, -1)), "(3, 3)@(-1, -1)"),
    (Shape(3, origin=(-1,)), "(3,)@(-1,)"),
    (Shape(10**30, origin=(-(10**40),)), f"({10**30},)@(-{10**40},)"),
    # Rows.
    (Shape.jagged([3, 1, 2]), "(3, 3|1|2)"),
    (Shape.jagged([5]), "(1, 5|)"),
    (Shape.jagged([2, 2]), "(2, 2|2)"),
    (Shape.jagged([0, 0]), "(2, 0|0)"),
    (Shape.jagged([], rank=2), "(0, |)"),
    (Shape.jagged([], rank=2, origin=(-3, 0)), "(0, |)@(-3, 0)"),
    (DEEP, "(3, 1|2|3, 10|20|30|30|10|20)"),
    (DEEP[1:2], "(1, 2, 20|30)@(1, 0, 0)"),
    (DEEP[1], "(2, 20|30)"),
    (Shape.jagged([[], []], rank=3), "(2, 0, |)"),
    (Shape.jagged([[4, 4], [4]]), "(2, 2|1, 4)"),
    (Shape.jagged([[4, 4], [4, 4]]), "(2, 2, 4|4|4|4)"),
    (Shape.jagged([3, 1, 2], origin=(0, 4)), "(3, 3|1|2)@(0, 4)"),
    (Shape.jagged([Shape(2, origin=(5,)), Shape(3, origin=(6,))], origin=(10, 0)), "(2, 2|3)@(10, 5|6)"),
    (APART, "(2, 2|0, 1|2)@(0, 5|7, 0)"),
    # Cells.
    (CELLS, "(3, 10x20|30x40|50x60)"),
    (CELLS[0:1], "(1, 10x20)"),
    (CELLS[1], "(30, 40)"),
    (CELLS[3:3], "(0, |x)@(3, 0, 0)"),
    (Shape.jagged([], rank=4), "(0, |xx)"),
    (Shape.from_cells((2, 2), [(1, 2)] * 4), "(2, 2, 1x2)"),
    (Shape.jagged([Shape(1, 2, origin=(4, 0)), Shape(3, 2, origin=(5, 0))]), "(2, 1x2|3x2)@(0, 4|5, 0)"),
    # Where no index leads there is no origin, but a cell keeps its extents.
    (Shape.jagged([Shape(0, 5, origin=(1, 7)), Shape(2, 3)]), "(2, 0x5|2x3)@(0, 1|0, 7|0)"),
    # Closed forms.
    (Shape.tiled([5, 15, 10], [5, 15, 10]), "tiled(5|15|10, 5|15|10)"),
    (Shape.tiled([5, 15, 10], [30])[1:, :], "tiled(15|10, 30)@(1, 0)"),
    (Shape.tiled([1, 2], origin=(-1, 0)), "tiled(1|2)@(-1,)"),
    (Shape.tiled([1, 2], origin=(0, 1)), "(2, 1|2)@(0, 1)"),
    (Shape.tiled([], [3]), "tiled(|, 3)"),
    (Shape.triangular(5), "triangular(5, lower)"),
    (Shape.triangular(HUGE, "upper", diagonal=False), f"triangular({HUGE}, strictly upper)"),
    # Rows that are all alike, of which there may be more than memory holds.
    (Shape.from_uniform(HUGE, 3), f"({HUGE}, 3|)"),
    (Shape(HUGE, 3, 4, origin=(5, 0, -1)).as_jagged(), f"({HUGE}, 3x4)@(5, 0, -1)"),
    (Shape.from_uniform(3, 2**62), f"(3, {2**62}|{2**62}|{2**62})"),
    (Shape.jagged([7] * 2000), "(2000, 7|)"),
    (Shape.parse("(1" + ", 1" * 300 + ", 1|)"), "(1" + ", 1" * 300 + ", 1|)"),
    # Layers.
    (nest(Shape(10, 20, 30), 1, 2), "(10; 20, 30)"),
    (nest(Shape(10, 20, origin=(3, 4)), 1, 1), "(10; 20)@(3, 4)"),
    (nest(Shape(10, 20), 2), "(10, 20) layers (2,)"),
    (nest(Shape(10, 20, origin=(0, 1)), 2), "(10, 20)@(0, 1) layers (2,)"),
    (nest(Shape()), "() layers ()"),
    (nest(Shape(), 0), "() layers (0,)"),
    (nest(Shape(), 0, 0), "(; )"),
    (nest(Shape(10), 0, 1), "(; 10)"),
    (nest(Shape(10), 1, 0), "(10; )"),
    (nest(Shape(10, 20), 1, 0, 1), "(10; ; 20)"),
    (nest(DEEP, 2, 1), "(3, 1|2|3; 10|20|30|30|10|20)"),
    (nest(CELLS, 1, 2), "(3; 10x20|30x40|50x60)"),
    (nest(CELLS, 2, 1), "(3, 10x20|30x40|50x60) layers (2, 1)"),
    (nest(CELLS, 0, 1, 2, 0), "(; 3; 10x20|30x40|50x60; )"),
    (nest(CELLS[3:3], 1, 2), "(0; |x)@(3, 0, 0)"),
    (nest(Shape.tiled([1, 2], [3]), 2, 2), "tiled(1|2, 3) layers (2, 2)"),
    (nest(Shape.triangular(4), 1, 1), "triangular(4, lower) layers (1, 1)"),
]
