"""Addresses of sockets: validity, and whether other machines can reach them."""

import errno
import ipaddress
from typing import Final

from tensorwrapper._error_text import brief, shortened
from tensorwrapper.errors import ConversionError, TransportError

_EXAMPLE: Final = "tcp://127.0.0.1:5555"


def check_address(address: object, what: str) -> None:
    """Raise if the address is not text, or its port is invalid; ZeroMQ would silently replace the port."""
    if not isinstance(address, str):
        raise ConversionError(f"an address must be text, such as {_EXAMPLE!r}, not {brief(address)}")
    if "://" not in address:
        where = shortened(address)
        raise TransportError(
            errno.EINVAL,
            f"cannot {what} {where or 'an empty address'}: the address has no scheme; use for example "
            f"{f'tcp://{where}' if where else _EXAMPLE!r}",
        )
    if not address.startswith("tcp://"):
        return
    host, colon, _ = address[6:].rpartition(":")
    if not (host and colon):
        raise TransportError(
            errno.EINVAL,
            f"cannot {what} {shortened(address)}: it has no port; use for example {_EXAMPLE!r}",
        )
    listens = what == "listen at"
    ends = address[6:].split(";")  # a source address may precede the other
    for end in ends:
        port = end.rpartition(":")[2]
        if ":" not in end or (port == "*" and (listens or end != ends[-1])):
            continue
        if not port.isascii() or not port.isdecimal() or len(port) > 5 or int(port) > 65_535:
            free = ", or * for any" if listens else ""
            raise TransportError(
                errno.EINVAL, f"cannot {what} {address}: invalid port {port!r}; use 1 to 65535{free}"
            )


def is_local(address: str) -> bool:
    """Return True if messages to this address, or to a listener there, stay on this machine.

    Names are not resolved, except `localhost`.

    Examples
    --------
    >>> [is_local(own) for own in ("ipc:///tmp/x", "tcp://127.0.0.2:1", "tcp://0.0.0.0:1", "tcp://lo.org:1")]
    [True, True, False, False]
    """
    if not address.startswith("tcp://"):
        return True
    # A source address may precede a semicolon.
    host = address[6:].rpartition(":")[0].rpartition(";")[2].strip("[]")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
