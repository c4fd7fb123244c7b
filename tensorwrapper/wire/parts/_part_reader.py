"""Untrusted payload parts as arrays, after their sizes are compared with the label."""

from collections.abc import Sequence
from typing import Any, final

import numpy as np

from tensorwrapper._arrays import are_truths
from tensorwrapper._json_fields import Field
from tensorwrapper.buffer.lowlevel import copy_elements
from tensorwrapper.typing import Array, IntArray
from tensorwrapper.wire._limits import Limits
from tensorwrapper.wire._protocol_errors import refuse, refuse_over
from tensorwrapper.wire.parts._allocation_limit import AllocationLimit

_INT64 = np.dtype("<i8")


@final
class PartReader:
    """Reads the parts of one message, without copies.

    Every method raises `RemoteProtocolError` for invalid input. A field that names a part holds its
    number.
    """

    __slots__ = ("_empty", "_known", "_parts", "claims", "limits")

    limits: Limits
    """Limits of the reader."""

    claims: AllocationLimit
    """Claims of the message, now or when elements are made."""

    def __init__(self, parts: Sequence[memoryview], limits: Limits) -> None:
        self._parts = parts
        self.limits = limits
        self.claims = AllocationLimit(limits.decompressed_bytes)
        self._empty = 0.0
        # By identity: many descriptions may name one part, which is then checked, or copied, only once.
        self._known: dict[tuple[int, np.dtype[Any]], Array] = {}

    def claim(self, nbytes: int, what: object) -> None:
        """Count bytes that a sender's number makes us allocate; raise if all of them are over the limit."""
        self.claims.add(nbytes, what)

    @property
    def empty(self) -> float:
        """The places without elements that were counted until now."""
        return self._empty

    def claim_empty(self, places: float, what: object) -> None:
        """Count places without elements, which cost a sender nothing; raise if all are over the limit."""
        self._empty += places
        most = self.limits.empty_elements
        if self._empty > most:
            refuse_over("empty_elements", f"{what} has {places:.0f} empty places; {most} are allowed")

    def indices(self, part: Field) -> IntArray:
        """Return the int64 numbers in a part."""
        data = self.data(part.integer(), part)
        if data.nbytes % 8:
            refuse("size", f"{part} has {data.nbytes} bytes, which are not whole int64 numbers")
        return self.view(data, _INT64, part).astype(np.int64, copy=False)

    def elements(self, part: Field, count: int, dtype: "np.dtype[Any]") -> Array:
        """Return so many elements of a type, which must be all that is in a part."""
        data = self.data(part.integer(), part)
        if data.nbytes != count * dtype.itemsize:
            refuse("size", f"{part} has {data.nbytes} bytes instead of {count * dtype.itemsize}")
        return self.view(data, dtype, part)

    def data(self, part: int, what: object) -> memoryview:
        """Return the bytes of a part."""
        if not 0 <= part < len(self._parts):
            there = len(self._parts)
            refuse("layout", f"{what} is in part {str(part)[:24]}, but there are {there} payload parts")
        return self._parts[part]

    def view(self, data: memoryview, dtype: "np.dtype[Any]", what: object) -> Array:
        """Return bytes as elements of a type; read-only."""
        known = self._known.get((id(data), dtype))
        if known is not None:
            return known
        flat = np.frombuffer(data, dtype=dtype)
        flags = flat.flags
        if not flags.aligned:
            # Small frames can start at any address, and users of an array expect it to be aligned.
            flat = copy_elements(flat)
            flags = flat.flags
        if flags.writeable:
            flags.writeable = False
        if dtype.kind == "b" and not are_truths(flat):
            refuse("integrity", f"{what} has a bool that is neither 0 nor 1")
        self._known[id(data), dtype] = flat
        return flat


def check_splits(splits: IntArray, what: object, total: int | None = None) -> int:
    """Return the last of foreign row splits, which must start at 0 and not descend."""
    if not len(splits) or int(splits[0]) != 0:
        refuse("layout", f"{what} must start with 0")
    if (splits[1:] < splits[:-1]).any():
        refuse("layout", f"{what} must not descend")
    last = int(splits[-1])
    if total is not None and last != total:
        refuse("size", f"{what} ends at {last} instead of {total}")
    return last
