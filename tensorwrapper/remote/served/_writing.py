"""Writes of clients: checked completely, then stored; a repeated write is answered but not applied."""

import time
from collections import OrderedDict
from collections.abc import Sequence
from functools import reduce
from typing import Any, Final, final

import numpy as np

from tensorwrapper._arrays import are_truths, different, positions_array
from tensorwrapper.errors import RemoteProtocolError, RequestRefusedError
from tensorwrapper.remote.protocol._elements import unpack_strings
from tensorwrapper.remote.protocol._events import Answer, AskWrite, Refused
from tensorwrapper.selection import Outer, Wanted
from tensorwrapper.shape import Shape
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import Array, IntArray

_KEPT: Final = 1024
"""Number of remembered writes per client."""
_CLIENTS: Final = 1024
"""Number of clients with remembered writes."""
_ALL: Final = 8192
"""Number of remembered answers; those of the longest silent clients are dropped first."""
_SECONDS: Final = 600.0


def values_of(request: AskWrite, dtype: "np.dtype[Any]", text: str) -> list[Array]:
    """Return the values for each selection, after all checks and before any change."""
    if request.dtype != text:
        raise RequestRefusedError("unsupported", f"elements are of type {text}, not {request.dtype}")
    total = sum([own.size for own in request.selections])
    found: Array
    if request.texts is not None:
        try:
            found = unpack_strings(request.values, request.texts, total, dtype)
        except RemoteProtocolError as error:
            raise RequestRefusedError("schema", str(error)) from error
        return _parts(found, request.selections)
    if request.values.nbytes != total * dtype.itemsize:
        raise RequestRefusedError(
            "schema",
            f"{total * dtype.itemsize} bytes were expected, but {request.values.nbytes} were received",
        )
    found = np.frombuffer(request.values, dtype.newbyteorder("<"))
    if not are_truths(found):
        raise RequestRefusedError("schema", "a bool is neither 0 nor 1")
    return _parts(found, request.selections)


def validity_of(request: AskWrite) -> list[Array]:
    """Return for each selection which of its values are valid."""
    total = sum([own.size for own in request.selections])
    if request.valid is None or request.valid.nbytes != total:
        raise RequestRefusedError("schema", f"{total} validity flags were expected, but others were received")
    found: Array = np.frombuffer(request.valid, np.bool_)
    if not are_truths(found):
        raise RequestRefusedError("schema", "a bool is neither 0 nor 1")
    return _parts(found, request.selections)


def _parts(found: Array, selections: Sequence[Wanted]) -> list[Array]:
    """Return the elements of each selection."""
    ends = np.cumsum([own.size for own in selections]).tolist()
    return [
        found[end - own.size : end].reshape(own.extents) for own, end in zip(selections, ends, strict=True)
    ]


def check_distinct(selections: Sequence[Wanted], shape: Shape[Any]) -> None:
    """Refuse overlapping selections. O(n log n) in their elements."""
    if len(selections) < 2:
        return
    numbers = np.concatenate([_numbers(own, shape) for own in selections])
    if len(different(numbers)) != len(numbers):
        raise RequestRefusedError("schema", "an element is selected twice")


def _numbers(wanted: Wanted, shape: Shape[Any]) -> IntArray:
    if not isinstance(wanted, Outer):
        return wanted.numbers()
    columns = [positions_array(own) for own in wanted.modes]
    found: IntArray = reduce(
        lambda before, own: np.add.outer(before * own[1], own[0]),
        zip(columns, shape.extents, strict=True),
        np.zeros((), np.int64),
    )
    return found.reshape(-1)


def store_values(tensor: Tensor[Any], selections: Sequence[Wanted], values: Sequence[Array]) -> None:
    """Store values in checked selections of a tensor."""
    check_distinct(selections, tensor.shape)
    if tensor.buffer.in_tiles and len(selections) > 1:
        # An absent tile refuses its elements, so check all before writing.
        numbers = np.concatenate([_numbers(own, tensor.shape) for own in selections])
        elements = np.concatenate([own.reshape(-1) for own in values])
        places = tensor.layout.offsets_of_ordinals(numbers)
        tensor.buffer.write(places, elements.astype(tensor.dtype, copy=False))
        return
    for wanted, own in zip(selections, values, strict=True):
        if not isinstance(wanted, Outer):
            places = tensor.layout.offsets_of_ordinals(wanted.numbers())
            tensor.buffer.write(places, own.astype(tensor.dtype, copy=False))
            continue
        part: Tensor[Any] = tensor[...]
        for mode, positions in enumerate(wanted.modes):
            if isinstance(positions, range):
                key = slice(positions.start, positions.stop, positions.step)
                part = part[(*[slice(None)] * mode, key)]
            else:
                part = part.gather(mode, positions)
        part.assign(own)


@final
class Repeats:
    """Answers to the last writes of each client: a repeated request gets the first answer."""

    __slots__ = ("_clients", "_count")

    def __init__(self) -> None:
        self._count = 0
        self._clients: OrderedDict[tuple[str, str], OrderedDict[int, tuple[float, Answer]]] = OrderedDict()

    def find(self, key: str, client: str, number: int) -> Answer | None:
        """Return the answer to a repeated write; None if the write is new."""
        kept = self._clients.get((key, client))
        if kept is None:
            return None
        found = kept.get(number)
        if found is not None:
            return found[1]
        # Numbers of a client ascend, so a number below all remembered ones is an old write, if any.
        if len(kept) == _KEPT and number < next(iter(kept)):
            return Refused("replayed", f"the write {number} is too long ago to know what came of it")
        return None

    def keep(self, key: str, client: str, number: int, answer: Answer) -> None:
        """Remember the answer to a write."""
        now = time.monotonic()
        kept = self._clients.setdefault((key, client), OrderedDict())
        self._clients.move_to_end((key, client))
        self._count += number not in kept
        kept[number] = (now, answer)
        if len(kept) > _KEPT:
            kept.popitem(last=False)
            self._count -= 1
        while len(self._clients) > _CLIENTS or self._count > _ALL or now - self._last() > _SECONDS:
            _, gone = self._clients.popitem(last=False)
            self._count -= len(gone)

    def _last(self) -> float:
        """Return when the client that was silent for longest wrote last."""
        _, kept = next(iter(self._clients.items()))
        return next(reversed(kept.values()))[0]
