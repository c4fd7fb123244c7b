"""Fast path for small requests: a pattern matches the text that this library writes.

Other texts, and those with errors, go to the general parser, which raises the errors.
"""

import re
from typing import Any, Final

import numpy as np

from tensorwrapper.errors import TensorWrapperError
from tensorwrapper.remote.protocol._events import AskRead, AskRows
from tensorwrapper.remote.protocol._limits import ServeLimits
from tensorwrapper.selection import Outer, Runs
from tensorwrapper.typing import IntArray

_LONGEST: Final = 1024
"""Size limit of a label for the fast path, in bytes."""
_DEPTH: Final = 8
_ITEMS: Final = 64
"""Limits on the nesting and the values of labels that a pattern matches."""
_MOST: Final = 2**63 - 1
_ROWS_BYTES: Final = 2**31

_COUNT: Final = rb"(0|[1-9][0-9]{0,17})"
_NAME: Final = rb'"name":"([ !#-\[\]-~]{1,200})"'
_VERSION: Final = rb'"version":"([ !#-\[\]-~]{0,100})"'
_TABLE: Final = rb'\{"lengths":1,"starts":\{"as":"(u[124])","first":%b,"frame":0,"n":%b\}\}' % (
    _COUNT,
    _COUNT,
)
_RANGE: Final = rb"\[(?:0|[1-9][0-9]{0,17})(?:,(?:0|[1-9][0-9]{0,17})){2}\]"
_BOX: Final = re.compile(
    rb'ZIO0JSON\{"tw":\{"read":\{%b,"select":\[\{"modes":\[(%b(?:,%b){0,7})\]\}\],%b\}\}\}'
    % (_NAME, _RANGE, _RANGE, _VERSION)
)
_POINTS: Final = re.compile(
    rb'ZIO0JSON\{"tw":\{"read":\{%b,"select":\[%b\],%b\}\}\}' % (_NAME, _TABLE, _VERSION)
)
_ROWS: Final = re.compile(
    rb'ZIO0JSON\{"tw":\{"rows":\{(?:"bytes":%b,)?%b,"rows":%b,%b\}\}\}' % (_COUNT, _NAME, _TABLE, _VERSION)
)
_WIDTHS: Final["dict[bytes, np.dtype[Any]]"] = {b"u%d" % n: np.dtype(f"<u{n}") for n in (1, 2, 4)}


def quick_request(
    frames: list[memoryview], limits: ServeLimits, most: int | None = None
) -> AskRead | AskRows | None:
    """Return the request of a message for a box, points or rows in the usual form; otherwise None.

    Also return None for more than `most` points or rows.

    O(positions). Allocates at most eight times the size of the message.
    """
    first = frames[0]
    if first.nbytes > min(_LONGEST, limits.label_bytes) or limits.depth < _DEPTH or limits.items < _ITEMS:
        return None
    if sum([frame.nbytes for frame in frames]) > limits.request_bytes:
        return None
    label = first.tobytes()
    positions = limits.positions if most is None else min(most, limits.positions)
    if len(frames) == 2:
        found = _BOX.fullmatch(label)
        if found is None:
            return None
        name, modes, version = found.groups()
        outer = _outer(modes)
        return None if outer is None else AskRead(name.decode(), version.decode(), None, (outer,))
    if len(frames) != 3:
        return None
    found = _POINTS.fullmatch(label)
    if found is not None:
        name, *table, version = found.groups()
        runs = _runs(frames[2], table, positions)
        return None if runs is None else AskRead(name.decode(), version.decode(), None, (runs,))
    found = _ROWS.fullmatch(label)
    if found is None:
        return None
    given, name, *table, version = found.groups()
    nbytes = int(given or b"0")
    runs = _runs(frames[2], table, positions) if nbytes <= _ROWS_BYTES else None
    return None if runs is None else AskRows(name.decode(), version.decode(), runs, nbytes)


def _outer(modes: bytes) -> Outer | None:
    ranges: list[range] = []
    for mode in modes[1:-1].split(b"],["):
        start, count, step = map(int, mode.split(b","))
        if step < 1 or start + count * step > _MOST:
            return None
        ranges.append(range(start, start + count * step, step))
    return Outer(ranges)


def _runs(frame: memoryview, table: list[bytes], most: int) -> Runs | None:
    """Return single elements or rows from a frame of differences."""
    width, first, count = _WIDTHS[table[0]], int(table[1]), int(table[2])
    if not 0 < count <= most or frame.nbytes != (count - 1) * width.itemsize:
        return None
    # Sums fit 64 bits: the first has 60 bits, and there are fewer than 2^30 differences of 32 bits.
    found: IntArray = np.empty(count, np.int64)
    found[0] = first
    np.cumsum(np.frombuffer(frame, width), out=found[1:])
    found[1:] += first
    try:
        return Runs(found)
    except TensorWrapperError:
        return None
