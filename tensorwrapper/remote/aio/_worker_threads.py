"""`Threads`: worker threads that wait for a server, so that the event loop continues."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, final

from tensorwrapper.errors import ComputationCancelledError, ConversionError, TransportClosedError
from tensorwrapper.selection import View
from tensorwrapper.tensor import Tensor

if TYPE_CHECKING:
    from tensorwrapper.selection import Progress, Target

_T = TypeVar("_T")


@final
class Threads:
    """A few threads, each with its connection to the server at an address.

    A client and its tensors share the threads, which end when the last of these objects is deleted. Work in a
    thread has no reference to this object, because a thread cannot wait for its own end.
    """

    __slots__ = ("_ended", "_pool", "_running", "address", "count")

    def __init__(self, address: str, count: int) -> None:
        self.address: str = address
        self.count: int = count
        self._ended = threading.Event()
        self._pool = ThreadPoolExecutor(count, "tensorwrapper-async")
        self._running: set[threading.Event] = set()

    @property
    def closed(self) -> bool:
        """True if no more work is accepted."""
        return self._ended.is_set()

    def refuse_pickling(self, what: object) -> NoReturn:
        """Raise, because awaitable objects use threads of this process."""
        raise ConversionError(
            f"cannot pickle {what!r}, which uses threads of this process; pickle its client "
            f"or the result of `await part.view()`"
        )

    def close(self) -> None:
        """Cancel work under way, and accept no more. Threads end soon after."""
        self._ended.set()
        for cancel in list(self._running):
            cancel.set()

    def join(self) -> None:
        """Wait until the threads have ended."""
        self._pool.shutdown()

    async def compute(
        self,
        make: Callable[[], View[Any]],
        out: "Target | None",
        progress: "Progress | None",
    ) -> Tensor[Any]:
        """Create and compute a view in a thread, and return its elements."""
        cancel = threading.Event()
        told = None if progress is None else partial(_tell, asyncio.get_running_loop(), progress)

        def work() -> Tensor[Any]:
            if cancel.is_set():
                raise ComputationCancelledError("it was cancelled before it started")
            return make().compute(out, progress=told, cancel=cancel)

        self._running.add(cancel)
        try:
            return await self.run(work, cancel, holds=out is not None)
        finally:
            self._running.discard(cancel)

    async def run(
        self, work: Callable[[], _T], cancel: threading.Event | None = None, *, holds: bool = False
    ) -> _T:
        """Run a function in a thread and return its result; with `holds`, a cancelled caller waits."""
        if self.closed:
            raise TransportClosedError(f"the client of {self.address} is closed")
        future = asyncio.get_running_loop().run_in_executor(
            self._pool, partial(_begin, self._ended, self.address, work)
        )
        try:
            return await (asyncio.shield(future) if holds else future)
        except asyncio.CancelledError:
            if cancel is not None:
                cancel.set()
            while holds and not future.done():
                # Keep waiting even if cancelled again, because a thread still writes to the caller's memory.
                await _settled(future)
            raise
        except ComputationCancelledError:
            if self.closed:
                raise TransportClosedError(f"the client of {self.address} was closed meanwhile") from None
            raise

    def __del__(self) -> None:
        if hasattr(self, "_pool") and not self.closed:
            # The threads end soon, as their work is cancelled.
            self.close()
            self.join()


def _begin(ended: threading.Event, address: str, work: Callable[[], _T]) -> _T:
    if ended.is_set():
        raise TransportClosedError(f"the client of {address} was closed before it started")
    return work()


async def _settled(future: "asyncio.Future[_T]") -> None:
    try:
        await asyncio.wait([future])
    except asyncio.CancelledError:
        return
    if not future.cancelled():
        # Retrieve the exception, because asyncio logs unretrieved ones.
        future.exception()


def _tell(loop: asyncio.AbstractEventLoop, progress: "Progress", done: int, total: int) -> None:
    loop.call_soon_threadsafe(progress, done, total)
