"""Read small uniform records as arrays, without parsing each of ten thousand labels.

The label of one record is parsed. Another record is *alike* if its message has the same number of parts, and
its label has the same bytes except for a few numbers: the number of rows before it, and the first extent of
each shape. Such a record has the same label with other numbers. A record that differs otherwise, or has an
invalid number, is not alike. It is read by itself, which reports its errors.
"""

import re
import zlib
from collections.abc import Iterator, Mapping
from functools import cache
from math import prod
from typing import Any, Final, Self, TypeAlias, TypeVar, cast, final

import numpy as np
import numpy.typing as npt

from tensorwrapper import _compiled
from tensorwrapper._arrays import concatenated_ranges, last_run, splits_of
from tensorwrapper._json import Json
from tensorwrapper._value_class import frozen
from tensorwrapper.store.records._format import HEADER_BYTES, MAGIC, VERSION, start_of_header
from tensorwrapper.store.records._index_rows import Place
from tensorwrapper.typing import IntArray

SMALL_RECORD: Final = 2**16
"""Messages above this size are opened one by one, because opening is cheap compared to reading elements."""

_Bytes: TypeAlias = npt.NDArray[np.uint8]
_Bools: TypeAlias = npt.NDArray[np.bool_]
Columns: TypeAlias = tuple[IntArray, IntArray, IntArray, IntArray]
"""Of each record: its start, the bytes of its message, the rows of its tensor before it, and its rows."""
_GATHERED: Final = 2**18  # elements copied at a time, to limit the memory for indices
_T = TypeVar("_T", bound=np.generic)
_DIGITS: Final = 18  # maximum digits of a number, which then fits 64 bits
_WORD: Final = 8
_BLOCK: Final = 2**12  # records compared at a time
_NUMBERS: Final = (re.compile(rb'"shape":\[([0-9]+)'), re.compile(rb'"extends":([0-9]+)'))
_HEADER: Final = np.dtype(
    [("magic", "S8"), ("length", "<i8"), ("version", "<u2"), ("rest", "V10"), ("own", "<u4")]
)
_TYPE: Final = ("dtype", "logical", "word")  # keys of a description that determine the dtype


@final
@frozen(eq=False)
class RecordTemplate:
    """The parts of a record's label that are common to uniform records."""

    texts: tuple[bytes, ...]
    """Pieces of the first frame between its numbers: first extents, and the number of previous rows."""
    own: int
    """Number of the tensor in the message."""
    n_frames: int
    elements: int
    """Number of the frame with the elements."""
    splits: tuple[int, ...]
    """Frames of row splits, from the outermost; none for a box."""
    inner: int
    """Number of elements of a row of a box; 1 for rows."""

    @classmethod
    def of(cls, mapped: memoryview, place: Place, label: Json, number: int = 0) -> Self | None:
        """Return the template of a record; None if its label has more fields than labels of small records.

        Parameters
        ----------
        mapped
            The file.
        place
            Position of the record, which was read and is valid.
        label
            Its label.
        number
            Number of the tensor, for records with several.
        """
        frames = _frame_places(mapped, place)
        begin, size = frames[0]
        raw = bytes(mapped[begin : begin + size])
        found = [[spot.span(1) for spot in pattern.finditer(raw)] for pattern in _NUMBERS]
        tensors = _tensors(label)
        said = _parse_tensor(tensors[number]) if tensors else None
        if said is None or [len(spots) for spots in found] != [len(tensors), 1]:
            return None
        spans = [*found[0], *found[1]]
        if spans != sorted(spans):
            return None
        ends = [0, *[stop for _, stop in spans]], [*[start for start, _ in spans], len(raw)]
        texts = tuple([raw[start:stop] for start, stop in zip(*ends, strict=True)])
        return cls(texts, number, len(frames), *said)


def _tensors(label: Json) -> list[Json]:
    """Return the tensors that a label describes; an empty list if the label has other content."""
    match label:
        case {
            "TENS": {"tensors": [*tensors], **more},
            "record": {"extends": int(), "kind": _, "name": _, **besides},
            **beyond,
        } if more.keys() <= {"records"} and not (besides or beyond):
            return cast("list[Json]", tensors)
        case _:
            return []


def _parse_tensor(tensor: Json) -> tuple[int, tuple[int, ...], int] | None:
    """Return the frames of elements and splits, and the size of a row; None if there are other keys."""
    match tensor:
        case {"part": int(part), "shape": [int(), *others], **spec}:
            pass
        case _:
            return None
    match {key: value for key, value in spec.items() if key not in _TYPE}:
        case {"packing": "jagged", "jagged": {**rows}} as jagged if len(jagged) == 2 and not others:
            return _said_of_rows(part, cast("Mapping[str, Json]", rows))
        case {**unknown} if not unknown:
            inner = prod(cast("list[int]", others))
            return (part + 2, (), inner) if inner else None
        case _:
            return None


def _said_of_rows(part: int, rows: Mapping[str, Json]) -> tuple[int, tuple[int, ...], int] | None:
    match rows:
        case {"cell_rank": 1, "cells": int(cells), "splits": [*levels], "version": 1} if len(rows) == 4:
            parts = [*cast("list[int]", levels), cells]
            return part + 2, tuple([number + 2 for number in parts]), 1
        case _:
            return None


def _frame_places(mapped: memoryview, place: Place) -> list[tuple[int, int]]:
    """Return the starts and lengths of the frames of a valid message."""
    found: list[tuple[int, int]] = []
    begin = place.start + HEADER_BYTES
    while begin < place.stop:
        size = mapped[begin]
        begin += 1
        if size == 255:
            size = int.from_bytes(mapped[begin : begin + 4], "big")
            begin += 4
        found.append((begin, size))
        begin += size
    return found


@final
@frozen(eq=False)
class RecordBatch:
    """Results of reading many records; values for records that were not found are undefined."""

    found: _Bools
    """Mask of the records that are alike."""
    places: IntArray
    """Start of the elements of each record in the file."""
    counts: IntArray
    """Number of elements of each record."""
    lengths: tuple[IntArray, ...]
    """Concatenated row lengths of all found records, by level from the outermost."""
    marks: tuple[IntArray, ...]
    """Number of these lengths before each record, and the total."""

    @classmethod
    def nothing(cls, count: int) -> Self:
        """Return a batch of `count` records of which none was found."""
        zeros = np.zeros(count, dtype=np.int64)
        return cls(np.zeros(count, dtype=np.bool_), zeros, zeros, (), ())


def find_alike(
    mapped: memoryview,
    records: Columns,
    likeness: RecordTemplate,
    dtype: "np.dtype[np.generic]",
    *,
    skipped: int = 0,
) -> tuple[_Bools, IntArray, IntArray]:
    """Return the records that match a template, with the positions and sizes of their parts.

    The parts are the elements, and for rows the splits from the outermost; each part is a row of the tables.
    `read_alike` checks the values of the splits. O(bytes of labels), without a loop over records.

    Parameters
    ----------
    mapped
        The file.
    records
        The records to compare.
    likeness
        The template to compare with.
    dtype
        The type of the elements.
    skipped
        Number of records before these, which are in the result as ones that do not match.
    """
    file = np.frombuffer(mapped, dtype=np.uint8)
    count = skipped + len(records[0])
    found = np.zeros(count, dtype=np.bool_)
    places = np.zeros((1 + len(likeness.splits), count), dtype=np.int64)
    sizes = np.zeros_like(places)
    plan = [likeness.own, likeness.n_frames, likeness.inner, dtype.itemsize, SMALL_RECORD, VERSION]
    plan += [likeness.elements, *likeness.splits]
    if not _compiled.find_alike(file, records, likeness.texts, plan, (found, places, sizes)):
        own = found[skipped:], places[:, skipped:], sizes[:, skipped:]
        _find_by_blocks(file, records, likeness, dtype.itemsize, own)
    if dtype.kind == "b":
        _check_bools(file, found, places[0], sizes[0])
    return found, places, sizes


def _find_by_blocks(
    file: _Bytes,
    records: Columns,
    likeness: RecordTemplate,
    itemsize: int,
    into: tuple[_Bools, IntArray, IntArray],
) -> None:
    """Find records as `find_alike`, by NumPy."""
    found, places, sizes = into
    starts, lengths, _, rows = records
    fits = (lengths <= SMALL_RECORD) & (rows > 0) & (starts + HEADER_BYTES + lengths <= len(file))
    small = np.flatnonzero(fits)
    for begin in range(0, len(small), _BLOCK):
        chosen = small[begin : begin + _BLOCK]
        starts, lengths, before, rows = [own[chosen] for own in records]
        good, where, how_long = _block(file, (starts, lengths, before, rows), likeness, itemsize)
        found[chosen], places[:, chosen], sizes[:, chosen] = good, where, how_long


def read_alike(
    mapped: memoryview, found: _Bools, places: IntArray, sizes: IntArray, dtype: "np.dtype[np.generic]"
) -> RecordBatch:
    """Return the contents of records that `find_alike` found, without those with invalid splits.

    Writes into the tables: new memory takes as long as the computation.
    """
    file = np.frombuffer(mapped, dtype=np.uint8)
    counts = np.floor_divide(sizes[0], dtype.itemsize, out=sizes[0])
    if len(places) == 1:
        return RecordBatch(found, places[0], counts, (), ())
    while True:
        levels, marks, bad = _levels(file, found, places[1:], sizes[1:] // _WORD, counts)
        if not bad.any():
            return RecordBatch(found, places[0], counts, levels, marks)
        found = found & ~bad


def _block(
    file: _Bytes, records: Columns, likeness: RecordTemplate, itemsize: int
) -> tuple[_Bools, IntArray, IntArray]:
    """Return the matching records of a block, with their frames of elements and splits."""
    starts, lengths, after, rows = records
    good = _has_header(file, starts, lengths)
    stops = starts + HEADER_BYTES + lengths
    text, size = _frame(file, starts + HEADER_BYTES, stops, good)
    end = text + size
    *before, last = likeness.texts
    numbers: list[IntArray] = []
    for piece in before:
        number, text = _number(file, _skip(file, text, piece, good), good)
        numbers.append(number)
    extent, extends = numbers[likeness.own], numbers[-1]
    good &= _skip(file, text, last, good) == end
    good &= extends == after
    wanted = (likeness.elements, *likeness.splits)
    places = np.zeros((len(wanted), len(starts)), dtype=np.int64)
    sizes = np.zeros_like(places)
    for frame in range(1, likeness.n_frames):
        place, size = _frame(file, end, stops, good)
        end = place + size
        if frame == 1:
            good &= size == 24
        for k in [k for k, number in enumerate(wanted) if number == frame]:
            places[k], sizes[k] = place, size
    good &= end == stops
    if likeness.splits:
        good &= sizes[0] == extent * itemsize
        good &= sizes[1] == (rows + 1) * _WORD
        good &= ((places[1:] % _WORD == 0) & (sizes[1:] % _WORD == 0) & (sizes[1:] > 0)).all(axis=0)
    else:
        # Not the product, which may be over 64 bits.
        count, rest = np.divmod(sizes[0], likeness.inner * itemsize)
        good &= (extent == rows) & (count == rows) & (rest == 0)
    good &= places[0] % itemsize == 0
    return good, places, sizes


def _has_header(file: _Bytes, starts: IntArray, lengths: IntArray) -> _Bools:
    """Return a mask of the positions with a header of a record of this length."""
    # As bytes first, as NumPy copies structures field by field.
    headers = _windows(file, np.dtype(f"V{HEADER_BYTES}"))[starts].view(_HEADER)
    good = cast("_Bools", headers["magic"] == MAGIC)
    good &= headers["length"] == lengths
    good &= headers["version"] == VERSION
    # The headers of good records of one length begin alike.
    length = lengths.item(0)
    known = start_of_header(length) if bool((lengths == length).all()) else MAGIC
    state = ~zlib.crc32(known) & 0xFFFFFFFF
    tables = _crc_tables()
    for _ in range(len(known), 28):
        state = tables[0].item(state & 0xFF) ^ (state >> 8)
    checksum = np.full(len(starts), state, dtype=np.uint32)
    raw = headers.view(np.uint8).reshape(-1, HEADER_BYTES)
    for place in range(len(known), 28):
        checksum ^= tables[27 - place][raw[:, place]]
    good &= headers["own"] == ~checksum
    return good


def _windows(file: _Bytes, dtype: "np.dtype[Any]") -> "npt.NDArray[Any]":
    """Return an element of a type from each position of a file on; they share its memory."""
    return np.ndarray((len(file) - dtype.itemsize + 1,), dtype, cast("Any", file), 0, (1,))


@cache
def _crc_tables() -> "list[npt.NDArray[np.uint32]]":
    """Return tables of the contribution of a byte to a checksum, by the number of bytes that follow it."""
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, np.uint32(0xEDB88320), np.uint32(0)) ^ (table >> np.uint32(1))
    tables = [table]
    while len(tables) < 28:
        tables.append(table[tables[-1] & np.uint32(0xFF)] ^ (tables[-1] >> np.uint32(8)))
    return tables


def _frame(file: _Bytes, begin: IntArray, stops: IntArray, good: _Bools) -> tuple[IntArray, IntArray]:
    """Return the starts and sizes of frames whose sizes are at `begin`, all within their records."""
    good &= begin < stops
    begin = np.where(good, begin, 0)
    size = file[begin].astype(np.int64)
    begin = begin + 1
    # The method, as the function takes three times as long for a few records.
    far = ((size == 255) & good).nonzero()[0]
    if len(far):
        good[far] &= begin[far] + 4 <= stops[far]
        far = far[good[far]]
        size[far] = _windows(file, np.dtype(">u4"))[begin[far]]
        begin[far] += 4
    good &= size <= stops - begin
    return np.where(good, begin, 0), np.where(good, size, 0)


def _skip(file: _Bytes, place: IntArray, piece: bytes, good: _Bools) -> IntArray:
    """Return the positions after a text; records without this text are removed from `good`."""
    good &= place + len(piece) <= len(file)
    place = np.where(good, place, 0)
    if not 0 < len(piece) <= len(file):
        return place
    # NumPy ignores zeros at the end of bytes, but JSON has none.
    good &= _windows(file, np.dtype(f"S{len(piece)}"))[place] == piece
    return place + len(piece)


def _number(file: _Bytes, place: IntArray, good: _Bools) -> tuple[IntArray, IntArray]:
    """Return numbers of at most 18 digits and the positions after them; others are removed from `good`."""
    number = np.zeros(len(place), dtype=np.int64)
    width = _DIGITS + 1
    # The parts of a record follow its numbers.
    good &= place + width <= len(file)
    if len(file) < width:
        return number, place
    place = np.where(good, place, 0)
    window = _windows(file, np.dtype(f"V{width}"))[place]
    # As unsigned bytes, those below the digits become large.
    digits = window.view(np.uint8).reshape(-1, width) - np.uint8(48)
    n_digits, going = np.zeros_like(number), good
    for digit in digits.T:
        going = going & (digit < 10)
        if not going.any():
            break
        number = np.where(going, number * 10 + digit, number)
        n_digits += going
    # JSON numbers have no leading zeros.
    good &= (n_digits > 0) & (n_digits <= _DIGITS) & ((n_digits == 1) | (digits[:, 0] != 0))
    return number, place + n_digits


def _check_bools(file: _Bytes, found: _Bools, places: IntArray, sizes: IntArray) -> None:
    """Exclude records with bools that are neither 0 nor 1."""
    chosen = np.flatnonzero(found)
    wrong = np.flatnonzero(_numbers(file, places[chosen], sizes[chosen]) > 1)
    found[chosen[np.searchsorted(np.cumsum(sizes[chosen]), wrong, side="right")]] = False


def places_of_runs(starts: IntArray, counts: IntArray) -> Iterator[tuple[int, IntArray]]:
    """Yield the positions in all runs from ``starts[k]`` to ``starts[k] + counts[k]``, in batches.

    Each batch comes with the number of positions yielded before it.
    """
    splits = splits_of(counts)
    begin = 0
    while begin < len(counts):
        stop = min(max(last_run(splits, int(splits[begin]) + _GATHERED), begin + 1), len(counts))
        yield int(splits[begin]), concatenated_ranges(starts[begin:stop], counts[begin:stop])
        begin = stop


def _numbers(values: npt.NDArray[_T], starts: IntArray, counts: IntArray) -> npt.NDArray[_T]:
    """Return the concatenated numbers of runs."""
    result: npt.NDArray[_T] = np.empty(int(counts.sum()), values.dtype)
    for done, places in places_of_runs(starts, counts):
        result[done : done + len(places)] = values[places]
    return result


def _levels(
    file: _Bytes, found: _Bools, places: IntArray, sizes: IntArray, counts: IntArray
) -> tuple[tuple[IntArray, ...], tuple[IntArray, ...], _Bools]:
    """Return the row lengths by level, their number before each record, and the mask of valid records.

    Parameters
    ----------
    places, sizes
        Positions and numbers of splits, by level.
    counts
        Number of elements of each record.
    """
    bad = np.zeros(len(found), dtype=np.bool_)
    chosen = np.flatnonzero(found)
    words = file[: len(file) // _WORD * _WORD].view("<i8")
    lengths: list[IntArray] = []
    marks: list[IntArray] = []
    below = [*sizes[1:] - 1, counts]
    for place, size, number in zip(places[:, chosen], sizes[:, chosen], below, strict=True):
        splits = _numbers(words, place // _WORD, size)
        ends = np.cumsum(size)
        bad[chosen] |= (splits[ends - size] != 0) | (splits[ends - 1] != number[chosen])
        inside = np.ones(max(len(splits) - 1, 0), dtype=np.bool_)
        inside[ends[:-1] - 1] = False
        # Compare instead of subtracting: differences of untrusted numbers could overflow.
        falling = np.flatnonzero((splits[1:] < splits[:-1]) & inside)
        bad[chosen[np.searchsorted(ends, falling, side="right")]] = True
        lengths.append(np.diff(splits)[inside])
        before = np.zeros(len(found) + 1, dtype=np.int64)
        before[1:][chosen] = size - 1
        marks.append(np.cumsum(before))
    return tuple(lengths), tuple(marks), bad
