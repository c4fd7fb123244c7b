"""Sources elsewhere that are written to: their elements as a buffer that only says where they are."""

from collections.abc import Iterable
from typing import Any, cast, final
from weakref import WeakValueDictionary

import numpy as np

from tensorwrapper.buffer import BufferCommon
from tensorwrapper.errors import ReadOnlyError
from tensorwrapper.layout import Layout
from tensorwrapper.selection.expressions._expression import Expression
from tensorwrapper.selection.expressions._source_node import Reading
from tensorwrapper.selection.plans._split_work import fetch_of
from tensorwrapper.selection.sources._read_source import abilities_of, tell
from tensorwrapper.selection.sources._runs import Runs, Wanted
from tensorwrapper.selection.sources._source import Source, WritableSource
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import Array, IntArray, WriteCasting

__all__ = ["RemoteTarget", "away_buffer", "write_away"]


@final
class RemoteTarget(BufferCommon[Any]):
    """The elements of a source by their row-major number: views of it are compared by where they are."""

    __slots__ = ("__weakref__", "source")

    def __init__(self, source: WritableSource) -> None:
        self.source = source

    @property
    def dtype(self) -> "np.dtype[Any]":
        return self.source.dtype

    @property
    def size(self) -> int:
        return self.source.shape.size

    @property
    def is_readonly(self) -> bool:
        return False

    @property
    def nullable(self) -> bool:
        return bool(getattr(self.source, "nullable", False))

    @property
    def takes_sparse(self) -> bool:
        return bool(getattr(self.source, "is_sparse", False))

    def as_readonly(self) -> "RemoteTarget":
        return self

    def read(self, addresses: IntArray) -> Array:  # noqa: ARG002
        raise self._refused()

    def write(self, addresses: IntArray, values: Array) -> None:  # noqa: ARG002
        raise self._refused()

    def check_sums(
        self,
        addresses: IntArray,  # noqa: ARG002
        values: Array,  # noqa: ARG002
        *,
        casting: WriteCasting = "same_kind",  # noqa: ARG002
    ) -> None:
        raise self._refused()

    def _refused(self) -> ReadOnlyError:
        return ReadOnlyError(f"{self.source!r} is assigned to, and not added to: compute() has its elements")


_buffers: WeakValueDictionary[Source, RemoteTarget] = WeakValueDictionary()
"""One for each source, as long as it is used: that is how two parts of one source are known."""


def away_buffer(source: Source) -> RemoteTarget | None:
    """Return a stand-in buffer for the elements of a source; None if it cannot be written to."""
    if "write" not in abilities_of(source):
        return None
    found = _buffers.get(source)
    if found is None:
        found = _buffers[source] = RemoteTarget(cast("WritableSource", source))
    return found


def write_away(parts: "Iterable[tuple[Tensor[Any], Array, Array | None]]") -> None:
    """Write values to parts of sources, which share no element: all that goes to one in one request.

    A truth value beside each value says whether it is valid; None if all are.
    """
    asked: dict[WritableSource, tuple[list[Wanted], list[Array], list[Array]]] = {}
    for tensor, values, valid in parts:
        source = cast("RemoteTarget", tensor.buffer).source
        selections, arrays, marks = asked.setdefault(source, ([], [], []))
        wanted, array = _packed(source, tensor.layout, values, source.dtype)
        selections.append(wanted)
        arrays.append(array)
        if tensor.is_nullable:
            own = np.ones(values.shape, np.bool_) if valid is None else valid
            marks.append(_packed(source, tensor.layout, own, np.dtype(np.bool_))[1])
    for source, (selections, arrays, marks) in asked.items():
        if marks:
            cast("Any", source).write(selections, arrays, marks)
        else:
            tell(source, selections, arrays)


def _packed(
    source: Source, layout: Layout[Any], values: Array, dtype: "np.dtype[Any]"
) -> tuple[Wanted, Array]:
    """Return which elements of a source a layout reaches, and the values for these in their order."""
    # One string of an array of them is not an array.
    values = np.asarray(values, dtype)
    fetch = fetch_of(Expression(Reading(source), layout))
    wanted, places = fetch.wanted, fetch.layout.to_numpy().reshape(-1)
    if wanted.size != values.size:
        # Reading would read more than these: the elements in between must not be written.
        numbers = layout.to_numpy().reshape(-1)
        order = np.argsort(numbers, kind="stable")
        return Runs(numbers[order]), values.reshape(-1)[order]
    array: Array = np.empty(wanted.size, dtype)
    array[places] = values.reshape(-1)
    return wanted, array.reshape(wanted.extents)
