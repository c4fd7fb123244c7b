"""`Server` and `serve`: serve tensors to clients."""

import os
import threading
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, closing
from typing import TYPE_CHECKING, SupportsIndex, cast, final

from tensorwrapper._error_text import brief, counted, shortened
from tensorwrapper._integers import to_count
from tensorwrapper._value_class import Closing
from tensorwrapper.errors import (
    ConversionError,
    ExtentError,
    LeakedResourceWarning,
    RemoteProtocolError,
    RequestRefusedError,
    TransportClosedError,
    TransportError,
)
from tensorwrapper.remote.client._connection import Connections
from tensorwrapper.remote.client._pushdown import PushedSource
from tensorwrapper.remote.client._rows import RowsSource
from tensorwrapper.remote.client._source import RemoteSource
from tensorwrapper.remote.client._tensor import RemoteTensor
from tensorwrapper.remote.protocol._limits import ServeLimits
from tensorwrapper.remote.server._catalogue import Catalogue
from tensorwrapper.remote.server._event_loop import Loop
from tensorwrapper.remote.server._files import put_files
from tensorwrapper.remote.shards._source import ShardSource
from tensorwrapper.remote.shards._tensor import ShardedTensor
from tensorwrapper.selection import as_view, sources
from tensorwrapper.tensor import Tensor
from tensorwrapper.transport import CurveServer
from tensorwrapper.wire.lowlevel import is_records

if TYPE_CHECKING:
    from tensorwrapper.fields import Records
    from tensorwrapper.selection import ViewLike
    from tensorwrapper.store import Loss


@final
class Server(Closing):
    """A server of tensors, created by `serve`. Its threads answer clients until it is closed.

    Edit served memory in place only within `editing`. Use `replace` at any time. Each answer has one version.
    """

    __slots__ = ("__weakref__", "_catalogue", "_ending", "_files", "_loop", "_losses", "_process")

    def __init__(
        self, catalogue: Catalogue, loop: Loop, files: ExitStack, losses: "Iterable[Loss]" = ()
    ) -> None:
        self._catalogue, self._files, self._losses = catalogue, files, tuple(losses)
        self._loop: Loop | None = loop
        self._process = os.getpid()
        self._ending = threading.Lock()

    @property
    def address(self) -> str:
        """Address at which it listens, with the actual port: the argument of `connect`."""
        return self._alive().address

    @property
    def names(self) -> list[str]:
        """Names of the served tensors, in order."""
        return self._catalogue.names()

    @property
    def tensors(self) -> "dict[str, ViewLike]":
        """Served tensors by name, available even after closing. Writes of clients to memory change them."""
        return self._catalogue.tensors()

    @property
    def losses(self) -> "tuple[Loss, ...]":
        """Tensors of files that are not served, and what the files themselves leave out, a sentence each.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import tensorwrapper as tw
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.tens"
        >>> tw.save(path, {"x": [1, 2], "raw": tw.strings([b"a"])})
        >>> with serve(path) as server:
        ...     server.names, [lost.name for lost in server.losses]
        (['x'], ['raw'])
        """
        return self._losses

    @property
    def closed(self) -> bool:
        """True if the server has closed."""
        return self._loop is None or not self._loop.is_alive

    def replace(self, name: str, tensor: "ViewLike | Records") -> None:
        """Serve a tensor, or records, under a name, with a new version; it replaces the old one.

        Records are replaced with all of their fields. Later reads of the old version raise
        `VersionChangedError`.

        Raises
        ------
        TensorNameError
            If the name is invalid or belongs to a field of records, or if a tensor has the name of a new
            field.
        ConversionError
            If it is not a tensor, its dtype cannot be sent, or it is read from this server.
        """
        self._refuse_own(name, tensor)
        self._catalogue.put(name, tensor)

    def _refuse_own(self, name: str, tensor: "ViewLike | Records") -> None:
        """Refuse tensors that are read from this server, whose thread would wait for its own answer."""
        loop = self._alive()
        parts = tensor.values() if is_records(tensor) else [cast("ViewLike", tensor)]
        place = _place_of(loop.address)
        for connections in [own for part in parts for own in _read_from(part, place)]:
            try:
                found = connections.server_now()
            except (TransportError, RemoteProtocolError, RequestRefusedError):
                # This server would have answered.
                continue
            if found == self._catalogue.server:
                raise ConversionError(
                    f"cannot serve the tensor {name!r}: it is read from this server, which "
                    f"would wait for itself; use its sources in server.tensors"
                )

    def remove(self, name: str) -> None:
        """Stop serving a tensor, or records with all of their fields.

        Raises
        ------
        TensorNameError
            If the name is unknown, or belongs to a field of records.
        """
        self._catalogue.drop(name)

    def editing(self, name: str) -> AbstractContextManager[None]:
        """Lock out readers of a tensor while its memory is written. Afterwards it has a new version.

        Raises
        ------
        TensorNameError
            If there is none of this name.

        Examples
        --------
        >>> import numpy as np
        >>> import tensorwrapper as tw
        >>> x = np.zeros(3)
        >>> with serve({"x": x}) as server:
        ...     with server.editing("x"):
        ...         x[:] = 7
        ...     with tw.connect(server.address) as remote:
        ...         remote["x"].compute().tolist()
        [7.0, 7.0, 7.0]
        """
        return self._catalogue.editing(name)

    def stats(self) -> dict[str, int]:
        """Return counters: requests, answers, refusals, dropped messages, bytes on the wire."""
        return self._alive().stats()

    def close(self, drain: float = 5.0) -> None:
        """Stop accepting requests, answer the received ones, and close. Closing twice is harmless.

        Parameters
        ----------
        drain
            Time limit for answering received requests, in seconds.
        """
        if self._process != os.getpid():
            self._loop = None
            return
        # Other threads may query progress while it drains. Another thread that calls `close` waits for the
        # end.
        with self._ending:
            if self._loop is not None:
                try:
                    self._loop.stop(drain)
                finally:
                    self._loop = None
                    self._files.close()

    def _alive(self) -> Loop:
        if self._loop is None:
            raise TransportClosedError("the server is closed")
        return self._loop

    def __del__(self) -> None:
        if getattr(self, "_loop", None) is not None and self._process == os.getpid():
            self.close(0.0)
            warnings.warn("a server was not closed", LeakedResourceWarning, stacklevel=2)

    def _repr_html_(self) -> str:
        """Return HTML for notebooks: the address, and the first names."""
        from tensorwrapper._displays import Fold, html_block, html_table  # noqa: PLC0415 - few are shown

        names = () if self.closed else self.names
        table = html_table([("name",), *[(name,) for name in names[:20]]], more=max(len(names) - 20, 0))
        return html_block(shortened(repr(self)), folds=[Fold("tensors", table, opened=True)] if names else [])

    def __repr__(self) -> str:
        where = "closed" if self._loop is None else self._loop.address
        return f"<Server of {counted(len(self.names), 'tensor')}, {where}>"


def serve(
    tensors: "Mapping[str, ViewLike | Records] | str | os.PathLike[str] | Iterable[str | os.PathLike[str]]",
    address: str = "tcp://127.0.0.1:*",
    *,
    security: CurveServer | None = None,
    allow: Mapping[str, Iterable[str]] | None = None,
    writable: bool | Mapping[str, Iterable[str]] = False,
    limits: ServeLimits | None = None,
    threads: SupportsIndex = 1,
) -> Server:
    """Serve tensors to clients. Selections of clients transfer only the needed elements.

    Parameters
    ----------
    tensors
        Tensors, arrays, views and sources by name; `Records`, whose fields are served at one version,
        read-only, each under a dotted name. Or a file, a folder or several: with several files, names of
        tensors begin with the name of their file (``run/energies``); a folder serves all its `.tens` files.
        `Server.losses` lists tensors of files that it cannot serve.
    address
        Address to listen at; ``tcp://127.0.0.1:*`` picks a port.
    security
        Keys of the server and list of admitted clients. Without it every client that reaches the address is
        admitted.
    allow
        Public keys that may access tensors, by name pattern (``run*``). No client can access a tensor without
        a matching pattern. By default every admitted client can access all tensors. Tensors that a client may
        not access appear as missing.
    writable
        Whether clients may write to tensors in writable memory, or the public keys that may, by name pattern.
        Each write is atomic, and creates a new version. Tensors of files are then read into memory and
        written there; files do not change. `Server.tensors` has the written tensors.
    limits
        Limits on the requests of a client.
    threads
        Number of threads for slow reads.

    Raises
    ------
    TransportError
        If the address is in use or invalid.
    ConversionError
        If a value is not a tensor, its dtype cannot be sent, or keys are given without `security`.
    DataFileError
        If a file cannot be opened.

    Examples
    --------
    >>> import numpy as np
    >>> import tensorwrapper as tw
    >>> with serve({"x": np.arange(12).reshape(3, 4)}) as server, tw.connect(server.address) as remote:
    ...     remote["x"][1:, ::3].compute().tolist()
    [[4, 7], [8, 11]]
    """
    count = to_count(threads, "threads")
    if not count:
        raise ExtentError("threads must be at least 1")
    if allow is not None and security is None:
        raise ConversionError("allow lists client keys, which requires security=CurveServer(...)")
    if not isinstance(writable, bool) and security is None:
        raise ConversionError("writable lists client keys, which requires security=CurveServer(...)")
    if not isinstance(cast("object", limits), ServeLimits | None):
        raise ConversionError(f"limits must be tensorwrapper.remote.ServeLimits(...), not {brief(limits)}")
    catalogue = Catalogue(allow, ServeLimits() if limits is None else limits, writable)
    given: dict[str, ViewLike | Records] = {}
    losses: list[Loss] = []
    with ExitStack() as files:
        if isinstance(tensors, Mapping):
            given |= cast("Mapping[str, ViewLike | Records]", tensors)
            for name, tensor in given.items():
                catalogue.put(name, tensor)
        else:
            losses = put_files(catalogue, tensors, files, into_memory=bool(writable))
        loop = Loop(catalogue, address, security, count)
        server = Server(catalogue, loop, files.pop_all(), losses)
    try:
        # The server must listen before it can be recognised as a source of one of its own tensors.
        for name, tensor in given.items():
            server._refuse_own(name, tensor)
    except BaseException:
        server.close(0.0)
        raise
    return server


def _place_of(address: str) -> str:
    """Return the common part of all addresses of one server: the port, or the socket file."""
    kind, _, place = address.partition("://")
    return f"tcp:{place.rpartition(':')[2]}" if kind == "tcp" else f"{kind}:{os.path.realpath(place)}"


def _read_from(given: "ViewLike", place: str) -> Iterator[Connections]:
    """Return the connections over which something is read from servers that may be those of a place.

    A server has many addresses, as ``localhost`` and ``127.0.0.1`` are: the rest of one says nothing.
    """
    value = cast("object", given)
    if isinstance(value, Tensor):
        return
    if isinstance(value, RemoteTensor):
        found: list[object] = [value._connections]
    elif isinstance(value, ShardedTensor):
        found = [value._source]
    else:
        found = [*sources(as_view(given)).values()]
    for own in found:
        source = own.whole if isinstance(own, RowsSource) else own
        known = source.connections if isinstance(source, RemoteSource | PushedSource) else source
        if isinstance(known, Connections):
            if _place_of(known.address) == place:
                yield known
        elif isinstance(source, ShardSource):
            for holder in source.sharding.holders:
                if _place_of(holder.address) == place:
                    with closing(source.pool.connections_to(holder)) as connections:
                        yield connections
