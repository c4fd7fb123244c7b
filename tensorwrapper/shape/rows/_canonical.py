"""The canonical form of rows, on which equality of shapes and their tokens rest: fewest unrolled modes.

How many modes are unrolled is no part of a shape. So children that are all alike are folded into one cell,
as far as that goes; a node without children becomes a cell that says 0 behind its empty mode, or what is
stored for cells that are not there. Shapes are equal exactly if they say the same.
"""

from typing import Final

import numpy as np

from tensorwrapper._arrays import digest_of, frozen_array, tidy_table
from tensorwrapper.shape.rows._columns import Columns, Origins, tidy_origins
from tensorwrapper.shape.rows._rows import Rows

__all__ = ["MOST_ROWS_OF_TOKENS", "canonical", "token_of"]

MOST_ROWS_OF_TOKENS: Final = 2**20
"""For how many rows a closed form makes its columns, so that its token is that of equal columns."""


def canonical(rows: Rows) -> Rows:
    """Return rows that say the same with as few unrolled modes as can be; O(nodes)."""
    folded: Rows | None = rows.packed()
    while folded is not None:
        rows = folded
        folded = _folded(rows) if rows.outer_rank > 1 else None
    return rows


def _folded(rows: Rows) -> Rows | None:
    """Return the rows with one unrolled mode less; None if that would say something else."""
    columns = rows.columns
    splits = columns.splits[-1]
    counts = np.diff(splits)
    parents = counts > 0
    extents = columns.leaf_extents(0, columns.n_leaves)
    first = splits[:-1][parents]
    if columns.even is None and (extents != np.repeat(extents[first], counts[parents], axis=0)).any():
        return None
    starts: list[Origins] = []
    for stored in columns.leaf_origins:
        origins = stored if isinstance(stored, int) else tidy_origins(stored)
        if not isinstance(origins, int):
            # Origins that vary do not tell where a mode would start under a node without children.
            if not parents.all() or (origins != np.repeat(origins[first], counts)).any():
                return None
            origins = frozen_array(origins[first])
        starts.append(origins)
    cells = np.empty((len(counts), 1 + columns.leaf_rank), dtype=np.int64)
    cells[:, 0] = counts
    cells[:, 1:] = rows.absent
    cells[parents, 1:] = extents[first]
    absent = (0, *rows.absent) if any(rows.absent) and not len(counts) else ()
    *above, last = columns.origins
    leaf = tidy_table(frozen_array(cells))
    return Rows.whole(Columns(columns.splits[:-1], leaf, tuple(above), (last, *starts), absent))


def token_of(rows: Rows) -> tuple[object, ...]:
    """Return what tells rows apart, as integers and texts; O(nodes)."""
    rows = canonical(rows)
    columns = rows.columns
    n = columns.n_leaves
    splits = [digest_of(splits) for splits in columns.splits]
    origins = [_plain(origins) for origins in (*columns.origins[1:], *columns.leaf_origins)]
    extents = columns.leaf_extents(0, n)
    alike = n > 0 and (columns.even is not None or bool((extents == extents[0]).all()))
    cells = extents[0].tolist() if alike else [digest_of(extents)]
    return rows.rank, rows.count, rows.first, *splits, *origins, n, *cells, *rows.absent


def _plain(origins: Origins) -> int | str:
    tidy = origins if isinstance(origins, int) else tidy_origins(origins)
    return tidy if isinstance(tidy, int) else digest_of(tidy)
