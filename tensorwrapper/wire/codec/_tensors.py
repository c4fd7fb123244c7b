"""All tensors of a message: read together, or some of them refused when they are asked for."""

from collections.abc import Sequence
from typing import Any, SupportsIndex, final, overload

from tensorwrapper._value_class import frozen
from tensorwrapper.errors import RemoteProtocolError
from tensorwrapper.tensor import Tensor
from tensorwrapper.wire._limits import Limits
from tensorwrapper.wire._refusal import Refusal
from tensorwrapper.wire.codec._plain import read_plain
from tensorwrapper.wire.codec._plan import plain_parts, plan_label
from tensorwrapper.wire.codec._read import Reader
from tensorwrapper.wire.frames._header import Header
from tensorwrapper.wire.frames._label import SPACE
from tensorwrapper.wire.parts._checksum import check_parts

__all__ = ["JSON_FORMS", "read_tensors"]

JSON_FORMS = frozenset({"TENS", "FLOW", "JSON"})
"""Forms whose label is JSON by definition: there, other text is an error."""


def read_tensors(
    header: Header, parts: Sequence[memoryview], limits: Limits, *, strict: bool, allow_longdouble: bool
) -> Sequence[Tensor[Any]]:
    """Return the tensors that a foreign label describes, over the parts.

    Raises
    ------
    RemoteProtocolError
        If one of them is described badly; if `strict`, also if one is not understood.
    """
    json_only = header.form in JSON_FORMS
    text = header.label.strip(SPACE)
    few = plain_parts(text, limits)
    if few is not None and (plain := read_plain(few, parts)) is not None:
        return plain
    found = plan_label(text, limits, strict=json_only, allow_longdouble=allow_longdouble)
    if found.plain is not None and (plain := read_plain(found.plain, parts)) is not None:
        return plain
    check_parts(found.checksums, parts)
    reader = Reader(parts, limits)
    read: list[Tensor[Any]] = []
    some: list[Tensor[Any] | Refusal] = []
    for plan in found.tensors:
        try:
            if isinstance(plan, Refusal):
                raise plan.error()
            read.append(reader.read(plan))
        except RemoteProtocolError as error:
            if strict or error.reason != "unsupported":
                raise
            some += [*read, Refusal(error.reason, error.args[1])]
            read.clear()
    return _Some((*some, *read)) if some else tuple(read)


@final
@frozen(eq=False, repr=False)
class _Some(Sequence[Tensor[Any]]):
    """Tensors of which some are not understood: these raise where they are touched, the others are there."""

    _read: tuple[Tensor[Any] | Refusal, ...]

    @overload
    def __getitem__(self, key: SupportsIndex) -> Tensor[Any]: ...
    @overload
    def __getitem__(self, key: slice) -> "_Some": ...
    def __getitem__(self, key: SupportsIndex | slice) -> "Tensor[Any] | _Some":
        if isinstance(key, slice):
            return _Some(self._read[key])
        found = self._read[key]
        if isinstance(found, Refusal):
            raise found.error()
        return found

    def __len__(self) -> int:
        return len(self._read)

    def __repr__(self) -> str:
        return f"({', '.join(map(repr, self._read))})"
