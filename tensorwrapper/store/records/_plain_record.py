"""Records of one plain tensor, with only a name: most records, whose bytes are known but for a few.

They are written without an encoder of JSON, and read by a comparison with the bytes of the writer.
"""

from functools import lru_cache
from json.encoder import encode_basestring
from typing import Any, Final, final
from zlib import crc32

import numpy as np

from tensorwrapper._arrays import are_truths
from tensorwrapper.store.records._format import HEADER_BYTES, RESIDUE, pack_body, start_of_header
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import make_dense
from tensorwrapper.typing import Array
from tensorwrapper.wire.lowlevel import NOWHERE, PlainPart, plain_entry

_HEAD: Final = 1024  # bytes before the elements of nearly every tensor
_COPIED: Final = 2**14  # bytes of elements that are joined with the bytes around them
_MOST_BYTES: Final = 2**32 - 1  # of a frame
_LIKE: Final = (
    128  # bytes of a record, behind its header, that mostly tell kind, shape and length of the name
)
_FORMS: Final = 1024


def rest_of_named(name: str) -> bytes:
    """Return what follows the tensor in the label of a record with only a name."""
    # The text of `dump_json`, without its encoder of objects, which took as long as all else of a record.
    return b"".join((_BEFORE_NAME, encode_basestring(name).encode(), _AFTER_NAME))


_BEFORE_NAME: Final = b',"record":{"kind":"tensor","name":'
_AFTER_NAME: Final = b"}}"


def pack_plain(frames: list[bytes | memoryview]) -> list[bytes | memoryview]:
    """Return what `pack_body` does for the frames of one plain tensor, in at most three buffers."""
    prefix, _, _, data = frames
    before, between, behind = _around(len(prefix), len(data))
    if len(data) <= _COPIED:
        return [b"".join((before, prefix, between, data, behind))]
    return [b"".join((before, prefix, between)), data, behind]


@lru_cache(maxsize=1024)
def _around(prefix: int, nbytes: int) -> tuple[bytes, bytes, bytes]:
    """Return the bytes before the prefix of a record of one plain tensor, and around its elements."""
    # Frames of these lengths, without the bytes, which may be many.
    frames: Any = [range(prefix), NOWHERE, b"", range(nbytes)]
    pieces = pack_body(frames)
    return bytes(pieces[0]), b"".join(pieces[2:7]), b"".join(pieces[8:])


@final
class PlainReader:
    """Reader of such records in a mapped file.

    It remembers the bytes around the name and the elements by how the message begins.
    """

    __slots__ = ("_forms", "_lines", "_map")

    def __init__(self, mapped: memoryview) -> None:
        self._map = mapped
        self._forms: dict[bytes, _FormHere] = {}
        # The whole file as elements of each type, of which a tensor is a slice.
        self._lines: dict[np.dtype[Any], Array | None] = {}

    def tensor(self, start: int, length: int, name: str) -> Tensor[Any] | None:
        """Return the tensor in a record; None if its bytes are not those that are written."""
        source = self._map
        quoted = encode_basestring(name).encode()
        head = source[start : start + _HEAD].tobytes()
        known = self._forms.get(head[HEADER_BYTES:_LIKE])
        if known is None or head[HEADER_BYTES : known[4]] != known[1] + quoted + known[2]:
            known = self._learnt(head, length, quoted)
            if known is None:
                return None
        header, _, _, behind, data, entry, line = known
        stop, end = data + entry[1], HEADER_BYTES + length
        # The same start of a label may come with another length of the record.
        tail = head[stop:end] if end <= _HEAD else source[start + stop : start + end].tobytes()
        if tail != behind or not head.startswith(header) or crc32(head[:HEADER_BYTES]) != RESIDUE:
            return None
        _, _, dtype, layout, extents = entry
        first, word = start + data, dtype.itemsize
        if line is None or first % word:
            return None
        flat = line[first // word : (start + stop) // word]
        if dtype.kind == "b" and not are_truths(flat):
            return None
        return make_dense(layout, flat, None if extents is None else flat.reshape(extents))

    def _learnt(self, head: bytes, length: int, quoted: bytes) -> "_FormHere | None":
        """Return the form of a record, and remember it; None if it has another."""
        found = _form_of(head[HEADER_BYTES:], length, quoted)
        if found is None:
            return None
        form = *found, self._line(found[5][2])
        if head[HEADER_BYTES : form[4]] != form[1] + quoted + form[2]:
            return None
        if len(self._forms) >= _FORMS:
            self._forms.clear()
        self._forms[head[HEADER_BYTES:_LIKE]] = form
        return form

    def _line(self, dtype: "np.dtype[Any]") -> Array | None:
        """Return the whole file as elements of one type; None if they are not aligned in memory."""
        if dtype not in self._lines:
            line: Array = np.frombuffer(self._map, dtype, len(self._map) // dtype.itemsize)
            line.flags.writeable = False
            self._lines[dtype] = line if line.flags.aligned else None
        return self._lines[dtype]


def _form_of(raw: bytes, length: int, quoted: bytes) -> "_Form | None":
    """Return the form of a record from the start of its message; None if it has another."""
    first = 5 if raw.startswith(b"\xff") else 1
    stop = raw.find(b"]}", first) + 2
    entry = plain_entry(raw[first:stop]) if stop > 2 else None
    if entry is None or entry[1] > min(length, _MOST_BYTES):
        return None
    prefix = stop - first + len(_BEFORE_NAME) + len(quoted) + len(_AFTER_NAME)
    before, between, behind = _around(prefix, entry[1])
    data = HEADER_BYTES + first + prefix + len(between)
    before += raw[first:stop] + _BEFORE_NAME
    return start_of_header(length), before, _AFTER_NAME + between, behind, data, entry


_Form = tuple[bytes, bytes, bytes, bytes, int, PlainPart]
"""Start of the header, bytes before and after the name, bytes behind the elements, their start and entry."""

_FormHere = tuple[bytes, bytes, bytes, bytes, int, PlainPart, Array | None]
"""A form, and the whole file as elements of its type."""
