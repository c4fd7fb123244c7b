"""`AsyncRemoteTensor` and `AsyncView`: a tensor on a server and its parts, for asyncio."""

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


@final
class AsyncView(Shown):
    """A part of a tensor on a server, selected on await.

    Selecting rows of a jagged tensor requests their lengths, so selections are deferred.
    """

    __slots__ = ("_make", "_threads")

    def __init__(self, threads: Threads, make: Callable[[], View[Any]]) -> None:
        self._threads, self._make = threads, make

    def __getitem__(self, key: ArrayKey) -> "AsyncView":
        """Return a part of this part; an invalid key raises on await."""
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
        """Return the plan of computing it; reads only row lengths."""
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
    """A `RemoteTensor` for asyncio, pinned to its version at the time of lookup."""

    __slots__ = ("_tensor", "_threads")

    def __init__(self, threads: Threads, tensor: RemoteTensor) -> None:
        self._threads, self._tensor = threads, tensor

    @property
    def name(self) -> str:
        """Name of the tensor on the server."""
        return self._tensor.name

    @property
    def version(self) -> str:
        """Version, which distinguishes this tensor from later ones with the same name."""
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
        """Size of the elements in bytes."""
        return self._tensor.nbytes

    @property
    def is_nullable(self) -> bool:
        """True if elements may be null."""
        return self._tensor.is_nullable

    @property
    def is_sparse(self) -> bool:
        """True if the tensor is sparse."""
        return self._tensor.is_sparse

    @property
    def is_readonly(self) -> bool:
        """True unless this client may write to the tensor."""
        return self._tensor.is_readonly

    async def assign(self, key: ArrayKey, value: npt.ArrayLike, *, if_unchanged: bool = False) -> None:
        """Write values where a key selects, as `RemoteTensor.assign` does.

        If the task is cancelled, the outcome is unknown.
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
        """Return a part; requests are sent on await."""
        tensor = self._tensor
        return AsyncView(self._threads, lambda: tensor[key])

    # Tiles.

    def tile(self, number: Iterable[SupportsIndex]) -> AsyncView:
        """Return the tile of this number; an invalid number raises on await."""
        tensor, wanted = self._tensor, tuple(number)
        return AsyncView(self._threads, lambda: tensor.tile(wanted))

    def select_tiles(self, numbers: "npt.ArrayLike | Callable[..., npt.ArrayLike]") -> AsyncView:
        """Return any set of tiles, as rows of tiles."""
        tensor = self._tensor
        return AsyncView(self._threads, lambda: tensor.select_tiles(numbers))

    def untiled(self) -> AsyncView:
        """Return the box without its tiling."""
        return AsyncView(self._threads, self._tensor.untiled)

    async def tiling(self) -> Tiling:
        """Return the tiling of the box, as `RemoteTensor.tiling`."""
        return await self._threads.run(lambda: self._tensor.tiling)

    async def reduce_tiles(
        self, function: "np.ufunc | Callable[..., npt.ArrayLike]", *, initial: object = None
    ) -> Tensor[Any]:
        """Return the reduction of each tile by a function, after reading all tiles."""
        return await self._threads.run(partial(self._tensor.reduce_tiles, function, initial=initial))

    # The whole tensor.

    async def shape(self) -> Shape[Any]:
        """Return the indices of all elements."""
        return await self._threads.run(lambda: self._tensor.shape)

    async def view(self) -> View[Any]:
        """Return a view of the whole tensor, to combine with others."""
        return await self._threads.run(self._tensor.view)

    async def as_source(self) -> Source:
        """Return the tensor as a source of views. Requests the entries of a sparse tensor."""
        return await self._threads.run(self._tensor.as_source)

    async def plan(self) -> "Plan":
        """Return the plan of computing the whole tensor."""
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
