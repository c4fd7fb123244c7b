"""One way to refuse what came from outside."""

from typing import NoReturn

from tensorwrapper.errors import ProtocolReason, RemoteProtocolError

__all__ = ["refuse"]


def refuse(reason: ProtocolReason, message: str) -> NoReturn:
    """Raise `RemoteProtocolError`; a call of its own, so that type checkers see that nothing goes on."""
    raise RemoteProtocolError(reason, message)
