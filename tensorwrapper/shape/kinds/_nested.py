"""Nested shapes: the modes of a shape dealt, from left to right, into layers.

Nothing but the number of modes per layer is added: indices, extents and origins are those of the shape
that is wrapped, so every question goes there. `Nested` wraps a value, `NestedView` a view.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, SupportsIndex, TypeAlias, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._error_text import brief
from tensorwrapper._integers import to_ints
from tensorwrapper._value_class import value_class
from tensorwrapper.errors import LayerError
from tensorwrapper.shape.boxes._common import ShapeCommon
from tensorwrapper.shape.boxes._keys import Entry, chip_entries, slice_entries
from tensorwrapper.shape.boxes._smooth import SmoothCommon, SmoothView, to_permutation
from tensorwrapper.shape.kinds._jagged import JaggedCommon, JaggedView
from tensorwrapper.typing import Extents, Index, IntArray, Kind, Order

Flat: TypeAlias = SmoothCommon | JaggedCommon
"""A shape that can be nested: one without layers."""


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
        """Number of modes of each layer, from the outermost; an entry may be 0."""

    has_layers: ClassVar[bool] = True

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
        # Defining __eq__ takes the inherited hash away.
        return ShapeCommon.__hash__(self)

    def token(self) -> tuple[object, ...]:
        return self.flat.kind, *self.flat.token()

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

    def zero_based(self) -> "NestedCommon":
        """Return the shape with the same extents and layers and every origin 0."""
        return make_nested(self.flat.zero_based(), self.layers)

    # Parts keep their layers; a layer that loses all its modes to a chip vanishes.

    def select(self, entries: tuple[Entry, ...], *, clip: bool = False) -> "Flat | NestedCommon":
        part = self.flat.select(entries, clip=clip)
        if part.rank == self.rank:
            return make_nested(part, self.layers)
        left = self.layers_left([type(entry) is int for entry in entries])
        return make_nested(part, left) if len(left) > 1 else part

    def slice(
        self, first: Iterable[SupportsIndex], last: Iterable[SupportsIndex], *, clip: bool = False
    ) -> "NestedCommon":
        part = self.flat.select(slice_entries(first, last, self.rank), clip=clip)
        return make_nested(part, self.layers)

    def layers_left(self, pinned: Sequence[bool]) -> list[int]:
        """Return how many modes each layer keeps when some are dropped; a layer that loses all vanishes."""
        left: list[int] = []
        start = 0
        for modes in self.layers:
            kept = modes - sum(pinned[start : start + modes])
            # An empty layer cannot lose modes.
            if kept or not modes:
                left.append(kept)
            start += modes
        return left

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
@value_class(eq=False, repr=False, getstate_setstate=False)
class Nested(NestedCommon):
    """A shape that owns what it nests.

    Users make one by ``Shape.nested``.

    Parameters
    ----------
    flat
        The shape without layers.
    layers
        How many of its modes each layer has. A tuple that does not add up to the rank raises `LayerError`.
    """

    _flat: Flat = attrs.field(alias="flat")
    _layers: tuple[int, ...] = attrs.field(alias="layers")

    if TYPE_CHECKING:

        def __init__(self, flat: Flat, layers: tuple[int, ...]) -> None: ...

    def __attrs_post_init__(self) -> None:
        _check_layers(self._layers, self._flat.rank)

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
@value_class(eq=False, repr=False, getstate_setstate=False)
class NestedView(NestedCommon):
    """Layers over a view of another shape; ``copy()`` detaches it."""

    _flat: SmoothView | JaggedView = attrs.field(alias="flat")
    _layers: tuple[int, ...] = attrs.field(alias="layers")

    if TYPE_CHECKING:

        def __init__(self, flat: SmoothView | JaggedView, layers: tuple[int, ...]) -> None: ...

    def __attrs_post_init__(self) -> None:
        _check_layers(self._layers, self._flat.rank)

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


Implementation: TypeAlias = Flat | NestedCommon
"""The kinds of shape, all of them: a new kind is a change here."""


def _check_layers(layers: tuple[int, ...], rank: int) -> None:
    if sum(layers) != rank or min(layers, default=0) < 0:
        raise LayerError(
            f"the layers {brief(layers)} do not split the modes of a shape of rank {rank}: their numbers of "
            "modes must not be negative, and must add up to the rank"
        )


def make_nested(flat: Flat, layers: Iterable[SupportsIndex]) -> NestedCommon:
    """Return `flat` with its modes dealt into layers, as a view if it is one.

    Raises
    ------
    LayerError
        If the layers do not add up to the rank, or one of them is negative.
    """
    counts = to_ints(layers, "the numbers of modes per layer")
    if isinstance(flat, SmoothView | JaggedView):
        return NestedView(flat, counts)
    return Nested(flat, counts)


def flat_of(shape: Flat | NestedCommon) -> Flat:
    """Return a shape without its layers."""
    found: Any = shape  # to ask for an abstract class would be a call
    flat: Flat = found.flat if shape.has_layers else found
    return flat
