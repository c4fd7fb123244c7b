"""Positions of the indices of a mask in source and result: the half of `Mask` that makes no masks."""

from collections.abc import Iterable
from typing import Generic, Literal, Protocol, SupportsIndex, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import concatenated_ranges, shared_table
from tensorwrapper._hints import Hinted
from tensorwrapper._integers import MAX_INT64
from tensorwrapper._memory import memory_for
from tensorwrapper.errors import (
    ConversionError,
    ExtentMismatchError,
    JaggedModeError,
    OutOfBoundsError,
    SizeOverflowError,
)
from tensorwrapper.shape._shape import Shape, wrap
from tensorwrapper.shape.boxes._common import to_index, to_index_array
from tensorwrapper.shape.boxes._names import plain_names
from tensorwrapper.shape.boxes._smooth import make_smooth
from tensorwrapper.shape.kinds._jagged import Jagged, JaggedCommon
from tensorwrapper.shape.kinds._nested import flat_of
from tensorwrapper.shape.masks._positions import Positions
from tensorwrapper.shape.rows._columns import Origins
from tensorwrapper.shape.rows._rearrange import build_rows
from tensorwrapper.shape.rows._rows import Rows
from tensorwrapper.typing import Extents, Index, IndexT, IndexT_co, IntArray, LooseIndex


def rows_of(shape: Shape) -> Rows:
    """Return the columns of a jagged shape, without its layers."""
    return cast("JaggedCommon", flat_of(shape.implementation)).rows


def rows_at(shape: Shape, picks: Positions) -> Jagged:
    """Return these rows one after the other, every origin 0; O(what is picked), in array operations."""
    # Rows that are alike are stored once; those that are picked are not.
    with memory_for(picks.count, "rows"):
        return _rows_at(rows_of(shape), picks)


def _rows_at(rows: Rows, picks: Positions) -> Jagged:
    columns = rows.columns
    nodes = picks.to_numpy() + (rows.start - rows.first)
    levels: list[tuple[IntArray, Origins]] = [(np.array([len(nodes)]), 0)]
    for splits in columns.splits[rows.depth :]:
        counts = splits[nodes + 1] - splits[nodes]
        levels.append((counts, 0))
        nodes = concatenated_ranges(splits[nodes], counts)
    if columns.even is not None:
        leaf = shared_table(columns.even, len(nodes))
    elif columns.leaf.ndim == 1:
        leaf = (columns.leaf[nodes + 1] - columns.leaf[nodes])[:, np.newaxis]
    else:
        leaf = columns.leaf[nodes]
    return Jagged(build_rows(levels, leaf, [0] * columns.leaf_rank))


def row_ordinals(shape: Shape, picks: Positions) -> IntArray:
    """Return the ordinals of all elements of these rows, one row after the other."""
    rows = rows_of(shape)
    marks = np.arange(rows.start, rows.stop + 1, dtype=np.int64)
    for splits in rows.columns.splits[rows.depth :]:
        marks = splits[marks]
    offsets = rows.cell_offsets()[marks - rows.leaves[0]]
    numbers = picks.to_numpy() - rows.first
    return concatenated_ranges(offsets[numbers], offsets[numbers + 1] - offsets[numbers])


def as_if_at_zero(shape: Shape, indices: IntArray, *, back: bool = False) -> IntArray:
    """Return indices of a jagged shape as those of the same elements if all its origins were 0.

    ``back`` goes the other way. The indices must exist.
    """
    flat = flat_of(shape.implementation)
    try:
        move = np.array(flat.origin, dtype=np.int64)
    except JaggedModeError:
        # Rows that start in different places: elements keep their ordinals, however they are moved.
        moved = flat.zero_based()
        here, there = (moved, flat) if back else (flat, moved)
        return there.indices_at(here.ordinals(indices))
    if not move.any():
        return indices
    return indices + move if back else indices - move


MaskWay: TypeAlias = Literal["modes", "rows", "points"]
"""What a mask picks: indices of every mode of a box, rows of a jagged shape, or single elements."""

_T_co = TypeVar("_T_co", covariant=True)
_T = TypeVar("_T")


class SupportsGather(Protocol[_T_co]):
    """A target of `gather`: a tensor or a layout."""

    @property
    def shape(self) -> Shape:
        """The shape of the target."""
        ...

    def gather(self, mode: SupportsIndex, positions: npt.ArrayLike) -> _T_co:
        """Return the given positions of `mode`."""
        ...

    def __getitem__(self, key: tuple[SupportsIndex | slice, ...], /) -> _T_co: ...


class MaskPlaces(Generic[IndexT_co], metaclass=Hinted):
    """Abstract: the attributes `source`, `way`, `picks` and `_shape`."""

    __slots__ = ()

    source: Shape[IndexT_co]
    way: MaskWay
    picks: tuple[Positions | int, ...]
    _shape: Shape | None

    def __dir__(self) -> list[str]:
        return dir(type(self))

    def __len__(self) -> int:
        raise TypeError("a mask has no len: `m.size` is how many indices it picks")

    def __bool__(self) -> bool:
        return True

    @property
    def shape(self) -> Shape:
        """The result: the picked indices as a shape without gaps, which starts at 0.

        A box of one mode per mode that is not pinned; of picked rows the jagged shape of these rows; of
        points one mode. Modes keep their names, where they have some. O(1), for rows O(what is picked) once.

        Examples
        --------
        >>> from tensorwrapper import Mask, Shape
        >>> Mask(Shape(4, 6), slice(None, None, 2), [1, 4, 5]).shape
        Shape(2, 3)
        >>> Mask(Shape.jagged([3, 1, 2]), [0, 2]).shape
        Shape.jagged([3, 2])
        """
        shape = self._shape
        if shape is None:
            shape = self._make_shape()
            object.__setattr__(self, "_shape", shape)
        return shape

    def _make_shape(self) -> Shape:
        free, names = self._free(), self.source._names
        if self.way == "rows":
            return wrap(rows_at(self.source, free[0]), names)
        box = make_smooth(tuple([picks.count for picks in free]), (0,) * len(free))
        if names is None or self.way == "points":
            return wrap(box)
        kept = [n for n, picks in zip(names, self.picks, strict=True) if isinstance(picks, Positions)]
        return wrap(box, plain_names(tuple(kept)))

    @property
    def extents(self) -> Extents:
        """The extents of the result; of rows that differ they raise `JaggedModeError`."""
        return self.shape.extents

    @property
    def rank(self) -> int:
        """The number of modes of the result."""
        return self.source.rank if self.way == "rows" else len(self._free())

    @property
    def size(self) -> int:
        """Number of picked indices, as a Python integer of any size."""
        return self.shape.size

    def _free(self) -> list[Positions]:
        """Return the picks of the modes that the result has."""
        return [picks for picks in self.picks if isinstance(picks, Positions)]

    # From the result to the source.

    def source_index(self, index: Iterable[SupportsIndex]) -> IndexT_co:
        """Return the index of the source for an `index` of the result.

        O(rank), for rows and points of jagged shapes O(log n).

        Raises
        ------
        OutOfBoundsError
            If the result has no such index.

        Examples
        --------
        >>> from tensorwrapper import Mask, Shape
        >>> Mask(Shape(4, 6), slice(None, None, 2), [1, 4, 5]).source_index((1, 1))
        (2, 4)
        """
        numbers = self._inside(index)
        if self.way == "rows":
            return cast("IndexT_co", tuple(self.source_indices([numbers])[0].tolist()))
        left = iter(numbers)
        found = tuple([p.at(next(left)) if isinstance(p, Positions) else p for p in self.picks])
        return self.source.index(found[0]) if self.way == "points" else cast("IndexT_co", found)

    def _inside(self, index: Iterable[SupportsIndex]) -> Index:
        numbers = to_index(index, self.rank)
        if numbers not in self.shape:
            raise OutOfBoundsError(f"index {numbers} is outside the result of the mask, {self.shape}")
        return numbers

    def source_indices(self, indices: npt.ArrayLike) -> IntArray:
        """Return the index of the source for each row of an ``(..., rank)`` array of indices of the result.

        One take per mode, for points and rows also the indices of ordinals.

        Raises
        ------
        OutOfBoundsError
            If the result has no such index; the text names the first.

        Examples
        --------
        >>> from tensorwrapper import Mask, Shape
        >>> Mask(Shape(4, 6), slice(None, None, 2), [1, 4, 5]).source_indices([[0, 0], [1, 2]]).tolist()
        [[0, 1], [2, 5]]
        """
        table = to_index_array(indices, self.rank)
        inside = self.shape.contains(table)
        if not inside.all():
            raise OutOfBoundsError(
                f"index {_first(table, ~inside)} is outside the result of the mask, {self.shape}"
            )
        if self.way == "rows":
            moved = table.copy()
            moved[..., 0] = self._free()[0].take(table[..., 0]) - self.source.origin_at(())
            return as_if_at_zero(self.source, moved, back=True)
        found = np.empty((*table.shape[:-1], len(self.picks)), dtype=np.int64)
        column = 0
        for mode, picks in enumerate(self.picks):
            if isinstance(picks, Positions):
                found[..., mode] = picks.take(table[..., column])
                column += 1
            else:
                found[..., mode] = _fitting(picks)
        return self.source.indices_at(found[..., 0]) if self.way == "points" else found

    # From the source to the result.

    def __contains__(self: "MaskPlaces[IndexT]", index: IndexT | LooseIndex) -> bool:
        return index in self.source and self._find(to_index(index, self.source.rank)) is not None

    def _find(self, index: Index) -> Index | None:
        """Return the index in the result of an index of the source, None if it is not picked."""
        if self.way == "rows":
            table = np.array([index], dtype=np.int64)
            picked, found = self._find_all(table)
            return tuple(found[0].tolist()) if picked[0] else None
        where: list[int] = []
        for picks, place in zip(self.picks, self._places_of(index), strict=True):
            if isinstance(picks, Positions):
                where.append(picks.find(place))
                if where[-1] < 0:
                    return None
            elif picks != place:
                return None
        return tuple(where)

    def _places_of(self, index: Index) -> Index:
        return (self.source.implementation.ordinal(index),) if self.way == "points" else index

    def contains(self, indices: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Tell for each row of an ``(..., rank)`` array of indices of the source whether it is picked.

        Examples
        --------
        >>> from tensorwrapper import Mask, Shape
        >>> Mask(Shape(4, 6), slice(None, None, 2)).contains([[0, 5], [1, 5], [9, 9]]).tolist()
        [True, False, False]
        """
        table = to_index_array(indices, self.source.rank)
        known = self.source.contains(table)
        if not known.all():
            known[known] = self._find_all(table[known])[0]
            return known
        return self._find_all(table)[0]

    def result_index(self, index: Iterable[SupportsIndex]) -> tuple[int, ...]:
        """Return the index in the result of an index of the source.

        O(rank), or O(log n) for each stored position.

        Raises
        ------
        OutOfBoundsError
            If the mask does not pick the index.

        Examples
        --------
        >>> from tensorwrapper import Mask, Shape
        >>> Mask(Shape(4, 6), slice(None, None, 2), [1, 4, 5]).result_index((2, 4))
        (1, 1)
        """
        source = self.source.implementation
        numbers = to_index(index, source.rank)
        found = self._find(numbers) if numbers in source else None
        if found is None:
            raise OutOfBoundsError(f"index {numbers} is not picked by the mask {self}")
        return found

    def result_indices(self, indices: npt.ArrayLike) -> IntArray:
        """Return the indices in the result of an ``(..., rank)`` array of indices of the source.

        Raises
        ------
        OutOfBoundsError
            If an index is not picked; the text names the first.

        Examples
        --------
        >>> from tensorwrapper import Mask, Shape
        >>> Mask(Shape(4, 6), slice(None, None, 2), [1, 4, 5]).result_indices([[0, 1], [2, 5]]).tolist()
        [[0, 0], [1, 2]]
        """
        table = to_index_array(indices, self.source.rank)
        known = self.source.contains(table)
        picked, found = self._find_all(table) if known.all() else (known, table)
        if not picked.all():
            first = _first(table, ~self.contains(table))
            raise OutOfBoundsError(f"index {first} is not picked by the mask {self}")
        return found

    def _find_all(self, table: IntArray) -> tuple[npt.NDArray[np.bool_], IntArray]:
        """Return which indices of the source are picked, and their indices in the result."""
        if self.way == "rows":
            (rows,) = self._free()
            found = as_if_at_zero(self.source, table).copy()
            found[..., 0] = rows.find_all(table[..., 0])
            return found[..., 0] >= 0, found
        places = self.source.ordinals(table)[..., np.newaxis] if self.way == "points" else table
        picked = np.ones(table.shape[:-1], dtype=np.bool_)
        found = np.empty((*table.shape[:-1], self.rank), dtype=np.int64)
        column = 0
        for mode, picks in enumerate(self.picks):
            if isinstance(picks, Positions):
                found[..., column] = picks.find_all(places[..., mode])
                picked &= found[..., column] >= 0
                column += 1
            else:
                picked &= places[..., mode] == picks
        return picked, found

    # All of it at once.

    def ordinals(self) -> IntArray:
        """Return the ordinal in the source of every picked element, in row-major order of the result.

        It is what NumPy's ``take`` needs: ``tensor.elements().take(mask.ordinals())``. O(size).

        Raises
        ------
        SizeOverflowError
            If the source has ordinals beyond 64 bits.

        Examples
        --------
        >>> from tensorwrapper import Mask, Shape
        >>> Mask(Shape(4, 6), slice(None, None, 2), [1, 4, 5]).ordinals().tolist()
        [1, 4, 5, 13, 16, 17]
        """
        size = self.source.size
        if size > MAX_INT64:
            raise SizeOverflowError(
                f"a shape of {size} elements has ordinals beyond 64 bits; see source_index"
            )
        if self.way == "rows":
            return row_ordinals(self.source, self._free()[0])
        if self.way == "points":
            return np.atleast_1d(self._free()[0].to_numpy() if self._free() else np.array(self.picks))
        base, found = 0, np.zeros(1, dtype=np.int64)
        box = self.source.flatten()
        step = size
        for picks, extent, start in zip(self.picks, box.extents, box.origin, strict=True):
            step //= max(extent, 1)
            if isinstance(picks, Positions):
                along = (picks.to_numpy() - _fitting(start)) * np.int64(step)
                found = np.add.outer(found, along).reshape(-1)
            else:
                base += (picks - start) * step
        return found + base if base else found

    def gather(self, target: "SupportsGather[_T]") -> _T:
        """Return the picked part of a tensor or a layout over the source, as a view.

        Raises
        ------
        ConversionError
            If the mask picks points, which cannot be a view; use `ordinals`.
        ExtentMismatchError
            If the target has another shape.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> t = tw.as_tensor([[1, 2, 3], [4, 5, 6]])
        >>> tw.Mask(t.shape, 1, [2, 0]).gather(t).tolist()
        [6, 4]
        """
        if self.way == "points":
            raise ConversionError(
                "points lie anywhere and make no view; tensor.elements().take(mask.ordinals()) copies them"
            )
        if not hasattr(cast("object", target), "shape"):
            raise ConversionError(
                f"a mask is laid on a layout, a tensor or a view, not on a {type(target).__name__}"
            )
        if not target.shape.flatten().zero_based().is_congruent(self.source.flatten().zero_based()):
            raise ExtentMismatchError(f"the mask is of {self.source}, but it is laid on {target.shape}")
        starts = [self.source.origin_at(())] if self.way == "rows" else self.source.origin
        key = [_positional(picks, start) for picks, start in zip(self.picks, starts, strict=True)]
        part = target[tuple(key)]
        mode = 0
        for picks, start in zip(self.picks, starts, strict=True):
            if isinstance(picks, Positions):
                if not isinstance(picks.places, range):
                    part = cast("SupportsGather[_T]", part).gather(mode, picks.places - _fitting(start))
                mode += 1
        return part


def _first(table: IntArray, wrong: npt.NDArray[np.bool_]) -> Index:
    return tuple(table[wrong][0].tolist())


def _fitting(number: int) -> int:
    if -MAX_INT64 <= number <= MAX_INT64:
        return number
    raise SizeOverflowError(f"the index {number} does not fit into 64 bits")


def _positional(picks: Positions | int, start: int) -> int | slice:
    """Return what stands for picks between the brackets of a tensor; of stored ones the whole mode."""
    if isinstance(picks, int):
        return picks - start
    places = picks.places
    if not isinstance(places, range):
        return slice(None)
    stop = places.stop - start
    # A slice that runs down to position 0 has no end that a number could say.
    return slice(places.start - start, stop if stop >= 0 else None, places.step) if places else slice(0, 0)
