"""CURVE security: authenticate both ends of a connection, and admit only listed keys."""

import errno
import itertools
import logging
import threading
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, cast, final

import attrs
import zmq

from tensorwrapper._value_class import frozen
from tensorwrapper.errors import ConversionError, TransportError
from tensorwrapper.transport._context import at_end, shared_context
from tensorwrapper.transport._keys import KeyPair, to_key

if TYPE_CHECKING:
    from zmq.auth.thread import ThreadAuthenticator

_log = logging.getLogger(__name__)

_NUMBERS: Final = itertools.count(1)
_LOCK: Final = threading.Lock()


def _to_allowed(allow: Iterable[str | bytes] | Literal["any"]) -> frozenset[str] | Literal["any"]:
    if allow == "any":
        return "any"
    if isinstance(allow, str | bytes) or not isinstance(cast("object", allow), Iterable):
        raise ConversionError(
            f"allow must be a set of public keys, or 'any' to admit every client, not {allow!r}"
        )
    return frozenset([to_key(key, "a public key in allow") for key in allow])


def _to_server(key: str | bytes) -> str:
    return to_key(key, "the server's public key")


@final
@frozen
class CurveServer:
    """Admits clients whose public key is listed, and encrypts the connection.

    A list is required: ``allow="any"`` admits every client that knows the server's public key.

    Examples
    --------
    >>> from tensorwrapper import wire
    >>> from tensorwrapper.transport import Socket
    >>> ours, theirs = KeyPair.make(), KeyPair.make()
    >>> with Socket("PULL", security=CurveServer(ours, allow=[theirs.public])) as sink:
    ...     address = sink.bind("tcp://127.0.0.1:*")
    ...     with Socket("PUSH", security=CurveClient(theirs, ours.public)) as source:
    ...         source.connect(address)
    ...         sent = source.send(wire.encode([[1, 2]]))
    ...         sink.receive().tensors[0].tolist()
    [1, 2]
    """

    keys: KeyPair
    allow: frozenset[str] | Literal["any"] = attrs.field(converter=_to_allowed)

    def callback(self, _domain: str, key: bytes) -> bool:
        """Return True if a key is admitted."""
        return self.allow == "any" or key.decode("ascii", "replace") in self.allow


@final
@frozen
class CurveClient:
    """Authenticates with its keys, and connects only to the server with this public key."""

    keys: KeyPair
    server: str = attrs.field(converter=_to_server)


Security: TypeAlias = CurveServer | CurveClient
"""Authentication of a socket."""


@final
class _Guard:
    """Wrapper of the key check that logs an exception and refuses the client."""

    __slots__ = ("_security",)

    def __init__(self, security: CurveServer) -> None:
        self._security = security

    def callback(self, domain: str, key: bytes) -> bool:
        """Return True if a key is admitted."""
        try:
            return self._security.callback(domain, key)
        except Exception:  # noqa: BLE001 - it would end the thread that answers for the lists of all sockets
            _log.exception("client refused, as the check of the list failed")
            return False


_authenticators: "dict[int, ThreadAuthenticator]" = {}


def _authenticator(context: "zmq.Context[zmq.Socket[bytes]]") -> "ThreadAuthenticator":
    """Return the authenticator of all sockets of a context; the first call starts it."""
    from zmq.auth.thread import ThreadAuthenticator  # noqa: PLC0415 - it brings asyncio, and few have lists

    with _LOCK:
        found = _authenticators.get(id(context))
        if found is None or not found.is_alive():
            # While the authenticator is stopped, ZeroMQ refuses every client. The next socket with a list
            # restarts it.
            lists = {} if found is None else found.credentials_providers
            if found is not None:
                found.stop()
            found = ThreadAuthenticator(context)
            found.credentials_providers = lists
            found.start()
            _authenticators[id(context)] = found
            # Open sockets of the authenticator would keep the context from ending.
            at_end(context, found.stop)
        return found


def secure(socket: "zmq.Socket[bytes]", security: Security) -> Callable[[], object]:
    """Set up authentication of a socket before it connects; return a function that removes its key list."""
    if not isinstance(cast("object", security), CurveServer | CurveClient):
        raise ConversionError(f"security must be a CurveServer or a CurveClient, not {security!r}")
    if not zmq.has("curve"):
        raise TransportError(errno.ENOTSUP, "this ZeroMQ was built without CURVE")
    socket.curve_publickey = security.keys.public.encode()
    socket.curve_secretkey = security.keys.secret.encode()
    if isinstance(security, CurveClient):
        socket.curve_serverkey = security.server.encode()
        return _nothing
    socket.curve_server = True
    domain = f"tensorwrapper-{next(_NUMBERS)}"
    authenticator = _authenticator(shared_context())
    authenticator.configure_curve_callback(domain, _Guard(security))
    socket.zap_domain = domain.encode()
    # Without this option ZeroMQ admits every client while the authenticator is not running.
    socket.setsockopt(zmq.ZAP_ENFORCE_DOMAIN, 1)
    return partial(authenticator.credentials_providers.pop, domain, None)


def _nothing() -> None:
    pass
