"""Losses of layouts in each format: omitted properties, and required ones."""

from typing import Literal, TypeAlias, cast

from tensorwrapper._error_text import brief
from tensorwrapper.errors import ConversionError, LayoutError
from tensorwrapper.layout.boxes._common import LayoutCommon
from tensorwrapper.shape import LossKind, LossReport
from tensorwrapper.typing import Extents, Index

ExchangeFormat: TypeAlias = Literal[
    "array_interface",
    "buffer",
    "dlpack",
    "mdspan",
    "storage_order",
    "halide",
    "tensorstore",
    "cute",
    "array_api",
]
"""In what form a layout is handed to another system."""

_LOST: frozenset[LossKind] = frozenset(("origin", "offset", "unit_strides", "hierarchy", "layers", "names"))
_UNEVEN: frozenset[LossKind] = frozenset(("maps", "tiles", "jagged", "composite"))

# What each form leaves out, and what it cannot be made for at all.
_EFFECTS: dict[ExchangeFormat, tuple[frozenset[LossKind], frozenset[LossKind]]] = {
    "array_interface": (_LOST, _UNEVEN),
    "buffer": (_LOST, _UNEVEN),
    "dlpack": (_LOST, _UNEVEN),
    "mdspan": (_LOST, _UNEVEN.union(("negative_strides", "zero_strides", "interleaving"))),
    "storage_order": (_LOST, _UNEVEN.union(("zero_strides", "interleaving", "gaps"))),
    "halide": (_LOST, _UNEVEN),
    "tensorstore": (_LOST - {"names"}, frozenset(("tiles", "jagged", "composite"))),
    "cute": (frozenset(("names",)), frozenset(("origin", "layers", "maps", "tiles", "jagged"))),
    "array_api": (_LOST.union(("strides", "maps", "tiles", "composite")), frozenset(("jagged",))),
}


def check_form(form: str) -> None:
    """Raise unless `form` is the name of one."""
    if not isinstance(cast("object", form), str) or form not in _EFFECTS:
        raise ConversionError(f"a form is one of {', '.join(_EFFECTS)}, not {brief(form)}")


def loss_report(form: ExchangeFormat, layout: LayoutCommon, read: LayoutCommon | None = None) -> LossReport:
    """Return the losses of a layout in a format.

    Parameters
    ----------
    form
        The form.
    layout
        The exported layout.
    read
        The layout that a reader of the format makes: each difference is a loss.
    """
    facts = _facts(layout) | (_placement(layout) if read is None else _differences(layout, read))
    if layout.names is not None:
        facts.add("names")
    return LossReport.of(form, facts, *_EFFECTS[form])


def check_possible(form: ExchangeFormat, layout: LayoutCommon) -> None:
    """Raise, naming the reasons, if a layout cannot have this form."""
    report = loss_report(form, layout)
    if report.refused:
        raise LayoutError(f"{report}; the layout is over {layout.shape}")


def _facts(layout: LayoutCommon) -> set[LossKind]:
    shape = layout.shape
    if layout.layers:
        return {*_facts(layout.without_layers()), "layers"}
    strides = layout.mode_strides
    if layout.tiled is not None or layout.keeps_tiles:
        facts: set[LossKind] = {"tiles"}
    elif not shape.is_box:
        return {"jagged"}
    elif strides is not None:
        facts = _stride_facts(shape.extents, strides)
        if layout.has_ordinals:
            facts.add("hierarchy")
    else:
        facts = {"maps"} if layout.has_mode_maps else {"composite"}
    if not layout.is_contiguous:
        facts.add("strides")
    return facts


def _placement(layout: LayoutCommon) -> set[LossKind]:
    """Return what a form that places nothing leaves out."""
    facts: set[LossKind] = {"offset"} if layout.offset else set()
    if layout.without_layers().shape.is_box and any(layout.shape.origin):
        facts.add("origin")
    return facts


def _differences(layout: LayoutCommon, read: LayoutCommon) -> set[LossKind]:
    """Return the differences of the layout that a reader of a format makes."""
    facts: set[LossKind] = {"offset"} if layout.offset != read.offset else set()
    if layout.shape.origin != read.shape.origin:
        facts.add("origin")
    strides, others = layout.without_layers().mode_strides, read.mode_strides
    if strides is not None and others is not None and strides != others:
        facts.add("unit_strides")
    return facts


def _stride_facts(extents: Extents, strides: Index) -> set[LossKind]:
    facts: set[LossKind] = set()
    if 0 in extents:
        return facts
    taken = [step for n, step in zip(extents, strides, strict=True) if n > 1]
    if min(taken, default=1) < 0:
        facts.add("negative_strides")
    if 0 in taken:
        facts.add("zero_strides")
    if not is_chain(extents, strides):
        facts.add("interleaving")
    elif not is_chain(extents, strides, gaps=False):
        facts.add("gaps")
    return facts


def is_chain(extents: Extents, strides: Index, *, gaps: bool = True) -> bool:
    """Return True if each mode, from the finest on, steps over whole runs of the finer ones.

    Modes of extent 1 or stride 0 do not count. Without `gaps`, each must step over exactly the span of the
    finer ones.
    """
    filled = 1
    taken = [(abs(step), n) for n, step in zip(extents, strides, strict=True) if n > 1 and step]
    for step, extent in sorted(taken):
        if step < filled or (step > filled and not gaps):
            return False
        filled = step * extent
    return True
