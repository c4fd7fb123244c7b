"""Start a second Python process, communicate over a socket, and always end it.

It is a new interpreter (never a fork) that runs ``python -m tensorwrapper.cli.demo._far_side``. Every wait
has a time limit, and detects a dead process.
"""

import logging
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from types import TracebackType
from typing import final

from tensorwrapper.errors import DemoError, TransportError, TransportTimeoutError
from tensorwrapper.transport import Delivery, Socket
from tensorwrapper.typing import BufferLike
from tensorwrapper.wire import Message, encode

_log = logging.getLogger(__name__)
_GLANCE = 0.1
"""Seconds between checks that the process is alive."""
_GRACE = 5.0
"""Seconds to wait for the process to end by itself."""


@final
class SecondProcess:
    """The second process of the demonstration.

    Parameters
    ----------
    address
        Address to listen at; ``tcp://127.0.0.1:*`` picks a free port.
    timeout
        Time limit of each wait in seconds.

    Raises
    ------
    TransportError
        If the address is in use.
    DemoError
        If the process does not start and report in time.
    """

    __slots__ = ("_peer", "_process", "_socket", "received_frames", "sent_frames", "timeout")

    def __init__(self, address: str, timeout: float) -> None:
        self.timeout = timeout
        self._peer = b""
        self.sent_frames: list[int] = []
        self.received_frames: list[int] = []
        self._process: subprocess.Popen[bytes] | None = None
        self._socket = Socket("ROUTER", timeout=timeout)
        try:
            found = self._socket.bind(address)
            # Use the modules of this process, not modules in the current folder.
            command = [sys.executable, "-P", "-m", "tensorwrapper.cli.demo._far_side", found, str(timeout)]
            path = os.pathsep.join([entry for entry in sys.path if entry])
            self._process = subprocess.Popen(
                command,
                env=os.environ | {"PYTHONPATH": path},
                # The child ends when this pipe closes, however this process ends.
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
            _log.debug("process %d listens to %s", self._process.pid, found)
            self.receive()
        except OSError as error:
            self._end_at_once()
            if isinstance(error, TransportError):
                raise
            raise DemoError(f"cannot start the second process: {error}") from error
        except BaseException:
            self._end_at_once()
            raise

    def _end_at_once(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self.close()

    def send(self, frames: Sequence[BufferLike]) -> Delivery:
        """Send the frames of a message to the process."""
        try:
            delivery = self._socket.send(frames, peer=self._peer)
        except TransportError as error:
            raise DemoError(f"cannot reach the second process ({error}){self._obituary()}") from error
        self.sent_frames += [memoryview(frame).nbytes for frame in frames]
        return delivery

    def receive(self) -> Message:
        """Return the next message of the process."""
        deadline = time.monotonic() + self.timeout
        while True:
            left = deadline - time.monotonic()
            # Check before the wait, because messages sent before the process died still count.
            dead = self._process is not None and self._process.poll() is not None
            try:
                self._peer, message = self._socket.receive_from(timeout=max(min(_GLANCE, left), 0.0))
            except TransportTimeoutError as error:
                if dead:
                    raise DemoError(f"the second process died{self._obituary()}") from error
                if left <= 0:
                    raise DemoError(f"the second process did not answer within {self.timeout} s") from error
                continue
            self.received_frames += [memoryview(frame).nbytes for frame in message.to_frames()]
            return message

    def _obituary(self) -> str:
        process = self._process
        if process is None or process.poll() is None:
            return ""
        last = process.stderr.read().decode(errors="replace").strip() if process.stderr else ""
        return f" with exit code {process.returncode}" + (f": {last.splitlines()[-1]}" if last else "")

    def close(self) -> None:
        """Ask the process to end, and end it if it does not; closing twice is harmless."""
        process, self._process = self._process, None
        if process is not None:
            grace = min(_GRACE, self.timeout)
            try:
                if process.poll() is None and self._peer:
                    self._socket.send(
                        encode([], label={"request": {"task": "end"}}), peer=self._peer, timeout=grace
                    )
                    process.wait(grace)
            except (TransportError, subprocess.TimeoutExpired) as error:
                _log.debug("the second process is ended by force: %s", error)
            finally:
                if process.poll() is None:
                    process.kill()
                process.wait()
                for stream in (process.stdin, process.stderr):
                    if stream is not None:
                        stream.close()
        self._socket.close()

    def __enter__(self) -> "SecondProcess":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            # No request to end: the process may be busy, and its result is no longer needed.
            self._end_at_once()
        self.close()
