"""The rows of a view, read on demand, and parts of a view in turns."""

import functools
from collections.abc import Callable, Iterator
from typing import Any, Final, Generic, SupportsIndex, TypeVar, cast, final

import numpy as np

from tensorwrapper._integers import to_int
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import OutOfBoundsError
from tensorwrapper.layout import Layout
from tensorwrapper.selection.expressions._source_node import reading_of
from tensorwrapper.selection.facade._computed_rows import ComputedRows, Method
from tensorwrapper.selection.facade._view_base import ViewBase
from tensorwrapper.selection.sources._source import TensorSource
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import OperandShapes
from tensorwrapper.tensor import Tensor, as_tensor
from tensorwrapper.tensor.lowlevel import WithinRows, make_tensor

__all__ = ["RowsOfView", "in_turns", "joined"]

_V = TypeVar("_V", bound=ViewBase[Any])

_BLOCK = 1 << 26  # bytes of a view that are computed at a time

_KEEPING: Final = ("sort", "argsort", "rankdata", "cumsum", "cumprod")
_OF_EMPTY: Final = ("max", "min", "ptp", "first", "last", "argmax", "argmin")
_NUMBERS: Final = (
    *("sum", "prod", "any", "all", "count", "count_nonzero", "n_unique"),
    *("mean", "var", "std", "median", "quantile"),
)
_OTHER_ROWS: Final = (
    *("diff", "unique", "unique_counts", "top_k", "combinations", "product", "searchsorted", "histogram"),
)


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
    """Return the results of parts, one after the other, as one tensor of a shape."""
    values = np.concatenate([part.elements() for part in parts])
    return make_tensor(Layout(shape), as_tensor(values).buffer)


@final
@frozen(eq=False)
class RowsOfView(WithinRows[_V, _V], Generic[_V]):
    """The rows of a view, in row-major order of the prefixes that lead to them; made by `View.rows`.

    A sequence: ``rows[k]`` is a view in which the row starts at zero. A view of rank 1 is one row. Calls
    give views. Where the shape is known beforehand, they read only the rows that are needed, when computed.
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
        """Return the reduction of each row by `ufunc`, at most 64 MiB of rows at a time.

        Examples
        --------
        >>> import numpy as np
        >>> import tensorwrapper as tw
        >>> tw.concat([tw.jagged([[1, 5], []]), tw.jagged([[3]])]).rows().reduce(np.add).tolist()
        [6, 0, 3]
        """
        parts = [part.copy().rows().reduce(ufunc, initial=initial) for part in in_turns(self._lines())]
        return joined(parts, self.shape)

    def computed(self, call: "Callable[[Tensor[Any]], Any]", *, keeps: bool) -> _V | None:
        """Return a view of the results of a function of each row; None for tiles and sparse views.

        Parameters
        ----------
        call
            A function of a tensor of rows. It gives rows of the same lengths, or one element for each row.
        keeps
            Whether it gives rows.
        """
        view: Any = self._flat()
        if view.is_sparse or view.expression.layout.implementation.tiled is not None:
            return None
        lines: Any = self._lines()
        # The result for no rows has the type. A refusal comes now, too.
        found = call(lines[:0].copy())
        shape = view.shape if keeps else self.shape
        nullable = found.buffer.nullable and found.dtype.kind != "T"
        source = ComputedRows(lines, call, shape, found.dtype, keeps, nullable)
        return cast("_V", view._make(reading_of(source)))

    def _read_at_once(self, call: "Callable[[Tensor[Any]], Any]") -> Any:  # noqa: ANN401 - one or several
        """Return views of the results of a function of all rows. It reads them now."""
        found, make = call(self._here()), cast("Any", self._view)._make
        if isinstance(found, tuple):
            return tuple([make(reading_of(TensorSource(own))) for own in found])
        return make(reading_of(TensorSource(found)))

    def may_refuse(self) -> bool:
        """Return True if a row may have no elements, of which some functions say nothing."""
        lines: Any = self._lines()
        return bool(lines.is_nullable) or not np.diff(OperandShapes.splits_under(lines.shape, 1)).all()

    def __repr__(self) -> str:
        return f"<{len(self)} rows of {self._view.shape}>"


def _method(name: str) -> "Callable[..., Any]":
    """Return a call of the rows of a view; where it can, it computes when its result is computed."""
    plain: Callable[..., Any] = getattr(WithinRows, name)

    @functools.wraps(plain)
    def method(self: RowsOfView[Any], /, *arguments: object, **options: object) -> Any:  # noqa: ANN401
        call = Method(name, arguments, tuple(options.items()))
        refuses = name in _OF_EMPTY and not {"empty", "initial"} & options.keys() and self.may_refuse()
        if name in _OTHER_ROWS or options.get("keepdims") or refuses:
            return self._read_at_once(call)
        found = self.computed(call, keeps=name in _KEEPING)
        return self._read_at_once(call) if found is None else found

    return method


for _name in (*_KEEPING, *_OF_EMPTY, *_NUMBERS, *_OTHER_ROWS):
    setattr(RowsOfView, _name, _method(_name))
