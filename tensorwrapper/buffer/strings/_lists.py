"""Python's strings and bytes, as lists: joined into one run of bytes, and cut out of one."""

from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from operator import is_not
from typing import Final, TypeAlias, cast

import numpy as np

from tensorwrapper._arrays import splits_of
from tensorwrapper._error_text import brief
from tensorwrapper.buffer.strings._bitmap import Bytes, Marks
from tensorwrapper.buffer.strings._bytes import pack_runs, spread_bytes, to_bytes_array
from tensorwrapper.errors import ConversionError, StringDataError
from tensorwrapper.typing import IntArray, StringKind

StringItem: TypeAlias = str | bytes | None
"""One element in Python: text, bytes, or None for a null."""

_NONE = type(None)
_SEPARATORS: Final = (0x1F, 0x1E, 0x00, 0x01, 0x7F)  # characters that hardly any text has


def kind_of_items(items: Sequence[object]) -> tuple[StringKind | None, bool]:
    """Return which kind of string data these items make, None if there is none, and whether some are None."""
    types = set(map(type, items))
    nulls = _NONE in types
    types.discard(_NONE)
    # Subclasses too: NumPy's own str_ and bytes_ are some.
    if not all(issubclass(t, str | bytes) for t in types):
        wrong = _first(items, lambda item: not isinstance(item, str | bytes | None))
        raise ConversionError(
            f"element {wrong} is {brief(items[wrong])} ({type(items[wrong]).__name__}): "
            "allowed are str or bytes, and None for a null"
        )
    text = {issubclass(t, str) for t in types}
    if len(text) > 1:
        text_at = _first(items, lambda item: isinstance(item, str))
        bytes_at = _first(items, lambda item: isinstance(item, bytes))
        raise ConversionError(
            f"element {text_at} is str and element {bytes_at} is bytes: all must be of one kind"
        )
    if not text:
        return None, nulls
    return "utf8" if text.pop() else "binary", nulls


def _first(items: Sequence[object], test: Callable[[object], bool]) -> int:
    return next(k for k, item in enumerate(items) if test(item))


def join_items(
    items: Sequence[StringItem], kind: StringKind, *, nulls: bool
) -> tuple[Bytes, IntArray, Marks | None]:
    """Return the bytes of items of this kind, their offsets, and which are not None, if some are."""
    present = None
    if nulls:
        present = np.fromiter(map(is_not, items, repeat(None)), dtype=np.bool_, count=len(items))
        items = [item or ("" if kind == "utf8" else b"") for item in items]
    if kind == "utf8":
        data, lengths = _encode(cast("Sequence[str]", items))
    else:
        data, lengths = b"".join(cast("Sequence[bytes]", items)), map(len, cast("Sequence[bytes]", items))
    counts = np.fromiter(lengths, dtype=np.int64, count=len(items))
    return to_bytes_array(data, "the data"), splits_of(counts), present


def _encode(texts: Sequence[str]) -> tuple[bytes, Iterable[int]]:
    joined = "".join(texts)
    if joined.isascii():
        return joined.encode(), map(len, texts)
    try:
        pieces = list(map(str.encode, texts))
    except UnicodeEncodeError:
        wrong = next(k for k, text in enumerate(texts) if _has_surrogate(text))
        raise StringDataError(
            f"element {wrong} is {texts[wrong]!r}: a lone surrogate is not a character and has no UTF-8"
        ) from None
    return b"".join(pieces), map(len, pieces)


def _has_surrogate(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)


def list_items(
    kind: StringKind, data: Bytes, starts: IntArray, stops: IntArray, present: Marks | None
) -> list[StringItem]:
    """Return the elements as Python objects; those not present are empty runs, and come as None."""
    offsets = splits_of(stops - starts)
    packed = pack_runs(data, starts, offsets)
    separator = next((byte for byte in _SEPARATORS if not (packed == byte).any()), None)
    if not len(starts):
        return []
    if separator is None:
        blob = packed.tobytes()
        pieces = map(blob.__getitem__, map(slice, offsets[:-1].tolist(), offsets[1:].tolist()))
        items: list[str] | list[bytes] = list(map(bytes.decode, pieces)) if kind == "utf8" else list(pieces)
    else:
        items = _split(kind, packed, offsets, separator)
    if present is None:
        return cast("list[StringItem]", items)
    nullable = np.empty(len(items), dtype=np.object_)
    nullable[:] = items
    nullable[~present] = None
    return cast("list[StringItem]", nullable.tolist())


def _split(kind: StringKind, packed: Bytes, offsets: IntArray, separator: int) -> list[str] | list[bytes]:
    """Return the elements by one call that splits all of them at a byte that none of them has."""
    places = offsets[1:-1] + np.arange(len(offsets) - 2)
    joined = np.empty(len(packed) + len(places), dtype=np.uint8)
    joined[places] = separator
    spread_bytes(packed, places, joined)
    if kind == "utf8":
        return str(joined.data, "utf-8").split(chr(separator))
    return joined.tobytes().split(bytes([separator]))
