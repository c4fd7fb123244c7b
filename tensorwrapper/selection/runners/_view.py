"""What runs a view in normal form: one runner for each of its nodes."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from tensorwrapper.buffer import Sparse
from tensorwrapper.errors import ConversionError
from tensorwrapper.selection.expressions._expression import Expression
from tensorwrapper.selection.expressions._generators import Filling, Generator, Sampling
from tensorwrapper.selection.expressions._nodes import Casting, Choosing, Extreme, Reading, Routing, Whole
from tensorwrapper.selection.normal._transform import take_apart
from tensorwrapper.selection.plans._leaves import source_of
from tensorwrapper.selection.runners._leaves import GeneratorLeaf, MemoryLeaf, Runner, leaf_of
from tensorwrapper.selection.runners._nodes import (
    CastRunner,
    ChoosingRunner,
    ExtremeRunner,
    RoutingRunner,
    SamplingRunner,
)
from tensorwrapper.selection.runners._whole import WholeRunner
from tensorwrapper.selection.sources._source import TensorSource

__all__ = ["ReaderOf", "runner_of"]

ReaderOf: TypeAlias = "Callable[[Expression], Runner]"
"""What has the elements that a part of a view reads from a source that is not in memory."""


def _unread(view: Expression) -> Runner:
    raise ConversionError(f"{source_of(view)!r} is not in this process, and nothing was read of it")


def runner_of(view: Expression, reader: ReaderOf = _unread) -> Runner:
    """Return what writes the elements of a view in normal form; `reader` has what was read for it.

    Raises
    ------
    ConversionError
        If it reads a sparse tensor, of which only parts can be had.
    """
    node = view.node
    match node:
        case Reading():
            return _reading(view, node, reader)
        case Filling():
            value: Any = np.empty((), node.dtype)
            value[...] = node.value
            return MemoryLeaf(np.broadcast_to(value, view.shape.extents))
        case Generator():
            return GeneratorLeaf.of(node, view.layout)
        case _:
            given = tuple([runner_of(operand, reader) for operand in node.operands])
            return _joined(view, given)


def _reading(view: Expression, node: Reading, reader: ReaderOf) -> Runner:
    source = node.source
    if not isinstance(source, TensorSource):
        return reader(view)
    buffer = source.tensor.buffer
    if isinstance(buffer, Sparse):
        raise ConversionError(
            f"a view of the sparse tensor {source.tensor.shape} and others has no elements: to_dense() of "
            "that tensor has them"
        )
    return leaf_of(view.layout, buffer)


def _joined(view: Expression, given: tuple[Runner, ...]) -> Runner:
    node = view.node
    match node:
        case Routing():
            return RoutingRunner.of(node, given)
        case Whole():
            return WholeRunner(given[0], view.layout)
        case Casting():
            return CastRunner(given[0], node.dtype)
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
