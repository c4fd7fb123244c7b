"""C++'s ``std::mdspan``: the layout mapping of a layout, and the layout of a mapping.

A mapping has no offset: in C++ it is part of the data handle, so it is separate here. Its strides are
positive and unique. Modes of extent 1 are ignored, and an empty mapping is exhaustive.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Literal, SupportsIndex, TypeAlias, cast, final

from tensorwrapper._integers import to_counts, to_int, to_ints
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import ConversionError, LayoutError, RankError
from tensorwrapper.layout.boxes._common import LayoutCommon
from tensorwrapper.layout.boxes._strided import Strided, packed_strides
from tensorwrapper.layout.interchange._losses import check_possible, is_chain, loss_report
from tensorwrapper.layout.interchange._memory import box, check_fits, same_steps, strided_of
from tensorwrapper.shape import LossReport
from tensorwrapper.typing import Extents, Index

MdspanKind: TypeAlias = Literal["right", "left", "right_padded", "left_padded", "stride"]
"""``std::layout_right`` and so on: row-major, column-major, each with padding, or any strides."""

_KINDS: tuple[MdspanKind, ...] = ("right", "left", "right_padded", "left_padded", "stride")


@final
@frozen
class MdspanMapping:
    """A layout as a mapping of ``std::mdspan``.

    Attributes
    ----------
    kind
        The narrowest kind of mapping that fits.
    extents
        One per mode.
    strides
        In elements, as ``mapping.stride(r)``.
    offset
        The addition to the data handle, in elements: a mapping starts at 0.
    padding
        For the padded kinds, the stride of the second-fastest mode; else None.
    lost
        Properties that the mapping lacks.

    Examples
    --------
    >>> from tensorwrapper import Layout, Shape
    >>> mapping = Layout.aligned(Shape(2, 3), 4).to_mdspan()
    >>> mapping.kind, mapping.strides, mapping.padding, mapping.required_span_size, mapping.is_exhaustive
    ('right_padded', (4, 1), 4, 7, False)
    """

    kind: MdspanKind
    extents: Extents
    strides: Index
    offset: int
    padding: int | None
    lost: LossReport

    @property
    def required_span_size(self) -> int:
        """Number of offsets that the mapping needs: 0 if it is empty, 1 without modes."""
        if 0 in self.extents:
            return 0
        return 1 + sum([(n - 1) * step for n, step in zip(self.extents, self.strides, strict=True)])

    @property
    def is_unique(self) -> bool:
        """Return True if all indices have different offsets: always, for every kind here."""
        return True

    @property
    def is_exhaustive(self) -> bool:
        """Return True if every offset in the required span is used."""
        return self.required_span_size == math.prod(self.extents)

    @property
    def is_strided(self) -> bool:
        """Return True if every mode has one stride: always, for every kind here."""
        return True


def mdspan_of(layout: LayoutCommon) -> MdspanMapping:
    """Return the mapping that a layout is.

    Raises
    ------
    LayoutError
        If a mode repeats or goes down, or steps less far than the stride of a finer one times its extent:
        C++ forbids it.
    SizeOverflowError
        If it needs more places than 64 bits can count.
    """
    check_possible("mdspan", layout)
    strided = strided_of(layout)
    extents = strided.shape.extents
    kind, strides = _classify(extents, strided.strides)
    padding = None
    if kind in ("right_padded", "left_padded"):
        padding = strides[-2] if kind == "right_padded" else strides[1]
    lost = loss_report("mdspan", layout, Strided(box(extents), strides, strided.offset))
    mapping = MdspanMapping(kind, extents, strides, strided.offset, padding, lost)
    check_fits((*extents, *strides, mapping.required_span_size), "mdspan")
    return mapping


def _classify(extents: Extents, strides: Index) -> tuple[MdspanKind, Index]:
    """Return the narrowest kind and its strides, which agree wherever a mode is stepped along."""
    forth = range(len(extents))
    back = forth[::-1]
    candidates: list[tuple[MdspanKind, Index]] = [
        ("right", packed_strides(extents, back)),
        ("left", packed_strides(extents, forth)),
        ("right_padded", _padded(extents, back, _second(extents, strides, back))),
        ("left_padded", _padded(extents, forth, _second(extents, strides, forth))),
    ]
    for kind, tried in candidates:
        if same_steps(extents, strides, tried):
            return kind, tried
    # 1 is a stride that the chain of the others always has room for.
    return "stride", tuple([step if n > 1 else 1 for n, step in zip(extents, strides, strict=True)])


def _second(extents: Extents, strides: Index, order: Sequence[int]) -> int:
    """Return the stride of the second-fastest mode, as far as modes that are stepped along show it."""
    return next((strides[mode] for mode in order[1:] if extents[mode] > 1), 1)


def _padded(extents: Extents, order: Iterable[int], fastest: int) -> Index:
    """Return strides in which the second-fastest mode steps over `fastest` places."""
    strides = [1] * len(extents)
    step = 1
    for place, mode in enumerate(order):
        strides[mode] = step
        step = step * extents[mode] if place else fastest
    return tuple(strides)


def aligned_strides(extents: Extents, order: Iterable[int], multiple: int) -> Index:
    """Return strides in which all modes but the fastest step over multiples of `multiple` places.

    ``order`` lists the modes, the fastest first.
    """
    modes = list(order)
    fastest = -(-extents[modes[0]] // multiple) * multiple if modes else 1
    return _padded(extents, modes, fastest)


def from_mdspan(
    extents: Iterable[SupportsIndex],
    kind: MdspanKind,
    strides: Iterable[SupportsIndex] | None,
    padding: SupportsIndex | None,
    offset: SupportsIndex,
) -> Strided:
    """Return the layout that a mapping is, checked as the constructors of C++ demand it."""
    lengths, start = to_counts(extents, "extents"), to_int(offset, "an offset")
    if not isinstance(cast("object", kind), str) or kind not in _KINDS:
        raise ConversionError(f"a mapping is one of {', '.join(_KINDS)}, not {kind!r}")
    if (strides is None) == (kind == "stride"):
        raise LayoutError(f'strides are given for the kind "stride", and for no other, not for {kind!r}')
    if (padding is None) == kind.endswith("_padded"):
        raise LayoutError(f"a padding is given for the padded kinds, and for no other, not for {kind!r}")
    modes = range(len(lengths)) if kind.startswith("left") else range(len(lengths) - 1, -1, -1)
    if strides is not None:
        steps = _checked(lengths, to_ints(strides, "strides"))
    else:
        multiple = 1 if padding is None else to_int(padding, "a padding")
        if multiple < 1:
            raise LayoutError(f"a padding is a positive number of elements, not {multiple}")
        steps = aligned_strides(lengths, modes, multiple)
    layout = Strided(box(lengths), steps, start)
    check_fits((*lengths, *steps, layout.span), "mdspan")
    return layout


def _checked(extents: Extents, strides: Index) -> Index:
    if len(strides) != len(extents):
        raise RankError(f"{len(strides)} strides do not fit {len(extents)} extents")
    for mode, step in enumerate(strides):
        if step < 1:
            raise LayoutError(f"strides of a mapping are positive, and that of mode {mode} is {step}")
    if 0 not in extents and not is_chain(extents, strides):
        raise LayoutError(
            f"in a mapping each mode steps over all that the finer ones reach; with extents {extents} the "
            f"strides {strides} do not"
        )
    return strides
