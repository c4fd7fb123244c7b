"""Names of shapes for new representations and for higher layers, besides the public names.

A representation is one class over `SmoothCommon`, `JaggedCommon` or `NestedCommon` (public names). It
implements the primitives in the first line of its mixin, and overrides methods with closed forms. The guide
to representations shows one, and ``tensorwrapper.testing.ShapeContract`` tests it.

**Reading arguments**, with the errors of the package: `to_index` (one index), `to_index_array` and
`to_ordinal_array` (many, int64), `integer_array` (integers of any type). Modes are read by `mode_of` (also
from the end) and `to_permutation`; `mode_text` names a mode in an error.

**Making shapes** from valid parts, without checks: `make_smooth` (a box), `make_tiling`, `make_block_pattern`
(of ascending ordinals), `wrap` (an implementation in the facade).

**Names of modes** (`ModeNames`): `names_of` returns those of a shape, or None, in O(1); `unnamed_shape` drops
them. `agreed_names` returns the common names of shapes of one rank, `check_names` tests whether a value may
be written, and `key_of_names` converts a key by names to items for all modes. `picked_names` returns the
names of an indexed result, and `usable_names` the valid names of a list.

**Operands** of elementwise calls: `OperandShapes` has the rule for operands that fit. `fit` returns the shape
of the result, and the number of modes that each operand shares with it; `splits_under` returns the starts of
the elements under each prefix.

**Columns**, the storage of jagged shapes: `Columns` (row splits and leaves), and `Origins` (one origin of the
rows of a level, or one for each; `tidy_origins` converts equal ones to one). `build_rows` makes columns from
counts, a level at a time, `rows_under` returns those of a shape or a box, and `unroll` the same rows with
more modes as splits.

**Tiles**: `mask_of_predicate` (a bool for each tile of a grid), `to_threshold` (of norms).

**Symmetry**: `contraction_symmetry` and `ufunc_symmetry` have the rules for the symmetry of a result, and
`symmetry_left` the one for a contraction of elements of some types. `fold_columns` returns packed positions
(`Folded`), and `closed_form` the structure of a group in `Block`s: a `Row` or `Copies` of them.
`check_exchanged` compares numbers of modes; `columns_of` has indices of ordinals. `without_conjugation` drops
operations, and `orientations` finds the operation that leads to a canonical index. `plain_generators` and
`read_generators` are for JSON. `MOST_RANK` is the maximal number of modes of a symmetry.

**Contractions**: `read_labels` reads an equation, `restricted` returns the plan of some tiles of the result,
and `with_symmetry` the plan of one tile of each orbit.

**Displays**: `short_text` cuts a text, `shape_words` is a shape in a few words.
"""

from typing import TYPE_CHECKING

from tensorwrapper._lazy import lazy_names

if TYPE_CHECKING:
    from tensorwrapper.shape._shape import unnamed_shape, wrap
    from tensorwrapper.shape._shape_base import check_names, names_of
    from tensorwrapper.shape.boxes._common import integer_array, to_index, to_index_array, to_ordinal_array
    from tensorwrapper.shape.boxes._keys import mode_of, mode_text
    from tensorwrapper.shape.boxes._names import (
        ModeNames,
        agreed_names,
        key_of_names,
        picked_names,
        usable_names,
    )
    from tensorwrapper.shape.boxes._smooth import make_smooth, to_permutation
    from tensorwrapper.shape.combining._operands import OperandShapes
    from tensorwrapper.shape.contractions._contraction import restricted, with_symmetry
    from tensorwrapper.shape.contractions._labels import read_labels
    from tensorwrapper.shape.facade._cells import rows_under
    from tensorwrapper.shape.facade._words import shape_words
    from tensorwrapper.shape.patterns._block_pattern import has_tiles, make_block_pattern
    from tensorwrapper.shape.patterns._making import mask_of_predicate, to_threshold
    from tensorwrapper.shape.pictures._draw import short_text
    from tensorwrapper.shape.rows._columns import Columns, Origins, tidy_origins
    from tensorwrapper.shape.rows._compare import unroll
    from tensorwrapper.shape.rows._rearrange import build_rows
    from tensorwrapper.shape.symmetry._blocks import Block, Copies, Folded, Row
    from tensorwrapper.shape.symmetry._operations import MOST_RANK
    from tensorwrapper.shape.symmetry._packing import columns_of
    from tensorwrapper.shape.symmetry._rules import contraction_symmetry, symmetry_left, ufunc_symmetry
    from tensorwrapper.shape.symmetry._symmetry import (
        check_exchanged,
        closed_form,
        fold_columns,
        orientations,
        without_conjugation,
    )
    from tensorwrapper.shape.symmetry._text import plain_generators, read_generators
    from tensorwrapper.shape.tilings._tiling import make_tiling

__all__ = [
    "MOST_RANK",
    "Block",
    "Columns",
    "Copies",
    "Folded",
    "ModeNames",
    "OperandShapes",
    "Origins",
    "Row",
    "agreed_names",
    "build_rows",
    "check_exchanged",
    "check_names",
    "closed_form",
    "columns_of",
    "contraction_symmetry",
    "fold_columns",
    "has_tiles",
    "integer_array",
    "key_of_names",
    "make_block_pattern",
    "make_smooth",
    "make_tiling",
    "mask_of_predicate",
    "mode_of",
    "mode_text",
    "names_of",
    "orientations",
    "picked_names",
    "plain_generators",
    "read_generators",
    "read_labels",
    "restricted",
    "rows_under",
    "shape_words",
    "short_text",
    "symmetry_left",
    "tidy_origins",
    "to_index",
    "to_index_array",
    "to_ordinal_array",
    "to_permutation",
    "to_threshold",
    "ufunc_symmetry",
    "unnamed_shape",
    "unroll",
    "usable_names",
    "with_symmetry",
    "without_conjugation",
    "wrap",
]

if not TYPE_CHECKING:  # type checkers use the imports above
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "combining._operands": ("OperandShapes",),
            "facade._cells": ("rows_under",),
            "_shape_base": ("check_names", "names_of"),
            "_shape": ("unnamed_shape", "wrap"),
            "boxes._common": ("integer_array", "to_index", "to_index_array", "to_ordinal_array"),
            "boxes._keys": ("mode_of", "mode_text"),
            "boxes._names": ("ModeNames", "agreed_names", "key_of_names", "picked_names", "usable_names"),
            "boxes._smooth": ("make_smooth", "to_permutation"),
            "patterns._block_pattern": ("has_tiles", "make_block_pattern"),
            "patterns._making": ("mask_of_predicate", "to_threshold"),
            "facade._words": ("shape_words",),
            "pictures._draw": ("short_text",),
            "rows._columns": ("Columns", "Origins", "tidy_origins"),
            "rows._rearrange": ("build_rows",),
            "rows._compare": ("unroll",),
            "symmetry._blocks": ("Block", "Copies", "Folded", "Row"),
            "symmetry._packing": ("columns_of",),
            "symmetry._text": ("plain_generators", "read_generators"),
            "symmetry._symmetry": (
                "check_exchanged",
                "closed_form",
                "fold_columns",
                "orientations",
                "without_conjugation",
            ),
            "symmetry._rules": ("contraction_symmetry", "symmetry_left", "ufunc_symmetry"),
            "tilings._tiling": ("make_tiling",),
            "contractions._labels": ("read_labels",),
            "contractions._contraction": ("restricted", "with_symmetry"),
            "symmetry._operations": ("MOST_RANK",),
        },
    )
