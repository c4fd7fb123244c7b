"""The ZeroMQ context that all sockets of a process share."""

import atexit
import errno
import mmap
import os
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from multiprocessing.util import Finalize
from typing import Final

import zmq
from zmq.utils.garbage import GarbageCollector, gc

from tensorwrapper.errors import TransportError

__all__ = ["at_end", "check_descriptors", "make_socket", "shared_context"]

_ZERO_COPY_RECV = 10
"""Context option ``ZMQ_ZERO_COPY_RECV``, which pyzmq has no name for."""

_DESCRIPTORS: Final = 20
"""File descriptors that two contexts and a socket may take before a peer comes; 12 were seen."""

_SPARE: Final = 8
"""File descriptors that must be free for one more socket or address."""

_MEMORY: Final = 2**28
"""Bytes of address space that must be free for four threads: glibc gives each 64 MiB to allocate from."""

_PATIENCE: Final = 1.0
"""Seconds that the end of a process waits for threads that still have sockets open."""

_lock = threading.Lock()
_contexts: dict[int, "zmq.Context[zmq.Socket[bytes]]"] = {}
_stops: dict[int, list[Callable[[], None]]] = {}
_enders: dict[int, tuple[threading.Event, threading.Thread]] = {}
"""Event and thread that end the context of each process: in Python 3.12 no thread starts at its end."""
_owners: "weakref.WeakKeyDictionary[zmq.Socket[bytes], int]" = weakref.WeakKeyDictionary()
"""The thread that opened each socket."""


def make_socket(number: int) -> "zmq.Socket[bytes]":
    """Return a socket of the context of this process, which is made on first use.

    pyzmq allocates each received frame separately, aligned to 8 bytes, so arrays can view it without a
    copy. This costs no measurable time.

    Raises
    ------
    TransportError
        If there are no file descriptors left.
    """
    check_descriptors(_SPARE)
    try:
        socket = shared_context().socket(number)
    except zmq.ZMQError as error:
        raise TransportError(
            error.errno or 0, f"no socket can be opened: {zmq.strerror(error.errno or 0)}"
        ) from error
    _owners[socket] = threading.get_ident()
    return socket


def shared_context() -> "zmq.Context[zmq.Socket[bytes]]":
    """Return the context of this process, which is made on first use."""
    process = os.getpid()
    with _lock:
        context = _contexts.get(process)
        if context is None or context.closed:
            check_descriptors(_DESCRIPTORS)
            _check_memory()
            _start_collector()
            context = zmq.Context()
            context.set(_ZERO_COPY_RECV, 0)
            _contexts[process] = context
            _enders[process] = _make_ender(context)
            # Both end it before pyzmq's collector, which was registered when it was imported; children of
            # multiprocessing skip the functions of `atexit`.
            atexit.register(_end)
            Finalize(None, _end, exitpriority=0)
        return context


def at_end(context: "zmq.Context[zmq.Socket[bytes]]", stop: Callable[[], None]) -> None:
    """Call `stop` before this context of this process ends, to close the sockets of a caller."""
    _stops.setdefault(id(context), []).append(stop)


def _start_collector() -> None:
    """Start pyzmq's collector, which keeps memory alive until ZeroMQ has sent it, where no signal interrupts.

    The first send would start it, and each one checks whether its thread is alive, to start it again if not.
    A signal whose handler raises (Ctrl-C does) can break the start; and it makes a living thread seem dead
    if it strikes within `Thread.is_alive`. The new one forgets messages being sent; their memory is reused,
    and torn data arrives. So it starts in a separate thread, which handles no signals. Later calls only
    check whether it was started in this process.
    """
    starter = threading.Thread(target=lambda: zmq.Frame(b" ", copy=False, copy_threshold=0), daemon=True)
    starter.start()
    starter.join()
    vars(gc)["is_alive"] = partial(_is_started, gc, os.getpid)


def _make_ender(context: "zmq.Context[zmq.Socket[bytes]]") -> tuple[threading.Event, threading.Thread]:
    told = threading.Event()

    def end() -> None:
        told.wait()
        context.term()

    ender = threading.Thread(target=end, name="tensorwrapper-end", daemon=True)
    ender.start()
    return told, ender


def _end() -> None:
    """Send the messages of closed sockets, for as long as they linger, before pyzmq's collector stops.

    pyzmq's collector releases its memory when the interpreter ends. ZeroMQ would then send the new content of
    that memory, or abort the process.
    """
    context = _contexts.get(os.getpid())
    if context is None or context.closed:
        return
    running = {thread.ident for thread in threading.enumerate()} - {threading.get_ident()}
    left = 0
    for socket in list(_owners):
        # Else a thread of ZeroMQ would wait for ever to tell of connections to a socket that is closed.
        with suppress(zmq.ZMQError):
            socket.monitor(None, 0)
    for socket, thread in list(_owners.items()):
        if socket.closed:
            continue
        if thread in running:
            left += 1
        else:
            socket.close()
    for stop in _stops.pop(id(context), ()):
        stop()
    # A thread that waits on a socket learns that ZeroMQ is shutting down. The wait below is bounded in case
    # it does not close the socket.
    told, ender = _enders[os.getpid()]
    told.set()
    ender.join(_PATIENCE if left else None)


def _is_started(collector: GarbageCollector, getpid: Callable[[], int]) -> bool:
    # pyzmq also calls this when the interpreter ends and the globals of modules are gone.
    return collector.thread is not None and collector.thread.pid == getpid()


def _check_memory() -> None:
    """Raise unless the threads of ZeroMQ can be started: where one cannot, it aborts the process."""
    try:
        # Mapped and never touched: it costs nothing.
        mmap.mmap(-1, _MEMORY).close()
    except (OSError, MemoryError) as error:
        raise TransportError(
            errno.ENOMEM, "no socket can be opened: there is no memory for the threads of ZeroMQ"
        ) from error


def check_descriptors(count: int = _SPARE) -> None:
    """Raise unless so many file descriptors are free: with fewer ZeroMQ may abort the process.

    Raises
    ------
    TransportError
        If there are not enough.
    """
    taken: list[int] = []
    try:
        while len(taken) < count:
            taken.append(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        raise TransportError(
            error.errno, f"no socket can be opened: {error.strerror} (ZeroMQ needs {count} more)"
        ) from error
    finally:
        for file in taken:
            os.close(file)
