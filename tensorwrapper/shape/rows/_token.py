"""A token of rows: the same for equal rows however many of their modes are unrolled."""

import hashlib
from typing import Final

import numpy as np

from tensorwrapper._arrays import frozen_array, tidy_table
from tensorwrapper.shape.rows._columns import Columns, Origins, origins_of, tidy_origins
from tensorwrapper.shape.rows._rows import Rows
from tensorwrapper.typing import IntArray

__all__ = ["MOST_ROWS_OF_TOKENS", "digest_of", "token_of"]

MOST_ROWS_OF_TOKENS: Final = 2**20
"""For how many rows a closed form makes its columns, so that its token is that of equal columns."""


def token_of(rows: Rows) -> tuple[object, ...]:
    """Return what tells rows apart, as integers and texts; O(nodes)."""
    rows = _rolled_up(rows.packed())
    columns = rows.columns
    runs = [(rows.start, rows.stop), *[(0, len(splits) - 1) for splits in columns.splits[1:]]]
    origins = [_plain(o, a, b) for o, (a, b) in zip(columns.origins[1:], runs, strict=False)]
    a, b = rows.leaves
    leaf_origins = [_plain(o, a, b) for o in columns.leaf_origins]
    splits = [digest_of(splits) for splits in columns.splits]
    extents = columns.leaf_extents(a, b)
    if a < b and (extents == extents[0]).all():
        cells: object = (b - a, *extents[0].tolist())
    else:
        cells = digest_of(extents)
    return rows.rank, rows.count, rows.first, *splits, *origins, *leaf_origins, cells, columns.absent


def digest_of(numbers: IntArray) -> str:
    """Return a digest of the numbers of an array."""
    return hashlib.blake2b(np.ascontiguousarray(numbers).tobytes(), digest_size=16).hexdigest()


def _plain(origins: Origins, a: int, b: int) -> int | str:
    if not isinstance(origins, int):
        origins = tidy_origins(origins_of(origins, a, b))
    return origins if isinstance(origins, int) else digest_of(origins)


def _rolled_up(rows: Rows) -> Rows:
    """Return the same rows with as few unrolled modes as can be: children all alike become one cell."""
    while rows.outer_rank > 1 and not rows.columns.absent:
        columns = rows.columns
        splits = columns.splits[-1]
        counts = np.diff(splits)
        extents = columns.leaf_extents(0, columns.n_leaves)
        first = _first_child(extents, splits, counts)
        if (extents != np.repeat(first, counts, axis=0)).any():
            break
        starts: list[Origins] = []
        for origins in columns.leaf_origins:
            if isinstance(origins, int):
                starts.append(origins)
                continue
            theirs = _first_child(origins, splits, counts)
            if (origins != np.repeat(theirs, counts)).any():
                return rows
            starts.append(tidy_origins(theirs))
        leaf = tidy_table(frozen_array(np.concatenate([counts[:, np.newaxis], first], axis=1)))
        above, last = columns.origins[:-1], columns.origins[-1]
        rows = Rows.whole(Columns(columns.splits[:-1], leaf, above, (last, *starts)))
    return rows


def _first_child(values: IntArray, splits: IntArray, counts: IntArray) -> IntArray:
    """Return what the first child of each node has, zeros for a node without children."""
    found = np.zeros((len(counts), *values.shape[1:]), dtype=np.int64)
    some = counts > 0
    found[some] = values[splits[:-1][some]]
    return found
