"""The tensors and records of a message. Some may be refused, on first use."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, SupportsIndex, TypeAlias, TypeVar, final, overload

from tensorwrapper._value_class import frozen
from tensorwrapper.errors import RemoteProtocolError
from tensorwrapper.tensor import Tensor
from tensorwrapper.wire._limits import Limits
from tensorwrapper.wire._protocol_errors import Refusal
from tensorwrapper.wire.codec._fast_dense import read_plain
from tensorwrapper.wire.codec._plan import plain_parts, plan_label
from tensorwrapper.wire.codec._read import Reader
from tensorwrapper.wire.codec._records import RecordsPlan, read_records
from tensorwrapper.wire.frames._header import Header
from tensorwrapper.wire.frames._label import SPACE
from tensorwrapper.wire.parts._checksum import check_parts

if TYPE_CHECKING:
    from tensorwrapper.fields import Records

_T = TypeVar("_T")

JSON_FORMS = frozenset({"TENS", "FLOW", "JSON"})
"""Forms whose label is JSON by definition: there, other text is an error."""


Described: TypeAlias = "tuple[Sequence[Tensor[Any]], Sequence[Records]]"
"""All tensors of a message, and the records whose fields are among them."""


def read_described(
    header: Header, parts: Sequence[memoryview], limits: Limits, *, strict: bool, allow_longdouble: bool
) -> Described:
    """Return the tensors and records that a foreign label describes, over the parts.

    Raises
    ------
    RemoteProtocolError
        If one of them is described badly; if `strict`, also if one is not understood.
    """
    json_only = header.form in JSON_FORMS
    text = header.label.strip(SPACE)
    few = plain_parts(text, limits)
    if few is not None and (plain := read_plain(few, parts)) is not None:
        return plain, ()
    found = plan_label(text, limits, strict=json_only, allow_longdouble=allow_longdouble)
    if found.plain is not None and (plain := read_plain(found.plain, parts)) is not None:
        return plain, _records(found.records, plain, strict=strict)
    check_parts(found.checksums, parts)
    reader = Reader(parts, limits, may_share=len(found.tensors) > 1)
    read: list[Tensor[Any] | Refusal] = []
    for plan in found.tensors:
        try:
            if isinstance(plan, Refusal):
                raise plan.error()
            read.append(reader.read(plan))
        except RemoteProtocolError as error:
            if strict or error.reason != "unsupported":
                raise
            read.append(Refusal(error.reason, error.args[1]))
    return _some(read), _records(found.records, read, strict=strict)


def _records(
    plans: Sequence[RecordsPlan | Refusal], tensors: Sequence[Tensor[Any] | Refusal], *, strict: bool
) -> "Sequence[Records]":
    if not plans:
        return ()
    read = [read_records(plan, tensors) for plan in plans]
    for item in read:
        if strict and isinstance(item, Refusal):
            raise item.error()
    return _some(read)


def _some(read: Sequence[_T | Refusal]) -> Sequence[_T]:
    """Return the values that were read; a refused one raises on first use."""
    whole = [item for item in read if not isinstance(item, Refusal)]
    return tuple(whole) if len(whole) == len(read) else _Some(tuple(read))


@final
@frozen(eq=False, repr=False)
class _Some(Sequence[_T], Generic[_T]):
    """Tensors of which some are not understood: these raise where they are touched, the others are there."""

    _read: tuple[_T | Refusal, ...]

    @overload
    def __getitem__(self, key: SupportsIndex) -> _T: ...
    @overload
    def __getitem__(self, key: slice) -> "_Some[_T]": ...
    def __getitem__(self, key: SupportsIndex | slice) -> "_T | _Some[_T]":
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
