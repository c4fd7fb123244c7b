"""The elements of a source, as a node."""

# The field of a frozen class implements an abstract property of the same name.
# pyright: reportIncompatibleMethodOverride=false

from collections.abc import Callable
from typing import Any, ClassVar, final

import attrs
import numpy as np

from tensorwrapper._json import Json
from tensorwrapper._value_class import frozen
from tensorwrapper.buffer import BufferCommon, Dense
from tensorwrapper.buffer.lowlevel import write_elements
from tensorwrapper.errors import ConversionError
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import contiguous, new_row_major, wrap_layout
from tensorwrapper.selection.expressions._expression import (
    Expression,
    Job,
    Node,
    NodeFields,
    NodeWriter,
    Origin,
    whole,
)
from tensorwrapper.selection.runners._leaves import AddressedLeaf, full_window
from tensorwrapper.selection.sources._read_source import layout_of
from tensorwrapper.selection.sources._source import Source, TensorSource
from tensorwrapper.shape.lowlevel import names_of, unnamed_shape
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import make_tensor
from tensorwrapper.typing import Array, Extents, IntArray


@final
@frozen
class Reading(Node):
    """The elements of a source. The places of a tensor in memory are those of its buffer.

    The elements of a remote source that is not a box are one mode: the row-major numbers of its elements.
    """

    source: Source
    # Cached, as expressions use them all the time, and sources look them up.
    tensor: Tensor[Any] | None = attrs.field(init=False, eq=False, repr=False)
    extents: Extents = attrs.field(init=False, eq=False, repr=False)
    dtype: "np.dtype[Any]" = attrs.field(init=False, eq=False, repr=False)
    is_dense: bool = attrs.field(init=False, eq=False, repr=False)

    name: ClassVar[str] = "source"
    json_names: ClassVar[tuple[str, ...]] = ("source", "memory")
    is_leaf: ClassVar[bool] = True
    keeps_dtype: ClassVar[bool] = True

    def __attrs_post_init__(self) -> None:
        source = self.source
        tensor, plain = None, False
        extents: Extents
        if isinstance(source, TensorSource):
            tensor = source.tensor
            buffer = tensor.buffer
            # Most are one run of memory, which has no call for these.
            line: Any = buffer.flat if isinstance(buffer, Dense) else buffer
            extents, dtype = (line.size,), line.dtype
            plain = line is not buffer or (buffer.fill_value is None and buffer.sides is None)
        else:
            shape, dtype = source.shape, source.dtype
            extents = shape.extents if shape.is_box else (shape.size,)
        object.__setattr__(self, "tensor", tensor)
        object.__setattr__(self, "extents", extents)
        object.__setattr__(self, "dtype", dtype)
        object.__setattr__(self, "is_dense", plain)

    def __reduce__(self) -> "tuple[type[Reading], tuple[Source]]":
        return Reading, (self.source,)

    def all(self) -> Expression:
        return reading_of(self.source)

    def write_into(self, view: Expression, out: Array, job: Job) -> None:
        tensor = self.tensor
        if tensor is None:
            raise ConversionError(f"{self.source!r} is not in this process, and nothing was read of it")
        buffer = tensor.buffer
        if buffer.fill_value is not None:
            raise ConversionError(
                f"a view of the sparse tensor {tensor.shape} and others has no elements: to_dense() of "
                "that tensor has them"
            )
        array = buffer.memory_of(view.layout.implementation)
        if array is None:
            AddressedLeaf(view.layout, buffer).fill(full_window(out.shape), out, job.threads)
        else:
            write_elements(out, array, threads=job.threads)

    def origin_of(self, positions: IntArray) -> tuple[Origin, IntArray]:
        given = self.source if self.tensor is None else self.tensor
        shape = given.shape
        if shape.is_box:
            return given, positions + np.array(shape.origin, dtype=np.int64)
        # Those of a tensor that lead to rows of several extents are counted from the origin by then.
        return given, positions if self.tensor is not None else shape.indices_at(positions[:, 0])

    @property
    def title(self) -> str:
        return f"source {self.source!r}"

    @property
    def text_at(self) -> Callable[[int], str]:
        from tensorwrapper.drawing import index_text  # noqa: PLC0415 - few are shown

        tensor = self.tensor
        if tensor is None:
            return lambda place: index_text(self.source.shape.index(place))
        # For a tensor over part of a buffer, a place may be outside of the tensor.
        if tensor.shape.size == tensor.buffer.size:
            return lambda place: index_text(tensor.layout.index_of(place))
        return str

    @property
    def refusal(self) -> str:
        return f"from {self.source!r}"

    def to_json(self, write: NodeWriter) -> dict[str, Json]:
        # Places of a tensor in memory are those of its buffer, which tensors may share.
        memory = write.is_normal and self.tensor is not None
        return {"memory" if memory else "source": write.source(self.source)}

    @classmethod
    def from_json(cls, given: NodeFields) -> Node:
        given.only()
        return given.memory("memory")


def reading_of(source: Source) -> Expression:
    """Return the view of all elements of a source."""
    node = Reading(source)
    tensor = node.tensor
    if tensor is not None:
        return Expression(node, tensor.layout)
    seen = layout_of(source)
    if seen is not None:
        return Expression(node, seen)
    names = names_of(source.shape)
    if source.shape.has_layers:
        flat = wrap_layout(contiguous(unnamed_shape(source.shape.flatten()), 0), names)
        return Expression(node, Layout.nested(flat, layers=source.shape.layers))
    if not source.shape.is_box or any(source.shape.origin):
        return Expression(node, wrap_layout(contiguous(unnamed_shape(source.shape), 0), names))
    return whole(node, names)


def in_memory(buffer: BufferCommon[Any], layout: Layout[Any]) -> Expression:
    """Return the selection of a layout from a buffer."""
    line = make_tensor(wrap_layout(new_row_major((buffer.size,))), buffer)
    return Expression(Reading(TensorSource(line)), layout)
