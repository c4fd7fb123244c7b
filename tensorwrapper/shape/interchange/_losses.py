"""Properties of a shape or a layout that another system cannot store: the report of every export."""

from collections.abc import Set as AbstractSet
from typing import Literal, Self, TypeAlias, cast, final

import numpy as np

from tensorwrapper._error_text import brief
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import ConversionError
from tensorwrapper.shape.boxes._names import Names
from tensorwrapper.shape.boxes._smooth import SmoothCommon
from tensorwrapper.shape.interchange._torch import depends_on_rows_alone
from tensorwrapper.shape.kinds._jagged import Jagged, JaggedCommon, JaggedView
from tensorwrapper.shape.kinds._nested import Flat, Implementation, NestedCommon, flat_of
from tensorwrapper.shape.rows._partition import Partition
from tensorwrapper.shape.rows._rows import Rows

LossKind: TypeAlias = Literal[
    "origin",
    "names",
    "offset",
    "unit_strides",
    "strides",
    "hierarchy",
    "layers",
    "negative_strides",
    "zero_strides",
    "interleaving",
    "gaps",
    "maps",
    "tiles",
    "jagged",
    "composite",
    "rank",
    "cells",
    "kind",
    "extents",
    "behind_empty",
    "dependencies",
    "empty_tiles",
    "no_tiles",
]
"""Something about a shape or a layout that another system may have no words for."""

_TEXTS: dict[LossKind, str] = {
    "origin": "indices do not start at zero",
    "names": "modes have names",
    "offset": "where the element at the origin lies",
    "unit_strides": "the strides of modes that are never stepped along",
    "strides": "where elements lie: they are not in row-major order without gaps",
    "hierarchy": "modes made of modes, or ordinals that count the first mode fastest",
    "layers": "modes dealt into layers",
    "negative_strides": "a mode goes down in memory",
    "zero_strides": "a mode repeats its elements",
    "interleaving": "a mode steps less far than the stride of a finer one times its extent",
    "gaps": "places between the elements hold none",
    "maps": "a mode has no single stride",
    "tiles": "the elements lie in tiles",
    "jagged": "the shape is not a box",
    "composite": "it is one function after the other",
    "rank": "it has another number of modes",
    "cells": "which modes are those of cells",
    "kind": "it is a box, and not jagged with rows that happen to be alike",
    "extents": "how long the modes are whose extents vary",
    "behind_empty": "extents are stored behind an empty mode, where no index leads",
    "dependencies": "an extent depends on more than the first index",
    "empty_tiles": "tiles without elements",
    "no_tiles": "a mode is cut into no tiles at all",
}


@final
@frozen
class LossReport:
    """The properties that an export leaves out.

    Attributes
    ----------
    form
        The target format.
    lost
        The properties that the format lacks; the export omits them.
    refused
        Lacking properties that would change the meaning: with any of them the export is refused, and the
        others are not reported.

    Examples
    --------
    >>> from tensorwrapper import Layout, Shape
    >>> report = Layout(Shape(2, 3, origin=(5, 0))).losses("dlpack")
    >>> report.is_exact, report.lost, str(report)
    (False, ('origin',), 'dlpack leaves out: origin (indices do not start at zero)')
    """

    form: str
    lost: tuple[LossKind, ...] = ()
    refused: tuple[LossKind, ...] = ()

    @classmethod
    def of(
        cls,
        form: str,
        facts: AbstractSet[LossKind],
        lost: AbstractSet[LossKind],
        refused: AbstractSet[LossKind],
    ) -> Self:
        """Return the report of a form that leaves out `lost`, and is impossible with any of `refused`."""
        if facts & refused:
            return cls(form, (), tuple([fact for fact in _TEXTS if fact in facts & refused]))
        return cls(form, tuple([fact for fact in _TEXTS if fact in facts & lost]))

    @property
    def is_exact(self) -> bool:
        """Return True if nothing is left out: reading the format returns an equal value."""
        return not self.lost and not self.refused

    @property
    def is_possible(self) -> bool:
        """Return True if the export is possible."""
        return not self.refused

    def __str__(self) -> str:
        if self.is_exact:
            return f"{self.form} says all"
        facts = ", ".join([f"{fact} ({_TEXTS[fact]})" for fact in self.refused or self.lost])
        return f"{self.form} {'cannot say' if self.refused else 'leaves out'}: {facts}"


ShapeForm: TypeAlias = Literal[
    "json", "row_partitions", "awkward", "arrow", "arrow_tensors", "torch", "torch_strided", "cf", "array_api"
]
"""In what form a shape is handed to another system."""

TilingForm: TypeAlias = Literal["marks", "dask", "zarr"]
"""In what form a tiling is handed to another system."""

_LOST: frozenset[LossKind] = frozenset(("origin", "names", "layers"))
_ROWS: frozenset[LossKind] = _LOST.union(("cells", "behind_empty"))
_BOXES: frozenset[LossKind] = _ROWS.union(("kind",))
_TABLES: frozenset[ShapeForm] = frozenset(("arrow_tensors", "torch", "torch_strided"))
_ROW_FORMS: frozenset[ShapeForm] = _TABLES.union(("cf",))  # no rows leave no extents

# What each form leaves out, and what it cannot be made for at all.
_EFFECTS: dict[ShapeForm, tuple[frozenset[LossKind], frozenset[LossKind]]] = {
    "json": (frozenset(), frozenset()),
    "row_partitions": (_ROWS, frozenset()),
    "awkward": (_ROWS, frozenset(("rank",))),
    "arrow": (_ROWS, frozenset(("rank",))),
    "arrow_tensors": (_BOXES, frozenset(("rank", "dependencies"))),
    "torch": (_BOXES, frozenset(("rank", "extents", "dependencies"))),
    "torch_strided": (_BOXES, frozenset(("rank", "dependencies"))),
    "cf": (_BOXES, frozenset(("rank",))),
    "array_api": (_ROWS.union(("extents",)), frozenset()),
}
_RANKS: dict[ShapeForm, tuple[int, int | None]] = {
    "awkward": (1, None),
    "arrow": (1, None),
    "arrow_tensors": (2, None),
    "torch": (2, None),
    "torch_strided": (2, None),
    "cf": (2, 2),
}
_TILING_EFFECTS: dict[TilingForm, tuple[frozenset[LossKind], frozenset[LossKind]]] = {
    "marks": (frozenset(), frozenset()),
    "dask": (frozenset(("origin",)), frozenset(("no_tiles",))),
    "zarr": (frozenset(("origin", "empty_tiles")), frozenset()),
}


def shape_losses(form: ShapeForm, shape: Implementation, names: Names) -> LossReport:
    """Return what a form leaves out of a shape; O(rows)."""
    _check_form(form, _EFFECTS)
    flat = flat_of(shape)
    facts = _facts(form, flat)
    if isinstance(shape, NestedCommon):
        facts.add("layers")
    if names is not None and (form != "arrow_tensors" or names[0] is not None):
        facts.add("names")
    least, most = _RANKS.get(form, (0, None))
    if flat.rank < least or (most is not None and flat.rank > most):
        facts.add("rank")
    return LossReport.of(form, facts, *_EFFECTS[form])


def _facts(form: ShapeForm, flat: Flat) -> set[LossKind]:
    if isinstance(flat, SmoothCommon):
        return _facts_of_box(form, flat)
    facts: set[LossKind] = set()
    if not _starts_at_zero(flat):
        facts.add("origin")
    if not flat.rows_tell_all or _says_behind_empty(flat.rows):
        facts.add("behind_empty")
    varying = [mode for mode in range(1, flat.rank) if not flat.is_uniform(mode)]
    # Where extents last vary, readers of rows see cells begin; others take each row of mode 0 for a cell.
    outer = 1 if form in _TABLES else max(varying, default=1)
    if form == "arrow":
        # Rows are written as lists of any size, whether or not they are alike.
        outer = max(outer, flat.outer_rank)
    if flat.outer_rank != outer:
        facts.add("cells")
    # An empty row has no cells; read as an empty cell, it has the extents that all others have.
    empty = next(
        (mode for mode in range(outer, flat.outer_rank) if not flat.extent_bounds(mode)[0]), flat.rank
    )
    if any(flat.extent_bounds(mode)[1] for mode in range(empty + 1, flat.rank) if mode not in varying):
        facts.add("behind_empty")
    if (form == "array_api" and varying) or (form == "torch" and len(varying) > 1):
        facts.add("extents")
    if form in _TABLES and not depends_on_rows_alone(flat):
        facts.add("dependencies")
    return facts


def _facts_of_box(form: ShapeForm, box: SmoothCommon) -> set[LossKind]:
    facts: set[LossKind] = {"kind"}
    if any(box.origin):
        facts.add("origin")
    if form in _ROW_FORMS and box.extents[:1] == (0,) and any(box.extents):
        facts.add("behind_empty")
    return facts


def _says_behind_empty(rows: Rows) -> bool:
    """Tell whether another extent may come back where no prefix leads; O(leaves).

    There a form says nothing, or what all cells have in common.
    """
    columns, (a, b) = rows.columns, rows.leaves
    if a == b:
        return any(rows.absent)
    even = columns.even
    if columns.leaf.ndim == 1 or (even is not None and all(even)):
        return False
    leaf = columns.leaf[a : a + 1] if even is not None else columns.leaf[a:b]
    reached = np.logical_and.accumulate(leaf[:, :-1] > 0, axis=1)
    return bool((~reached & (leaf[:, 1:].max(axis=0) > 0)).any())


def _starts_at_zero(flat: JaggedCommon) -> bool:
    if isinstance(flat, Jagged | JaggedView):
        rows = flat.rows
        origins = (rows.first, *rows.columns.origins[1:], *rows.columns.leaf_origins)
        if all(isinstance(origin, int) and not origin for origin in origins):
            return True
    # Numbers that are stored may belong to rows that no index leads to: only the shapes tell.
    return flat.zero_based() == flat


def tiling_losses(form: TilingForm, partitions: tuple[Partition, ...]) -> LossReport:
    """Return what a form leaves out of a tiling; O(tiles per mode)."""
    _check_form(form, _TILING_EFFECTS)
    facts: set[LossKind] = set()
    for partition in partitions:
        if partition.origin:
            facts.add("origin")
        if not partition.count:
            facts.add("no_tiles")
        elif not partition.bounds()[0]:
            facts.add("empty_tiles")
    return LossReport.of(form, facts, *_TILING_EFFECTS[form])


def _check_form(form: object, effects: object) -> None:
    known = cast("dict[str, object]", effects)
    if not isinstance(form, str) or form not in known:
        raise ConversionError(f"a form is one of {', '.join(known)}, not {brief(form)}")
