"""What upper floors and those who extend this one may use of indices, beside the public names."""

from tensorwrapper.shape._shape import unnamed_shape, wrap, zero_based
from tensorwrapper.shape.boxes._common import (
    integer_array,
    to_index,
    to_index_array,
    to_ordinal_array,
    tuples_of,
)
from tensorwrapper.shape.boxes._keys import mode_of, mode_text
from tensorwrapper.shape.boxes._smooth import box_ordinal, make_smooth, to_extents, to_permutation
from tensorwrapper.shape.interchange._losses import FACTS
from tensorwrapper.shape.kinds._encodings import as_jagged
from tensorwrapper.shape.kinds._nested import layers_left
from tensorwrapper.shape.pictures._boxes import ModeBar, bar_lengths, draw_bars
from tensorwrapper.shape.pictures._draw import block_html, short_text
from tensorwrapper.shape.rows._columns import Columns, Origins, tidy_origins
from tensorwrapper.shape.rows._locate import find_cells, indices_at
from tensorwrapper.shape.rows._merge import intersect_rows, merge_rows, split_rows, split_run
from tensorwrapper.shape.rows._rearrange import build_rows
from tensorwrapper.shape.rows._unroll import unroll
from tensorwrapper.shape.text._text import MAX_DIGITS, number_text
from tensorwrapper.shape.tilings._drawing import draw_tiling
from tensorwrapper.shape.tilings._tiling import make_tiling

__all__ = [
    "FACTS",
    "MAX_DIGITS",
    "Columns",
    "ModeBar",
    "Origins",
    "as_jagged",
    "bar_lengths",
    "block_html",
    "box_ordinal",
    "build_rows",
    "draw_bars",
    "draw_tiling",
    "find_cells",
    "indices_at",
    "integer_array",
    "intersect_rows",
    "layers_left",
    "make_smooth",
    "make_tiling",
    "merge_rows",
    "mode_of",
    "mode_text",
    "number_text",
    "short_text",
    "split_rows",
    "split_run",
    "tidy_origins",
    "to_extents",
    "to_index",
    "to_index_array",
    "to_ordinal_array",
    "to_permutation",
    "tuples_of",
    "unnamed_shape",
    "unroll",
    "wrap",
    "zero_based",
]
