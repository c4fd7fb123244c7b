"""What upper floors and those who extend this one may use of places, beside the public names.

Whoever writes a layout needs `CustomLayout` and `as_layout`, which are public, and from here `to_inside`,
which checks indices. Layouts of a box with one rule per mode are made by `over_box` of axis maps (`Stride`,
`Cycle`, `Table`), or by `new_strided` and `new_row_major` of strides; `contiguous` and `make_blocked` make
those of jagged shapes, and `wrap_layout` puts any of them behind the facade. What a layout is asked are
methods of `LayoutCommon`; the rest are functions on layouts of every kind, and the steps of copy plans.
"""

from typing import TYPE_CHECKING

from tensorwrapper._lazy import lazy_names

if TYPE_CHECKING:
    from tensorwrapper.layout._layout import wrap_layout
    from tensorwrapper.layout.axes._arithmetic import solve_progression
    from tensorwrapper.layout.axes._axis import AxisMap, Cycle, Stride, Table
    from tensorwrapper.layout.boxes._common import to_inside
    from tensorwrapper.layout.boxes._keys import expand_positional, parse_positional
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
    from tensorwrapper.layout.copies._block import BlockRow
    from tensorwrapper.layout.copies._plan import plan_copy
    from tensorwrapper.layout.copies._table import CopyTable
    from tensorwrapper.layout.operations._addresses import address_batches
    from tensorwrapper.layout.operations._choose import choose
    from tensorwrapper.layout.operations._inverse_map import count_elements, has_elements, locate, run_of
    from tensorwrapper.layout.operations._regroup import merge_mode, split_mode_by
    from tensorwrapper.layout.operations._tables import rows_under, table_of, unrolled
    from tensorwrapper.layout.tiles._tiled import TiledStrided

__all__ = [
    "AxisMap",
    "BlockRow",
    "CopyTable",
    "Cycle",
    "PlacedRows",
    "Stride",
    "Strided",
    "Table",
    "TiledStrided",
    "address_batches",
    "choose",
    "contiguous",
    "count_elements",
    "expand_positional",
    "fastest_first",
    "has_elements",
    "locate",
    "make_blocked",
    "merge_mode",
    "new_row_major",
    "new_strided",
    "over_box",
    "packed_strides",
    "parse_positional",
    "plan_copy",
    "rows_under",
    "run_of",
    "solve_progression",
    "split_mode_by",
    "table_of",
    "to_inside",
    "unrolled",
    "wrap_layout",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "_layout": ("wrap_layout",),
        "axes._arithmetic": ("solve_progression",),
        "axes._axis": ("AxisMap", "Cycle", "Stride", "Table"),
        "boxes._common": ("to_inside",),
        "boxes._keys": ("expand_positional", "parse_positional"),
        "boxes._orders": ("fastest_first",),
        "boxes._separable": ("over_box",),
        "boxes._strided": ("Strided", "new_row_major", "new_strided", "packed_strides"),
        "cells._blocked": ("make_blocked",),
        "cells._padded": ("contiguous",),
        "cells._parts": ("PlacedRows",),
        "copies._block": ("BlockRow",),
        "copies._plan": ("plan_copy",),
        "copies._table": ("CopyTable",),
        "operations._addresses": ("address_batches",),
        "operations._choose": ("choose",),
        "operations._inverse_map": ("count_elements", "has_elements", "locate", "run_of"),
        "operations._regroup": ("merge_mode", "split_mode_by"),
        "operations._tables": ("rows_under", "table_of", "unrolled"),
        "tiles._tiled": ("TiledStrided",),
    },
)
