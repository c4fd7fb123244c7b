"""`ShardedRemote` and `connect_shards`: the tensors of a catalogue as a mapping."""

import os
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, SupportsIndex, cast, final

from tensorwrapper._error_text import brief, counted, shortened
from tensorwrapper._integers import to_count
from tensorwrapper._value_class import Closing
from tensorwrapper.errors import ConversionError, TensorNameError, TransportClosedError
from tensorwrapper.remote.client._pending_request import IDLE, Timeouts
from tensorwrapper.remote.shards._catalogue import Catalogue
from tensorwrapper.remote.shards._shard_pool import Manner, ShardPool, pool_of
from tensorwrapper.remote.shards._source import ShardSource
from tensorwrapper.remote.shards._tensor import ShardedTensor
from tensorwrapper.transport import KeyPair

if TYPE_CHECKING:
    from tensorwrapper.fields import Records


@final
class ShardedRemote(Closing, Mapping[str, ShardedTensor]):
    """The tensors of a catalogue, by name; made by `connect_shards`. Looking up a tensor sends no request.

    Any thread may use it. Close it when no thread uses it any more. Its tensors and their views keep the
    connections open, as those of a `Remote` do. It pickles as a `Remote` does, that is, without keys.
    """

    __slots__ = ("__weakref__", "_pool", "catalogue")

    def __init__(self, catalogue: Catalogue, pool: ShardPool) -> None:
        self.catalogue: Catalogue = catalogue
        self._pool = pool

    @property
    def closed(self) -> bool:
        """True if `close` was called."""
        return self._pool.closed

    @property
    def lost(self) -> list[str]:
        """Addresses of holders that did not answer the last request, in order."""
        return sorted(self._pool.lost)

    def __getitem__(self, name: str) -> ShardedTensor:
        if self.closed:
            raise TransportClosedError("the client of these holders is closed")
        self._pool.forget_changed()
        return ShardedTensor(ShardSource(self._pool, name, self.catalogue[name]))

    def records(self, name: str) -> "Records":
        """Return records whose fields are the tensors with dotted names, ``ev.t`` of ``ev``.

        Fields are views, in the order of the catalogue. Only the lengths of rows are read before they are
        computed, and each field is read from its own holders.

        Raises
        ------
        TensorNameError
            If no tensor has such a name.
        ExtentMismatchError
            If the tensors have different numbers of rows.

        Examples
        --------
        >>> import numpy as np
        >>> import tensorwrapper as tw
        >>> from tensorwrapper.remote import Catalogue, Sharding
        >>> fields = {"ev.x": np.array([1, 2, 3]), "ev.q": np.array([0.5, 1.5, 2.5])}
        >>> with tw.serve({}) as a, tw.serve({}) as b:
        ...     two = [a.address, b.address]
        ...     cut = {name: Sharding(tw.Tiling([1, 2]), own.dtype, two) for name, own in fields.items()}
        ...     for server in (a, b):
        ...         for field, own in cut.items():
        ...             for part, elements in own.parts(field, fields[field], server.address).items():
        ...                 server.replace(part, elements)
        ...     with connect_shards(Catalogue(cut)) as shards:
        ...         shards.records("ev")[1:].to_dict()
        {'q': [1.5, 2.5], 'x': [2, 3]}
        """
        if not isinstance(cast("object", name), str):
            raise ConversionError(f"records are looked up by name, not by {brief(name)}")
        prefix = f"{name}."
        fields = {own[len(prefix) :]: self[own].view() for own in self if own.startswith(prefix)}
        if not fields:
            raise TensorNameError(
                f"no tensor of this catalogue has a name that begins with {shortened(prefix)!r}"
            )
        from tensorwrapper.fields import records  # noqa: PLC0415 - few clients read records

        return records(fields)

    def __iter__(self) -> Iterator[str]:
        return iter(self.catalogue)

    def __len__(self) -> int:
        return len(self.catalogue)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __reduce__(self) -> "tuple[Callable[..., ShardedRemote], tuple[Catalogue, Manner]]":
        if self._pool.has_keys:
            raise ConversionError(f"{self!r} has a secret key, which is not pickled: connect_shards() there")
        return _opened, (self.catalogue, self._pool.manner)

    def close(self) -> None:
        """Close the connections to all holders; closing twice is harmless. No thread may be reading."""
        self._pool.close()

    def __repr__(self) -> str:
        return f"<ShardedRemote of {counted(len(self), 'tensor')}{', closed' if self.closed else ''}>"


def _opened(catalogue: Catalogue, manner: Manner) -> ShardedRemote:
    """Return a client that came from another process."""
    return ShardedRemote(catalogue, pool_of(manner))


def connect_shards(
    catalogue: "Catalogue | str | os.PathLike[str]",
    *,
    keys: KeyPair | None = None,
    timeout: float = 5.0,
    deadline: float | None = None,
    idle: float | None = IDLE,
    cache_bytes: SupportsIndex = 0,
    compress: bool | None = None,
) -> ShardedRemote:
    """Return the tensors of a catalogue as lazy tensors over all of their holders, without any request.

    Parameters
    ----------
    catalogue
        The catalogue, or the path of its file.
    keys
        Our keys, for holders whose public key the catalogue has.
    timeout
        Seconds without an answer from a holder after which another holder is tried.
    deadline
        How many seconds a request may take in any case; any time if not given.
    idle
        For how many seconds a holder may be there and answer none of our requests; for ever if it is None.
    cache_bytes, compress
        As `connect` takes them: how much is kept of each holder, and whether numbers come packed.

    Raises
    ------
    DataFileError, ParseError
        If the file is not a catalogue.

    Examples
    --------
    >>> import numpy as np
    >>> import tensorwrapper as tw
    >>> from tensorwrapper.remote import Catalogue, Sharding
    >>> x = np.arange(24).reshape(4, 6)
    >>> with tw.serve({"x/0": x[:1]}) as a, tw.serve({"x/1": x[1:]}) as b:
    ...     cut = Sharding(tw.Tiling([1, 3], [6]), x.dtype, [a.address, b.address])
    ...     for server in (a, b):
    ...         for name, part in cut.parts("x", x, server.address).items():
    ...             server.replace(name, part)
    ...     with connect_shards(Catalogue({"x": cut})) as shards:
    ...         shards["x"].shape, shards["x"][:3, ::4].compute().tolist()
    (Shape(4, 6), [[0, 4], [6, 10], [12, 16]])
    """
    count = to_count(cache_bytes, "cache_bytes")
    patience = Timeouts(timeout, deadline, idle).check()
    found = catalogue if isinstance(catalogue, Catalogue) else Catalogue.load(catalogue)
    return ShardedRemote(found, ShardPool(keys, patience, count, compress))
