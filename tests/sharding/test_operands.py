"""Operands of a block operation: where each lies, how many bytes it has, and what it is called."""

import pytest

from tensorwrapper.errors import (
    ConversionError,
    RankError,
)
from tensorwrapper.sharding import BlockOperation, Operand, Projection
from tests.support.sharding.block_operations import matmul


def test_a_relative_projection_is_moved_to_its_operand():
    assert matmul().inputs["x"][0].projection == Projection("(m, n) -> (m - 10, 0)", (1, 5))
    assert matmul().inputs["y"][0].projection == Projection("(m, n) -> (0, n)", (5, 1))
    assert matmul().findings() == ()


# Refusals and values.


def test_projections_take_the_index_of_the_operation():
    with pytest.raises(
        RankError, match=r"inputs.x\[0\]: the projection takes indices of rank 1, but the index has rank 2"
    ):
        BlockOperation("k", (2, 2), {"x": Operand((2,), "(i) -> (i)")}, {})
    with pytest.raises(RankError, match="boxes of rank 1, but the operand has 2"):
        Operand((2, 2), "(i) -> (i)")
    with pytest.raises(RankError, match="boxes of rank 1, but the operand has 2"):
        Operand.relative((2, 2), "(i) -> (i)")


@pytest.mark.parametrize("name", ["", "1x", "a-b", "a b", "é", "x\n", 5])
def test_names_are_strict(name):
    with pytest.raises(ConversionError, match="a name has ASCII letters"):
        BlockOperation("k", (2,), {name: Operand((2,), "(i) -> (i)")}, {})


def test_the_order_of_names_does_not_count():
    a, b = Operand((2,), "(i) -> (i)"), Operand((2,), "(i) -> (1 - i)")

    assert BlockOperation("k", (2,), {"a": a, "b": b}, {}) == BlockOperation("k", (2,), {"b": b, "a": a}, {})
