"""`Client` and `Task`: the requests of one client of a server, and their memory. No sockets."""

import threading
import time
from collections import deque
from typing import Final, final

from tensorwrapper.remote.protocol._events import (
    AskEntries,
    AskRead,
    AskRecords,
    AskReduce,
    AskRows,
    AskView,
    AskWrite,
    Request,
)
from tensorwrapper.remote.protocol._limits import ServeLimits
from tensorwrapper.remote.protocol._state_table import SERVED, TaskState
from tensorwrapper.remote.server._client_sockets import Line
from tensorwrapper.selection import Runs, Wanted

_SMALL: Final = 2**16
"""Smaller answers are copied by ZeroMQ and not counted, as the number of requests limits them."""


def weight_of(request: Request | None) -> int:
    """Return the approximate size of a request in memory, which may exceed that of its label."""
    match request:
        case AskRead() | AskEntries():
            return sum(map(_bytes_of, request.selections))
        case AskRows() | AskRecords():
            return _bytes_of(request.rows)
        case AskWrite():
            texts = 0 if request.texts is None else request.texts.nbytes
            return sum(map(_bytes_of, request.selections)) + request.values.nbytes + texts
        case AskView():
            return sum(map(_bytes_of, request.selections)) + request.view.nbytes
        case AskReduce():
            return request.view.nbytes
        case _:
            return 0


def _bytes_of(wanted: Wanted) -> int:
    if isinstance(wanted, Runs):
        # Evenly spaced positions are three numbers until they are read.
        return 24 if wanted.even is not None else 16 * wanted.count
    return wanted.nbytes


@final
class Task:
    """An unfinished request, with its state in the protocol's table."""

    __slots__ = (
        "client",
        "frames",
        "held",
        "is_quick",
        "nbytes",
        "number",
        "request",
        "seconds",
        "state",
        "stop",
        "verb",
        "weight",
    )

    def __init__(self, client: "Client", number: int, request: Request | None, nbytes: int = 0) -> None:
        self.client: Client = client
        self.number: int = number
        self.request: Request | None = request
        self.verb: str = "" if request is None else type(request).__name__
        self.nbytes: int = nbytes if nbytes >= _SMALL else 0
        """Maximum size of its answer; the actual size once created."""
        self.weight: int = weight_of(request)
        """Its own size while it waits."""
        self.held: int = 0
        """Memory currently reserved for it; 0 while it waits."""
        self.frames: list[memoryview] | None = None
        """Frames of a request that another thread is to parse."""
        self.is_quick: bool = False
        """True if answering takes less time than passing it to another thread."""
        self.seconds: float = 0.0
        """Seconds that another thread worked on it."""
        self.state: TaskState = "waiting"
        self.stop: threading.Event = threading.Event()
        """Set when the answer is not needed; the worker checks it from time to time."""

    @property
    def is_small(self) -> bool:
        """True if it requests few bytes, in a small message that was parsed."""
        return not self.nbytes and self.frames is None and self.weight < _SMALL

    def know(self, request: Request, nbytes: int) -> None:
        """Record a request that was parsed later, and the size of its answer at most."""
        self.frames, self.request, self.verb = None, request, type(request).__name__
        self.nbytes = nbytes if nbytes >= _SMALL else 0
        self.weight = weight_of(request)

    def take(self, step: str) -> bool:
        """Make a transition of the table; return False if the state has none."""
        to = SERVED.get((self.state, step))
        if to is None:
            return False
        self.state = to
        if to == "stopping":
            self.stop.set()
        return True


@final
class Client:
    """State of one client: waiting requests, and unsent answers."""

    __slots__ = (
        "_left",
        "_looked",
        "asked",
        "born",
        "counts",
        "due",
        "full",
        "held",
        "is_settled",
        "is_trusted",
        "key",
        "line",
        "moved",
        "out",
        "peer",
        "since",
        "taken",
        "tasks",
    )

    def __init__(self, peer: bytes, key: str, line: Line | None = None) -> None:
        self.peer: bytes = peer
        self.line: Line | None = line
        self.is_trusted: bool = False
        """True if it received a large answer, and did not delay others since."""
        self.is_settled: bool = False
        """True if it has been connected for some time and receives answers."""
        self.born: float = time.monotonic()
        self.due: float = 0.0
        """Work done for it so far, in seconds of the server."""
        self.moved: float = 0.0
        """Time of its last observed progress; 0 before that."""
        self.taken: int = 0
        self.key: str = key
        self.tasks: dict[int, Task] = {}
        """Requests that are not answered yet, by number."""
        self.asked: deque[Task] = deque()
        self.out: deque[tuple[Task, list[memoryview]]] = deque()
        self.held: int = 0
        """Bytes of its unfinished answers."""
        self.since: float = 0.0
        """Time at which it last had room."""
        self.full: float = 0.0
        """Time since which it has no room, at the last check."""
        self.counts: dict[str, int] = {"requests": 0, "answers": 0, "refusals": 0}
        self._left, self._looked = 0.0, 0.0

    @property
    def wanted(self) -> int:
        """Number of bytes requested and not yet sent."""
        return sum([own.nbytes for own in self.asked])

    def is_fast(self, rate: int) -> bool:
        """Count a request; return True if the rate has exceeded the limit for over a second."""
        now = time.monotonic()
        self._left = min(self._left + (now - self._looked) * rate, rate)
        self._looked = now
        if self._left < 1:
            return True
        self._left -= 1
        return False


@final
class Budget:
    """Memory budget of all unfinished answers of a server."""

    __slots__ = ("_limits", "doubtful", "held", "waiting")

    def __init__(self, limits: ServeLimits) -> None:
        self._limits = limits
        self.held: int = 0
        self.doubtful: int = 0
        """Memory held by clients that are not trusted."""
        self.waiting: int = 0
        """Memory of waiting requests."""

    def fits(self, task: Task) -> bool:
        """Return True if there is memory for an answer. A client's only answer always fits."""
        if not task.nbytes:
            return True
        held, limits = task.client.held, self._limits
        if held and held + task.nbytes > limits.client_bytes:
            return False
        # The other half is reserved for clients that receive answers, so that they never wait for others.
        unknown = 0 if task.client.is_trusted else self.doubtful
        if unknown and unknown + task.nbytes > limits.server_bytes // 2:
            return False
        return not self.held or self.held + task.nbytes <= limits.server_bytes

    def is_short(self, task: Task) -> bool:
        """Return True if an answer waits for memory that others hold."""
        held = task.client.held
        is_full = bool(held) and held + task.nbytes > self._limits.client_bytes
        return not is_full and not self.fits(task)

    def has_place(self, task: Task) -> bool:
        """Return True if another request may be queued. A single request always may."""
        if task.weight < _SMALL:
            return True
        mine = sum([own.weight for own in task.client.asked])
        if mine and mine + task.weight > 2 * self._limits.request_bytes:
            return False
        others = self.waiting
        return not others or others + task.weight <= 2 * self._limits.server_bytes

    def enter(self, task: Task, *, first: bool = False) -> None:
        """Queue a request, as the last of its client or the first."""
        asked = task.client.asked
        (asked.appendleft if first else asked.append)(task)
        self.waiting += task.weight

    def leave(self, task: Task) -> None:
        """Remove a request from its client's queue."""
        task.client.asked.remove(task)
        self.waiting -= task.weight

    def begin(self, task: Task) -> None:
        """Reserve memory for an answer."""
        self._hold(task, task.nbytes)

    def made(self, task: Task, nbytes: int) -> None:
        """Record the actual size of an answer."""
        task.nbytes = nbytes if nbytes >= _SMALL else 0
        self._hold(task, task.nbytes)

    def end(self, task: Task) -> None:
        """Release the memory of an answer, if reserved."""
        self._hold(task, 0)

    def trust(self, client: "Client") -> None:
        """Record that a client received an answer."""
        client.moved = 0.0
        if not client.is_trusted:
            client.is_trusted = True
            self.doubtful -= client.held

    def doubt(self, client: "Client") -> None:
        """Record that a client makes no progress while others wait."""
        if client.is_trusted:
            client.is_trusted = False
            self.doubtful += client.held

    def _hold(self, task: Task, nbytes: int) -> None:
        more = nbytes - task.held
        task.held = nbytes
        if not task.client.is_trusted:
            self.doubtful += more
        task.client.held += more
        self.held += more
