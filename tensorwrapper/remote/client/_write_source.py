"""`WritingSource`: a tensor on a server as the target of one write request."""

from collections.abc import Sequence
from typing import Any, Final, final

import numpy as np

from tensorwrapper.errors import (
    ConversionError,
    RemoteProtocolError,
    RequestRefusedError,
    SizeOverflowError,
)
from tensorwrapper.layout import Layout
from tensorwrapper.remote.client._connection import Connections
from tensorwrapper.remote.protocol._elements import may_be_null, pack_strings
from tensorwrapper.remote.protocol._events import AskWrite, Facts, Written
from tensorwrapper.selection import Ability, ReadHandle, Wanted
from tensorwrapper.shape import Shape
from tensorwrapper.typing import Array

_MOST: Final = 2**24
"""Limit on the bytes of one write, which the server buffers until it is complete."""


@final
class WritingSource:
    """Target of an assignment; afterwards `version` is the new version of the tensor."""

    __slots__ = (
        "__weakref__",
        "_connections",
        "_if_version",
        "_name",
        "_text",
        "dtype",
        "is_sparse",
        "layout",
        "nullable",
        "shape",
        "version",
    )

    def __init__(
        self,
        connections: Connections,
        facts: Facts,
        shape: Shape[Any],
        dtype: "np.dtype[Any]",
        if_version: str,
        layout: "Layout[Any] | None" = None,
    ) -> None:
        self._connections, self._name, self._text = connections, facts.name, facts.dtype
        self._if_version = if_version
        self.shape: Shape[Any] = shape
        self.layout: Layout[Any] | None = layout
        """Layout of the box over its tiles; None if the shape is that of the tensor."""
        self.dtype: np.dtype[Any] = dtype
        self.version: str = facts.version
        self.is_sparse: bool = facts.fill is not None
        """True if the tensor is sparse: the server stores only some of the written elements."""
        self.nullable: bool = may_be_null(facts.dtype)
        """True if a write includes the validity of each element."""

    @property
    def abilities(self) -> "frozenset[Ability]":
        """Abilities of the source: atomic writes."""
        return frozenset(("runs", "write", "atomic"))

    def cost(self, selection: Wanted) -> int:
        """Return the size of the selected elements in bytes."""
        return selection.size * self.dtype.itemsize

    def read(self, selections: Sequence[Wanted], out: Sequence[Array]) -> ReadHandle:  # noqa: ARG002
        """Raise, because the source is only for one assignment."""
        raise ConversionError(f"{self!r} is for one assignment and cannot be read")

    def write(
        self, selections: Sequence[Wanted], values: Sequence[Array], valid: "Sequence[Array] | None" = None
    ) -> None:
        """Send all selections, their values and their validity in one request."""
        total = sum([own.size for own in selections]) * (self.dtype.itemsize + self.nullable)
        if total > _MOST:
            raise SizeOverflowError(
                f"a write of {total} bytes exceeds the limit of {_MOST} for one atomic request"
            )
        data, texts = self._packed(values)
        connection = self._connections.here()
        answer = connection.ask(
            AskWrite(
                self._name,
                self._if_version,
                connection.client,
                self._text,
                tuple(selections),
                data,
                texts,
                self.layout is not None,
                None if valid is None else _joined(valid, np.dtype(np.bool_)),
            )
        )
        if not isinstance(answer, Written):
            raise RemoteProtocolError("schema", "the server sent another answer than a write")
        self.version = answer.version

    def _packed(self, values: Sequence[Array]) -> tuple[memoryview, memoryview | None]:
        """Return the elements in wire format; for strings the lengths and the bytes."""
        if self.dtype.kind == "T":
            texts = [own.reshape(-1) for own in values]
            try:
                return pack_strings(np.concatenate(texts), _MOST)
            except RequestRefusedError as error:
                raise SizeOverflowError(str(error.args[1])) from error
        return _joined(values, self.dtype.newbyteorder("<")), None

    def __repr__(self) -> str:
        return f"remote({self._connections.address!r}, {self._name!r}, {self.dtype})"


def _joined(arrays: Sequence[Array], dtype: "np.dtype[Any]") -> memoryview:
    """Return the concatenated elements of arrays."""
    packed = [np.ascontiguousarray(own, dtype).reshape(-1) for own in arrays]
    data = packed[0] if len(packed) == 1 else np.concatenate(packed)
    return memoryview(data.tobytes())
