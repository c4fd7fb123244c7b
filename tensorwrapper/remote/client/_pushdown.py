"""`PushedSource`: a view of tensors of one server, computed by the server."""

from collections.abc import Callable, Iterator, Sequence
from operator import index
from typing import Any, SupportsIndex, cast, final, get_args

import numpy as np

from tensorwrapper._value_class import frozen
from tensorwrapper.buffer.lowlevel import buffer_of, packed_layout
from tensorwrapper.errors import ConversionError, OutOfBoundsError, RemoteProtocolError
from tensorwrapper.remote.batching._request_sizes import Piece, batches_of
from tensorwrapper.remote.client._connection import Connections
from tensorwrapper.remote.client._shared_connections import Opening, opened, opening_of
from tensorwrapper.remote.client._source import Reading, RemoteSource, bytes_of_requests, elements_of
from tensorwrapper.remote.protocol._elements import dtype_of
from tensorwrapper.remote.protocol._events import (
    AskReduce,
    AskView,
    Described,
    Reduced,
    ReducedOver,
    Reduction,
)
from tensorwrapper.remote.protocol._reductions import (
    extents_of_numbers,
    numbers_over,
    reduced_dtype,
    reduction_of_none,
    summands,
)
from tensorwrapper.selection import Ability, ReadHandle, View, Wanted, as_view, sources, to_json
from tensorwrapper.shape import Shape
from tensorwrapper.tensor import Tensor, as_tensor
from tensorwrapper.tensor.lowlevel import make_tensor
from tensorwrapper.typing import Array


@final
@frozen(eq=False, repr=False)
class PushedSource:
    """A view that a server computes. Reading it requests only selected elements of the result."""

    connections: Connections
    view: Described
    shape: Shape[Any]
    dtype: "np.dtype[Any]"

    @property
    def version(self) -> str:
        """Combined version of all tensors of the view."""
        return self.view.version

    @property
    def narrowing(self) -> int:
        """1, because the server computes elements of the requested dtype."""
        return 1

    @property
    def abilities(self) -> "frozenset[Ability]":
        """Abilities of the source: runs of elements, and reads in any thread."""
        return frozenset(("runs", "threads"))

    def cost(self, selection: Wanted) -> int:
        """Return the bytes that a selection transfers: its elements, and its description."""
        return selection.size * self.dtype.itemsize + (selection.nbytes if selection.size else 0)

    def read(self, selections: Sequence[Wanted], out: Sequence[Array]) -> ReadHandle:
        """Request selections, several requests at a time, and write answers as they arrive."""
        return Reading(self, self.connections.here(), selections, out)

    def requests(
        self, selections: Sequence[Wanted], out: Sequence[Array], most: Callable[[], int]
    ) -> Iterator[list[Piece]]:
        """Return the pieces of each request."""
        return batches_of(selections, out, max(self.dtype.itemsize, 1), most)

    def request(self, pieces: Sequence[Piece], packing: str | None = None) -> AskView:
        """Return the request for some pieces, whose answer may be compressed."""
        known = self.connections.here().welcome.capabilities
        packed = packing if "zlib of views" in known else None
        return AskView(self.view, tuple([own for _, own, _ in pieces]), packed)

    def bytes_on_wire(self, selections: Sequence[Wanted]) -> int:
        """Return the bytes that a read transfers in both directions, with labels and framing."""
        return bytes_of_requests(self, self.connections.here(), selections)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"pushed({self.connections.address!r}, {self.shape!r}, {self.dtype})"

    def __reduce__(self) -> "tuple[Callable[..., PushedSource], tuple[Any, ...]]":
        view = self.view
        said = view.text, [bytes(own) for own in view.tables], view.of
        return _opened, (opening_of(self, self.connections), said, self.shape, self.dtype)


def _opened(
    opening: Opening,
    said: tuple[str, list[bytes], tuple[tuple[str, str, str], ...]],
    shape: Shape[Any],
    dtype: "np.dtype[Any]",
) -> PushedSource:
    """Return a source from its pickled state."""
    text, tables, of = said
    return PushedSource(opened(opening), Described(text, tuple(map(memoryview, tables)), of), shape, dtype)


def described(connections: Connections, view: View[Any]) -> Described | None:
    """Return the description of a view for a server; None if it has no JSON or has other sources."""
    whole = _whole(connections, view)
    if whole is None:
        return None
    tables: list[bytes] = []
    try:
        text = to_json(view, frames=tables)
    except ConversionError:
        return None
    of = tuple([(alias, own.name, own.version) for alias, own in whole.items()])
    return Described(text, tuple(map(memoryview, tables)), of)


def _whole(connections: Connections, view: View[Any]) -> dict[str, RemoteSource] | None:
    """Return the tensors of a server that a view reads; None unless all are whole tensors of this server."""
    found = sources(view)
    whole = {name: own for name, own in found.items() if isinstance(own, RemoteSource)}
    if not found or len(whole) != len(found):
        return None
    if any(own.connections is not connections or own.cast or not own.is_whole for own in whole.values()):
        return None
    return whole


def pushed(connections: Connections, view: View[Any]) -> View[Any]:
    """Return a view that the server computes if this transfers less; otherwise the view itself."""
    if view.dtype.kind not in "biufcmM" or not view.shape.is_box or view.is_nullable:
        return view
    here = view.plan().bytes_received
    if here <= view.nbytes * 1.05:
        return view
    found = described(connections, view)
    if found is None or view.nbytes * 1.05 + found.nbytes >= here:
        return view
    return as_view(PushedSource(connections, found, view.shape, view.dtype))


def reduced(
    connections: Connections,
    ufunc: np.ufunc | Callable[..., Any],
    view: View[Any],
    over: object,
    initial: object = None,
) -> Tensor[Any]:
    """Return the reduction of a view's rows, tiles or mode, computed on the server if possible."""
    name = getattr(ufunc, "__name__", "")
    # Compare identity, because another function may have the same name.
    if name not in get_args(Reduction) or getattr(np, name) is not ufunc:
        raise ConversionError(f"unsupported reduction {ufunc!r}; allowed: {', '.join(get_args(Reduction))}")
    mode = _over(over, view.shape)
    if initial is not None and not isinstance(ufunc, np.ufunc):
        raise ConversionError(f"initial= is only allowed for ufuncs, not for {name}")
    reduction = cast("Reduction", name)
    # Raise the errors of a reduction in memory before sending a request.
    summed, by = summands(view, reduction, mode)
    expected, shape = reduced_dtype(by, summed.dtype), numbers_over(summed, mode, by)
    number = None if initial is None else reduction_of_none(by, summed.dtype, initial)
    is_told = number is None or number.dtype.kind in "biuf"
    # The server reads blocks as arrays, which cannot have nulls.
    is_told = is_told and not (view.is_nullable and isinstance(mode, int) and summed.shape.is_box)
    # The error of memory says that layers of boxes differ from tiles.
    is_told = is_told and not (mode == "tiles" and view.shape.has_layers and view.shape.flatten().is_box)
    found = described(connections, view) if is_told else None
    if found is None:
        return _reduced_here(summed, by, mode, initial)
    said = None if number is None else number.item()
    request = AskReduce(found, reduction, mode, int(said) if isinstance(said, bool) else said)
    answer = connections.here().ask(request)
    if not isinstance(answer, Reduced) or answer.version != found.version:
        raise RemoteProtocolError("schema", "the server sent another answer than a reduction")
    dtype = dtype_of(answer.dtype)
    if dtype != expected or answer.extents != extents_of_numbers(shape):
        raise RemoteProtocolError(
            "size", f"the server reduced {view.shape} to {answer.extents} numbers of {dtype}"
        )
    array = elements_of((answer.values,), dtype, shape.size).astype(dtype)
    return make_tensor(packed_layout(shape), buffer_of(array))


def _reduced_here(view: View[Any], ufunc: np.ufunc, over: ReducedOver, initial: object) -> Tensor[Any]:
    """Return the reduction of a view that cannot be described to a server, after reading its elements."""
    if over == "rows":
        return view.rows().reduce(ufunc, initial=initial)
    if over == "tiles":
        return view.reduce_tiles(ufunc, initial=initial)
    begun: dict[str, Any] = {} if initial is None else {"initial": initial}
    return as_tensor(ufunc.reduce(cast("Array", view), axis=over, **begun))


def _over(over: object, shape: Shape[Any]) -> ReducedOver:
    """Return the unit of a reduction, a mode counted from the first."""
    if over in ("rows", "tiles"):
        return cast("ReducedOver", over)
    if isinstance(over, bool | np.bool_) or not isinstance(over, SupportsIndex):
        raise ConversionError(f"over must be 'rows', 'tiles' or a mode, not {over!r}")
    mode, rank = index(over), shape.rank
    if not -rank <= mode < rank:
        raise OutOfBoundsError(f"a {shape.kind} view of rank {rank} has no mode {mode}")
    return mode % rank
