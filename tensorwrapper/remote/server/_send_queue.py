"""`Sending`: answers being sent, and clients without progress while others wait for memory."""

import time
from collections.abc import Iterable, Sequence
from typing import Final, final

from tensorwrapper.remote.served._buffer_pool import BufferPool
from tensorwrapper.remote.server._clients import Budget, Client, Task
from tensorwrapper.transport import Delivery

_LOOK: Final = 0.1
"""Seconds between two checks of the clients' progress."""
_DOUBT: Final = 0.2
"""Seconds without progress after which a client loses trust, and shares the memory of untrusted ones."""
_CUT: Final = 0.5
"""Seconds after which its connection is closed, if others wait; it may reconnect and repeat."""
_UNTOLD: Final = 3.0
"""The same if the system does not report acknowledged bytes."""
_LEAST: Final = 2**14
"""Minimum number of bytes that count as progress."""


@final
class Sending:
    """Answers passed to ZeroMQ and not yet sent, and the clients to check for progress."""

    __slots__ = ("_answers", "_budget", "_looked", "_staging", "cuts")

    def __init__(self, budget: Budget, staging: BufferPool) -> None:
        self._budget, self._staging = budget, staging
        self._answers: list[tuple[Task, Delivery, Sequence[memoryview]]] = []
        self._looked = 0.0
        self.cuts: int = 0
        """Number of connections closed to free memory for others."""

    def __len__(self) -> int:
        return len(self._answers)

    def add(self, task: Task, delivery: Delivery, frames: Sequence[memoryview]) -> None:
        """Record an answer, whose memory is released once it is sent."""
        self._answers.append((task, delivery, frames))

    def reap(self) -> None:
        """Release the memory of sent answers; clients that received one become trusted."""
        if not self._answers:
            return
        still: list[tuple[Task, Delivery, Sequence[memoryview]]] = []
        for task, delivery, frames in self._answers:
            if not delivery.done:
                still.append((task, delivery, frames))
                continue
            task.take("delivered")
            self._budget.end(task)
            self._budget.trust(task.client)
            self._staging.give(frames)
        self._answers = still

    def press(self, clients: Iterable[Client]) -> None:
        """Disconnect clients that hold memory without progress for some time while others wait."""
        now = time.monotonic()
        if now - self._looked < _LOOK:
            return
        self._looked = now
        for client in clients:
            if not client.held:
                client.moved = 0.0
                continue
            taken = None if client.line is None else client.line.taken()
            if not client.moved or (taken is not None and taken - client.taken >= _LEAST):
                client.moved, client.taken = now, taken or 0
                continue
            silent = now - client.moved
            if silent > _DOUBT:
                self._budget.doubt(client)
            if silent > (_UNTOLD if taken is None else _CUT):
                client.moved = 0.0
                if client.line is not None and client.line.cut():
                    self.cuts += 1
