"""Names of layouts for new layouts and for higher layers, besides the public names.

Your own layout is a class over `CustomLayout` (a public name), wrapped by `as_layout`;
``tensorwrapper.testing.LayoutContract`` tests it. `LayoutCommon` has all methods.

**Reading arguments**, with the errors of the package: `to_inside` (indices within a shape),
`expand_positional` and `parse_positional` (a key with NumPy's rules: with every mode named, and as starts,
steps and counts), `fastest_first` (an order of modes).

**Keys with arrays**: `is_basic` (a key without arrays), and `to_items` (lists as arrays). They select by
`addresses_of_items` (addresses), `outer_product` (layouts, tensors and views), and `split_points` (points
first); `numpys_errors` converts NumPy's errors for a key to errors of the package.

**Making layouts** from valid parts, without checks: `new_strided` and `new_row_major` (a box with strides;
`packed_strides` are the contiguous ones), `row_major_layout` (cached, in the facade), `over_box` (a box
with an axis map per mode), `contiguous` (any shape without gaps), `make_blocked` (cells at any offsets),
and `wrap_layout` (an implementation in the facade). Most tensors use `Strided` and `TiledStrided`.

**Rows** of a tensor: `PlacedRows` (the offset of each cell of a layout), `choose` (a selection by jagged
positions or masks), and `positions_of_rows` (including the extension of a boundary).

**Tiles**: `tile_view` is the `TileView` of a layout over a tiled shape: its box and tiling. `tile_layout` is
the layout of one tile, `tile_table` has the offsets of many, and `tile_major` is the box of packed tiles.

**Offsets**: `address_batches` (of all elements, in batches), `InverseMap` (the elements of many offsets).

**Copies**: `plan_copy` makes a `CopyPlan`, whose `steps` yield a `CopyTable`: many blocks, as arrays.
"""

from typing import TYPE_CHECKING

from tensorwrapper._lazy import lazy_names

if TYPE_CHECKING:
    from tensorwrapper.layout._array_keys import (
        addresses_of_items,
        is_basic,
        numpys_errors,
        outer_product,
        split_points,
        to_items,
    )
    from tensorwrapper.layout._layout import row_major_layout, wrap_layout
    from tensorwrapper.layout.boxes._common import TileView, to_inside
    from tensorwrapper.layout.boxes._keys import expand_positional, parse_positional
    from tensorwrapper.layout.boxes._modes import positions_of_rows
    from tensorwrapper.layout.boxes._orders import fastest_first
    from tensorwrapper.layout.boxes._separable import over_box
    from tensorwrapper.layout.boxes._strided import (
        Strided,
        new_row_major,
        new_strided,
        packed_strides,
    )
    from tensorwrapper.layout.cells._blocked import make_blocked
    from tensorwrapper.layout.cells._padded import contiguous
    from tensorwrapper.layout.cells._parts import PlacedRows
    from tensorwrapper.layout.copies._plan import plan_copy
    from tensorwrapper.layout.copies._table import CopyTable
    from tensorwrapper.layout.operations._addresses import address_batches
    from tensorwrapper.layout.operations._inverse_map import InverseMap
    from tensorwrapper.layout.operations._jagged_index import choose
    from tensorwrapper.layout.tiles._tile_views import tile_layout, tile_major, tile_table, tile_view
    from tensorwrapper.layout.tiles._tiled import TiledStrided

__all__ = [
    "CopyTable",
    "InverseMap",
    "PlacedRows",
    "Strided",
    "TileView",
    "TiledStrided",
    "address_batches",
    "addresses_of_items",
    "choose",
    "contiguous",
    "expand_positional",
    "fastest_first",
    "is_basic",
    "make_blocked",
    "new_row_major",
    "new_strided",
    "numpys_errors",
    "outer_product",
    "over_box",
    "packed_strides",
    "parse_positional",
    "plan_copy",
    "positions_of_rows",
    "row_major_layout",
    "split_points",
    "tile_layout",
    "tile_major",
    "tile_table",
    "tile_view",
    "to_inside",
    "to_items",
    "wrap_layout",
]

if not TYPE_CHECKING:  # type checkers use the imports above
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "_array_keys": (
                "addresses_of_items",
                "is_basic",
                "numpys_errors",
                "outer_product",
                "split_points",
                "to_items",
            ),
            "_layout": ("row_major_layout", "wrap_layout"),
            "boxes._common": ("TileView", "to_inside"),
            "boxes._keys": ("expand_positional", "parse_positional"),
            "boxes._modes": ("positions_of_rows",),
            "boxes._orders": ("fastest_first",),
            "boxes._separable": ("over_box",),
            "boxes._strided": ("Strided", "new_row_major", "new_strided", "packed_strides"),
            "cells._blocked": ("make_blocked",),
            "cells._padded": ("contiguous",),
            "cells._parts": ("PlacedRows",),
            "copies._plan": ("plan_copy",),
            "copies._table": ("CopyTable",),
            "operations._addresses": ("address_batches",),
            "operations._jagged_index": ("choose",),
            "operations._inverse_map": ("InverseMap",),
            "tiles._tile_views": ("tile_layout", "tile_major", "tile_table", "tile_view"),
            "tiles._tiled": ("TiledStrided",),
        },
    )
