"""Interfaces of elements for new buffers and for higher layers, beside the public names.

A buffer is one class over `BufferCommon` (public), whose first line names its primitives; the guide to
buffers shows one, and ``tensorwrapper.testing.BufferContract`` tests it.

**Element types**: `check_dtype` (a type that a buffer can have), `holds_strings`, `kind_of` (text or
bytes), `check_kind` (a caller's argument for that).

**Casts**, one rule for all: `check_write` (an array that may be written; of no elements, whether its type
may), `fit_number` (one number as an element), `convert_elements` (an array, if nothing is lost).

**Extents**: `fit_extents` returns an array that broadcasts to them.

**Copies that are counted**, the only ones: `copy_elements`, `join_elements` and `index_elements` return new
memory; `write_elements`, `assign_elements` (which broadcasts, and allows overlap), `assign_indexed`,
`join_into`, `put_runs` and `take_along` write into memory that is there.

**Buffers and layouts** for existing elements: `packed_layout` (without gaps), `as_dense` (an array of
any strides), `buffer_of` (a new flat array), `make_sparse` (valid addresses),
`pack_together` (elements of several buffers that one layout reaches), `arrays_from_arrow` and its
`ArrowValues`. `arrow_metadata` returns the metadata of a type. `without_gaps` gives an Arrow array all its
buffers.

**Blocks**: `tiles_of` returns `PresentTiles`, and `make_blocks` a buffer of checked parts. `picked_tiles` and
`put_tiles` move elements of some tiles of a pattern. `tile_places` are addresses of tiles, `volume_of_tiles`
their common size, `row_major_table` the strides of tiles without gaps. `make_symmetric_blocks` is for
one tile of each orbit, `project_tiles` gives tiles on diagonals their own symmetry. `blocks_away` makes
`UnreadBlocks`, tiles whose elements are fetched from a `Line` when they are used.

**Symmetric elements**: `packed_buffer` packs elements after a check, and `pack_box` without one.
`elements_at` returns those of packed places. `check_symmetric_box` compares a shape with a symmetry, and
`symmetry_for` returns the symmetry for elements of one type. `check_own_conjugates` refuses packed elements
that must be real and are not, `project_conjugates` makes them real. `make_symmetric` returns a buffer of
checked parts. `check_tolerance`, `differ` and `mismatch_text` compare elements of one orbit.
"""

from typing import TYPE_CHECKING

from tensorwrapper._lazy import lazy_names

if TYPE_CHECKING:
    from tensorwrapper.buffer._addresses import packed_layout
    from tensorwrapper.buffer._casts import (
        check_write,
        convert_elements,
        fit_number,
    )
    from tensorwrapper.buffer._dense import as_dense, buffer_of
    from tensorwrapper.buffer._elements import check_dtype, fit_extents, holds_strings, kind_of
    from tensorwrapper.buffer._nullable import clear_nulls
    from tensorwrapper.buffer._pack_together import pack_together
    from tensorwrapper.buffer._sparse import make_sparse
    from tensorwrapper.buffer._sparse_merge import is_fill, rises
    from tensorwrapper.buffer.arrow._arrays import ArrowValues, arrays_from_arrow
    from tensorwrapper.buffer.arrow._c import arrow_metadata
    from tensorwrapper.buffer.blocks._blocks import make_blocks
    from tensorwrapper.buffer.blocks._present import (
        PresentTiles,
        picked_tiles,
        put_tiles,
        row_major_table,
        tile_places,
        volume_of_tiles,
    )
    from tensorwrapper.buffer.blocks._symmetric_blocks import make_symmetric_blocks, project_tiles
    from tensorwrapper.buffer.blocks._unread_blocks import Line, UnreadBlocks, blocks_away
    from tensorwrapper.buffer.copies._copy import (
        assign_elements,
        assign_indexed,
        copy_elements,
        index_elements,
        join_elements,
        join_into,
        put_runs,
        take_along,
        write_elements,
    )
    from tensorwrapper.buffer.copies._symmetric_copy import elements_at, pack_box
    from tensorwrapper.buffer.strings._checks import check_kind, check_offsets
    from tensorwrapper.buffer.strings._export import without_gaps
    from tensorwrapper.buffer.symmetric._checks import (
        check_own_conjugates,
        check_tolerance,
        differ,
        mismatch_text,
        project_conjugates,
    )
    from tensorwrapper.buffer.symmetric._making import check_symmetric_box, packed_buffer
    from tensorwrapper.buffer.symmetric._symmetric import make_symmetric, symmetry_for

__all__ = [
    "ArrowValues",
    "Line",
    "PresentTiles",
    "UnreadBlocks",
    "arrays_from_arrow",
    "arrow_metadata",
    "as_dense",
    "assign_elements",
    "assign_indexed",
    "blocks_away",
    "buffer_of",
    "check_dtype",
    "check_kind",
    "check_offsets",
    "check_own_conjugates",
    "check_symmetric_box",
    "check_tolerance",
    "check_write",
    "clear_nulls",
    "convert_elements",
    "copy_elements",
    "differ",
    "elements_at",
    "fit_extents",
    "fit_number",
    "holds_strings",
    "index_elements",
    "is_fill",
    "join_elements",
    "join_into",
    "kind_of",
    "make_blocks",
    "make_sparse",
    "make_symmetric",
    "make_symmetric_blocks",
    "mismatch_text",
    "pack_box",
    "pack_together",
    "packed_buffer",
    "packed_layout",
    "picked_tiles",
    "project_conjugates",
    "project_tiles",
    "put_runs",
    "put_tiles",
    "rises",
    "row_major_table",
    "symmetry_for",
    "take_along",
    "tile_places",
    "volume_of_tiles",
    "without_gaps",
    "write_elements",
]

if not TYPE_CHECKING:  # type checkers use the imports above
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "_addresses": ("packed_layout",),
            "_dense": ("as_dense", "buffer_of"),
            "_casts": (
                "check_write",
                "convert_elements",
                "fit_number",
            ),
            "_elements": ("check_dtype", "fit_extents", "holds_strings", "kind_of"),
            "_nullable": ("clear_nulls",),
            "_pack_together": ("pack_together",),
            "_sparse": ("make_sparse",),
            "_sparse_merge": ("is_fill", "rises"),
            "arrow._arrays": ("ArrowValues", "arrays_from_arrow"),
            "arrow._c": ("arrow_metadata",),
            "blocks._unread_blocks": ("UnreadBlocks", "Line", "blocks_away"),
            "blocks._blocks": ("make_blocks",),
            "blocks._present": (
                "PresentTiles",
                "picked_tiles",
                "put_tiles",
                "row_major_table",
                "tile_places",
                "volume_of_tiles",
            ),
            "copies._copy": (
                "assign_elements",
                "assign_indexed",
                "copy_elements",
                "index_elements",
                "join_elements",
                "join_into",
                "put_runs",
                "take_along",
                "write_elements",
            ),
            "strings._checks": ("check_kind", "check_offsets"),
            "strings._export": ("without_gaps",),
            "symmetric._checks": (
                "check_own_conjugates",
                "check_tolerance",
                "differ",
                "mismatch_text",
                "project_conjugates",
            ),
            "symmetric._making": ("check_symmetric_box", "packed_buffer"),
            "symmetric._symmetric": (
                "make_symmetric",
                "symmetry_for",
            ),
            "copies._symmetric_copy": (
                "elements_at",
                "pack_box",
            ),
            "blocks._symmetric_blocks": (
                "make_symmetric_blocks",
                "project_tiles",
            ),
        },
    )
