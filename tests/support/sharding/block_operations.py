"""Block operations that tests share."""

from tensorwrapper import Shape
from tensorwrapper.sharding import BlockOperation, Operand

J = Shape(10, 5, origin=(-10, 0))


K = Shape(5, 12)


def matmul(itemsize=1):
    """The product of a matrix that starts at (-10, 0) with another."""
    index = Shape(10, 12)
    return BlockOperation(
        "matmul",
        index,
        {
            "x": Operand.relative(J, "(m, n) -> (m, 0) by (1, 5)", itemsize=itemsize),
            "y": Operand.relative(K, "(m, n) -> (0, n) by (5, 1)", itemsize=itemsize),
        },
        {"z": Operand.result(index, "(m, n) -> (m, n)", itemsize=itemsize)},
    )
