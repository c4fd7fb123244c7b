"""Refuse untrusted input: at once, or when its caller requests it."""

from typing import NoReturn, final

from tensorwrapper._json_fields import FieldReason
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import ProtocolReason, RemoteProtocolError
from tensorwrapper.wire._limits import how_to_raise


def refuse(reason: ProtocolReason, message: str) -> NoReturn:
    """Raise `RemoteProtocolError`; a function, so that type checkers see that it does not return."""
    raise RemoteProtocolError(reason, message)


def refuse_over(limit: str, message: str) -> NoReturn:
    """Raise `RemoteProtocolError` for a value over a limit; the text names the argument to change."""
    raise RemoteProtocolError("limit", message + how_to_raise(limit))


def refuse_field(path: str, reason: FieldReason, text: str) -> NoReturn:
    """Raise `RemoteProtocolError` for a field of a label."""
    raise RemoteProtocolError(reason, f"{path or 'the label'} {text}")


@final
@frozen
class Refusal:
    """Reason why one tensor of a message cannot be read: it is not supported, but not wrong."""

    reason: ProtocolReason
    message: str

    def error(self) -> RemoteProtocolError:
        """Return the error, new every time: an error that was raised keeps its frames alive."""
        return RemoteProtocolError(self.reason, self.message)
