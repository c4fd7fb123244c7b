"""The rows of a view, none of which is read before it is asked for; and parts of a view in turns."""

from collections.abc import Iterator
from typing import Any, Generic, SupportsIndex, TypeVar, cast, final

import numpy as np

from tensorwrapper._integers import to_int
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import OutOfBoundsError
from tensorwrapper.layout import Layout
from tensorwrapper.selection.facade._view_base import ViewBase
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import OperandShapes
from tensorwrapper.tensor import Tensor, as_tensor
from tensorwrapper.tensor.lowlevel import WithinRows, make_tensor

__all__ = ["RowsOfView", "in_turns", "joined"]

_V = TypeVar("_V", bound=ViewBase[Any])

_BLOCK = 1 << 26  # bytes of a view that are computed at a time


def in_turns(view: _V) -> Iterator[_V]:
    """Return an iterator over parts of a view along mode 0, of at most 64 MiB or one position."""
    splits = OperandShapes.splits_under(view.shape, 1)
    most, count, low = _BLOCK // max(view.dtype.itemsize, 1), len(splits) - 1, 0
    if splits.item(-1) <= most:
        yield view
        return
    while low < count:
        high = max(int(splits.searchsorted(splits.item(low) + most, "right")) - 1, low + 1)
        yield cast("Any", view)[low:high]
        low = high


def joined(parts: "list[Tensor[Any]]", shape: Shape[Any]) -> Tensor[Any]:
    """Return what was found of parts in turns as one tensor of a shape."""
    values = np.concatenate([part.elements() for part in parts])
    return make_tensor(Layout(shape), as_tensor(values).buffer)


@final
@frozen(eq=False)
class RowsOfView(WithinRows[Tensor[Any], Tensor[Any]], Generic[_V]):
    """The rows of a view, in row-major order of the prefixes that lead to them; made by `View.rows`.

    A sequence: ``rows[k]`` is a view in which the row starts at zero. A view of rank 1 is one row. What is
    computed in each row reads the view.
    """

    _view: _V

    def _here(self) -> Tensor[Any]:
        return self._flat().copy()

    @property
    def shape(self) -> Shape:
        """The shape of the prefixes: that of the view without its last mode."""
        shape = self._flat().shape
        return shape.leading(shape.rank - 1)

    def _flat(self) -> _V:
        """Return the view without layers."""
        view: Any = self._view
        return cast("_V", view.flatten() if view.shape.has_layers else view)

    def _lines(self) -> _V:
        """Return the view with one mode for all that come before the last."""
        view: Any = self._flat()
        if view.shape.rank == 1:
            return cast("_V", view.unsqueeze(0))
        while view.shape.rank > 2:
            view = view.flatten()
        return cast("_V", view)

    def __len__(self) -> int:
        return self.shape.size

    def __getitem__(self, row: SupportsIndex) -> _V:
        """Return one row, counted from 0, or from the last if negative."""
        number, count = to_int(row, "a row"), len(self)
        if not -count <= number < count:
            raise OutOfBoundsError(f"row {number} is outside the {count} rows of {self._view.shape}")
        return cast("_V", cast("Any", self._lines())[number])

    def __iter__(self) -> Iterator[_V]:
        return iter(cast("Any", self._lines()))

    def reduce(self, ufunc: np.ufunc, *, initial: object = None) -> Tensor[Any]:
        """Return what `ufunc` makes of each row, at most 64 MiB of rows computed at a time.

        Examples
        --------
        >>> import numpy as np
        >>> import tensorwrapper as tw
        >>> tw.concat([tw.jagged([[1, 5], []]), tw.jagged([[3]])]).rows().reduce(np.add).tolist()
        [6, 0, 3]
        """
        parts = [part.copy().rows().reduce(ufunc, initial=initial) for part in in_turns(self._lines())]
        return joined(parts, self.shape)

    def __repr__(self) -> str:
        return f"<{len(self)} rows of {self._view.shape}>"
