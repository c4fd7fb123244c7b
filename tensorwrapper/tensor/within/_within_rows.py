"""Work within rows: the methods that rows of tensors and of views share."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, Generic, Literal, SupportsIndex, TypeVar, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import as_truths, numpy_kind, shown_array
from tensorwrapper._error_text import warn_caller
from tensorwrapper._integers import to_int
from tensorwrapper.buffer import BufferCommon, Dense, Nullable, StringData, Strings
from tensorwrapper.buffer.lowlevel import fit_number, holds_strings, packed_layout
from tensorwrapper.errors import (
    ConversionError,
    DTypeError,
    ExtentError,
    ExtentMismatchError,
)
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import make_smooth, unnamed_shape, wrap
from tensorwrapper.tensor._common import TensorCommon
from tensorwrapper.tensor._tensor_base import TensorBase
from tensorwrapper.tensor.rows._nulls import over_valid, sides_of
from tensorwrapper.tensor.rows._reduce import reduce_runs
from tensorwrapper.tensor.rows._row_facts import row_splits, rows_of_counts
from tensorwrapper.tensor.within import _numbers, _order, _pairs, _running, _search, _skip_nulls
from tensorwrapper.tensor.within._order import RankMethod
from tensorwrapper.typing import Array, IntArray

_T = TypeVar("_T")
_R = TypeVar("_R")

_NUMBERED: Final[ContextVar[tuple[Shape[Any], IntArray | range] | None]] = ContextVar(
    "numbered", default=None
)

_NOT_OF: Final = {
    "cumsum": "M",
    "cumprod": "mM",
    "ptp": "b",
    "var": "mM",
    "std": "mM",
    "median": "cmMV",
    "quantile": "cmMV",
    "histogram": "cmM",
}
"""The kinds of elements of which NumPy, or a definition, has no such numbers."""


class WithinRows(ABC, Generic[_T, _R]):
    """Abstract: `shape` and `_here`. Calls that work within each row, along the last mode."""

    __slots__ = ()

    @property
    @abstractmethod
    def shape(self) -> Shape:
        """The shape of the prefixes: that of the whole without its last mode."""

    @abstractmethod
    def _here(self) -> TensorBase[Any]:
        """Return the rows as a tensor without layers."""

    def _made(self, tensor: TensorBase[Any], flat: Array | BufferCommon[Any], shape: Shape[Any]) -> _R:
        buffer = flat if isinstance(flat, BufferCommon) else Dense(cast("Any", flat))
        return cast("_R", tensor._make(packed_layout(shape), buffer))

    def _present(self) -> TensorBase[Any]:
        """Return the rows without nulls, which take part in no number of a row."""
        tensor: Any = self._here()
        return cast("TensorBase[Any]", tensor.drop_null() if tensor.buffer.nullable else tensor)

    # Rows of the same shape.

    def sort(self, *, descending: bool = False) -> _T:
        """Return the elements of each row in order; NaN comes last, also in descending order. O(n log n).

        Parameters
        ----------
        descending
            Whether the greatest comes first.

        Raises
        ------
        DTypeError
            If elements of the type have no order.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.jagged([[5, 1, 7], [], [2, 9]]).rows().sort().tolist()
        [[1, 5, 7], [], [2, 9]]
        """
        tensor = self._here()
        if tensor.buffer.nullable:
            return cast("_T", _skip_nulls.sort(tensor, self._present(), descending=descending))
        flat, splits, down = _ordered(tensor, "sort", descending=descending)
        if not holds_strings(tensor.dtype):
            return cast("_T", self._made(tensor, _order.sort(flat, splits, descending=down), tensor.shape))
        order = _order.argsort(flat, splits)
        order += np.repeat(splits[:-1], np.diff(splits))
        return cast("_T", _over_strings(tensor, order, tensor.shape))

    def argsort(self, *, descending: bool = False) -> _R:
        """Return the positions that sort each row, counted from its start; equal elements keep their order.

        ``t[t.rows().argsort()]`` has the rows of ``t`` in order. O(n log n).

        Parameters
        ----------
        descending
            Whether the greatest comes first.

        Raises
        ------
        DTypeError
            If elements of the type have no order.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> t = tw.jagged([[5, 1, 7], [], [2, 9]])
        >>> t.rows().argsort(descending=True).tolist()
        [[2, 0, 1], [], [1, 0]]
        """
        tensor = self._here()
        if tensor.buffer.nullable:
            nulls_last = _skip_nulls.argsort(tensor, self._present(), descending=descending)
            return self._made(tensor, nulls_last, tensor.shape)
        flat, splits, down = _ordered(tensor, "argsort", descending=descending)
        return self._made(tensor, _order.argsort(flat, splits, descending=down), tensor.shape)

    def rankdata(self, method: RankMethod = "average") -> _R:
        """Return the rank of each element in its row, from 1 on; NaN is last. O(n log n).

        Parameters
        ----------
        method
            The rank of equal elements: their mean rank ("average"), the least ("min"), the greatest ("max"),
            the number of the distinct element ("dense"), or their order ("ordinal"). The names are those of
            ``scipy.stats.rankdata``.

        Raises
        ------
        ConversionError
            If there is no such method.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.jagged([[1.5, 2.5], [4.0, 0.5, 4.0]]).rows().rankdata().tolist()
        [[1.0, 2.0], [2.5, 1.0, 2.5]]
        """
        tensor, kept = self._here(), self._present()
        flat, splits, _ = _ordered(kept, "rankdata")
        return self._where_valid(tensor, kept, _order.ranks(flat, splits, method))

    def _where_valid(self, tensor: TensorBase[Any], kept: TensorBase[Any], flat: Array) -> _R:
        """Return one number per element; nulls stay null."""
        made: Any = self._made(kept, flat, kept.shape)
        return cast("_R", made if kept is tensor else _skip_nulls.at_valid(tensor, made))

    def cumsum(self) -> _R:
        """Return the running sums of each row, with the bits that NumPy gives for it alone. O(n).

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.jagged([[5, 1, 7], [], [2, 9]]).rows().cumsum().tolist()
        [[5, 6, 13], [], [2, 11]]
        """
        return self._running(np.add, "cumsum")

    def cumprod(self) -> _R:
        """Return the running products of each row, with the bits that NumPy gives for it alone. O(n).

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.jagged([[5, 1, 7], [], [2, 9]]).rows().cumprod().tolist()
        [[5, 5, 35], [], [2, 18]]
        """
        return self._running(np.multiply, "cumprod")

    def _running(self, ufunc: np.ufunc, name: str) -> _R:
        tensor, kept = self._here(), self._present()
        flat, splits = _parts_of(kept, name)
        # As NumPy's functions do it, small integers and truth values become ones that hold their sums.
        wide = ufunc.reduce(flat[:1]).dtype if flat.dtype.kind in "biu" else None
        return self._where_valid(tensor, kept, _running.accumulated(ufunc, flat, splits, wide))

    # Rows of other lengths.

    def diff(self) -> _R:
        """Return the difference of each element of a row and the one before; for bools, ``!=``. O(n).

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.jagged([[5, 1, 7], [], [2]]).rows().diff().tolist()
        [[-4, 6], [], []]
        """
        tensor = self._here()
        if tensor.buffer.sides is not None:
            return cast("_R", _skip_nulls.differences(tensor))
        flat, counts = _running.differences(*_parts_of(tensor, "diff"))
        shape = tensor.shape
        if shape.is_box and not len(counts):
            return self._made(tensor, flat, _box_under(self.shape, max(shape.extents[-1] - 1, 0)))
        return self._made(tensor, flat, _rows_of(shape, counts))

    def unique(self) -> _T:
        """Return the distinct elements of each row, ascending; NaN is one value, and last. O(n log n).

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.jagged([[3, 1, 3], [], [2]]).rows().unique().tolist()
        [[1, 3], [], [2]]
        """
        return cast("_T", self._with_null(self._distinct("unique")[0])[0])

    def unique_counts(self) -> tuple[_T, _R]:
        """Return the distinct elements of each row, ascending, and how often each is there. O(n log n).

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> values, counts = tw.jagged([[3, 1, 3], [], [2]]).rows().unique_counts()
        >>> values.tolist(), counts.tolist()
        ([[1, 3], [], [2]], [[1, 2], [], [1]])
        """
        values, new = self._distinct("unique_counts")
        distinct, valid = self._with_null(values)
        counts: Array = _order.repeats(new)
        if valid is not None:
            counts = _skip_nulls.with_null_counts(self._here(), counts, valid)
        return cast("_T", distinct), self._made(values, counts, distinct.shape)

    def _with_null(self, distinct: TensorBase[Any]) -> "tuple[TensorBase[Any], npt.NDArray[np.bool_] | None]":
        """Return the distinct elements of each row, a null last if it has one, and the valid ones."""
        tensor = self._here()
        if not tensor.buffer.nullable:
            return distinct, None
        counts, valid = _skip_nulls.with_null_last(tensor, distinct)
        (made,) = over_valid([distinct], valid, _rows_of(tensor.shape, counts), tensor)
        return made, valid

    def _distinct(self, name: str) -> tuple[TensorBase[Any], Array]:
        """Return the distinct elements of each row, and which of the sorted ones they are."""
        tensor = self._present()
        flat, splits, _ = _ordered(tensor, name)
        ordered, new, ends = _order.distinct(flat, splits)
        values, shape = ordered[cast("Any", new)], _rows_of(tensor.shape, np.diff(ends))
        if not holds_strings(tensor.dtype):
            return cast("TensorBase[Any]", self._made(tensor, values, shape)), new
        # For each distinct string, the number of its first element.
        firsts = np.unique(flat, return_index=True)[1]
        return _over_strings(tensor, firsts[cast("IntArray", values)], shape), new

    def top_k(self, k: SupportsIndex, *, largest: bool = True) -> _R:
        """Return the positions of the best `k` elements of each row, the best first; of short rows all.

        ``t[t.rows().top_k(2)]`` has the elements. O(n log n).

        Parameters
        ----------
        k
            How many.
        largest
            Whether the greatest elements are the best, or the least.

        Raises
        ------
        ExtentError
            If `k` is negative.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.jagged([[5, 1, 7], [], [2, 9]]).rows().top_k(2).tolist()
        [[2, 0], [], [1, 0]]
        """
        count = _at_least(k, "top_k(k)", 0)
        tensor = self._here()
        if tensor.buffer.nullable:
            order = _skip_nulls.argsort(tensor, self._present(), descending=largest)
            first, counts = _skip_nulls.first_positions(tensor.shape, order, count)
            return self._made(tensor, first, _rows_of(tensor.shape, counts))
        flat, splits, down = _ordered(tensor, "top_k", descending=largest)
        positions, ends = _order.top(flat, splits, count, largest=down)
        return self._made(tensor, positions, _rows_of(tensor.shape, np.diff(ends)))

    def combinations(self, k: SupportsIndex = 2, *, replacement: bool = False) -> tuple[_R, ...]:
        """Return the positions of all ways to take `k` elements of each row, in lexicographic order.

        Parameters
        ----------
        k
            How many are taken.
        replacement
            Whether one element may be taken more than once.

        Returns
        -------
        tuple
            For each of the `k` its positions, all of one shape: ``i, j = t.rows().combinations()`` gives the
            pairs ``t[i]``, ``t[j]``.

        Raises
        ------
        ExtentError
            If `k` is less than 1.
        SizeOverflowError
            If there are more than memory holds; nothing is allocated.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> t = tw.jagged([[5, 1, 7], [], [2, 9]])
        >>> i, j = t.rows().combinations()
        >>> (t[i] * t[j]).tolist()
        [[5, 35, 7], [], [18]]
        """
        count = _at_least(k, "combinations(k)", 1)
        tensor = self._here()
        lengths = np.diff(row_splits(tensor.shape))
        found, ends = _pairs.combinations(lengths, count, replacement=replacement)
        shape = _rows_of(tensor.shape, np.diff(ends))
        return tuple([self._made(tensor, own, shape) for own in found])

    def product(self, other: "TensorCommon[Any]") -> tuple[_R, _R]:
        """Return the positions of all pairs of an element of a row and one of the same row of another tensor.

        Raises
        ------
        ExtentMismatchError
            If the other tensor has other rows: not as many, or under other prefixes.
        SizeOverflowError
            If there are more than memory holds; nothing is allocated.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> t, u = tw.jagged([[1, 2], []]), tw.jagged([[10, 20], [30]])
        >>> i, j = t.rows().product(u)
        >>> (t[i] + u[j]).tolist()
        [[11, 21, 12, 22], []]
        """
        tensor = self._here()
        splits = _beside(tensor, other, "product")[1]
        lengths = np.diff(row_splits(tensor.shape))
        first, second, counts = _pairs.product(lengths, np.diff(splits))
        shape = _rows_of(tensor.shape, counts)
        return self._made(tensor, first, shape), self._made(tensor, second, shape)

    def searchsorted(self, values: "TensorCommon[Any]", *, side: Literal["left", "right"] = "left") -> _R:
        """Return where elements go in the row of the same prefix, whose elements are in order.

        Parameters
        ----------
        values
            Rows of elements, as many as these; or one element for each row.
        side
            Before equal elements, or behind them.

        Raises
        ------
        ExtentMismatchError
            If there are not as many rows.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.jagged([[1, 5, 7], []]).rows().searchsorted(tw.jagged([[1, 6, 8], [0]])).tolist()
        [[0, 2, 3], [0]]
        """
        if side not in ("left", "right"):
            raise ConversionError(f"searchsorted(side=) is 'left' or 'right', not {side!r}")
        tensor = self._here()
        flat, splits = _parts_of(tensor, "searchsorted")
        given, own = _beside(tensor, values, "searchsorted")
        rows = np.repeat(np.arange(len(own) - 1, dtype=np.int64), np.diff(own))
        given.buffer.require_numbers("searchsorted")
        plain, valid = sides_of(given._flat())
        wanted = plain.elements()
        try:
            np.less(flat[:0], wanted[:0])
        except (TypeError, OverflowError) as error:  # times whose units no 64 bits count together
            text = f"searchsorted compares no {wanted.dtype} with elements of type {flat.dtype}"
            raise DTypeError(text) from error
        found = _search.searched(flat, splits, wanted, rows, side)
        if not given.buffer.nullable:
            return self._made(given, found, given.shape)
        return self._made(given, Nullable(Dense(cast("Any", found)), Dense(cast("Any", valid))), given.shape)

    # One number for each row.

    def sum(self, *, initial: object = None, empty: object = ...) -> _R:
        """Return the sum of each row, in the type that ``np.sum`` gives; 0 of an empty row. O(n).

        Parameters
        ----------
        initial
            Is added to each sum.
        empty
            The result of an empty row.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.jagged([[5, 1, 7], [], [2, 9]]).rows().sum().tolist()
        [13, 0, 11]
        """
        return self._reduced(np.add, "sum", initial, empty)

    def prod(self, *, initial: object = None, empty: object = ...) -> _R:
        """Return the product of each row; 1 of an empty row. O(n). The parameters are those of `sum`.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.jagged([[5, 1, 7], [], [2, 9]]).rows().prod().tolist()
        [35, 1, 18]
        """
        return self._reduced(np.multiply, "prod", initial, empty)

    def max(self, *, initial: object = None, empty: object = ...) -> _R:
        """Return the greatest element of each row; NaN wins. O(n); of strings O(n log n).

        Parameters
        ----------
        initial
            A number that takes part in each row.
        empty
            The result of an empty row.

        Raises
        ------
        ExtentError
            If a row is empty, and neither `initial` nor `empty` is given.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.jagged([[5, 1, 7], [], [2, 9]]).rows().max(empty=-1).tolist()
        [7, -1, 9]
        """
        return self._reduced(np.maximum, "max", initial, empty)

    def min(self, *, initial: object = None, empty: object = ...) -> _R:
        """Return the least element of each row; NaN wins. O(n). Parameters and errors are those of `max`.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.jagged([[5, 1, 7], [], [2, 9]]).rows().min(empty=-1).tolist()
        [1, -1, 2]
        """
        return self._reduced(np.minimum, "min", initial, empty)

    def any(self) -> _R:
        """Return True for each row with a true element, and False for an empty row. O(n).

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.jagged([[True, False], [], [False]]).rows().any().tolist()
        [True, False, False]
        """
        return self._reduced(np.logical_or, "any", None, ...)

    def all(self) -> _R:
        """Return whether all elements of each row are true; those of an empty row are. O(n).

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.jagged([[True, False], [], [True]]).rows().all().tolist()
        [False, True, True]
        """
        return self._reduced(np.logical_and, "all", None, ...)

    def _reduced(self, ufunc: np.ufunc, name: str, initial: object, empty: object) -> _R:
        tensor = self._present()
        if name in ("max", "min") and initial is None and holds_strings(tensor.dtype):
            return self._extreme_string(tensor, name, empty)
        flat, splits = _parts_of(tensor, name)
        if empty is ... and (initial is not None or ufunc.identity is not None):
            return self._made(tensor, reduce_runs(ufunc, flat, splits, initial, what="row"), self.shape)
        empties = np.flatnonzero(splits[1:] == splits[:-1])
        if empty is ... and len(empties):
            raise _no_answer(self.shape, np.diff(splits), name)
        if initial is None and ufunc in (np.maximum, np.minimum):
            numbers = _numbers.extremes(ufunc, flat, splits)
            if numbers is not None:
                return self._made(tensor, _at_empty(numbers, empties, empty), self.shape)
        counts = np.diff(splits)
        filled = np.append(splits[:-1][counts > 0], splits[-1:])
        found = _with_empty(reduce_runs(ufunc, flat, filled, initial, what="row"), counts, empty)
        return self._made(tensor, found, self.shape)

    def count(self) -> _R:
        """Return how many elements each row has.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.jagged([[5, 1, 7], [], [2, 9]]).rows().count().tolist()
        [3, 0, 2]
        """
        tensor = self._present()
        return self._made(tensor, np.diff(row_splits(tensor.shape)), self.shape)

    def count_nonzero(self) -> _R:
        """Return how many elements of each row are not 0. O(n).

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.jagged([[5, 0, 7], [], [0]]).rows().count_nonzero().tolist()
        [2, 0, 0]
        """
        tensor = self._present()
        flat, splits = _parts_of(tensor, "count_nonzero")
        marks = as_truths(flat.astype(np.bool_, copy=False)).view(np.int8)
        found = reduce_runs(np.add, marks, splits, None, what="row", dtype=np.int64)
        return self._made(tensor, found, self.shape)

    def ptp(self, *, empty: object = ...) -> _R:
        """Return how far the greatest element of each row is from the least. O(n). Errors as of `max`.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.jagged([[5, 1, 7], [], [2, 9]]).rows().ptp(empty=0).tolist()
        [6, 0, 7]
        """
        tensor = self._present()
        flat, splits = _parts_of(tensor, "ptp")

        def apart(marks: IntArray) -> Array:
            greatest = reduce_runs(np.maximum, flat, marks, None, what="row")
            return cast(
                "Array", np.subtract(greatest, reduce_runs(np.minimum, flat, marks, None, what="row"))
            )

        return self._of_filled(tensor, splits, apart, empty, "ptp")

    def _of_filled(
        self,
        tensor: TensorBase[Any],
        splits: IntArray,
        function: Callable[[IntArray], Array],
        empty: object,
        name: str,
    ) -> _R:
        """Return the numbers of a function of where rows with elements begin and end; of others `empty`."""
        counts = np.diff(splits)
        if empty is ... and not counts.all():
            raise _no_answer(self.shape, counts, name)
        found = function(np.append(splits[:-1][counts > 0], splits[-1:]))
        return self._made(tensor, _with_empty(found, counts, empty), self.shape)

    def argmax(self, *, keepdims: bool = False, empty: object = ...) -> _R:
        """Return the position of the greatest element of each row, the first of equals; NaN wins. O(n).

        Parameters
        ----------
        keepdims
            Whether each is a row of one position, and of an empty row an empty one: so
            ``t[t.rows().argmax(keepdims=True)]`` has the elements.
        empty
            The result of an empty row, unless `keepdims` is given.

        Raises
        ------
        ExtentError
            If a row is empty, and neither `keepdims` nor `empty` is given.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> t = tw.jagged([[5, 1, 7], [], [2, 9]])
        >>> t.rows().argmax(empty=-1).tolist(), t[t.rows().argmax(keepdims=True)].tolist()
        ([2, -1, 1], [[7], [], [9]])
        """
        return self._extreme("max", keepdims=keepdims, empty=empty)

    def argmin(self, *, keepdims: bool = False, empty: object = ...) -> _R:
        """Return the position of the least element of each row, as `argmax` does of the greatest. O(n).

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.jagged([[5, 1, 7], [], [2, 9]]).rows().argmin(empty=-1).tolist()
        [1, -1, 0]
        """
        return self._extreme("min", keepdims=keepdims, empty=empty)

    def _extreme(self, which: Literal["max", "min"], *, keepdims: bool, empty: object) -> _R:
        tensor, name = self._present(), f"arg{which}"
        flat, splits, _ = _ordered(tensor, name, descending=which == "max")
        strings = holds_strings(tensor.dtype)
        empties = np.flatnonzero(splits[1:] == splits[:-1])
        if not keepdims and empty is ... and len(empties):
            raise _no_answer(self.shape, np.diff(splits), name)
        found = _numbers.place_of_extreme(flat, splits, "min" if strings else which)
        if self._here().buffer.nullable:
            rows = np.flatnonzero(np.diff(splits))
            found[rows] = _skip_nulls.places_among_all(self._here(), found[rows], rows, splits)
        if keepdims:
            counts = np.diff(splits)
            return self._made(tensor, found[counts > 0], _rows_of(tensor.shape, np.minimum(counts, 1)))
        return self._made(tensor, _at_empty(found, empties, empty), self.shape)

    def _extreme_string(self, tensor: TensorBase[Any], name: str, empty: object) -> _R:
        numbers, splits, _ = _ordered(tensor, name, descending=name == "max")
        counts = np.diff(splits)
        filled = counts > 0
        places = splits[:-1][filled] + _numbers.place_of_extreme(numbers, splits, "min")[filled]
        return self._strings_at(tensor, places, counts, empty, name)

    def first(self, *, empty: object = ...) -> _R:
        """Return the first element of each row. O(rows).

        Parameters
        ----------
        empty
            The result of an empty row.

        Raises
        ------
        ExtentError
            If a row is empty, and `empty` is not given.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.jagged([[5, 1, 7], [], [2, 9]]).rows().first(empty=0).tolist()
        [5, 0, 2]
        """
        return self._at(0, empty, "first")

    def last(self, *, empty: object = ...) -> _R:
        """Return the last element of each row, as `first` does the first. O(rows).

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.jagged([[5, 1, 7], [], [2, 9]]).rows().last(empty=0).tolist()
        [7, 0, 9]
        """
        return self._at(-1, empty, "last")

    def _at(self, place: int, empty: object, name: str) -> _R:
        tensor = self._here()
        splits = row_splits(tensor.shape)
        counts = np.diff(splits)
        filled = counts > 0
        places = splits[:-1][filled] if place == 0 else splits[1:][filled] - 1
        if tensor.buffer.sides is not None:
            if empty is ... and not filled.all():
                raise _no_answer(self.shape, counts, name)
            ends = tensor.buffer.pack(tensor.layout.implementation, own=False)
            found_ends = ends.collect(iter([places]), len(places))
            made: Any = self._made(tensor, found_ends, wrap(make_smooth((len(places),), (0,))))
            return cast("_R", _skip_nulls.beside_empty(made, filled, empty, self.shape))
        if not holds_strings(tensor.dtype):
            flat, _ = _parts_of(tensor, name)
            return self._of_filled(tensor, splits, lambda _: flat[places], empty, name)
        return self._strings_at(tensor, places, counts, empty, name)

    def _strings_at(
        self, tensor: TensorBase[Any], places: IntArray, counts: IntArray, empty: object, name: str
    ) -> _R:
        """Return the strings at places, one for each row that has elements, and `empty` for the others."""
        filled = counts > 0
        if empty is ... and not filled.all():
            raise _no_answer(self.shape, counts, name, of_text=True)
        data = _data_of(tensor)
        nullable = empty is None or tensor.buffer.nullable
        if filled.all():
            return self._made(tensor, Strings(data.take(places), nullable=nullable), self.shape)
        given = StringData.from_list([cast("Any", empty)], kind=data.kind)
        order = np.full(len(counts), len(data), np.int64)
        order[filled] = places
        found = Strings(StringData.concat([data, given]).take(order), nullable=nullable)
        return self._made(tensor, found, self.shape)

    def n_unique(self) -> _R:
        """Return how many distinct elements each row has; NaN is one. O(n log n).

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.jagged([[3, 1, 3], [], [2]]).rows().n_unique().tolist()
        [2, 0, 1]
        """
        tensor = self._here()
        if tensor.buffer.nullable:
            return self._made(tensor, np.diff(row_splits(cast("Any", self.unique()).shape)), self.shape)
        flat, splits, _ = _ordered(tensor, "n_unique")
        return self._made(tensor, np.diff(_order.distinct(flat, splits)[2]), self.shape)

    def mean(self, *, empty: object = ...) -> _R:
        """Return the mean of each row, in the type that ``np.mean`` gives. O(n).

        Parameters
        ----------
        empty
            The result of an empty row. Without it, NaN and a ``RuntimeWarning``.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.jagged([[5, 1], [], [2, 9]]).rows().mean(empty=0).tolist()
        [3.0, 0.0, 5.5]
        """
        tensor = self._present()
        flat, splits = _parts_of(tensor, "mean")
        return self._or_nan(tensor, _numbers.means(flat, [splits]), np.diff(splits), empty, "mean")

    def var(self, *, ddof: float = 0, empty: object = ...) -> _R:
        """Return the variance of each row. O(n).

        Parameters
        ----------
        ddof
            The sum of the squares is divided by the length of the row less this.
        empty
            The result of an empty row. Without it, NaN and a ``RuntimeWarning``.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.jagged([[5, 1], [], [2, 8]]).rows().var(empty=0).tolist()
        [4.0, 0.0, 9.0]
        """
        return self._spread("var", ddof, empty)

    def std(self, *, ddof: float = 0, empty: object = ...) -> _R:
        """Return the standard deviation of each row, the root of `var`, whose parameters it has. O(n).

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.jagged([[5, 1], [], [2, 8]]).rows().std(empty=0).tolist()
        [2.0, 0.0, 3.0]
        """
        return self._spread("std", ddof, empty)

    def _spread(self, name: Literal["var", "std"], ddof: float, empty: object) -> _R:
        tensor = self._present()
        flat, splits = _parts_of(tensor, name)
        found = _numbers.variances(flat, [splits], _to_float(ddof, f"{name}(ddof=)"))
        if name == "std":
            found = np.sqrt(found)
        return self._or_nan(tensor, found, np.diff(splits), empty, name)

    def median(self, *, empty: object = ...) -> _R:
        """Return the median of each row; NaN of one that has NaN. O(n log n).

        Parameters
        ----------
        empty
            The result of an empty row. Without it, NaN and a ``RuntimeWarning``.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.jagged([[5, 1, 7], [], [2, 9]]).rows().median(empty=0).tolist()
        [5.0, 0.0, 5.5]
        """
        return self._quantile(None, empty, "median")

    def quantile(self, q: float, *, empty: object = ...) -> _R:
        """Return a quantile of each row, between two elements by their distance, as ``np.quantile`` does.

        Parameters
        ----------
        q
            Which: from 0, the least element, to 1, the greatest.
        empty
            The result of an empty row. Without it, NaN and a ``RuntimeWarning``.

        Raises
        ------
        ExtentError
            If `q` is not from 0 to 1.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.jagged([[5, 1, 7], [], [2, 9]]).rows().quantile(0.25, empty=0).tolist()
        [3.0, 0.0, 3.75]
        """
        share = _to_float(q, "quantile(q)")
        if not 0 <= share <= 1:
            raise ExtentError(f"quantile(q): a quantile is from 0 to 1, not {q!r}")
        return self._quantile(share, empty, "quantile")

    def _quantile(self, share: float | None, empty: object, name: str) -> _R:
        tensor = self._present()
        flat, splits = _parts_of(tensor, name)
        return self._or_nan(tensor, _numbers.quantiles(flat, splits, share), np.diff(splits), empty, name)

    def _or_nan(
        self, tensor: TensorBase[Any], found: Array, counts: IntArray, empty: object, name: str
    ) -> _R:
        if not counts.all():
            if empty is ...:
                row = _first_empty(self.shape, counts)
                text = f"{name}: row {row} is empty; empty= of r.rows().{name}() sets its result"
                warn_caller(text, RuntimeWarning)
            elif empty is None:
                return self._made(tensor, _with_empty(found[counts > 0], counts, None), self.shape)
            else:
                # There is a number already, of nothing.
                found[counts == 0] = fit_number(empty, found.dtype, "empty")
        return self._made(tensor, _with_empty(found, counts, None) if empty is None else found, self.shape)

    def histogram(self, edges: "npt.ArrayLike") -> _R:
        """Return how many elements of each row are between each two edges, the last one inside. O(n log m).

        Parameters
        ----------
        edges
            Numbers, ascending: each two neighbours are the ends of a bin.

        Returns
        -------
        Tensor
            Over `shape` and one mode more, which has a position for each bin.

        Raises
        ------
        ExtentError
            If there are fewer than two edges, or they do not ascend.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.jagged([[5, 1, 7], [], [2, 9]]).rows().histogram([0, 3, 6, 9]).tolist()
        [[1, 1, 1], [0, 0, 0], [1, 0, 1]]
        """
        try:
            marks: Any = shown_array(edges)
        except ValueError:  # lists of several lengths
            marks = np.empty((0, 0))
        if (
            marks.ndim != 1
            or len(marks) < 2
            or marks.dtype.kind not in "biuf"
            or (marks[1:] < marks[:-1]).any()
        ):
            raise ExtentError(f"histogram(edges) takes two ascending numbers at least, not {edges!r}")
        tensor = self._present()
        flat, splits = _parts_of(tensor, "histogram")
        found = _search.histograms(flat, splits, marks)
        prefixes, bins = self.shape, found.shape[1]
        if prefixes.is_box:
            return self._made(tensor, found.reshape(-1), _box_under(prefixes, bins))
        return self._made(tensor, found.reshape(-1), rows_of_counts(tensor.shape, np.full(len(found), bins)))


def _parts_of(tensor: TensorBase[Any], name: str) -> tuple[Array, IntArray]:
    """Return the elements of rows of numbers, and where each row begins and ends."""
    if tensor.buffer.fill_value is not None:
        raise ConversionError(f"{name} of sparse rows: to_dense() has all their elements")
    tensor.buffer.require_numbers(name)
    if numpy_kind(tensor.dtype) in _NOT_OF.get(name, ""):
        raise DTypeError(f"{name} of rows does not take elements of type {tensor.dtype}")
    return tensor.elements(), row_splits(tensor.shape)


def _ordered(tensor: TensorBase[Any], name: str, *, descending: bool = False) -> tuple[Array, IntArray, bool]:
    """Return the elements to order, the row splits, and whether the order is to be reversed.

    Each string becomes its number among the distinct ones, already reversed; nulls come last.
    """
    if not holds_strings(tensor.dtype):
        return (*_parts_of(tensor, name), descending)
    data = _data_of(tensor)
    texts = np.array(data.to_list(), dtype=object)
    valid = np.array([own is not None for own in texts], dtype=np.bool_)
    distinct, inverse = np.unique(texts[valid], return_inverse=True)
    keys = np.full(len(texts), len(distinct), np.int64)
    keys[valid] = len(distinct) - 1 - inverse if descending else inverse
    return keys, row_splits(tensor.shape), False


def _data_of(tensor: TensorBase[Any]) -> StringData:
    return tensor.buffer.strings_of(tensor.layout.implementation)


def _over_strings(tensor: TensorBase[Any], order: IntArray, shape: Shape[Any]) -> TensorBase[Any]:
    found = Strings(_data_of(tensor).take(order), nullable=tensor.buffer.nullable)
    return tensor._make(packed_layout(shape), found)


def _rows_of(shape: Shape[Any], counts: IntArray) -> Shape[Any]:
    """Return the shape of rows of other lengths: a box, if they are those of a box, and of one length."""
    if shape.is_box and len(counts) and (counts == counts[0]).all():
        return _box_under(shape.leading(shape.rank - 1), int(counts[0]))
    return rows_of_counts(shape, counts)


def _box_under(prefixes: Shape[Any], count: int) -> Shape[Any]:
    box = wrap(make_smooth((*prefixes.extents, count), (*prefixes.origin, 0)))
    return box.named(*prefixes.names, None) if any(prefixes.names) else box


@contextmanager
def numbered_as(shape: Shape[Any], rows: "IntArray | range") -> Iterator[None]:
    """Let messages say of each row which one it is among all, of prefixes of a shape."""
    token = _NUMBERED.set((shape, rows))
    try:
        yield
    finally:
        _NUMBERED.reset(token)


def _first_empty(shape: Shape[Any], counts: IntArray) -> tuple[int, ...]:
    number, numbered = int(np.argmin(counts)), _NUMBERED.get()
    if numbered is not None:
        shape, rows = numbered
        number = int(rows[number])
    return tuple(shape.index(number))


def _no_answer(shape: Shape[Any], counts: IntArray, name: str, *, of_text: bool = False) -> ExtentError:
    more = " or initial=" if name in ("max", "min") and not of_text else ""
    return ExtentError(f"{name}: row {_first_empty(shape, counts)} is empty; empty={more} says what it gives")


def _with_empty(found: Array, counts: IntArray, empty: object) -> "Array | Nullable[Any]":
    """Return the numbers of all rows: those of rows with elements, and those of the others."""
    filled = counts > 0
    if filled.all():
        return _at_empty(found, np.zeros(0, np.int64), empty)
    result: Array = np.zeros(len(counts), found.dtype)
    result[filled] = found
    return _at_empty(result, np.flatnonzero(~filled), empty)


def _at_empty(found: Array, empties: IntArray, empty: object) -> "Array | Nullable[Any]":
    """Return the numbers of all rows, with those of empty rows written, or null if `empty` is None."""
    if len(empties):
        found[empties] = (
            np.zeros((), found.dtype) if empty is None else fit_number(empty, found.dtype, "empty")
        )
    if empty is not None:
        return found
    filled = np.ones(len(found), np.bool_)
    filled[empties] = False
    return Nullable(Dense(cast("Any", found)), Dense(cast("Any", filled)))


def _beside(tensor: TensorBase[Any], given: object, name: str) -> tuple[TensorBase[Any], IntArray]:
    """Return another tensor that has one row for each of these, and where its rows begin and end."""
    if not isinstance(given, TensorCommon):
        raise ConversionError(
            f"{name} takes a tensor of rows, not a {type(given).__name__}: as_tensor makes one"
        )
    other: TensorBase[Any] = cast("Any", given)._as_operand()
    mine: Shape[Any] = tensor.shape.leading(tensor.shape.rank - 1)
    shape = other.shape.flatten()
    if shape.rank == mine.rank:
        splits = np.arange(shape.size + 1, dtype=np.int64)
    elif shape.rank == mine.rank + 1:
        splits, shape = row_splits(shape), shape.leading(mine.rank)
    else:
        raise ExtentMismatchError(f"{name}: {other.shape!r} has no rows beside those of {tensor.shape!r}")
    if shape is not mine and unnamed_shape(shape) != unnamed_shape(mine):
        raise ExtentMismatchError(f"{name}: the rows of {other.shape!r} are not those of {tensor.shape!r}")
    return other, splits


def _to_float(value: float, what: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise ConversionError(f"{what} is one number, not {value!r}") from error


def _at_least(value: SupportsIndex, name: str, least: int) -> int:
    count = to_int(value, name)
    if count < least:
        raise ExtentError(f"{name} is at least {least}, not {count}")
    return count
