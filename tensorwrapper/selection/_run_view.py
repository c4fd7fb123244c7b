"""What runs a view in normal form: one runner for each of its nodes."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from tensorwrapper.buffer._sparse import Sparse
from tensorwrapper.errors import ConversionError
from tensorwrapper.selection._expression import Expression
from tensorwrapper.selection._generators import Filling, Generator
from tensorwrapper.selection._nodes import Casting, Choosing, Extreme, Reading, Routing, Whole
from tensorwrapper.selection._generators import Sampling
from tensorwrapper.selection._run_leaves import GeneratorLeaf, MemoryLeaf, Runner, leaf_of
from tensorwrapper.selection._run_nodes import (
    CastRunner,
    ChoosingRunner,
    ExtremeRunner,
    RoutingRunner,
    SamplingRunner,
)
from tensorwrapper.selection._run_whole import WholeRunner
from tensorwrapper.selection._source import TensorSource
from tensorwrapper.selection._transform import take_apart

__all__ = ["ReaderOf", "runner_of"]

ReaderOf: TypeAlias = "Callable[[Expression], Runner]"
"""What has the elements that a part of a view reads from a source that is not in memory."""


def runner_of(view: Expression, reader: ReaderOf) -> Runner:
    """Return what writes the elements of a view in normal form.

    Raises
    ------
    ConversionError
        If it reads a sparse tensor, of which only parts can be had.
    """
    node = view.node
    match node:
        case Reading(source=TensorSource(tensor=tensor)):
            if isinstance(tensor.buffer, Sparse):
                raise ConversionError(
                    f"a view of a sparse tensor {tensor.shape} and others has no elements until to_dense() "
                    "has made them"
                )
            return leaf_of(view.layout, tensor.buffer)
        case Reading():
            return reader(view)
        case Filling():
            value: Any = np.empty((), node.dtype)
            value[...] = node.value
            return MemoryLeaf(np.broadcast_to(value, view.shape.extents))
        case Generator():
            return GeneratorLeaf.of(node, view.layout)
        case Routing():
            runners = tuple([runner_of(piece.view, reader) for piece in node.pieces])
            return RoutingRunner.of(node, runners)
        case Whole():
            return WholeRunner(runner_of(node.operand, reader), view.layout)
        case Casting():
            return CastRunner(runner_of(node.operand, reader), node.dtype)
        case _:
            pass
    given = tuple([runner_of(operand, reader) for operand in node.operands])
    match node:
        case Choosing():
            mask, x, y = given
            return ChoosingRunner(node, (mask, x, y))
        case Extreme():
            return ExtremeRunner(node, given)
        case Sampling():
            apart = take_apart(node.layout, node.field.extents) if node.size else None
            return SamplingRunner(node.field, node.layout, apart, given)
        case _:
            raise ConversionError(f"a {node.name} is no node of a normal form")
