"""`ShardedTensor`: a tensor of which several servers hold the parts."""

from typing import Any, final

import numpy as np

from tensorwrapper.remote.client._elsewhere import Elsewhere
from tensorwrapper.remote.client._rows import chosen_rows, rows_source
from tensorwrapper.remote.shards._lengths import lengths_of
from tensorwrapper.remote.shards._sharding import Sharding
from tensorwrapper.remote.shards._source import ShardSource
from tensorwrapper.selection import Runs, Source, View, as_view
from tensorwrapper.shape import Shape, Tiling
from tensorwrapper.typing import ArrayKey

__all__ = ["ShardedTensor"]


@final
class ShardedTensor(Elsewhere):
    """A tensor in parts at several servers; what is selected of it is a `View` that reads them side by side.

    Of jagged rows only the lengths of those that are selected travel, when they are selected. A server that
    does not answer is replaced by another that has the part; where there is none, all else is read and then
    `ShardsLostError` names what is missing.
    """

    __slots__ = ("_shape", "_source")

    def __init__(self, source: ShardSource) -> None:
        self._source = source
        self._shape: Shape[Any] | None = None if source.sharding.rows is not None else source.shape

    @property
    def name(self) -> str:
        """The name that it has in the catalogue."""
        return self._source.name

    @property
    def sharding(self) -> Sharding:
        """How it is cut, and who holds each part."""
        return self._source.sharding

    @property
    def tiling(self) -> Tiling:
        """The tiles of a box; of rows how their elements are cut."""
        return self.sharding.tiling

    @property
    def kind(self) -> str:
        """``smooth``, or ``jagged`` for rows."""
        return self.sharding.kind

    @property
    def rank(self) -> int:
        """The number of modes."""
        return self.tiling.rank if self.sharding.rows is None else 2

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.sharding.size

    @property
    def dtype(self) -> "np.dtype[Any]":
        """The type of the elements."""
        return self.sharding.dtype

    @property
    def nbytes(self) -> int:
        """The number of bytes that the elements take."""
        return self.sharding.nbytes

    @property
    def shape(self) -> Shape[Any]:
        """The indices of all elements; the lengths of rows are asked for the first time."""
        if self._shape is None:
            self._shape = self._rows(Runs(0, len(self))).shape
        return self._shape

    def view(self) -> View[Any]:
        """Return the view of all of it, with its whole shape."""
        return as_view(self.as_source())

    def as_source(self) -> Source:
        """Return it as what views read."""
        return self._source if self.sharding.rows is None else self._rows_source(Runs(0, len(self)))

    def __len__(self) -> int:
        return self.sharding.row_count

    def __getitem__(self, key: ArrayKey) -> View[Any]:
        """Return the selected part as a view, which starts at zero; NumPy's rules.

        Raises
        ------
        OutOfBoundsError, TooManyIndicesError
            If there is no such part.
        ShardsLostError
            If nobody tells the lengths of rows that are selected.
        """
        if self.sharding.rows is not None:
            found = chosen_rows(len(self), key, self._rows)
            if found is not None:
                return found
        return self.view()[key]

    def _rows(self, rows: Runs) -> View[Any]:
        return as_view(self._rows_source(rows))

    def _rows_source(self, rows: Runs) -> Source:
        starts, lengths = lengths_of(self._source, rows)
        return rows_source(self._source, rows, starts, lengths)

    def __repr__(self) -> str:
        return f"<ShardedTensor {self.name!r}: {self.sharding!r}>"
