"""The canonical form of rows, the basis of equality and tokens of shapes: fewest unrolled modes.

The number of unrolled modes is not part of a shape. So equal children are folded into one cell, as far as
possible. A node without children becomes a cell with the extent 0 in its empty mode, or with the stored
extents of absent cells. Shapes are equal exactly if their canonical forms are.
"""

from collections.abc import Sequence
from typing import Final, cast

import numpy as np

from tensorwrapper._arrays import digest_of, frozen_array, tidy_table
from tensorwrapper.shape.rows._columns import Columns, Origins, tidy_origins
from tensorwrapper.shape.rows._rows import Rows
from tensorwrapper.typing import Index, IntArray

MOST_ROWS_OF_TOKENS: Final = 2**20
"""How many rows tokens are made of; more are named by their closed form, if they have one."""


def canonical(rows: Rows) -> Rows:
    """Return rows that say the same with as few unrolled modes as can be; O(nodes)."""
    folded: Rows | None = rows.packed()
    while folded is not None:
        rows = folded
        folded = _folded(rows) if rows.outer_rank > 1 else None
    return rows


def _folded(rows: Rows) -> Rows | None:
    """Return the rows with one unrolled mode less; None if that would change their meaning."""
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
    if n > MOST_ROWS_OF_TOKENS:
        closed = _closed_token(rows)
        if closed is not None:
            return closed
    splits = [digest_of(splits) for splits in columns.splits]
    origins = [_plain(origins) for origins in (*columns.origins[1:], *columns.leaf_origins)]
    extents = columns.leaf_extents(0, n)
    alike = n > 0 and (columns.even is not None or bool((extents == extents[0]).all()))
    cells = extents[0].tolist() if alike else [digest_of(extents)]
    return rows.rank, rows.count, rows.first, *splits, *origins, n, *cells, *rows.absent


def tiled_token(grid_origin: Index, sizes: Sequence[IntArray]) -> tuple[object, ...]:
    """Return what tells tiles of a box apart whose rows are too many; of one mode, rows of these lengths."""
    if len(sizes) == 1 and grid_origin == (0,):
        half = _triangle_of(sizes[0], 0)
        if half is not None:
            return half
    return "tiled", *grid_origin, *[digest_of(own) for own in sizes]


def triangular_token(n: int, first: tuple[int, int]) -> tuple[object, ...]:
    """Return what tells triangles apart whose rows are too many: the side, extent and origin of row 0."""
    return "triangular", n, first


def _closed_token(rows: Rows) -> tuple[object, ...] | None:
    """Return the token of the closed form of equal rows; None if there is no closed form. O(leaves)."""
    columns = rows.columns
    k, r = rows.outer_rank, rows.rank // 2
    extents = columns.leaf_extents(0, columns.n_leaves)
    levels = [*columns.origins[1:], *columns.leaf_origins]
    starts = [own if isinstance(own, int) else tidy_origins(own) for own in levels]
    if rows.rank == 2 and k == 1 and not rows.first:
        half = _triangle_of(extents[:, 0], starts[0])
        if half is not None:
            return half
    counts = [np.diff(own) for own in columns.splits]
    grid = [rows.count, *[own.item(0) for own in counts]]
    if rows.rank % 2 or k > r or any(bool((own != own[0]).any()) for own in counts):
        return None
    if not all(isinstance(own, int) for own in starts) or any(cast("list[int]", starts)[r - 1 :]):
        return None
    table = extents.reshape(*grid, rows.rank - k)
    sizes: list[IntArray] = []
    for mode in range(r):
        column = table[..., r - k + mode]
        line = column[tuple([slice(None) if m == mode else slice(1) for m in range(k)])]
        if (column != line).any():
            return None
        sizes.append(np.ascontiguousarray(line.reshape(-1)))
    behind = extents[:, : r - k]
    if (behind != behind[:1]).any():
        return None
    own_counts = behind[0].tolist()
    every = [*sizes[:k], *[np.full(n, s[0]) for n, s in zip(own_counts, sizes[k:], strict=True)]]
    return tiled_token((rows.first, *cast("list[int]", starts)[: r - 1]), every)


def _triangle_of(lengths: IntArray, starts: Origins) -> tuple[object, ...] | None:
    """Return the token of a triangle with rows of these lengths and origins; None if it is not a triangle."""
    n, first = len(lengths), lengths.item(0)
    steps = np.diff(lengths)
    if isinstance(starts, int):
        lower = starts == 0 and first in (0, 1) and bool((steps == 1).all())
        return triangular_token(n, (first, 0)) if lower else None
    start = starts.item(0)
    falls = bool((steps == -1).all() & (np.diff(starts) == 1).all())
    upper = falls and start == n - first and start in (0, 1)
    return triangular_token(n, (first, start)) if upper else None


def _plain(origins: Origins) -> int | str:
    tidy = origins if isinstance(origins, int) else tidy_origins(origins)
    return tidy if isinstance(tidy, int) else digest_of(tidy)
