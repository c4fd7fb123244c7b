"""String data: elements of varying length, each a run of the bytes of one array that all of them share."""

from collections.abc import Callable, Sequence
from typing import Self, SupportsIndex, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import check_kind_of, to_items_of
from tensorwrapper._arrays import ArrayState, array_of_state, array_state, frozen_array, splits_of
from tensorwrapper._integers import to_int
from tensorwrapper._value_class import frozen, token_of
from tensorwrapper.buffer.strings._bitmap import Bytes, Marks, marks_at, pack_marks, pack_nulls, unpack_marks
from tensorwrapper.buffer.strings._bytes import (
    batches_of_runs,
    join_bytes,
    pack_runs,
    sum_of_lengths,
    to_bytes_array,
)
from tensorwrapper.buffer.strings._checks import check_positions, to_int64_array
from tensorwrapper.buffer.strings._constructors import StringConstructors
from tensorwrapper.buffer.strings._export import export_array, export_schema
from tensorwrapper.buffer.strings._lists import list_items
from tensorwrapper.buffer.strings._utf8 import check_utf8, span_of
from tensorwrapper.errors import ConversionError, OutOfBoundsError
from tensorwrapper.typing import IntArray, StringKind

_SHOWN = 6  # elements in a repr


@final
@frozen(eq=False, repr=False, getstate_setstate=False)
class StringData(StringConstructors):
    """A sequence of strings, or of byte strings: the bytes of all, and the start and stop of each.

    Made by `from_list`, `from_offsets` and `from_ranges`, which check their arguments but do not copy the
    bytes, so the caller must not change them. Slices and selections share the bytes. Positions count from 0
    and are never negative.

    Attributes
    ----------
    kind
        ``"utf8"``: every element is UTF-8, checked once on entry. ``"binary"``: any bytes.
    data
        The bytes, read-only; between and around the elements may lie others.
    starts
        Where the bytes of each element start; int64, read-only.
    stops
        Where they stop: element k is ``data[starts[k]:stops[k]]``.
    offsets
        If each element starts where the one before it stops, one array with a last entry more than the
        starts, and a first one more than the stops. Else None.
    validity
        Arrow's bitmap, bit ``validity_offset + k`` telling whether element k is there; None if all are.
    validity_offset
        The bit of element 0.

    Examples
    --------
    >>> words = StringData.from_list(["a", "bc", None, "d"])
    >>> words
    StringData(kind='utf8', n=4, ['a', 'bc', None, 'd'])
    >>> words.offsets.tolist(), words.data.tobytes()
    ([0, 1, 3, 3, 4], b'abcd')
    >>> words.take([3, 1, 1]).to_list()
    ['d', 'bc', 'bc']
    """

    kind: StringKind
    data: Bytes
    starts: IntArray
    stops: IntArray
    offsets: IntArray | None = None
    validity: Bytes | None = None
    validity_offset: int = 0

    @classmethod
    def _wrap(
        cls,
        kind: StringKind,
        data: Bytes,
        starts: IntArray,
        stops: IntArray,
        offsets: IntArray | None = None,
        validity: Bytes | None = None,
        first: int = 0,
    ) -> Self:
        return cls(kind, data, starts, stops, offsets, validity, first)

    @classmethod
    def concat(cls, parts: Sequence["StringData"]) -> "StringData":
        """Return the elements of all parts, one part after the other; the bytes are copied once.

        Raises
        ------
        ConversionError
            If there is no part, or the parts are of two kinds.

        Examples
        --------
        >>> StringData.concat([StringData.from_list(["a"]), StringData.from_list([None, "b"])]).to_list()
        ['a', None, 'b']
        """
        parts = to_items_of(parts, "concat takes a sequence of StringData")
        for part in parts:
            check_kind_of(part, StringData, "concat takes a sequence of StringData")
        kinds = {part.kind for part in parts}
        if len(kinds) != 1:
            raise ConversionError(f"parts of one kind are joined, not of {sorted(kinds) or 'none'}")
        if len(parts) == 1:
            return parts[0]
        offsets = splits_of(np.concatenate([part.lengths() for part in parts]))
        data = join_bytes([part._packed_bytes() for part in parts])
        present = np.concatenate([part.is_valid() for part in parts])
        return cls._over_offsets(parts[0].kind, data, offsets, pack_nulls(present))

    def _runs(self) -> tuple[IntArray, IntArray]:
        """Return starts and stops; the bytes of a null are not used, so a null is an empty run."""
        if self.validity is None:
            return self.starts, self.stops
        return self.starts, np.where(self.is_valid(), self.stops, self.starts)

    def _packed_bytes(self) -> Bytes:
        """Return the bytes of the elements, one after the other; a view if they are contiguous."""
        starts, stops = self._runs()
        return pack_runs(self.data, starts, splits_of(stops - starts))

    def __len__(self) -> int:
        return len(self.starts)

    def lengths(self) -> IntArray:
        """Return how many bytes each element has, int64; a null has none. O(n)."""
        starts, stops = self._runs()
        return stops - starts

    def is_valid(self) -> Marks:
        """Tell of each element whether it is there, and not a null. O(n)."""
        if self.validity is None:
            return np.ones(len(self), dtype=np.bool_)
        return unpack_marks(self.validity, self.validity_offset, len(self))

    @property
    def null_count(self) -> int:
        """Number of nulls; O(n) if there is a bitmap."""
        return 0 if self.validity is None else len(self) - int(np.count_nonzero(self.is_valid()))

    @property
    def nbytes(self) -> int:
        """Number of bytes of elements, offsets and bitmap when packed, shared or not."""
        bitmap = 0 if self.validity is None else (len(self) + 7) // 8
        return sum_of_lengths(self.lengths()) + 8 * (len(self) + 1) + bitmap

    def item(self, position: SupportsIndex) -> str | bytes | None:
        """Return one element: str if the kind is utf8, bytes if it is binary, None if it is a null.

        Raises
        ------
        OutOfBoundsError
            If there is no such position; negative ones do not count from the end.
        """
        k = to_int(position, "a position")
        if not 0 <= k < len(self):
            raise OutOfBoundsError(f"position {k} is not that of one of {len(self)} elements")
        if self.validity is not None and not unpack_marks(self.validity, self.validity_offset + k, 1)[0]:
            return None
        item = self.data[self.starts[k] : self.stops[k]].tobytes()
        return item.decode() if self.kind == "utf8" else item

    def slice(self, start: SupportsIndex, stop: SupportsIndex) -> "StringData":
        """Return the elements from `start` up to `stop`, sharing all memory. O(1).

        Raises
        ------
        OutOfBoundsError
            If they are not in order between 0 and the number of elements.

        Examples
        --------
        >>> StringData.from_list(["a", "bc", "d"]).slice(1, 3).offsets.tolist()
        [1, 3, 4]
        """
        low, high = to_int(start, "start"), to_int(stop, "stop")
        if not 0 <= low <= high <= len(self):
            raise OutOfBoundsError(f"a slice from {low} to {high} is not within the {len(self)} elements")
        first = self.validity_offset + low
        if self.offsets is not None:
            return self._over_offsets(
                self.kind, self.data, self.offsets[low : high + 1], self.validity, first
            )
        return StringData(
            self.kind, self.data, self.starts[low:high], self.stops[low:high], None, self.validity, first
        )

    def take(self, positions: npt.ArrayLike) -> "StringData":
        """Return the elements at these positions, in this order; the bytes are shared. O(positions).

        Raises
        ------
        OutOfBoundsError
            If there is no such position; negative ones do not count from the end.
        """
        places = to_int64_array(positions, "positions")
        check_positions(places, len(self))
        starts, stops = frozen_array(self.starts[places]), frozen_array(self.stops[places])
        validity = None
        if self.validity is not None:
            validity = pack_nulls(marks_at(self.validity, self.validity_offset, places))
        return StringData(self.kind, self.data, starts, stops, None, validity)

    def pack(self) -> "StringData":
        """Return the same elements with offsets from 0 on, and without unused bytes.

        The bytes are copied only if they are not contiguous. Bytes shared by several elements are repeated:
        the size of the result is the sum of the lengths.

        Examples
        --------
        >>> StringData.from_list(["a", "bc", "d"]).take([2, 0]).pack().data.tobytes()
        b'da'
        """
        starts, stops = self._runs()
        offsets = splits_of(stops - starts)
        data = pack_runs(self.data, starts, offsets)
        return self._over_offsets(self.kind, data, offsets, pack_nulls(self.is_valid()))

    def as_utf8(self) -> "StringData":
        """Return the elements as text, sharing all memory; raise if one of them is not UTF-8."""
        if self.kind == "utf8":
            return self
        check_utf8(self.data, *self._runs())
        return attrs.evolve(self, kind="utf8")

    def as_binary(self) -> "StringData":
        """Return the elements as bytes, sharing all memory. O(1)."""
        return self if self.kind == "binary" else attrs.evolve(self, kind="binary")

    def fill_null(self, value: str | bytes) -> "StringData":
        """Return the elements with `value` for every null; without nulls, these elements themselves.

        The bytes are copied, as `value` is appended to them; an empty one costs no copy.

        Raises
        ------
        ConversionError
            If `value` is not of the kind of the elements.

        Examples
        --------
        >>> StringData.from_list(["a", None]).fill_null("?").to_list()
        ['a', '?']
        """
        filler = StringData.from_list([value], kind=self.kind)
        if filler.validity is not None:
            raise ConversionError("a null is filled with a str or bytes, not with None")
        if self.validity is None:
            return self
        present = self.is_valid()
        low, high = span_of(*self._runs())
        data = join_bytes([self.data[low:high], filler.data])
        # A null takes the bytes behind the span; an empty element may be anywhere, so use 0.
        filled = present & (self.stops > self.starts)
        starts = np.where(filled, self.starts - low, np.where(present, 0, high - low))
        stops = np.where(filled, self.stops - low, np.where(present, 0, high - low + len(filler.data)))
        return StringData(self.kind, data, frozen_array(starts), frozen_array(stops))

    def to_list(self) -> list[str | bytes | None]:
        """Return all elements as Python objects: str or bytes, None for a null.

        Examples
        --------
        >>> StringData.from_offsets([0, 1, 3], "aé".encode(), "utf8").to_list()
        ['a', 'é']
        """
        present = None if self.validity is None else self.is_valid()
        return list_items(self.kind, self.data, *self._runs(), present)

    def equals(self, other: "StringData") -> bool:
        """Return True if kind, nulls and all elements are equal, wherever their bytes are. O(bytes)."""
        if self is other:
            return True
        if self.kind != other.kind or len(self) != len(other) or self.null_count != other.null_count:
            return False
        lengths = self.lengths()
        if not np.array_equal(lengths, other.lengths()):
            return False
        if self.validity is not None and not np.array_equal(self.is_valid(), other.is_valid()):
            return False
        offsets = splits_of(lengths)
        ours = batches_of_runs(self.data, self.starts, offsets)
        theirs = batches_of_runs(other.data, other.starts, offsets)
        return all(np.array_equal(a, b) for a, b in zip(ours, theirs, strict=True))

    def __eq__(self, other: object) -> bool:
        return self.equals(other) if isinstance(other, StringData) else NotImplemented

    def __hash__(self) -> int:
        ends = (self.item(0), self.item(len(self) - 1)) if len(self) else ()
        return hash((self.kind, len(self), self.null_count, sum_of_lengths(self.lengths()), ends))

    def __repr__(self) -> str:
        shown = [repr(item) for item in self.slice(0, min(_SHOWN, len(self))).to_list()]
        if len(self) > _SHOWN:
            shown.append("...")
        return f"StringData(kind={self.kind!r}, n={len(self)}, [{', '.join(shown)}])"

    def __arrow_c_schema__(self) -> object:
        """Return the capsule of the Arrow type: large_string or large_binary."""
        return export_schema(self.kind)

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """Return the capsules of a large_string or large_binary array, or of an array of the requested type.

        ``pyarrow.array(strings)`` and others call this. The bytes are not copied if the elements are
        contiguous. It requires pyarrow for any consumer: the extra ``arrow`` installs it.
        """
        offsets, data, bitmap = self.offsets, self.data, None
        if offsets is None:
            offsets, data = splits_of(self.lengths()), self._packed_bytes()
        if self.validity is not None:
            # Arrow counts bits and offsets from one place: copy a bitmap with another start.
            first, shift = divmod(self.validity_offset, 8)
            bitmap = pack_marks(self.is_valid()) if shift else self.validity[first:]
        return export_array(self.kind, self.null_count, bitmap, offsets, data, requested_schema)

    def __dask_tokenize__(self) -> object:
        packed = self.pack()
        return token_of("tensorwrapper.StringData", packed.kind, packed.offsets, packed.data, packed.validity)

    def __reduce__(self) -> "tuple[Callable[..., StringData], tuple[object, ...]]":
        low, high = span_of(*self._runs())
        if self.offsets is None and high - low < sum_of_lengths(self.lengths()):
            # Elements that share bytes, as a repeated one does, go on sharing them.
            starts, stops = (ends.clip(low, high) - low for ends in self._runs())
            runs = [array_state(starts), array_state(stops)]
            data = self.data[low:high]
        else:
            runs, data = [array_state(splits_of(self.lengths()))], self._packed_bytes()
        return _restore, (self.kind, data, runs, pack_nulls(self.is_valid()))


def _restore(kind: StringKind, data: Bytes, runs: list[ArrayState], validity: Bytes | None) -> StringData:
    """Return unpickled string data: arrays come back writeable, and are frozen again."""
    content = to_bytes_array(data, "the data")
    bitmap = None if validity is None else to_bytes_array(validity, "the validity bitmap")
    if len(runs) == 1:
        return StringData._over_offsets(kind, content, array_of_state(runs[0], 0), bitmap)
    starts, stops = (array_of_state(run, 0) for run in runs)
    return StringData(kind, content, starts, stops, None, bitmap)
