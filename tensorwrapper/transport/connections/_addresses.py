"""Addresses of sockets: validity, and whether other machines can reach them."""

import errno
import ipaddress
import re
from typing import Final

from tensorwrapper._error_text import brief, shortened
from tensorwrapper.errors import ConversionError, TransportError

__all__ = ["check_address", "is_local"]

_PORT: Final = re.compile(r"\*|[0-9]{1,5}")


def check_address(address: object, what: str) -> None:
    """Raise for arguments that are not text, and for invalid ports, which ZeroMQ would silently replace."""
    if not isinstance(address, str):
        raise ConversionError(f"an address must be text, such as 'tcp://127.0.0.1:*', not {brief(address)}")
    if "://" not in address:
        where = shortened(address)
        raise TransportError(
            errno.EINVAL, f"cannot {what} {where}: an address says its way, such as 'tcp://{where}'"
        )
    if not address.startswith("tcp://"):
        return
    for end in address[6:].split(";"):
        port = end.rpartition(":")[2]
        if ":" in end and (_PORT.fullmatch(port) is None or (port != "*" and int(port) > 65_535)):
            raise TransportError(
                errno.EINVAL, f"cannot {what} {address}: {port!r} is no port; ports end at 65535, * is any"
            )


def is_local(address: str) -> bool:
    """Return True if messages to this address, or to a listener at it, stay on this machine.

    Names are not resolved: the only known name is `localhost`.

    Examples
    --------
    >>> [is_local(own) for own in ("ipc:///tmp/x", "tcp://127.0.0.2:1", "tcp://0.0.0.0:1", "tcp://lo.org:1")]
    [True, True, False, False]
    """
    if not address.startswith("tcp://"):
        return True
    # The address to connect from may precede a semicolon.
    host = address[6:].rpartition(":")[0].rpartition(";")[2].strip("[]")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
