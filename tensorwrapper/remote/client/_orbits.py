"""A symmetric tensor on a server. A selection transfers each stored element once."""

from collections.abc import Iterator, Sequence
from typing import Any, final

import attrs
import numpy as np

from tensorwrapper._arrays import different
from tensorwrapper._value_class import frozen
from tensorwrapper.buffer import Symmetric
from tensorwrapper.buffer.lowlevel import elements_at, packed_layout, symmetry_for
from tensorwrapper.errors import RemoteProtocolError, TensorWrapperError
from tensorwrapper.remote.client._source import RemoteSource
from tensorwrapper.remote.protocol._elements import STORED
from tensorwrapper.remote.protocol._events import Facts
from tensorwrapper.selection import Ability, Outer, ReadHandle, Runs, Wanted, as_view
from tensorwrapper.shape import Shape, Symmetry
from tensorwrapper.shape.lowlevel import Folded, columns_of, fold_columns
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import make_tensor
from tensorwrapper.typing import Array, Extents, IntArray


@final
@frozen(eq=False, repr=False)
class OrbitSource:
    """A symmetric box on a server as a source of views, which reads packed elements."""

    line: RemoteSource
    """Source of the packed elements."""
    shape: Shape[Any]
    symmetry: Symmetry

    @property
    def dtype(self) -> "np.dtype[Any]":
        """The type of the elements."""
        return self.line.dtype

    @property
    def version(self) -> str:
        """The version of the tensor."""
        return self.line.version

    @property
    def abilities(self) -> "frozenset[Ability]":
        """Abilities of the source: runs of elements, and reads in any thread."""
        return frozenset(("runs", "threads"))

    @property
    def _extents(self) -> Extents:
        extents: Extents = self.shape.extents
        return extents

    def cost(self, selection: Wanted) -> int:
        """Return the bytes that a selection transfers: stored elements, each once, and their positions."""
        wanted = self._there([self._folded(selection)])
        return self.line.cost(wanted) if wanted.size else 0

    def read(self, selections: Sequence[Wanted], out: Sequence[Array]) -> ReadHandle:
        """Request the stored elements of all selections together."""
        folded = [self._folded(own) for own in selections]
        wanted = self._there(folded)
        found: Array = np.empty(wanted.size, self.dtype)
        handle = self.line.read([wanted], [found]) if wanted.size else None
        return _Reading(handle, wanted, found, folded, out)

    def bytes_on_wire(self, selections: Sequence[Wanted], dtype: "np.dtype[Any] | None" = None) -> int:
        """Return the bytes that a read transfers in both directions, for a dtype."""
        wanted = self._there([self._folded(own) for own in selections])
        return self.line.bytes_on_wire([wanted], dtype) if wanted.size else 0

    def bytes_moved(self, selections: Sequence[Wanted]) -> int:
        """Return the bytes of elements that a read transfers, each stored element once."""
        return self._there([self._folded(own) for own in selections]).size * self.dtype.itemsize

    def fetches(self, selections: Sequence[Wanted]) -> tuple[int, int]:
        """Return the number of requests of a read, and the bytes of their elements."""
        wanted = self._there([self._folded(own) for own in selections])
        return self.line.fetches([wanted]) if wanted.size else (0, 0)

    def _folded(self, wanted: Wanted) -> Folded:
        """Return the packed positions of the elements of a selection."""
        extents = self._extents
        if isinstance(wanted, Outer):
            columns = np.ix_(*[np.asarray(own, np.int64) for own in wanted.modes])
            return fold_columns(self.symmetry, tuple(columns), extents)
        return fold_columns(self.symmetry, columns_of(wanted.numbers(), extents), extents)

    def _there(self, folded: Sequence[Folded]) -> Runs:
        if not folded:
            return Runs([], [])
        places = different(np.concatenate([different(own.offsets) for own in folded]))
        return Runs(places[places >= 0])

    def whole(self) -> Tensor[Any]:
        """Return the whole tensor, packed."""
        values: Any = as_view(self.line).compute().elements()
        buffer: Symmetric[Any] = Symmetric(values, self.symmetry, self._extents)
        return make_tensor(packed_layout(self.shape), buffer.as_readonly())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OrbitSource) and (self.line, self.shape) == (other.line, other.shape)

    def __hash__(self) -> int:
        return hash(self.line)

    def __repr__(self) -> str:
        return f"{self.line!r}.packed({str(self.symmetry)!r})"


@final
class _Reading:
    """A read of packed elements, from which the selections are filled."""

    __slots__ = ("_folded", "_found", "_handle", "_out", "_wanted")

    def __init__(
        self,
        handle: ReadHandle | None,
        wanted: Runs,
        found: Array,
        folded: Sequence[Folded],
        out: Sequence[Array],
    ) -> None:
        self._handle, self._wanted, self._found = handle, wanted, found
        self._folded, self._out = folded, out

    def completed(self) -> Iterator[int | None]:
        if self._handle is not None:
            for arrived in self._handle.completed():
                if arrived is None:
                    yield None
        places: IntArray = self._wanted.numbers()
        for number, (folded, target) in enumerate(zip(self._folded, self._out, strict=True)):
            target[...] = self._elements(folded, places).reshape(target.shape)
            yield number

    def _elements(self, folded: Folded, places: IntArray) -> Array:
        here: IntArray = np.searchsorted(places, folded.offsets)
        own = Folded(here, folded.negative, folded.conjugate, folded.zero)
        return elements_at(self._found, own)

    def cancel(self) -> None:
        if self._handle is not None:
            self._handle.cancel()


def orbit_source(facts: Facts, source: RemoteSource) -> OrbitSource:
    """Return the source of a symmetric tensor.

    Raises
    ------
    RemoteProtocolError
        If the server's description of the symmetry does not match the shape.
    """
    try:
        own = symmetry_for(Symmetry.parse(facts.symmetry or ""), source.dtype)
        count = own.count(source.shape.flatten().extents)
    except TensorWrapperError as error:
        raise RemoteProtocolError("schema", f"the symmetry of {facts.name!r} is invalid: {error}") from error
    line = attrs.evolve(source, shape=Shape(count), cast=STORED, is_whole=False)
    return OrbitSource(line, source.shape, own)
