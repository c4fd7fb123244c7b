"""What those who add a representation, and the floors above, may use of shapes beside the public names.

A representation is one class over `SmoothCommon`, `JaggedCommon` or `NestedCommon` (public names): it
implements the primitives that the first line of its mixin names, and overrides what it knows in closed form.
The guide to representations shows one, ``tensorwrapper.testing.ShapeContract`` tests it.

**Reading arguments**, with the errors that the rest of the package raises: `to_index` (one index),
`to_index_array` and `to_ordinal_array` (many, int64), `integer_array` (integers of any type), `mode_of`
(a mode, from the end too), `to_permutation`, `mode_text` (how an error names a mode and where).

**Making shapes** from parts that are known to be right, without checks: `make_smooth` (a box), `make_tiling`,
`make_block_pattern` (of ascending ordinals), `wrap` (an implementation behind the facade).

**Names of modes**, which are `ModeNames`: `names_of` (those of a shape; None if there are none, which costs
nothing to find out), `unnamed_shape` (what a caller gave, without them), `agreed_names` (those that shapes of
one rank agree on), `check_names` (whether a value may be written), `key_of_names` (a key by names, with items
for all modes), `picked_names` (those of what lists of positions pick), `usable_names` (those of a list
that modes can have).

**Operands** of a call by elements: `OperandShapes` has the rule that decides which fit. `fit` returns the
shape of the result, and how many modes each operand shares with it; `splits_under` says where the elements
under each prefix begin.

**Columns**, how jagged shapes are stored: `Columns` (row splits and leaves), `Origins` (where the rows of
a level start: one number, or one each; `tidy_origins` makes the first of the second where it can),
`build_rows` (columns from counts, a level at a time), `rows_under` (those of a shape, also of a box),
`unroll` (the same rows with more modes as splits).

**Tiles**: `mask_of_predicate` (a bool for each tile of a grid), `to_threshold` (that of norms).

**Symmetry**: `contraction_symmetry` and `ufunc_symmetry` have the rules for the symmetry of a result, and
`symmetry_left` that of a contraction of elements of some types.
`fold_columns` says where elements are packed (`Folded`), `closed_form` how a group is built of `Block`s: a
`Row` or `Copies` of them. `check_exchanged` compares numbers of modes; `columns_of` has indices of ordinals.
`without_conjugation` leaves operations out, `orientations` says which one leads to a canonical index.
`plain_generators` and `read_generators` are for JSON. `MOST_RANK` is how many modes a symmetry has at most.

**Contractions**: `read_labels` reads an equation, `restricted` returns the plan of some tiles of the result,
and `with_symmetry` that of one tile of each orbit.

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

if not TYPE_CHECKING:  # for checkers there are the names above, and no others
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
