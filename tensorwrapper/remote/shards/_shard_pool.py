"""`ShardPool` and `Spread`: read from several servers in parallel, with replicas if a server is lost."""

import atexit
import logging
import math
import os
import threading
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from queue import Empty, SimpleQueue
from typing import Final, TypeAlias, final

from tensorwrapper.errors import (
    ConversionError,
    LeakedResourceWarning,
    RemoteProtocolError,
    RequestRefusedError,
    ShardsLostError,
    TensorNameError,
    TransportClosedError,
    TransportError,
    TransportForkError,
    VersionChangedError,
)
from tensorwrapper.remote.client._connection import Connections
from tensorwrapper.remote.client._lookup import found_tensor
from tensorwrapper.remote.client._pending_request import Timeouts
from tensorwrapper.remote.client._tensor import RemoteTensor
from tensorwrapper.remote.protocol._events import AskFacts, FactsOf
from tensorwrapper.remote.shards._sharding import Holder, Sharding
from tensorwrapper.transport import CurveClient, KeyPair

_WAIT: Final = 0.05
_NAMED: Final = 8
"""Number of parts in the text of an error, whose attribute has all."""
LOST: Final = (TransportError, TensorNameError, RemoteProtocolError)
"""Errors of a holder after which another is tried; a changed tensor is not one of them."""
_log = logging.getLogger(__name__)

Work: TypeAlias = Callable[["Spread", str, Sequence[int]], Iterator[tuple[int, Exception | None]]]
"""Work on tiles of a holder, in the holder's thread.

It yields each tile that is done, or the error of this tile at this holder; it raises errors of all tiles.
"""


Manner: TypeAlias = tuple[Timeouts, int, bool | None]
"""Options of connections to holders: timeouts, cache size, and packing of answers."""


@final
class ShardPool:
    """Threads and connections to holders of tensors, one of each per holder, made on first use.

    Any thread may use it.
    """

    __slots__ = (
        "_connections",
        "_keys",
        "_lock",
        "_process",
        "_tensors",
        "_threads",
        "changed",
        "closed",
        "has_keys",
        "lost",
        "manner",
    )

    def __init__(
        self,
        keys: KeyPair | None,
        patience: Timeouts,
        cache_bytes: int = 0,
        compress: bool | None = None,  # noqa: FBT001 - it is an option of whoever calls whoever calls this
    ) -> None:
        self._keys = keys
        self.manner: Manner = (patience, cache_bytes, compress)
        self.has_keys: bool = keys is not None
        self.closed: bool = False
        self.lost: set[str] = set()
        """Addresses of holders that did not answer the last request."""
        self.changed: set[str] = set()
        """The addresses of holders that had other parts than were looked up."""
        self._lock = threading.Lock()
        self._threads: dict[str, ThreadPoolExecutor] = {}
        self._connections: dict[str, Connections] = {}
        self._tensors: dict[tuple[str, str], RemoteTensor] = {}
        self._process = os.getpid()

    @property
    def is_here(self) -> bool:
        """True if it is open, in the process that opened it."""
        return not self.closed and self._process == os.getpid()

    def submit(self, holder: Holder, work: Callable[[], None]) -> None:
        """Submit work to the thread of a holder.

        Raises
        ------
        TransportClosedError
            If the client is closed.
        TransportForkError
            If this process was forked from the one that opened it.
        """
        if self._process != os.getpid():
            raise TransportForkError(
                "holders were connected before a fork; use connect_shards() in this process"
            )
        with self._lock:
            if self.closed:
                raise TransportClosedError("the client of these holders is closed")
            pool = self._threads.get(holder.address)
            if pool is None:
                self._connections[holder.address] = self.connections_to(holder)
                pool = self._threads[holder.address] = ThreadPoolExecutor(1, "tensorwrapper-holder")
            pool.submit(work)

    def connections_to(self, holder: Holder) -> Connections:
        """Return connections to a holder, not yet opened, which the caller closes."""
        if holder.key and self._keys is None:
            raise ConversionError(f"{holder.address} requires keys: use connect_shards(keys=...)")
        security = CurveClient(self._keys, holder.key) if holder.key and self._keys else None
        patience, cache_bytes, compress = self.manner
        return Connections(holder.address, security, patience, cache_bytes, compress=compress)

    def tensor(self, address: str, name: str) -> RemoteTensor:
        """Return the holder's tensor, at its version at first lookup. Runs in the holder's thread."""
        found = self._tensors.get((address, name))
        if found is None:
            found = self._tensors[address, name] = found_tensor(self._connections[address], name)
        return found

    def look_up(self, address: str, names: Iterable[str]) -> None:
        """Look up several tensors of a holder at once, in its thread; do nothing if one is missing."""
        unknown = tuple([name for name in names if (address, name) not in self._tensors])
        if len(unknown) < 2:
            return
        connections = self._connections[address]
        try:
            answer = connections.here().ask(AskFacts(unknown))
        except (TensorNameError, RequestRefusedError):
            # Requesting each tensor separately raises the error again.
            return
        if not isinstance(answer, FactsOf) or tuple([own.name for own in answer.facts]) != unknown:
            raise RemoteProtocolError("schema", f"{address} described other tensors than the requested ones")
        for own in answer.facts:
            self._tensors[address, own.name] = RemoteTensor(connections, own)

    def forget_changed(self) -> None:
        """Forget tensors of holders whose parts were replaced, so that the next use looks them up again."""
        while self.changed:
            address = self.changed.pop()
            for known in [own for own in list(self._tensors) if own[0] == address]:
                self._tensors.pop(known, None)

    def asked_first(self, holders: Iterable[Holder]) -> list[Holder]:
        """Return holders in the order to try; those that failed last time are last."""
        return sorted(holders, key=lambda own: own.address in self.lost)

    def close(self) -> None:
        """End all threads and connections; closing twice is harmless."""
        self._end(wait=True)

    def _end(self, *, wait: bool) -> None:
        with self._lock:
            self.closed = True
            threads, connections = list(self._threads.values()), list(self._connections.values())
        if self._process == os.getpid():
            for pool in threads:
                pool.shutdown(wait, cancel_futures=True)
        for own in connections:
            own.close()

    def __del__(self) -> None:
        # The last object that could read is gone: the client, its tensors, and their views. This may be a
        # holder's thread that let go of it, which cannot wait for itself.
        if getattr(self, "_process", None) is not None and self.is_here:
            self._end(wait=False)
            warnings.warn("a client of shards was not closed", LeakedResourceWarning, stacklevel=2)


_pools: Final[dict[Manner, ShardPool]] = {}
_lock: Final = threading.Lock()


def pool_of(manner: Manner) -> ShardPool:
    """Return the pool of unpickled objects: all of them in this process share its connections."""
    with _lock:
        pool = _pools.get(manner)
        if pool is None or not pool.is_here:
            pool = _pools[manner] = ShardPool(None, *manner)
            atexit.register(pool.close)
    return pool


class _StoppedError(Exception):
    """The reads of this thread were cancelled."""


@final
class Spread:
    """Parallel work on tiles of a tensor at their holders, or at replicas if a holder is lost."""

    __slots__ = (
        "_at_work",
        "_done",
        "_pool",
        "_reasons",
        "_running",
        "_settled",
        "_stopped",
        "_tried",
        "_work",
        "name",
        "sharding",
    )

    def __init__(
        self, pool: ShardPool, name: str, sharding: Sharding, tiles: Iterable[int], work: Work
    ) -> None:
        self.name, self.sharding = name, sharding
        self._pool, self._work = pool, work
        self._done: SimpleQueue[tuple[Holder, int | None, Sequence[int], Exception | None]] = SimpleQueue()
        self._tried: dict[int, list[Holder]] = {tile: [] for tile in tiles}
        self._reasons: dict[str, str] = {}
        self._settled = threading.Condition()
        self._stopped = False
        self._at_work = self._running = 0
        self._send(list(self._tried))

    def done(self) -> Iterator[int | None]:
        """Return an iterator over completed tiles, which yields None while waiting.

        Raises
        ------
        ShardsLostError
            After all others are done, if no holder has some of them.
        """
        missing: list[int] = []
        while self._running:
            try:
                holder, tile, rest, error = self._done.get(timeout=_WAIT)
            except Empty:
                yield None
                continue
            self._running -= tile is None
            if error is None:
                if tile is not None:
                    yield tile
                else:
                    self._pool.lost.discard(holder.address)
                continue
            if not isinstance(error, LOST) or self._pool.closed:
                self.cancel()
                try:
                    raise error
                finally:
                    # The traceback would form a reference cycle, which keeps this object until a garbage
                    # collection.
                    del error
            self._reasons[holder.address] = str(error)
            if tile is None:
                self._pool.lost.add(holder.address)
            _log.warning("%s is lost for %d tiles of %r: %s", holder.address, len(rest), self.name, error)
            missing += self._send(rest)
        if missing:
            raise self._lost(missing)

    def cancel(self) -> None:
        """Cancel running work, and return when no thread writes any more."""
        with self._settled:
            self._stopped = True
            self._settled.wait_for(lambda: not self._at_work)

    # Called in the thread of a holder.

    def check(self) -> None:
        """Raise if the work was cancelled."""
        if self._stopped:
            raise _StoppedError

    def look_up(self, address: str, tiles: Iterable[int]) -> None:
        """Look up several tiles of a holder at once; `cancel` does not wait for this thread meanwhile."""
        with self._apart():
            self._pool.look_up(address, [self.sharding.part_name(self.name, tile) for tile in tiles])

    @staticmethod
    def is_alone(error: Exception) -> bool:
        """Return True if an error concerns one tile, so that the holder may still have others."""
        return isinstance(error, TensorNameError | RemoteProtocolError | RequestRefusedError)

    def tensor(self, address: str, tile: int) -> RemoteTensor:
        """Return a tile of a holder; `cancel` does not wait for this thread during the lookup."""
        sharding = self.sharding
        with self._apart():
            found = self._pool.tensor(address, sharding.part_name(self.name, tile))
            extents = tuple([own.stop - own.start for own in sharding.box_of(tile)])
            is_right = found.size == math.prod(extents) and found.dtype == sharding.dtype
            if sharding.rows is None:
                fill = None if sharding.fill is None else sharding.fill.hex()
                is_right = is_right and found._facts.fill == fill and found.kind == "smooth"
                is_right = is_right and found.shape.extents == extents
            else:
                is_right = is_right and found.rank == 2 and len(found) == int(sharding.rows[tile])
        if not is_right:
            raise RemoteProtocolError(
                "schema", f"{address} has {found!r} for a tile of {extents} elements {sharding.dtype}"
            )
        return found

    @contextmanager
    def _apart(self) -> Generator[None]:
        self._leave()
        try:
            yield
        finally:
            self._enter()

    def _enter(self) -> None:
        with self._settled:
            self._at_work += 1

    def _leave(self) -> None:
        with self._settled:
            self._at_work -= 1
            self._settled.notify_all()

    def _run(self, holder: Holder, tiles: list[int]) -> None:
        left = dict.fromkeys(tiles)
        error: Exception | None = None
        self._enter()
        try:
            self.check()
            for tile, why in self._work(self, holder.address, tiles):
                del left[tile]
                self._done.put((holder, tile, () if why is None else (tile,), why))
        except _StoppedError:
            pass
        except Exception as caught:  # noqa: BLE001 - whoever waits for the tiles gets it
            error = caught
            if isinstance(caught, VersionChangedError):
                self._pool.changed.add(holder.address)
        finally:
            self._leave()
        self._done.put((holder, None, list(left), error))

    # Called in the waiting thread.

    def _send(self, tiles: Iterable[int]) -> list[int]:
        """Request tiles, each from its next holder; return those without another holder."""
        asked: dict[Holder, list[int]] = {}
        missing: list[int] = []
        order: dict[int, list[Holder]] = {}
        for tile in tiles:
            place = int(self.sharding.tiles[tile])
            if place not in order:
                has = [self.sharding.holders[k] for k in self.sharding.placements[place]]
                order[place] = self._pool.asked_first(has)
            following = [own for own in order[place] if own not in self._tried[tile]]
            if not following:
                missing.append(tile)
                continue
            self._tried[tile].append(following[0])
            asked.setdefault(following[0], []).append(tile)
        for holder, own in asked.items():
            self._pool.submit(holder, partial(self._run, holder, own))
            self._running += 1
        return missing

    def _lost(self, missing: Sequence[int]) -> ShardsLostError:
        names = tuple([self.sharding.part_name(self.name, tile) for tile in sorted(missing)])
        tried = {own.address for tile in missing for own in self._tried[tile]}
        reasons = tuple([(address, self._reasons.get(address, "")) for address in sorted(tried)])
        shown = ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
        why = "; ".join([f"{address}: {reason}" for address, reason in reasons[:_NAMED]])
        error = ShardsLostError(
            f"{len(names)} of {len(self._tried)} parts of {self.name!r} are lost: {shown} ({why})"
        )
        error.missing, error.reasons = names, reasons
        return error
