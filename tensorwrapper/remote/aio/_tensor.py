"""`AsyncRemoteTensor` and `AsyncView`: a tensor at a server and parts of it, for a loop of asyncio."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, SupportsIndex, cast, final

import numpy.typing as npt

from tensorwrapper._value_class import Shown
from tensorwrapper.remote.aio._worker_threads import Threads
from tensorwrapper.remote.client._tensor import RemoteTensor
from tensorwrapper.selection import Source, View
from tensorwrapper.shape import Shape, Tiling
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import ArrayKey, ElementCasting

if TYPE_CHECKING:
    import numpy as np

    from tensorwrapper.selection import Plan, Progress, Target

__all__ = ["AsyncRemoteTensor", "AsyncView"]


@final
class AsyncView(Shown):
    """A part of a tensor at a server, selected when it is awaited.

    Selecting rows of a jagged tensor requests their lengths, so no selection is made before that.
    """

    __slots__ = ("_make", "_threads")

    def __init__(self, threads: Threads, make: Callable[[], View[Any]]) -> None:
        self._threads, self._make = threads, make

    def __getitem__(self, key: ArrayKey) -> "AsyncView":
        """Return a part of this part; that there is one is seen when it is awaited."""
        make = self._make
        return AsyncView(self._threads, lambda: make()[key])

    async def view(self) -> View[Any]:
        """Return the view, to combine it with others; `AsyncRemote.compute` computes the result.

        Raises
        ------
        OutOfBoundsError, TooManyIndicesError
            If there is no such part.
        """
        return await self._threads.run(self._make)

    async def shape(self) -> Shape[Any]:
        """Return the indices of its elements."""
        return (await self.view()).shape

    async def plan(self) -> "Plan":
        """Return the reads of computing it; this reads nothing but lengths of rows."""
        make = self._make
        return await self._threads.run(lambda: make().plan())

    async def compute(
        self, out: "Target | None" = None, *, progress: "Progress | None" = None
    ) -> Tensor[Any]:
        """Return its elements; see `AsyncRemote.compute`."""
        return await self._threads.compute(self._make, out, progress)

    async def tolist(self) -> list[Any]:
        """Return its elements as nested lists."""
        return cast("list[Any]", (await self.compute()).tolist())

    def __reduce__(self) -> NoReturn:
        self._threads.refuse_pickling(self)

    def __repr__(self) -> str:
        return f"<AsyncView of {self._threads.address}>"


@final
class AsyncRemoteTensor(Shown):
    """A `RemoteTensor` whose waits are awaited: at the version that it had when it was looked up."""

    __slots__ = ("_tensor", "_threads")

    def __init__(self, threads: Threads, tensor: RemoteTensor) -> None:
        self._threads, self._tensor = threads, tensor

    @property
    def name(self) -> str:
        """The name under which it is served."""
        return self._tensor.name

    @property
    def version(self) -> str:
        """Identity of this version, different from later tensors of this name at the server."""
        return self._tensor.version

    @property
    def kind(self) -> str:
        """``smooth``, ``jagged`` or ``nested``."""
        return self._tensor.kind

    @property
    def rank(self) -> int:
        """The number of modes."""
        return self._tensor.rank

    @property
    def size(self) -> int:
        """The number of elements."""
        return self._tensor.size

    @property
    def dtype(self) -> "np.dtype[Any]":
        """The type of the elements."""
        return self._tensor.dtype

    @property
    def nbytes(self) -> int:
        """The number of bytes that the elements would take."""
        return self._tensor.nbytes

    @property
    def is_nullable(self) -> bool:
        """True if an element may be a null."""
        return self._tensor.is_nullable

    @property
    def is_sparse(self) -> bool:
        """True if it stores some elements, and all others have one value."""
        return self._tensor.is_sparse

    @property
    def is_readonly(self) -> bool:
        """True if the server accepts no writes to it from this client."""
        return self._tensor.is_readonly

    async def assign(self, key: ArrayKey, value: npt.ArrayLike, *, if_unchanged: bool = False) -> None:
        """Write values where a key selects, as `RemoteTensor.assign` does.

        A task that is cancelled does not know whether it was done.
        """
        await self._threads.run(partial(self._tensor.assign, key, value, if_unchanged=if_unchanged))

    def astype(
        self, dtype: npt.DTypeLike, *, casting: ElementCasting = "checked"
    ) -> "AsyncRemoteTensor | AsyncView":
        """Return the tensor with elements of another type, as `RemoteTensor.astype` does."""
        tensor = self._tensor
        if tensor.is_sparse:  # its view requests the entries
            return AsyncView(self._threads, lambda: tensor.view().astype(dtype, casting=casting))
        found = tensor.astype(dtype, casting=casting)
        if isinstance(found, RemoteTensor):
            return AsyncRemoteTensor(self._threads, found)
        return AsyncView(self._threads, lambda: found)

    def __getitem__(self, key: ArrayKey) -> AsyncView:
        """Return a part; no request is sent before it is awaited."""
        tensor = self._tensor
        return AsyncView(self._threads, lambda: tensor[key])

    # Tiles.

    def tile(self, number: Iterable[SupportsIndex]) -> AsyncView:
        """Return the tile of this number; that there is one is seen when it is awaited."""
        tensor, wanted = self._tensor, tuple(number)
        return AsyncView(self._threads, lambda: tensor.tile(wanted))

    def select_tiles(self, numbers: "npt.ArrayLike | Callable[..., npt.ArrayLike]") -> AsyncView:
        """Return any set of tiles, as rows of tiles."""
        tensor = self._tensor
        return AsyncView(self._threads, lambda: tensor.select_tiles(numbers))

    def untiled(self) -> AsyncView:
        """Return the box whose tiles these are."""
        return AsyncView(self._threads, self._tensor.untiled)

    async def tiling(self) -> Tiling:
        """Return how the box underneath is cut, as `RemoteTensor.tiling`."""
        return await self._threads.run(lambda: self._tensor.tiling)

    async def reduce_tiles(
        self, function: "np.ufunc | Callable[..., npt.ArrayLike]", *, initial: object = None
    ) -> Tensor[Any]:
        """Return the reduction of each tile by a function, after reading all tiles."""
        return await self._threads.run(partial(self._tensor.reduce_tiles, function, initial=initial))

    # All of it.

    async def shape(self) -> Shape[Any]:
        """Return the indices of all elements."""
        return await self._threads.run(lambda: self._tensor.shape)

    async def view(self) -> View[Any]:
        """Return the view of all of it, to put it together with others."""
        return await self._threads.run(self._tensor.view)

    async def as_source(self) -> Source:
        """Return it as a source of views; the entries of a sparse tensor are requested."""
        return await self._threads.run(self._tensor.as_source)

    async def plan(self) -> "Plan":
        """Return the reads of computing all of it."""
        return await self._threads.run(self._tensor.plan)

    async def compute(
        self, out: "Target | None" = None, *, progress: "Progress | None" = None
    ) -> Tensor[Any]:
        """Return all elements; see `AsyncRemote.compute`."""
        return await self._threads.compute(self._tensor.view, out, progress)

    async def tolist(self) -> list[Any]:
        """Return all elements as nested lists."""
        return cast("list[Any]", (await self.compute()).tolist())

    def __reduce__(self) -> NoReturn:
        self._threads.refuse_pickling(self)

    def __repr__(self) -> str:
        return f"<Async{repr(self._tensor)[1:]}"
