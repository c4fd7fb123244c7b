"""Constructors of string data: from Python's strings, and over existing bytes."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Self, SupportsIndex

import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import to_items_of
from tensorwrapper._arrays import frozen_array
from tensorwrapper._error_text import brief
from tensorwrapper._integers import to_int
from tensorwrapper.buffer.strings._bitmap import Bytes, check_bitmap, pack_nulls, unpack_marks
from tensorwrapper.buffer.strings._bytes import to_bytes_array
from tensorwrapper.buffer.strings._checks import check_kind, check_offsets, check_ranges, to_int64_array
from tensorwrapper.buffer.strings._lists import join_items, kind_of_items
from tensorwrapper.buffer.strings._utf8 import check_utf8
from tensorwrapper.errors import ConversionError
from tensorwrapper.typing import Array, BufferLike, IntArray, StringKind


class StringConstructors(ABC):
    """Abstract: `_wrap`."""

    __slots__ = ()

    @classmethod
    @abstractmethod
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
        """Return string data with these fields; nothing is checked."""

    @classmethod
    def from_list(cls, items: Iterable[str | bytes | None], *, kind: StringKind | None = None) -> Self:
        """Return the elements of a flat sequence of str (kind utf8) or bytes (kind binary); None is a null.

        Parameters
        ----------
        items
            All of one kind.
        kind
            Kind of a sequence without any str or bytes; ``"utf8"`` by default. Else it must agree.

        Raises
        ------
        ConversionError
            If an item is neither, or items are of both kinds, or not of the given kind.
        StringDataError
            If a str has a lone surrogate, which UTF-8 cannot say.

        Examples
        --------
        >>> from tensorwrapper.buffer import StringData
        >>> StringData.from_list([b"ab", bytes(1)]).lengths().tolist()
        [2, 1]
        """
        if isinstance(items, str | bytes):
            raise ConversionError(
                f"a sequence of strings is expected, not the {type(items).__name__} {brief(items)}"
            )
        items = (
            items if isinstance(items, list | tuple) else to_items_of(items, "strings must be in a sequence")
        )
        found, nulls = kind_of_items(items)
        wanted: StringKind = kind or found or "utf8"
        check_kind(wanted)
        if found not in (None, wanted):
            raise ConversionError(
                f"the elements are of kind {found!r}, not {wanted!r}; "
                "as_binary() and as_utf8() convert between them"
            )
        data, offsets, present = join_items(items, wanted, nulls=nulls)
        return cls._over_offsets(wanted, data, offsets, None if present is None else pack_nulls(present))

    @classmethod
    def from_offsets(
        cls,
        offsets: npt.ArrayLike,
        data: BufferLike | Array,
        kind: StringKind,
        *,
        validity: BufferLike | Array | None = None,
        validity_offset: SupportsIndex = 0,
    ) -> Self:
        """Return elements that lie one after the other: element k is ``data[offsets[k]:offsets[k + 1]]``.

        Parameters
        ----------
        offsets
            One more than elements; integers that never descend. The first need not be 0.
        data
            Anything with the buffer protocol; it is not copied, and must not change.
        kind
            ``"utf8"`` or ``"binary"``.
        validity, validity_offset
            A bitmap, the least significant bit first, and the bit of element 0; a bit of 0 is a null.

        Raises
        ------
        StringDataError
            If the offsets descend or leave the data, the bitmap is too short, or an element is not UTF-8.
        ConversionError
            If the offsets are not integers.

        Examples
        --------
        >>> from tensorwrapper.buffer import StringData
        >>> StringData.from_offsets([1, 3, 3, 4], b"xabc", "utf8").to_list()
        ['ab', '', 'c']
        """
        check_kind(kind)
        marks, content = to_int64_array(offsets, "offsets"), to_bytes_array(data, "the data")
        check_offsets(marks, len(content))
        return cls._checked(kind, content, marks[:-1], marks[1:], marks, validity, validity_offset)

    @classmethod
    def from_ranges(
        cls,
        starts: npt.ArrayLike,
        stops: npt.ArrayLike,
        data: BufferLike | Array,
        kind: StringKind,
        *,
        validity: BufferLike | Array | None = None,
        validity_offset: SupportsIndex = 0,
    ) -> Self:
        """Return elements that lie anywhere: element k is ``data[starts[k]:stops[k]]``.

        All else is as for `from_offsets`. Elements may overlap, or be one and the same, so together they
        can be far larger than the data.

        Examples
        --------
        >>> from tensorwrapper.buffer import StringData
        >>> StringData.from_ranges([2, 0, 2], [4, 2, 4], b"abcd", "binary").to_list()
        [b'cd', b'ab', b'cd']
        """
        check_kind(kind)
        lows, highs = to_int64_array(starts, "starts"), to_int64_array(stops, "stops")
        content = to_bytes_array(data, "the data")
        check_ranges(lows, highs, len(content))
        return cls._checked(kind, content, lows, highs, None, validity, validity_offset)

    @classmethod
    def _over_offsets(
        cls, kind: StringKind, data: Bytes, offsets: IntArray, validity: Bytes | None = None, first: int = 0
    ) -> Self:
        """Return elements between offsets that are known to be right: nothing is checked. O(1)."""
        offsets = frozen_array(offsets)
        return cls._wrap(kind, data, offsets[:-1], offsets[1:], offsets, validity, first)

    @classmethod
    def _checked(
        cls,
        kind: StringKind,
        data: Bytes,
        starts: IntArray,
        stops: IntArray,
        offsets: IntArray | None,
        validity: BufferLike | Array | None,
        validity_offset: SupportsIndex,
    ) -> Self:
        """Return string data whose offsets are right, once its bitmap and its text are found to be."""
        bitmap, bit, present = None, 0, None
        if validity is not None:
            bitmap, bit = (
                to_bytes_array(validity, "the validity bitmap"),
                to_int(validity_offset, "validity_offset"),
            )
            check_bitmap(bitmap, bit, len(starts))
            present = unpack_marks(bitmap, bit, len(starts))
            if present.all():
                bitmap, bit, present = None, 0, None
        if kind == "utf8":
            # The bytes of a null are not used, and need not be text.
            check_utf8(data, starts, stops if present is None else np.where(present, stops, starts))
        return cls._wrap(kind, data, starts, stops, offsets, bitmap, bit)
