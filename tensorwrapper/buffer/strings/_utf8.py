"""Validate UTF-8 and count characters, on whole arrays instead of single elements."""

import codecs
from collections.abc import Iterable
from typing import Final

import numpy as np

from tensorwrapper._arrays import last_run, splits_of
from tensorwrapper.buffer.strings._bitmap import Bytes, Marks
from tensorwrapper.buffer.strings._bytes import BATCH, batches_of_runs
from tensorwrapper.errors import StringDataError
from tensorwrapper.typing import IntArray

_NEAR: Final = 2**12  # bytes per element up to which the span is worth a look at every byte


def is_ascii(data: Bytes) -> bool:
    """Return True if all bytes are below 128."""
    return int(data.max(initial=0)) < 0x80


def continues_character(data: Bytes) -> Marks:
    """Tell of each byte whether it continues a character (``10xxxxxx``) and so cannot begin one."""
    marks: Marks = (data & 0xC0) == 0x80
    return marks


def span_of(starts: IntArray, stops: IntArray) -> tuple[int, int]:
    """Return the position of the first byte of any element, and the end of the last; skip empty elements."""
    filled = stops > starts
    if not filled.any():
        return 0, 0
    return int(starts[filled].min()), int(stops[filled].max())


def check_utf8(data: Bytes, starts: IntArray, stops: IntArray) -> None:
    """Raise unless every element is UTF-8 by itself; O(bytes of the elements).

    The whole span is decoded at once where that is less work than gathering: if it is UTF-8 and no element
    begins or ends within a character, all elements are. That is sufficient but not necessary, as bytes
    between the elements need not be text; so if it fails, only the elements are checked.
    """
    if not len(starts):
        return
    low, high = int(starts.min()), int(stops.max())
    if high - low <= _NEAR * len(starts) and is_ascii(data[low:high]):
        return
    filled = stops > starts
    if not filled.all():
        starts, stops = starts[filled], stops[filled]
    if not len(starts):
        return
    offsets = splits_of(stops - starts)
    low, high = int(starts.min()), int(stops.max())
    if high - low <= 2 * int(offsets[-1]):
        span = data[low:high]
        inner = stops[stops < high]
        cut = continues_character(data[starts]).any() or continues_character(data[inner]).any()
        if not cut and _first_bad_byte(span[at : at + BATCH] for at in range(0, len(span), BATCH)) is None:
            return
    bad = _first_bad_run(data, starts, offsets)
    if bad is not None:
        element = int(np.flatnonzero(filled)[bad])
        reason = _what_is_wrong(data[starts[bad] : stops[bad]].tobytes())
        raise StringDataError(f"element {element} is not UTF-8: {reason}; take the elements as kind 'binary'")


def _first_bad_run(data: Bytes, starts: IntArray, offsets: IntArray) -> int | None:
    """Return the first run that is not UTF-8; none of the runs is empty."""
    bad = _first_bad_byte(batches_of_runs(data, starts, offsets))
    split = np.flatnonzero(continues_character(data[starts]))
    # Up to the bad byte all is text: a run that goes on with a character there cuts it short in the last.
    if len(split) and (bad is None or offsets[split[0]] < bad):
        bad = int(offsets[split[0]]) - 1
    return None if bad is None else last_run(offsets, bad)


def _first_bad_byte(chunks: Iterable[Bytes]) -> int | None:
    """Return where the bytes, taken together, stop being UTF-8, or None."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    given = begun = 0
    try:
        for chunk in chunks:
            # The decoder keeps the bytes of a character that a chunk cuts short, and counts from the first.
            begun = given - len(decoder.getstate()[0])
            decoder.decode(chunk.data)
            given += len(chunk)
        begun = given - len(decoder.getstate()[0])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        return begun + error.start
    return None


def _what_is_wrong(text: bytes) -> str:
    try:
        text.decode()
    except UnicodeDecodeError as error:
        return f"{error.reason} at byte {error.start} of its {len(text)}"
    return "it begins or ends within a character"
