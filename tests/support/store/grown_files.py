"""Files in which a tensor grows."""

import numpy as np

import tensorwrapper as tw
from tensorwrapper.store.records._checksum import checksum_of, choose
from tensorwrapper.store.records._format import pack_header
from tensorwrapper.store.records._index_rows import Place, pack_rows
from tensorwrapper.store.records._read_tail import hashes_of
from tensorwrapper.store.records._record import encode_index, encode_tensor

PARTS = {
    "x": [[0, 1], [2], [3, 4, 5]],
    "rows": [tw.jagged([[1], [2, 3]]), tw.jagged([[4]]), tw.jagged([[], [5]])],
    "words": [tw.strings(["a"]), tw.strings(["b", None])],
    "cut": [np.arange(8).reshape(4, 2), np.arange(8, 16).reshape(4, 2)],
}


def grown_in_steps(path):
    """Return the bytes of a file, and where each record of each name ends."""
    ends = {name: [] for name in PARTS}
    with tw.open(path, "a", piece_bytes=32) as f:
        for step in range(3):
            for name, parts in PARTS.items():
                if step < len(parts):
                    f.extend(name, parts[step])
                    ends[name].append(path.stat().st_size)
            if step == 1:
                f.flush()
    return path.read_bytes(), ends


def whole(name, count):
    return [row for part in PARTS[name][:count] for row in tw.as_tensor(part).tolist()]


def record(body):
    joined = b"".join(bytes(piece) for piece in body)
    algorithm = choose(len(joined))
    return pack_header(len(joined), algorithm, checksum_of([joined], algorithm)) + joined


def crafted(path, tensors, claims=None):
    """Write a file of records: tensor, rows before it, piece, pieces; `claims` is what an index says."""
    raw, rows = b"", []
    for tensor, after, *pieces in tensors:
        piece, many = pieces or (0, 1)
        new = record(encode_tensor(tensor, "x", piece, many, extends=after))
        rows.append(("x", Place(len(raw), len(new) - 32), piece, many, after))
        raw += new
    if claims is not None:
        rows = [(*row[:4], claim) for row, claim in zip(rows, claims, strict=True)]
        table, names, grown = pack_rows(rows)
        raw += record(encode_index(table, names, None, len(raw), hashes=hashes_of(rows), grown=grown))
    path.write_bytes(raw)


TWO = np.arange(2)
