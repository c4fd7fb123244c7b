"""Layouts whose modes have names: a wrapper of an unnamed layout of the same shape.

Only this module has the rules for names: a kept mode keeps its name, and a new one is unnamed. All other
layouts and their shapes are unnamed, so new layouts need no code for names.
"""

import abc
from collections.abc import Iterable, Mapping
from typing import Any, SupportsIndex, cast, final

import attrs
import numpy.typing as npt

from tensorwrapper._value_class import frozen
from tensorwrapper.layout.boxes._common import LayoutCommon, ModeOperation
from tensorwrapper.layout.boxes._keys import expand_positional, warn_of_indices
from tensorwrapper.layout.boxes._strided import Strided
from tensorwrapper.shape import Shape, ShapeLike
from tensorwrapper.shape.lowlevel import (
    ModeNames,
    agreed_names,
    key_of_names,
    names_of,
    to_permutation,
    unnamed_shape,
    wrap,
)
from tensorwrapper.typing import Index, IntArray, NamedKey, PositionalKey


def named_layout(layout: LayoutCommon, names: "ModeNames | None") -> LayoutCommon:
    """Return a layout with these names of its modes, which are known to be right, for those it had."""
    plain = layout.unnamed()
    return plain if names is None or not any(names) else Named(plain, names)


def agreed_layout(layout: LayoutCommon, shape: ShapeLike, what: str) -> LayoutCommon:
    """Return a layout with the names that it and a shape of its rank agree on.

    Raises
    ------
    ModeNameError
        If a mode has different names; ``what`` says in what.
    """
    names = names_of(shape)
    return layout if names is None else named_layout(layout, agreed_names([layout.names, names], what))


def check_meant(layout: LayoutCommon, part: LayoutCommon, key: object) -> None:
    """Warn if a key selected no position of a layout although it names indices; strided ones warn by `at`."""
    if part.shape.implementation.size:
        return
    plain = layout.unnamed()
    if type(plain) is Strided or not plain.shape.size:
        return
    if isinstance(key, Mapping):
        key = key_of_names(cast("NamedKey", key), layout.names or (), layout.rank)
    around = plain.shape.as_smooth()
    warn_of_indices(key, around.extents, around.origin)


@final
@frozen
class Named(LayoutCommon):
    """The layout `plain`, which has no names, with a name or None for each mode of its shape."""

    plain: LayoutCommon
    _names: ModeNames
    _shape: Shape[Any] | None = attrs.field(default=None, init=False, eq=False, repr=False)

    @property
    def shape(self) -> Shape[Any]:
        shape = self._shape
        if shape is None:
            # Kept: in a chain of operations the shapes are compared by `is` first.
            shape = wrap(self.plain.shape.implementation, self._names)
            object.__setattr__(self, "_shape", shape)
        return shape

    @property
    def names(self) -> ModeNames:
        return self._names

    def unnamed(self) -> LayoutCommon:
        return self.plain

    def _kept(self, layout: LayoutCommon, modes: "Iterable[int | None]") -> LayoutCommon:
        """Return what an operation made, where mode k was `modes[k]`, or is new."""
        return named_layout(layout, tuple([None if mode is None else self._names[mode] for mode in modes]))

    def at(self, key: PositionalKey | NamedKey) -> LayoutCommon:
        if isinstance(key, Mapping):
            key = key_of_names(key, self._names, len(self._names))
        part = self.plain.at(key)
        items = expand_positional(key, len(self._names))
        places = iter(range(len(self._names)))
        # Each item but None is about a mode, and all of them but integers keep it.
        modes = [(item, None if item is None else next(places)) for item in items]
        return self._kept(part, [mode for item, mode in modes if item is None or isinstance(item, slice)])

    def window(self, region: Shape[Any]) -> LayoutCommon:
        return Named(self.plain.window(unnamed_shape(region)), self._names)

    def permute(self, order: Iterable[SupportsIndex | str]) -> LayoutCommon:
        modes = to_permutation([self.shape.mode(mode) for mode in order], len(self._names))
        return self._kept(self.plain.permute(modes), modes)

    def reverse(self, modes: Iterable[int]) -> LayoutCommon:
        return Named(self.plain.reverse(modes), self._names)

    def gather(self, mode: SupportsIndex, positions: npt.ArrayLike) -> LayoutCommon:
        return Named(self.plain.gather(mode, positions), self._names)

    def gathered(self, mode: SupportsIndex, positions: object) -> LayoutCommon | None:
        made = self.plain.gathered(mode, positions)
        return None if made is None else Named(made, self._names)

    def outer(self, key: object) -> LayoutCommon | None:
        made = self.plain.outer(key)
        if made is None:
            return None
        # The fast case: an item for each of the first modes, whose integers drop these modes.
        items = cast("tuple[object, ...]", key) if isinstance(key, tuple) else (key,)
        left = range(len(items), len(self._names))
        return self._kept(made, [m for m, item in enumerate(items) if type(item) is not int] + [*left])

    def change(self, operation: ModeOperation) -> LayoutCommon:
        modes = operation.modes
        made = self.plain.change(operation)
        return Named(made, self._names) if modes is None else self._kept(made, modes(self.plain))

    def cell(self, number: int) -> LayoutCommon:
        cell = self.plain.cell(number)
        return named_layout(cell, self._names[len(self._names) - cell.rank :])

    def moved_to(self, shape: Shape[Any]) -> LayoutCommon:
        return Named(self.plain.moved_to(unnamed_shape(shape)), self._names)

    def moved_to_zero(self) -> LayoutCommon | None:
        moved = self.plain.moved_to_zero()
        return None if moved is None else Named(moved, self._names)

    def without_layers(self) -> LayoutCommon:
        return self.plain.without_layers()

    def expression(self) -> str:
        plain = self.plain.expression()
        if plain.startswith("<"):
            return f"{plain[:-1]}; names {self._names}>"
        return f"{plain}.named({', '.join(map(repr, self._names))})"

    def __reduce__(self) -> "tuple[type[Named], tuple[LayoutCommon, ModeNames]]":
        return Named, (self.plain, self._names)

    # Methods about offsets, which names do not affect.

    @property
    def offset(self) -> int:
        return self.plain.offset

    def bounds(self) -> tuple[int, int]:
        return self.plain.bounds()

    @property
    def is_contiguous(self) -> bool:
        return self.plain.is_contiguous

    def run(self) -> slice | None:
        return self.plain.run()

    @property
    def is_injective(self) -> bool:
        return self.plain.is_injective

    def offset_of(self, index: Iterable[SupportsIndex]) -> int:
        return self.plain.offset_of(index)

    def offsets_of(self, indices: npt.ArrayLike) -> IntArray:
        return self.plain.offsets_of(indices)

    def index_of(self, offset: SupportsIndex) -> Index:
        return self.plain.index_of(offset)

    def to_numpy(self) -> IntArray:
        return self.plain.to_numpy()


def _asked_of_plain(name: str) -> property:
    # Works for methods as well: the result is bound to the layout without names.
    return property(lambda self: getattr(self.plain, name))


# All other methods of a layout, including future ones.
for _name in vars(LayoutCommon):
    if not _name.startswith("_") and _name not in vars(Named):
        setattr(Named, _name, _asked_of_plain(_name))
abc.update_abstractmethods(Named)
