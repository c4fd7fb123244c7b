"""The rows of a tensor: runs along its last mode, under one prefix after the other."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeVar, final

import attrs
import numpy as np

from tensorwrapper._integers import to_int
from tensorwrapper._value_class import frozen, value_class
from tensorwrapper.errors import OutOfBoundsError
from tensorwrapper.layout import LayoutCommon
from tensorwrapper.layout.lowlevel import (
    PlacedRows,
    new_strided,
    wrap_layout,
)
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import ModeNames
from tensorwrapper.tensor._tensor_base import TensorBase
from tensorwrapper.tensor.rows._reduce import reduce_last, reduce_runs
from tensorwrapper.tensor.rows._row_facts import row_splits
from tensorwrapper.tensor.within._within_rows import WithinRows
from tensorwrapper.typing import IntArray

_T = TypeVar("_T", bound=TensorBase[Any])
_R = TypeVar("_R", bound=TensorBase[Any])

_STEP = 4096  # rows whose places are made into Python numbers at a time


@final
@frozen(eq=False)
class _Runs:
    """Row k has ``stops[k] - starts[k]`` elements, from ``base + starts[k]`` on; `steps` apart, or 1."""

    base: int
    starts: IntArray
    stops: IntArray
    steps: IntArray | None


@final
@value_class(eq=False, repr=False, getstate_setstate=False)
class TensorRows(WithinRows[_T, _R]):
    """The rows of a tensor, in row-major order of the prefixes that lead to them; made by `Tensor.rows`.

    A sequence: ``rows[k]`` is a view in which the row starts at zero. A tensor of rank 1 is one row.
    """

    _tensor: _T = attrs.field(alias="tensor")
    _runs: "_Runs | PlacedRows | None" = attrs.field(default=None, init=False)

    if TYPE_CHECKING:

        def __init__(self, tensor: _T) -> None: ...

    @property
    def shape(self) -> Shape:
        """The shape of the prefixes: that of the tensor without its last mode."""
        shape = self._tensor.shape
        return shape.leading(shape.rank - 1)

    def _here(self) -> _T:
        return self._tensor

    def __len__(self) -> int:
        return self.shape.size

    def __getitem__(self, row: SupportsIndex) -> _T:
        """Return one row, counted from 0, or from the last if negative."""
        runs, number = self._runs or self._find(), to_int(row, "a row")
        n_rows = len(runs.stops) if isinstance(runs, _Runs) else len(self)
        place = number + n_rows if number < 0 else number
        if not 0 <= place < n_rows:
            raise OutOfBoundsError(f"row {number} is outside the {n_rows} rows of {self._tensor.shape}")
        tensor = self._tensor
        if isinstance(runs, PlacedRows):
            return tensor._make(wrap_layout(runs.cell(place).at(()), self._name()), tensor._buffer)
        start, step = runs.starts.item(place), 1 if runs.steps is None else runs.steps.item(place)
        implementation = new_strided((runs.stops.item(place) - start,), (0,), (step,), runs.base + start)
        return tensor._make(wrap_layout(implementation, self._name()), tensor._buffer)

    def __iter__(self) -> Iterator[_T]:
        runs, tensor = self._runs or self._find(), self._tensor
        if isinstance(runs, PlacedRows) or self._name() is not None:
            yield from (self[k] for k in range(len(self)))
            return
        make, buffer, base = tensor._make, tensor._buffer, runs.base
        for first in range(0, len(runs.stops), _STEP):
            starts, stops = (marks[first : first + _STEP].tolist() for marks in (runs.starts, runs.stops))
            steps = [1] * len(stops) if runs.steps is None else runs.steps[first : first + _STEP].tolist()
            # For packed rows the starts have one number more: the end of the last row.
            for start, stop, step in zip(starts, stops, steps, strict=False):
                yield make(wrap_layout(new_strided((stop - start,), (0,), (step,), base + start)), buffer)

    def _name(self) -> ModeNames | None:
        """Return the name of the mode of a row, as one of rank 1 has it."""
        names = self._tensor.layout.implementation.names
        return None if names is None else names[-1:]

    def _find(self) -> "_Runs | PlacedRows":
        """Return and remember the places of the rows; O(1) where they are packed, else O(rows)."""
        runs = _runs_of(self._tensor.layout.implementation.unnamed())
        object.__setattr__(self, "_runs", runs)
        return runs

    def reduce(self, ufunc: np.ufunc, *, initial: object = None) -> _R:
        """Return the reduction of each row by `ufunc`.

        Empty rows get the identity of the ufunc, as NumPy's ``reduce`` gives for an empty array.

        Parameters
        ----------
        ufunc
            A ufunc of two inputs that may take elements in any order, such as ``np.add``, ``np.maximum``.
        initial
            Takes part in every reduction; needed if a row is empty and the ufunc has no identity.

        Returns
        -------
        Tensor
            One number per row, over `shape`. Linear in the elements.

        Raises
        ------
        ExtentError
            If a row is empty, the ufunc has no identity and `initial` is not given.

        Examples
        --------
        >>> import numpy as np
        >>> import tensorwrapper as tw
        >>> tw.jagged([[[1, 2], []], [[3]]]).rows().reduce(np.add).tolist()
        [[3, 0], [3]]
        """
        tensor = self._present()
        tensor.buffer.require_numbers("reduce")
        array = tensor._buffer.memory_of(tensor.layout.implementation)
        if array is not None and array.ndim:
            reduced = reduce_last(ufunc, array, initial)
        else:
            reduced = reduce_runs(ufunc, tensor.elements(), row_splits(tensor.shape), initial, what="row")
        return self._made(tensor, reduced, self.shape)

    def __repr__(self) -> str:
        return f"<{len(self)} rows of {self._tensor.shape}>"

    def __reduce__(self) -> "tuple[type[TensorRows[Any, Any]], tuple[_T]]":
        # The positions of the rows are computed again.
        return TensorRows, (self._tensor,)


def _runs_of(implementation: LayoutCommon) -> "_Runs | PlacedRows":
    if implementation.is_packed:
        splits = row_splits(implementation.shape)
        return _Runs(implementation.offset, splits, splits[1:], None)
    if implementation.shape.rank == 1:
        implementation = implementation.at(None)
    table = PlacedRows.of(implementation).unrolled(implementation.shape.rank - 1)
    if not table.width:
        return table
    lengths = table.rows.columns.leaf_extents(*table.rows.leaves)[:, 0]
    return _Runs(0, table.starts, table.starts + lengths, table.strides[:, 0])
