"""Smooth shapes: boxes of indices, with an origin.

`Smooth` owns its extents. `SmoothView` reads those of another shape (a leaf of a jagged shape, or the
bounding box of any shape), and ``copy()`` makes it a value.
"""

# The field of a frozen class implements an abstract property of the same name.
# pyright: reportIncompatibleMethodOverride=false

import itertools
import math
import operator
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, ClassVar, SupportsIndex, cast, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._error_text import brief
from tensorwrapper._integers import MAX_INT64, to_int, to_ints
from tensorwrapper._value_class import slot_setters, value_class
from tensorwrapper.errors import ConversionError, ExtentError, OutOfBoundsError, RankError, SizeOverflowError
from tensorwrapper.shape.boxes._common import ShapeCommon, to_index, to_index_array, to_ordinal_array
from tensorwrapper.shape.boxes._keys import Entry, chip_entries, mode_count, mode_of, mode_text, slice_entries
from tensorwrapper.typing import Extents, Index, IntArray, Kind, Order

_LINE = 16  # extents of the first mode from which on it is faster to make the indices of a line together
_POOL = 2**20  # extents up to which `itertools.product` may keep all numbers of a mode


class SmoothCommon(ShapeCommon):
    """Abstract: `extents` and `origin`. Everything else follows, for values and views alike."""

    __slots__ = ()

    @property
    @abstractmethod
    def extents(self) -> Extents:
        """The extent of every mode."""

    is_box: ClassVar[bool] = True

    @property
    def kind(self) -> Kind:
        return "smooth"

    @property
    def rank(self) -> int:
        return len(self.extents)

    @property
    def size(self) -> int:
        return math.prod(self.extents)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SmoothCommon):
            return NotImplemented
        return self.extents == other.extents and self.origin == other.origin

    def __hash__(self) -> int:
        # Defining __eq__ takes the inherited hash away.
        return ShapeCommon.__hash__(self)

    def token(self) -> tuple[object, ...]:
        return self.extents, self.origin

    def is_congruent(self, other: ShapeCommon) -> bool:
        return isinstance(other, SmoothCommon) and self.extents == other.extents

    def bounding_box(self, prefix: Index = ()) -> tuple[Extents, Index]:
        if not prefix:
            return self.extents, self.origin
        rest = self.chip(*prefix)
        return rest.extents, rest.origin

    def _prefix_mode(self, prefix: Iterable[SupportsIndex]) -> int:
        numbers = to_ints(prefix, "a prefix")
        if len(numbers) >= self.rank:
            raise RankError(f"the prefix {brief(numbers)} leaves no mode of a shape of rank {self.rank}")
        check_inside(self.extents, self.origin, numbers)
        return len(numbers)

    def extent_at(self, prefix: Iterable[SupportsIndex]) -> int:
        return self.extents[self._prefix_mode(prefix)]

    def origin_at(self, prefix: Iterable[SupportsIndex]) -> int:
        return self.origin[self._prefix_mode(prefix)]

    def extent(self, mode: SupportsIndex) -> int:
        # The inherited method computes bounds, which doubles the time of this frequent call.
        return self.extents[mode_of(mode, self.rank)]

    def extent_bounds(self, mode: SupportsIndex) -> tuple[int, int]:
        extent = self.extents[mode_of(mode, self.rank)]
        return extent, extent

    def is_uniform(self, mode: SupportsIndex) -> bool:
        mode_of(mode, self.rank)
        return True

    def dependencies(self, mode: SupportsIndex) -> tuple[int, ...]:
        mode_of(mode, self.rank)
        return ()

    def __contains__(self, index: object) -> bool:
        if not isinstance(index, Iterable):
            return False
        try:
            numbers = to_ints(cast("Iterable[SupportsIndex]", index), "an index")
        except ConversionError:
            return False
        return len(numbers) == self.rank and all(
            start <= i < start + extent
            for i, start, extent in zip(numbers, self.origin, self.extents, strict=True)
        )

    def contains(self, indices: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        array = to_index_array(indices, self.rank)
        inside = np.ones(array.shape[:-1], dtype=np.bool_)
        for mode, (start, extent) in enumerate(zip(self.origin, self.extents, strict=True)):
            inside &= (array[..., mode] >= start) & (array[..., mode] < start + extent)
        return inside

    def ordinal(self, index: Iterable[SupportsIndex]) -> int:
        return box_ordinal(self.extents, self.origin, to_index(index, self.rank))

    def index(self, ordinal: SupportsIndex) -> Index:
        number, size = to_int(ordinal, "an ordinal"), self.size
        if not 0 <= number < size:
            raise OutOfBoundsError(f"ordinal {number} is outside [0, {size})")
        index: list[int] = []
        for start, extent in zip(reversed(self.origin), reversed(self.extents), strict=True):
            number, place = divmod(number, extent)
            index.append(start + place)
        return tuple(reversed(index))

    def ordinals(self, indices: npt.ArrayLike) -> IntArray:
        array = to_index_array(indices, self.rank)
        self._check_int64()
        inside = self.contains(array)
        if not inside.all():
            place = np.unravel_index(int(np.argmin(inside)), inside.shape)
            raise OutOfBoundsError(f"index {tuple(array[place].tolist())} is not in {_text(self)}")
        ordinals = np.zeros(array.shape[:-1], dtype=np.int64)
        for mode, (start, extent) in enumerate(zip(self.origin, self.extents, strict=True)):
            ordinals *= extent
            ordinals += array[..., mode] - start
        return ordinals

    def indices_at(self, ordinals: npt.ArrayLike) -> IntArray:
        self._check_int64()
        numbers = to_ordinal_array(ordinals)
        size = self.size
        if numbers.size and not (int(numbers.min()) >= 0 and int(numbers.max()) < size):
            raise OutOfBoundsError(
                f"ordinals from {numbers.min()} to {numbers.max()} leave [0, {size}) of {_text(self)}"
            )
        indices = np.empty((*numbers.shape, self.rank), dtype=np.int64)
        rest = numbers
        for mode in range(self.rank - 1, -1, -1):
            # A mode of extent 0 admits no ordinal at all, so the divisor is never used as 0.
            rest, indices[..., mode] = np.divmod(rest, max(self.extents[mode], 1))
            indices[..., mode] += self.origin[mode]
        return indices

    def _check_int64(self) -> None:
        ends = [start + extent for start, extent in zip(self.origin, self.extents, strict=True)]
        if self.size > MAX_INT64 or any(
            start < -MAX_INT64 or end > MAX_INT64 for start, end in zip(self.origin, ends, strict=True)
        ):
            raise SizeOverflowError(f"{_text(self)} has ordinals or indices beyond 64 bits; use ordinal()")

    def walk(self, order: Order) -> Iterator[Index]:
        ranges = [
            range(start, start + extent) for start, extent in zip(self.origin, self.extents, strict=True)
        ]
        if order == "C" or len(ranges) < 2:
            return product_of(ranges)
        first, *rest = ranges
        if first[_LINE:]:
            lines = product_of(rest[::-1])
            return itertools.chain.from_iterable(
                zip(first, *map(itertools.repeat, line[::-1]), strict=False) for line in lines
            )
        mirror = operator.itemgetter(*range(len(ranges) - 1, -1, -1))
        return map(mirror, product_of(ranges[::-1]))

    def select(self, entries: tuple[Entry, ...], *, clip: bool = False, lead: Index = ()) -> "Smooth":
        """Return the part that the entries select; ``lead`` is the prefix of the box in errors."""
        extents: list[int] = []
        origin: list[int] = []
        # A counter, not enumerate: unpacking a tuple takes a tenth of the time of a slice.
        mode = 0
        for entry, start, extent in zip(entries, self.origin, self.extents, strict=True):
            if isinstance(entry, int):
                if not start <= entry < start + extent:
                    raise self._outside(f"index {entry}", mode, lead)
            else:
                low, high = entry
                end = start + extent
                if low is None:
                    low = start
                if high is None:
                    high = end
                if not start <= low <= high <= end:
                    if not clip or low > high:
                        raise self._outside(f"slice [{low}, {high})", mode, lead)
                    low = min(max(low, start), end)
                    high = max(min(high, end), low)
                extents.append(high - low)
                origin.append(low)
            mode += 1  # noqa: SIM113
        return make_smooth(tuple(extents), tuple(origin))

    def _outside(self, what: str, mode: int, lead: Index) -> OutOfBoundsError:
        start, end = self.origin[mode], self.origin[mode] + self.extents[mode]
        where = mode_text(len(lead) + mode, lead)
        # Indices of a shape are absolute; an index from the end probably means an extent.
        advice = "; `s.extents[-1]` is an extent" if what.startswith("index -") and not start else ""
        return OutOfBoundsError(f"{what} is outside [{start}, {end}) of {where} of {_text(self)}{advice}")

    def slice(
        self, first: Iterable[SupportsIndex], last: Iterable[SupportsIndex], *, clip: bool = False
    ) -> "Smooth":
        return self.select(slice_entries(first, last, self.rank), clip=clip)

    def chip(self, *leading: SupportsIndex) -> "Smooth":
        return self.select(chip_entries(leading, self.rank))

    def leading(self, modes: SupportsIndex) -> "Smooth":
        count = mode_count(modes, self.rank)
        return make_smooth(self.extents[:count], self.origin[:count])

    def translate_by(self, offset: Iterable[SupportsIndex]) -> "Smooth":
        moves = to_index(offset, self.rank, "an offset")
        return make_smooth(self.extents, tuple([a + b for a, b in zip(self.origin, moves, strict=True)]))

    def translate_to(self, origin: Iterable[SupportsIndex]) -> "Smooth":
        return make_smooth(self.extents, to_index(origin, self.rank, "an origin"))

    def permute(self, order: Iterable[SupportsIndex]) -> "Smooth":
        modes = to_permutation(order, self.rank)
        extents, origin = self.extents, self.origin
        return make_smooth(tuple([extents[m] for m in modes]), tuple([origin[m] for m in modes]))

    def zero_based(self) -> "Smooth":
        """Return the box with the same extents at the origin."""
        return make_smooth(self.extents, (0,) * self.rank)

    def intersect(self, other: "SmoothCommon") -> "Smooth":
        """Return the box of the indices that are in both; disjoint boxes meet in an empty one."""
        return intersect_boxes(self.extents, self.origin, other.extents, other.origin)

    def hull(self, other: "SmoothCommon") -> "Smooth":
        """Return the smallest box around both; an empty box adds nothing."""
        return hull_of_boxes(self.extents, self.origin, other.extents, other.origin)


def intersect_boxes(extents: Extents, origin: Index, others: Extents, start: Index) -> "Smooth":
    """Return the box of the indices in both boxes, each given by its extents and its origin."""
    if len(extents) != len(others):
        raise different_ranks(len(extents), len(others))
    low: list[int] = []
    sizes: list[int] = []
    for a, m, b, n in zip(origin, extents, start, others, strict=False):
        # Plain comparisons: calls of max and min would double what all of it costs.
        first = a if a > b else b  # noqa: FURB136
        size = (a + m if a + m < b + n else b + n) - first  # noqa: FURB136
        low.append(first)
        sizes.append(size if size > 0 else 0)  # noqa: FURB136
    return make_smooth(tuple(sizes), tuple(low))


def hull_of_boxes(extents: Extents, origin: Index, others: Extents, start: Index) -> "Smooth":
    """Return the smallest box around both boxes, each given by its extents and its origin."""
    if len(extents) != len(others):
        raise different_ranks(len(extents), len(others))
    if 0 in others:
        return make_smooth(extents, origin)
    if 0 in extents:
        return make_smooth(others, start)
    low: list[int] = []
    sizes: list[int] = []
    for a, m, b, n in zip(origin, extents, start, others, strict=False):
        first = a if a < b else b  # noqa: FURB136
        low.append(first)
        sizes.append((a + m if a + m > b + n else b + n) - first)  # noqa: FURB136
    return make_smooth(tuple(sizes), tuple(low))


def different_ranks(left: int, right: int) -> RankError:
    """Return the error for boxes of different ranks."""
    return RankError(f"a shape of rank {left} does not combine with one of rank {right}")


def to_extents(extents: Iterable[SupportsIndex]) -> Extents:
    """Return `extents` as a tuple of Python integers that are not negative."""
    sizes: list[int] = []
    try:
        numbered = enumerate(extents)
    except TypeError as error:
        raise ConversionError(f"extents must be a sequence of integers, not {extents!r}") from error
    for mode, extent in numbered:
        size = extent if type(extent) is int else to_int(extent, f"the extent of mode {mode}")
        if size < 0:
            raise ExtentError(f"an extent must not be negative, but is {size} for mode {mode} of {extents}")
        sizes.append(size)
    return tuple(sizes)


def check_inside(extents: Extents, origin: Index, index: Index, lead: Index = ()) -> None:
    """Raise if an entry of `index`, which may be shorter, leaves the box under the prefix `lead`."""
    for mode, (i, start, extent) in enumerate(zip(index, origin, extents, strict=False)):
        if not start <= i < start + extent:
            where = mode_text(len(lead) + mode, lead + index[:mode])
            raise OutOfBoundsError(f"index {i} is outside [{start}, {start + extent}) of {where}")


def box_ordinal(extents: Extents, origin: Index, index: Index, lead: Index = ()) -> int:
    """Return the number of indices before `index` in the box under the prefix `lead`."""
    ordinal = 0
    for mode, (i, start, extent) in enumerate(zip(index, origin, extents, strict=True)):
        if not start <= i < start + extent:
            where = mode_text(len(lead) + mode, lead)
            raise OutOfBoundsError(
                f"index {i} is outside [{start}, {start + extent}) of {where}, in the index {lead + index}"
            )
        ordinal = ordinal * extent + (i - start)
    return ordinal


def to_permutation(order: Iterable[SupportsIndex], rank: int) -> tuple[int, ...]:
    """Return `order` as a tuple in which every mode of a shape of this rank occurs once."""
    modes = to_ints(order, "a permutation")
    if sorted(modes) != list(range(rank)):
        raise RankError(f"{brief(modes)} is not a permutation of the modes 0 to {rank - 1}")
    return modes


def product_of(ranges: list[range]) -> Iterator[Index]:
    """Return the product of `ranges`, as `itertools` does, which keeps all numbers of every range: not here.

    A mode may have billions of indices, and the first of them must not wait for the last.
    """
    if not all(ranges):
        return iter(())
    if not any(numbers[_POOL:] for numbers in ranges):
        return itertools.product(*ranges)
    *leading, last = ranges
    if not leading:
        return zip(last)
    return itertools.chain.from_iterable(
        zip(*map(itertools.repeat, prefix), last, strict=False) for prefix in product_of(leading)
    )


def _text(shape: SmoothCommon) -> str:
    return f"the box {shape.extents} at {shape.origin}"


@final
@value_class(eq=False, repr=False, getstate_setstate=False)
class Smooth(SmoothCommon):
    """A box of indices that owns its extents and its origin.

    Parameters
    ----------
    extents
        How many indices each mode has; none may be negative.
    origin
        The first index of each mode; zeros if not given.

    Examples
    --------
    >>> Smooth((2, 3), origin=(0, 1))
    Smooth((2, 3), origin=(0, 1))
    """

    extents: Extents
    origin: Index

    def __init__(
        self, extents: Iterable[SupportsIndex], origin: Iterable[SupportsIndex] | None = None
    ) -> None:
        sizes = to_extents(extents if isinstance(extents, list | tuple) else to_ints(extents, "extents"))
        _set_extents(self, sizes)
        zeros = (0,) * len(sizes)
        _set_origin(self, zeros if origin is None else to_index(origin, len(sizes), "an origin"))

    def __repr__(self) -> str:
        if any(self.origin):
            return f"Smooth({self.extents}, origin={self.origin})"
        return f"Smooth({self.extents})"

    def __reduce__(self) -> tuple[Callable[[Extents, Index], "Smooth"], tuple[Extents, Index]]:
        return make_smooth, (self.extents, self.origin)


# The setters of the slots themselves: half the cost of ``object.__setattr__``, and every slice makes one.
_set_extents, _set_origin = slot_setters(Smooth, "extents", "origin")


def make_smooth(extents: Extents, origin: Index) -> Smooth:
    """Return a `Smooth` of parts that are known to be right: nothing is checked."""
    shape = object.__new__(Smooth)
    _set_extents(shape, extents)
    _set_origin(shape, origin)
    return shape


@final
@value_class(eq=False, repr=False, getstate_setstate=False)
class SmoothView(SmoothCommon):
    """A box view of the rest of a parent shape under a prefix; it stores no extents.

    If the prefix leads to a leaf, the view is this leaf. With remaining jagged modes it is their bounding
    box. The view keeps its parent alive; ``copy()`` detaches it.

    Parameters
    ----------
    parent
        The parent shape.
    prefix
        The indices of the dropped leading modes.

    Examples
    --------
    >>> view = SmoothView.of_box(Smooth((2, 3)))
    >>> view == Smooth((2, 3)), view.copy()
    (True, Smooth((2, 3)))
    """

    _parent: ShapeCommon = attrs.field(alias="parent")
    _prefix: Index = attrs.field(alias="prefix")
    _box: tuple[Extents, Index] | None = attrs.field(default=None, init=False)

    if TYPE_CHECKING:

        def __init__(self, parent: ShapeCommon, prefix: Index) -> None: ...

    @classmethod
    def of_box(cls, parent: ShapeCommon) -> "SmoothView":
        """Return the bounding box of `parent`."""
        return cls(parent, ())

    def _get_box(self) -> tuple[Extents, Index]:
        box = self._box
        if box is None:
            box = self._parent.bounding_box(self._prefix)
            object.__setattr__(self, "_box", box)
        return box

    @property
    def extents(self) -> Extents:
        return self._get_box()[0]

    @property
    def origin(self) -> Index:
        return self._get_box()[1]

    def copy(self) -> Smooth:
        """Return the box as a value that no longer needs the parent."""
        return make_smooth(*self._get_box())

    def __repr__(self) -> str:
        return f"SmoothView({self._parent!r}, prefix={self._prefix})"

    def __reduce__(self) -> tuple[Callable[[Extents, Index], "SmoothView"], tuple[Extents, Index]]:
        return _view_of_value, self._get_box()


def _view_of_value(extents: Extents, origin: Index) -> SmoothView:
    """Return a view of a new value; a pickled view becomes this, without its parent."""
    return SmoothView.of_box(make_smooth(extents, origin))
