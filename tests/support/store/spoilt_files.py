"""Files with records and an index that somebody spoilt."""

import numpy as np

import tensorwrapper as tw
from tensorwrapper.store.records._checksum import checksum_of, choose
from tensorwrapper.store.records._format import pack_header
from tensorwrapper.store.records._index_rows import Place, pack_rows
from tensorwrapper.store.records._record import encode_index, encode_tensor


def sample(path):
    with tw.open(path, "a", metadata={"run": 3}, piece_bytes=64) as f:
        f["a"] = np.arange(6, dtype="f4").reshape(2, 3)
        f["rows"] = tw.jagged([[1, 2, 3], [], [4]])
        f.flush()
        f["cut"] = np.arange(20).reshape(10, 2)
        f["t"] = tw.as_tensor(np.arange(12.0).reshape(3, 4)).tiled(tw.Tiling([1, 2], [4]))
    return path.read_bytes()


def header_of(message):
    algorithm = choose(len(message))
    return pack_header(len(message), algorithm, checksum_of([message], algorithm))


def record(body):
    """The bytes of a record with checksums that fit."""
    joined = b"".join(bytes(piece) for piece in body)
    return header_of(joined) + joined


def sealed(raw):
    """The same bytes, all checksums of records made to fit: what a hostile writer does."""
    spoilt, place = bytearray(raw), 0
    while place + 32 <= len(spoilt):
        length = int.from_bytes(spoilt[place + 8 : place + 16], "little")
        if place + 32 + length > len(spoilt):
            break
        body = bytes(spoilt[place + 32 : place + 32 + length])
        spoilt[place : place + 32] = header_of(body)
        place += 32 + length
    return bytes(spoilt)


BODY = encode_tensor(np.arange(3), "x")


PLACE = Place(0, sum(map(len, BODY)))


AFTER = PLACE.stop


def with_index(rows, *, previous=None, table=None, names=None):
    packed, bytes_, grown = pack_rows(rows)
    index = encode_index(
        packed if table is None else table, bytes_ if names is None else names, previous, AFTER, grown=grown
    )
    return record(BODY) + record(index)
