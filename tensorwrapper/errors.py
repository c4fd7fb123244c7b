"""Every exception and warning of the package.

One root, ``TensorWrapperError``; each class is also the builtin that a stranger would catch.
The text of an error says what was given, what is allowed, and where.
They are plain classes: an ``attrs`` exception loses its ``args`` and cannot pass a context manager.
"""

from typing import Literal

__all__ = [
    "BufferSizeError",
    "ConversionError",
    "DTypeError",
    "DataFileError",
    "DemoError",
    "ExtentError",
    "ExtentMismatchError",
    "JaggedModeError",
    "LayerError",
    "LayoutError",
    "LeakedResourceWarning",
    "LocalProtocolError",
    "OutOfBoundsError",
    "ParseError",
    "PeerUnreachableError",
    "ProtocolError",
    "ProtocolReason",
    "RankError",
    "ReadOnlyError",
    "RemoteProtocolError",
    "SizeOverflowError",
    "StepError",
    "StringDataError",
    "TensorNameError",
    "TensorWrapperError",
    "TensorWrapperWarning",
    "TooManyIndicesError",
    "TransportClosedError",
    "TransportError",
    "TransportThreadError",
    "TransportTimeoutError",
    "UnsupportedSocketError",
]

ProtocolReason = Literal["frame", "header", "schema", "limit", "size", "layout", "unsupported", "integrity"]
"""Why a message was refused.

``frame``: the parts do not form a message. ``header``: the label is not acceptable text or JSON.
``schema``: a key is missing or has the wrong type. ``limit``: a number exceeds what the reader allows.
``size``: bytes and shape disagree. ``layout``: a part number, an order or a partition is inconsistent.
``unsupported``: a dtype, packing or version that this reader does not know. ``integrity``: the bytes
are damaged.
"""


class TensorWrapperError(Exception):
    """The root of all errors of this package."""


class TensorWrapperWarning(UserWarning):
    """The root of all warnings of this package."""


class LeakedResourceWarning(TensorWrapperWarning, ResourceWarning):
    """A socket or file was dropped without being closed."""


class RankError(TensorWrapperError, ValueError):
    """The number of modes does not fit."""


class ExtentError(TensorWrapperError, ValueError):
    """An extent, a partition or a bound is not acceptable (negative, descending, not covering)."""


class ExtentMismatchError(ExtentError):
    """Two shapes that are to be combined disagree in a mode."""


class ParseError(TensorWrapperError, ValueError):
    """A text or JSON document is not that of a shape: where, what stands there, and what may."""


class OutOfBoundsError(TensorWrapperError, IndexError):
    """An index or a slice leaves the shape."""


class TooManyIndicesError(RankError, IndexError):
    """More indices between brackets than a tensor or layout has modes."""


class StepError(TensorWrapperError, ValueError):
    """A slice of a shape has a step other than 1: such a selection is a mask, not a shape."""


class JaggedModeError(TensorWrapperError, ValueError):
    """One number was asked of a mode that varies, or an operation needs modes that depend on others."""


class LayerError(TensorWrapperError, ValueError):
    """Layers do not deal the modes of the shape, or an index or permutation does not keep to them."""


class SizeOverflowError(TensorWrapperError, OverflowError):
    """A result would not fit into 64 bits."""


class LayoutError(TensorWrapperError, ValueError):
    """Strides, order or offset do not fit the shape."""


class BufferSizeError(TensorWrapperError, ValueError):
    """A buffer is smaller (or larger) than the layout over it needs."""


class DTypeError(TensorWrapperError, TypeError):
    """An element type is not supported here."""


class ConversionError(TensorWrapperError, TypeError):
    """An object cannot be taken for what was asked, or only by losing something."""


class StringDataError(TensorWrapperError, ValueError):
    """Offsets, lengths or bytes do not form strings: out of order, out of the data, or not UTF-8."""


class ReadOnlyError(TensorWrapperError, ValueError):
    """A write to memory that must not change."""


class ProtocolError(TensorWrapperError, ValueError):
    """A TENS message is not well formed; ``reason`` is from a closed set.

    Examples
    --------
    >>> from tensorwrapper import wire
    >>> try:
    ...     wire.decode([b"ZIO0TENS{}", b"too short"])
    ... except ProtocolError as error:
    ...     error.reason
    'frame'
    """

    reason: ProtocolReason
    """What kind of rule was broken."""

    def __init__(self, reason: ProtocolReason, message: str) -> None:
        super().__init__(reason, message)
        self.reason = reason

    def __str__(self) -> str:
        return f"[{self.reason}] {self.args[1]}"


class LocalProtocolError(ProtocolError):
    """We were asked to write a message that the protocol does not allow."""


class RemoteProtocolError(ProtocolError):
    """Somebody else's message breaks the protocol, or a limit of this reader."""


class TransportError(TensorWrapperError, OSError):
    """A socket could not do what was asked: an address in use, a refused connection."""


class TransportTimeoutError(TransportError, TimeoutError):
    """Nothing came, or nothing could be sent, within the time allowed."""


class PeerUnreachableError(TransportError, ConnectionError):
    """The peer that a message is addressed to is not connected."""


class TransportClosedError(TransportError):
    """The socket is closed."""


class TransportThreadError(TransportError):
    """A socket was used from a thread that did not open it."""


class UnsupportedSocketError(TransportError):
    """A socket type that this build of ZeroMQ cannot run safely."""


class DataFileError(TensorWrapperError, ValueError):
    """A data file is missing, damaged, or not what it should be."""


class TensorNameError(TensorWrapperError, KeyError, ValueError):
    """A file has no tensor of this name, has one already, or cannot have one."""

    def __str__(self) -> str:
        # KeyError shows its text in quotes.
        return Exception.__str__(self)


class DemoError(TensorWrapperError, RuntimeError):
    """The demonstration could not run to its end (not: a check that failed)."""
