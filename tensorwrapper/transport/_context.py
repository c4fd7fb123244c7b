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
from typing import Final

import zmq
from zmq.utils.garbage import GarbageCollector, gc

from tensorwrapper.errors import TransportError

_ZERO_COPY_RECV = 10
"""Context option ``ZMQ_ZERO_COPY_RECV``, for which pyzmq has no name."""

_DESCRIPTORS: Final = 20
"""File descriptors reserved for two contexts and a socket without peers; 12 were measured."""

_SPARE: Final = 8
"""File descriptors that must be free for one more socket or address."""

_MEMORY: Final = 2**28
"""Bytes of address space that must be free for four threads: glibc gives each 64 MiB to allocate from."""

_PATIENCE: Final = 1.0
"""Seconds that a process waits at its end for threads with open sockets."""

_lock = threading.Lock()
_contexts: dict[int, "zmq.Context[zmq.Socket[bytes]]"] = {}
_stops: dict[int, list[Callable[[], None]]] = {}
_enders: dict[int, tuple[threading.Event, threading.Thread]] = {}
"""Event and thread that end the context of each process. Python 3.12 starts no thread at exit."""
_owners: "weakref.WeakKeyDictionary[zmq.Socket[bytes], int]" = weakref.WeakKeyDictionary()
"""The thread that opened each socket."""


def make_socket(number: int) -> "zmq.Socket[bytes]":
    """Return a socket of the context of this process, which is made on first use.

    pyzmq allocates each received frame separately, aligned to 8 bytes, so arrays can view it without a
    copy. This costs no measurable time.

    Raises
    ------
    TransportError
        If too few file descriptors are free.
    """
    check_descriptors(_SPARE)
    try:
        socket = shared_context().socket(number)
    except zmq.ZMQError as error:
        raise TransportError(
            error.errno or 0, f"cannot open a socket: {zmq.strerror(error.errno or 0)}"
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
            from multiprocessing.util import Finalize  # noqa: PLC0415 - few processes that import this connect

            # Both hooks end the context before pyzmq's collector, which registered itself on import. Children
            # of multiprocessing skip `atexit`, so two hooks are needed.
            atexit.register(_end)
            Finalize(None, _end, exitpriority=0)
        return context


def at_end(context: "zmq.Context[zmq.Socket[bytes]]", stop: Callable[[], None]) -> None:
    """Call `stop` before the context of this process ends, so that the caller can close its sockets."""
    _stops.setdefault(id(context), []).append(stop)


def _start_collector() -> None:
    """Start pyzmq's collector in a thread without signals; it keeps memory alive until ZeroMQ has sent it.

    By default the first send starts the collector, and each send restarts it if its thread is dead. A signal
    handler that raises (as for Ctrl-C) can break the start. Within `Thread.is_alive` it makes a live thread
    seem dead. The new collector would forget messages being sent: their memory is reused, and torn data
    arrives. So a separate thread, which handles no signals, starts the collector. Later calls only check
    whether it was started in this process.
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
    """Send the messages of closed sockets, within their linger time, before pyzmq's collector stops.

    When the interpreter ends, the collector releases its memory. ZeroMQ would then send the new content of
    that memory, or abort the process.
    """
    context = _contexts.get(os.getpid())
    if context is None or context.closed:
        return
    running = {thread.ident for thread in threading.enumerate()} - {threading.get_ident()}
    left = 0
    for socket in list(_owners):
        # Otherwise a ZeroMQ thread would wait for ever to report connections to a closed socket.
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
    # pyzmq also calls this at interpreter exit, when module globals are gone.
    return collector.thread is not None and collector.thread.pid == getpid()


def _check_memory() -> None:
    """Raise unless ZeroMQ can start its threads; otherwise ZeroMQ would abort the process."""
    try:
        # The map is never touched, so it uses no memory.
        mmap.mmap(-1, _MEMORY).close()
    except (OSError, MemoryError) as error:
        raise TransportError(
            errno.ENOMEM, "cannot open a socket: not enough memory for the threads of ZeroMQ"
        ) from error


def check_descriptors(count: int = _SPARE) -> None:
    """Raise unless `count` file descriptors are free; with fewer ZeroMQ may abort the process.

    Raises
    ------
    TransportError
        If fewer are free.
    """
    taken: list[int] = []
    try:
        while len(taken) < count:
            taken.append(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        raise TransportError(
            error.errno, f"cannot open a socket: {error.strerror} (ZeroMQ needs {count} more)"
        ) from error
    finally:
        for file in taken:
            os.close(file)
