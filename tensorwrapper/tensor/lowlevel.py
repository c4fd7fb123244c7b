"""The module has the names of tensors for the floors above, beside the public ones.

**Base of views**: `TensorCommon`, the operations that tensors and views share, `Operators`, which
are NumPy's, and `TensorLibraries`, which converts both to other libraries; `CALLS` calls methods of both.
`TensorBlocks`, `TensorSparse`, `TensorStrings` and `TensorSymmetry` have the methods that compute a view.

**Making tensors** of parts that are known to fit: `make_tensor` (nothing is checked; `Tensor` checks), and
`make_dense` over a flat array. `stored_parts` are the layouts and the buffers of many.

**Rows**: `cut_rows` is the layout in which a mode is dealt to rows. `padded_lines` is the shape of longer
rows, `padded_cells` that of cells with margins. `WithinRows` has the methods that work in each row.
`numbered_as` lets its messages number rows of a part as those of all. `ROW_FUNCTIONS` are the names of
NumPy's functions of rows, and `REDUCTIONS` the ufuncs of some. `select_tiles` has some tiles of a
tiled layout, whose numbers `tile_numbers` checks. `check_filled` checks that a reduction has an answer for
empty rows. `NormOrder` are the norms of a tile. `TileChoice` are the ways to choose tiles.

**Arrays of other libraries**: `labelled_shape`, of those that name and number their modes;
`tensor_from_arrow`, of those with Arrow's C interface. `buffer_beside_valid` holds elements with their
validity.

**Elements of files**: `text_or_bytes`, text if it is UTF-8; `rows_of_sequences`, of any lengths, of elements
that `check_sequences` allows; `reading_lazily`, around what a library reads. `has_null` and `split_nulls`
are for lists with None, and `has_tensor` tells whether lists have tensors.

**Operands** of NumPy's calls: `read_operand` (a valid operand), `is_foreign` (implements NumPy's protocol
itself),
`promoted` (the type of several), `type_of_extreme` (that of minimum and maximum), `reduced_shape` (the shape
of a reduction). Beside sparse tensors:
`check_beside`, of fills or `DENSE`, `check_one_fill`, and `at_places`, elements of entries at more places.

**Keys of rows**: `is_ragged` recognises them. `are_points` recognises several arrays, which pick points
together. `chosen_layout` is the selection of a key with arrays from a layout.

**The way up**: `hand_over` calls a function of ``interop``, which is loaded for it.

**Assignment**: `as_computed` computes a view, or rows elsewhere, and returns other values unchanged;
`fit_values` is a value as an array of the type of a tensor, by the rules of its assignment;
`divide_value` is its values and their validity;
`values_into` one value for each element of a sum's target, by the rule of operands; `zero_filled` are
numbers with zero for nulls;
`add_all` adds arrays to the elements of several layouts, or changes nothing.
"""

from typing import TYPE_CHECKING

from tensorwrapper._lazy import lazy_names

if TYPE_CHECKING:
    from tensorwrapper.tensor._common import TensorCommon, as_computed
    from tensorwrapper.tensor._lazy_imports import hand_over, has_tensor
    from tensorwrapper.tensor._libraries import TensorLibraries
    from tensorwrapper.tensor._tensor import make_dense, make_tensor, stored_parts
    from tensorwrapper.tensor.creation._convert import tensor_from_arrow
    from tensorwrapper.tensor.creation._elements_of_files import (
        check_sequences,
        reading_lazily,
        rows_of_sequences,
        text_or_bytes,
    )
    from tensorwrapper.tensor.creation._to_nullable import buffer_beside_valid
    from tensorwrapper.tensor.facade._blocks import TensorBlocks, TileChoice
    from tensorwrapper.tensor.facade._operators import Operators
    from tensorwrapper.tensor.facade._sparse import TensorSparse
    from tensorwrapper.tensor.facade._strings import TensorStrings
    from tensorwrapper.tensor.facade._structure import cut_rows
    from tensorwrapper.tensor.facade._symmetry import TensorSymmetry
    from tensorwrapper.tensor.facade._writes import divide_value, fit_values, values_into
    from tensorwrapper.tensor.keys._array_keys import is_running
    from tensorwrapper.tensor.keys._ragged_keys import are_points, chosen_layout, is_ragged
    from tensorwrapper.tensor.operators._fill_rules import DENSE, check_beside, check_one_fill
    from tensorwrapper.tensor.operators._operand import is_foreign, read_operand
    from tensorwrapper.tensor.operators._promotion import promoted, type_of_extreme
    from tensorwrapper.tensor.operators._reductions import reduced_shape
    from tensorwrapper.tensor.operators._row_functions import REDUCTIONS, ROW_FUNCTIONS
    from tensorwrapper.tensor.operators._sparse import at_places
    from tensorwrapper.tensor.protocols._labelled import labelled_shape
    from tensorwrapper.tensor.protocols._null_lists import has_null, split_nulls
    from tensorwrapper.tensor.rows._nulls import zero_filled
    from tensorwrapper.tensor.rows._pad import padded_cells, padded_lines
    from tensorwrapper.tensor.rows._reduce import check_filled
    from tensorwrapper.tensor.rows._sums import add_all
    from tensorwrapper.tensor.rows._tile_blocks import NormOrder
    from tensorwrapper.tensor.rows._tiles import select_tiles, tile_numbers
    from tensorwrapper.tensor.within._within_rows import WithinRows, numbered_as

__all__ = [
    "DENSE",
    "REDUCTIONS",
    "ROW_FUNCTIONS",
    "NormOrder",
    "Operators",
    "TensorBlocks",
    "TensorCommon",
    "TensorLibraries",
    "TensorSparse",
    "TensorStrings",
    "TensorSymmetry",
    "TileChoice",
    "WithinRows",
    "add_all",
    "are_points",
    "as_computed",
    "at_places",
    "buffer_beside_valid",
    "check_beside",
    "check_filled",
    "check_one_fill",
    "check_sequences",
    "chosen_layout",
    "cut_rows",
    "divide_value",
    "fit_values",
    "hand_over",
    "has_null",
    "has_tensor",
    "is_foreign",
    "is_ragged",
    "is_running",
    "labelled_shape",
    "make_dense",
    "make_tensor",
    "numbered_as",
    "padded_cells",
    "padded_lines",
    "promoted",
    "read_operand",
    "reading_lazily",
    "reduced_shape",
    "rows_of_sequences",
    "select_tiles",
    "split_nulls",
    "stored_parts",
    "tensor_from_arrow",
    "text_or_bytes",
    "tile_numbers",
    "type_of_extreme",
    "values_into",
    "zero_filled",
]

if not TYPE_CHECKING:  # type checkers use the imports above
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "_lazy_imports": ("hand_over", "has_tensor"),
            "_common": ("TensorCommon", "as_computed"),
            "creation._to_nullable": ("buffer_beside_valid",),
            "creation._convert": ("tensor_from_arrow",),
            "creation._elements_of_files": (
                "check_sequences",
                "reading_lazily",
                "rows_of_sequences",
                "text_or_bytes",
            ),
            "keys._array_keys": ("is_running",),
            "keys._ragged_keys": ("are_points", "chosen_layout", "is_ragged"),
            "operators._fill_rules": ("DENSE", "check_beside", "check_one_fill"),
            "operators._operand": ("is_foreign", "read_operand"),
            "operators._promotion": ("promoted", "type_of_extreme"),
            "operators._row_functions": ("REDUCTIONS", "ROW_FUNCTIONS"),
            "operators._reductions": ("reduced_shape",),
            "operators._sparse": ("at_places",),
            "protocols._labelled": ("labelled_shape",),
            "protocols._null_lists": ("has_null", "split_nulls"),
            "_libraries": ("TensorLibraries",),
            "facade._sparse": ("TensorSparse",),
            "facade._strings": ("TensorStrings",),
            "facade._symmetry": ("TensorSymmetry",),
            "facade._blocks": ("TensorBlocks", "TileChoice"),
            "facade._operators": ("Operators",),
            "rows._nulls": ("zero_filled",),
            "rows._pad": ("padded_cells", "padded_lines"),
            "facade._structure": ("cut_rows",),
            "rows._reduce": ("check_filled",),
            "rows._sums": ("add_all",),
            "_tensor": ("make_dense", "make_tensor", "stored_parts"),
            "rows._tile_blocks": ("NormOrder",),
            "rows._tiles": ("select_tiles", "tile_numbers"),
            "within._within_rows": ("WithinRows", "numbered_as"),
            "facade._writes": ("divide_value", "fit_values", "values_into"),
        },
    )
