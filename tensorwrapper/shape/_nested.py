"""Nested shapes: the modes of a shape dealt, from left to right, into layers.

Nothing but the number of modes per layer is added: indices, extents and origins are those of the shape
that is wrapped, so every question goes there. `Nested` wraps a value, `NestedView` a view.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import SupportsIndex, TypeAlias, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._integers import to_counts, to_int, to_ints
from tensorwrapper.errors import LayerError
from tensorwrapper.shape._common import ShapeCommon
from tensorwrapper.shape._jagged import JaggedCommon, JaggedView
from tensorwrapper.shape._keys import Entry, chip_entries, slice_entries
from tensorwrapper.shape._smooth import SmoothCommon, SmoothView, to_permutation
from tensorwrapper.typing import Extents, Index, IntArray, Kind, Order

__all__ = [
    "Flat",
    "Nested",
    "NestedCommon",
    "NestedView",
    "element",
    "flat_of",
    "layer_size",
    "make_nested",
    "to_layers",
]

Flat: TypeAlias = SmoothCommon | JaggedCommon
"""What can be nested: a shape without layers."""


class NestedCommon(ShapeCommon):
    """Abstract: `flat`, the shape without layers, and `layers`. Everything else follows."""

    __slots__ = ()

    @property
    @abstractmethod
    def flat(self) -> Flat:
        """The same modes without layers."""

    @property
    @abstractmethod
    def layers(self) -> tuple[int, ...]:
        """How many modes each layer has, from the outermost; an entry may be 0."""

    @property
    def kind(self) -> Kind:
        return "nested"

    @property
    def rank(self) -> int:
        return self.flat.rank

    @property
    def size(self) -> int:
        return self.flat.size

    @property
    def origin(self) -> Index:
        return self.flat.origin

    @property
    def extents(self) -> Extents:
        return self.flat.extents

    @property
    def outer_rank(self) -> int:
        """The number of modes of all layers but the last, whose indices number the innermost elements."""
        return sum(self.layers[:-1])

    def extent_at(self, prefix: Iterable[SupportsIndex]) -> int:
        return self.flat.extent_at(prefix)

    def origin_at(self, prefix: Iterable[SupportsIndex]) -> int:
        return self.flat.origin_at(prefix)

    def extent_bounds(self, mode: SupportsIndex) -> tuple[int, int]:
        return self.flat.extent_bounds(mode)

    def is_uniform(self, mode: SupportsIndex) -> bool:
        return self.flat.is_uniform(mode)

    def dependencies(self, mode: SupportsIndex) -> tuple[int, ...]:
        return self.flat.dependencies(mode)

    def bounding_box(self, prefix: Index = ()) -> tuple[Extents, Index]:
        return self.flat.bounding_box(prefix)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NestedCommon):
            return NotImplemented
        return self.layers == other.layers and self.flat == other.flat

    def __hash__(self) -> int:
        return hash((self.kind, self.layers, self.flat))

    def is_congruent(self, other: ShapeCommon) -> bool:
        return (
            isinstance(other, NestedCommon)
            and self.layers == other.layers
            and self.flat.is_congruent(other.flat)
        )

    def __contains__(self, index: object) -> bool:
        return index in self.flat

    def contains(self, indices: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        return self.flat.contains(indices)

    def ordinal(self, index: Iterable[SupportsIndex]) -> int:
        return self.flat.ordinal(index)

    def index(self, ordinal: SupportsIndex) -> Index:
        return self.flat.index(ordinal)

    def ordinals(self, indices: npt.ArrayLike) -> IntArray:
        return self.flat.ordinals(indices)

    def indices_at(self, ordinals: npt.ArrayLike) -> IntArray:
        return self.flat.indices_at(ordinals)

    def walk(self, order: Order) -> Iterator[Index]:
        return self.flat.walk(order)

    # Parts keep their layers; a layer that loses all its modes to a chip vanishes.

    def select(self, entries: tuple[Entry, ...], *, clip: bool = False) -> "Flat | NestedCommon":
        part = self.flat.select(entries, clip=clip)
        left: list[int] = []
        start = 0
        for modes in self.layers:
            kept = sum(type(entry) is not int for entry in entries[start : start + modes])
            if kept or not modes:
                left.append(kept)
            start += modes
        pinned = part.rank < self.rank
        return part if pinned and len(left) < 2 else make_nested(part, tuple(left))

    def slice(
        self, first: Iterable[SupportsIndex], last: Iterable[SupportsIndex], *, clip: bool = False
    ) -> "NestedCommon":
        part = self.flat.select(slice_entries(first, last, self.rank), clip=clip)
        return make_nested(part, self.layers)

    def chip(self, *leading: SupportsIndex) -> "Flat | NestedCommon":
        return self.select(chip_entries(leading, self.rank))

    def leading(self, modes: SupportsIndex) -> Flat:
        return self.flat.leading(modes)

    def outer(self) -> Flat:
        """Return the shape of all layers but the last, whose indices number the innermost elements."""
        return self.flat.leading(self.outer_rank)

    def as_smooth(self) -> SmoothCommon:
        """Return the bounding box without layers."""
        return self.flat if isinstance(self.flat, SmoothCommon) else self.flat.as_smooth()

    def translate_by(self, offset: Iterable[SupportsIndex]) -> "NestedCommon":
        return make_nested(self.flat.translate_by(offset), self.layers)

    def translate_to(self, origin: Iterable[SupportsIndex]) -> "NestedCommon":
        return make_nested(self.flat.translate_to(origin), self.layers)

    def permute(self, order: Iterable[SupportsIndex]) -> "NestedCommon":
        modes = to_permutation(order, self.rank)
        homes = [layer for layer, count in enumerate(self.layers) for _ in range(count)]
        moved = [homes[mode] for mode in modes]
        for place in range(1, len(moved)):
            if moved[place] < moved[place - 1]:
                raise LayerError(
                    f"the permutation {modes} puts mode {modes[place - 1]} of layer {moved[place - 1]} "
                    f"before mode {modes[place]} of layer {moved[place]}; modes move within their layer "
                    f"({self.layers}): flatten() first, and nest the result anew"
                )
        return make_nested(self.flat.permute(modes), self.layers)


@final
@attrs.frozen(eq=False, repr=False, getstate_setstate=False)
class Nested(NestedCommon):
    """A shape that owns what it nests.

    Users make one by ``Shape.nested``.

    Parameters
    ----------
    flat
        The shape without layers.
    layers
        How many of its modes each layer has.
    """

    _flat: Flat
    _layers: tuple[int, ...]

    @property
    def flat(self) -> Flat:
        return self._flat

    @property
    def layers(self) -> tuple[int, ...]:
        return self._layers

    def __repr__(self) -> str:
        return f"Nested({self._flat!r}, layers={self._layers})"

    def __reduce__(self) -> tuple[Callable[[Flat, tuple[int, ...]], "Nested"], tuple[Flat, tuple[int, ...]]]:
        return Nested, (self._flat, self._layers)


@final
@attrs.frozen(eq=False, repr=False, getstate_setstate=False)
class NestedView(NestedCommon):
    """Layers over a view of another shape; ``copy()`` detaches it."""

    _flat: SmoothView | JaggedView
    _layers: tuple[int, ...]

    @property
    def flat(self) -> Flat:
        return self._flat

    @property
    def layers(self) -> tuple[int, ...]:
        return self._layers

    def copy(self) -> Nested:
        """Return the same layers over a value that no longer needs the parent."""
        return Nested(self._flat.copy(), self._layers)

    def __repr__(self) -> str:
        return f"NestedView({self._flat!r}, layers={self._layers})"

    def __reduce__(
        self,
    ) -> tuple[
        Callable[[SmoothView | JaggedView, tuple[int, ...]], "NestedView"],
        tuple[SmoothView | JaggedView, tuple[int, ...]],
    ]:
        return NestedView, (self._flat, self._layers)


def make_nested(flat: Flat, layers: tuple[int, ...]) -> NestedCommon:
    """Return `flat` with layers that are known to fit, as a view if it is one."""
    if isinstance(flat, SmoothView | JaggedView):
        return NestedView(flat, layers)
    return Nested(flat, layers)


def to_layers(layers: Iterable[SupportsIndex], rank: int) -> tuple[int, ...]:
    """Return `layers` as a tuple of counts that deal all modes of a shape of this rank.

    Raises
    ------
    LayerError
        If they do not add up to the rank.
    ExtentError
        If one is negative.
    """
    counts = to_counts(layers, "the numbers of modes per layer")
    if sum(counts) != rank:
        raise LayerError(f"the layers {counts} deal {sum(counts)} modes, but the shape has {rank}")
    return counts


def flat_of(shape: "Flat | NestedCommon") -> Flat:
    """Return a shape without its layers."""
    return shape.flat if isinstance(shape, NestedCommon) else shape


def layer_size(shape: ShapeCommon, layer: SupportsIndex) -> int:
    """Return how many prefixes reach through a layer of a shape of any kind."""
    number, layers = to_int(layer, "a layer"), shape.layers
    if not -len(layers) <= number < len(layers):
        raise LayerError(f"layer {number} does not exist in a shape with {len(layers)} layers {layers}")
    return shape.leading(sum(layers[: number % len(layers) + 1])).size


def element(shape: "JaggedCommon | NestedCommon", index: Iterable[SupportsIndex]) -> "Flat | NestedCommon":
    """Return what lies under the index of a cell, or under an index of one or more whole layers."""
    numbers = to_ints(index, "the index of an element")
    layers = shape.layers if isinstance(shape, NestedCommon) else (shape.outer_rank, shape.rank)
    ends = [sum(layers[: layer + 1]) for layer in range(len(layers) - 1)]
    if len(numbers) not in ends:
        allowed = " or ".join(map(str, sorted(set(ends)))) or "no"
        raise LayerError(
            f"the index {numbers} has {len(numbers)} entries, but elements of this shape have an index of "
            f"{allowed} entries (layers: {shape.layers}, outer modes: {shape.outer_rank})"
        )
    rest, below = flat_of(shape).chip(*numbers), layers[ends.index(len(numbers)) + 1 :]
    return make_nested(rest, below) if len(below) > 1 else rest
