"""`ShardedTensor`: a tensor sharded over several servers."""

from typing import Any, final

import numpy as np

from tensorwrapper._value_class import evolve
from tensorwrapper.layout import Layout
from tensorwrapper.remote.client._remote_array import RemoteArray
from tensorwrapper.remote.client._rows import RowsSource, chosen_rows, rows_source
from tensorwrapper.remote.client._sparse_entries import wanted_of
from tensorwrapper.remote.shards._entries import entries_of
from tensorwrapper.remote.shards._row_lengths import lengths_of
from tensorwrapper.remote.shards._sharding import Sharding
from tensorwrapper.remote.shards._source import ShardSource
from tensorwrapper.selection import Runs, Source, TensorSource, View, as_view
from tensorwrapper.shape import Shape, Tiling
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import ArrayKey


@final
class ShardedTensor(RemoteArray):
    """A tensor sharded over several servers. Indexing returns a `View`, which reads parts in parallel.

    Selecting jagged rows transfers only their lengths; selecting from a sparse tensor the stored entries of
    the selection. If a server does not answer, replicas are read. If there are none, all other parts are
    read, and then `ShardsLostError` lists the missing parts.
    """

    __slots__ = ("_shape", "_source", "_sparse")

    def __init__(self, source: ShardSource) -> None:
        self._source = source
        self._shape: Shape[Any] | None = None
        self._sparse: Tensor[Any] | None = None
        if source.sharding.rows is None:
            layout = source.layout
            self._shape = source.shape if layout is None else layout.shape

    @property
    def name(self) -> str:
        """Name in the catalogue."""
        return self._source.name

    @property
    def sharding(self) -> Sharding:
        """Partition of the tensor, and the holders of its parts."""
        return self._source.sharding

    @property
    def tiling(self) -> Tiling:
        """The tiles of a box; of rows how their elements are cut."""
        return self.sharding.tiling

    @property
    def kind(self) -> str:
        """``smooth``, ``jagged`` for rows, or ``nested`` where there are layers."""
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
    def is_nullable(self) -> bool:
        """True if an element may be a null."""
        return self.sharding.nullable or hasattr(self.dtype, "na_object")

    @property
    def is_sparse(self) -> bool:
        """True if the tensor is sparse."""
        return self.sharding.fill is not None

    @property
    def nbytes(self) -> int:
        """The number of bytes that the elements take."""
        return self.sharding.nbytes

    @property
    def shape(self) -> Shape[Any]:
        """The indices of all elements; the first access requests the lengths of rows."""
        if self._shape is None:
            self._shape = self.view().shape
        return self._shape

    def view(self) -> View[Any]:
        """Return a view of the whole tensor."""
        return as_view(self.as_source())

    def as_source(self) -> Source:
        """Return the tensor as a source of views. Requests the entries of a sparse tensor."""
        if self.is_sparse:
            if self._sparse is None:
                self._sparse = entries_of(self._source, (Runs(0, self.size),))
            return TensorSource(self._sparse)
        if self.sharding.rows is None:
            return self._source
        rows = self._rows_source(Runs(0, self.sharding.row_count))
        if self.sharding.layers is None:
            return rows
        return evolve(rows, layout=Layout.nested(Layout(rows.shape), layers=self.sharding.layers))

    def __len__(self) -> int:
        return self.sharding.row_count if self.sharding.layers is None else len(self.view())

    def __getitem__(self, key: ArrayKey) -> View[Any]:
        """Return the selected part as a view with origin zero, by NumPy's rules.

        Raises
        ------
        OutOfBoundsError, TooManyIndicesError
            If there is no such part.
        ShardsLostError
            If no holder has the lengths of selected rows.
        """
        if self.is_sparse and self._sparse is None:
            return as_view(entries_of(self._source, wanted_of(self._source, key)))[key]
        if self.sharding.rows is not None and self.sharding.layers is None:
            found = chosen_rows(self.sharding.row_count, key, self._rows)
            if found is not None:
                return found
        return self.view()[key]

    def _rows(self, rows: Runs) -> View[Any]:
        return as_view(self._rows_source(rows))

    def _rows_source(self, rows: Runs) -> RowsSource:
        starts, lengths = lengths_of(self._source, rows)
        return rows_source(self._source, rows, starts, lengths)

    def __repr__(self) -> str:
        return f"<ShardedTensor {self.name!r}: {self.sharding!r}>"
