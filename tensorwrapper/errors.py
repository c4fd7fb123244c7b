"""Exceptions and warnings of the package.

One root, ``TensorWrapperError``; each class is also the matching builtin, such as ``IndexError``.
The text of an error says what was given, what is allowed, and where.
They are plain classes: an ``attrs`` exception loses its ``args`` and cannot pass a context manager.
"""

from typing import Generic, Literal, TypeVar, final

from tensorwrapper._value_class import frozen

__all__ = [
    "BufferSizeError",
    "ChangedSourceWarning",
    "ComputationCancelledError",
    "ConversionError",
    "DTypeError",
    "DamagedFileWarning",
    "DataFileError",
    "DataFileExistsError",
    "DataFileNotFoundError",
    "DataFilePermissionError",
    "DataFileSystemError",
    "DemoError",
    "DistributionError",
    "ExportError",
    "ExtentError",
    "ExtentMismatchError",
    "FlowAbortedError",
    "IndexTypeError",
    "InsecureAddressWarning",
    "JaggedModeError",
    "LabelError",
    "LayerError",
    "LayoutError",
    "LeakedResourceWarning",
    "LocalProtocolError",
    "LossWarning",
    "ModeNameError",
    "NdselError",
    "NdselReason",
    "OutOfBoundsError",
    "OutOfMemoryError",
    "OutcomeUnknownError",
    "ParseError",
    "PatternError",
    "PeerUnreachableError",
    "PositionWarning",
    "ProtocolError",
    "ProtocolReason",
    "RankError",
    "ReadOnlyError",
    "RefusalReason",
    "RemoteProtocolError",
    "RequestRefusedError",
    "SelectionError",
    "SelectionReason",
    "ShardsLostError",
    "SizeOverflowError",
    "StepError",
    "StringDataError",
    "SymmetryError",
    "TensorNameError",
    "TensorSetError",
    "TensorWrapperError",
    "TensorWrapperWarning",
    "TooManyIndicesError",
    "TransportClosedError",
    "TransportError",
    "TransportForkError",
    "TransportThreadError",
    "TransportTimeoutError",
    "TransportTornError",
    "UnsupportedSocketError",
    "ValidationError",
    "VersionChangedError",
]

ProtocolReason = Literal[
    "frame", "header", "schema", "limit", "size", "layout", "unsupported", "integrity", "flow"
]
"""Why a message was refused.

``frame``: the parts do not form a message. ``header``: the label is not acceptable text or JSON.
``schema``: a key is missing or has the wrong type. ``limit``: a number exceeds a limit of the reader.
``size``: bytes and shape disagree. ``layout``: a part number, an order or a partition is inconsistent.
``unsupported``: a dtype, packing or version that this reader does not know. ``integrity``: the bytes
are damaged. ``flow``: the state of a flow, its credit or its numbering does not allow the message.
"""


_R = TypeVar("_R", bound=str)
_SHOWN = 10  # findings that a text lists
_MOST = 590  # characters of a text


def _cut(text: str) -> str:
    """Return the text of an error; of a long one its beginning and its end, which has the advice."""
    return text if len(text) <= _MOST else f"{text[: _MOST // 2]}...{text[-_MOST // 2 :]}"


class TensorWrapperError(Exception):
    """The base class of all errors. Its text is cut to 600 characters; ``args`` has all of it."""

    def __str__(self) -> str:
        # KeyError shows its text in quotes.
        return _cut(str(self.args[-1])) if self.args else ""


class _ReasonedError(TensorWrapperError, Generic[_R]):
    """An error whose text begins with a reason from a closed set."""

    reason: _R
    """Kind of the broken rule."""

    def __init__(self, reason: _R, message: str) -> None:
        super().__init__(reason, message)
        self.reason = reason

    def __str__(self) -> str:
        return _cut(f"[{self.reason}] {self.args[1]}")


class TensorWrapperWarning(UserWarning):
    """The base class of all warnings of this package."""


class LossWarning(TensorWrapperWarning):
    """A conversion leaves out metadata that a tensor cannot store; the text names it."""


class PositionWarning(TensorWrapperWarning):
    """A slice in brackets counts positions and is empty, although indices with these numbers exist."""


class LeakedResourceWarning(TensorWrapperWarning, ResourceWarning):
    """A socket or file was garbage-collected without being closed."""


class DamagedFileWarning(TensorWrapperWarning):
    """An opened file is damaged in its middle: later records are not read, and tensors may lack rows."""


class ChangedSourceWarning(TensorWrapperWarning):
    """A source changed after a view of it was stored, and ``check_versions=False`` reads it anyway."""


class InsecureAddressWarning(TensorWrapperWarning):
    """A socket without keys listens on an address that other machines can reach."""


class RankError(TensorWrapperError, ValueError):
    """A call got the wrong number of modes."""


class ExtentError(TensorWrapperError, ValueError):
    """An extent, a partition or a bound is invalid: negative, descending, or not covering."""


class ExtentMismatchError(ExtentError):
    """Two shapes of one operation disagree in a mode."""


class ParseError(TensorWrapperError, ValueError):
    """A text or JSON document is not a valid shape; the error names the place and the expected content."""


class OutOfBoundsError(TensorWrapperError, IndexError):
    """An index or a slice is outside of the shape."""


class TooManyIndicesError(RankError, IndexError):
    """A key has more indices than the tensor or layout has modes."""


class StepError(TensorWrapperError, ValueError):
    """A slice of a shape has a step other than 1, so the selection is a mask and not a shape."""


class JaggedModeError(TensorWrapperError, ValueError):
    """A call needs one extent where extents vary, or needs a mode that depends on others."""


class PatternError(TensorWrapperError, ValueError):
    """A threshold, sign or modulus of a block pattern is invalid, or its tensors do not fit together."""


class LabelError(TensorWrapperError, ValueError):
    """A label is not a valid name, is missing from the operands, or is repeated where it must be unique."""


class SymmetryError(TensorWrapperError, ValueError):
    """A symmetry allows only zeros, or elements do not have the symmetry that a call names."""


class LayerError(TensorWrapperError, ValueError):
    """Layers do not split the modes of the shape, or an index or permutation mixes modes of two layers."""


class ModeNameError(TensorWrapperError, KeyError, ValueError):
    """The name of a mode or extent is unknown, taken, or invalid."""


class SizeOverflowError(TensorWrapperError, OverflowError):
    """A result would not fit into 64 bits."""


class OutOfMemoryError(SizeOverflowError, MemoryError):
    """A result is larger than the available memory."""


class LayoutError(TensorWrapperError, ValueError):
    """Strides, order or offset do not fit the shape."""


class BufferSizeError(TensorWrapperError, ValueError):
    """A buffer is smaller (or larger) than the layout over it needs."""


class DTypeError(TensorWrapperError, TypeError):
    """The call does not support this element type."""


class ConversionError(TensorWrapperError, TypeError):
    """An object cannot be converted to the requested type, or only with a loss."""


class ExportError(ConversionError, BufferError):
    """DLPack cannot describe these elements or their memory; its specification requires a BufferError."""


class IndexTypeError(ConversionError, IndexError):
    """A key has a type that cannot select; NumPy raises an IndexError for it."""


class StringDataError(TensorWrapperError, ValueError):
    """Offsets, lengths or bytes do not form strings: unordered, out of bounds, or invalid UTF-8."""


class ReadOnlyError(TensorWrapperError, ValueError):
    """A write to read-only memory."""


class ProtocolError(_ReasonedError[ProtocolReason], ValueError):
    """A TENS message is malformed; ``reason`` is one of ``ProtocolReason``.

    Examples
    --------
    >>> str(ProtocolError("frame", "it is cut off"))
    '[frame] it is cut off'
    """

    peer: bytes
    """The sender of the message: the identity that a ROUTER uses, else its host if known, else empty."""

    def __init__(self, reason: ProtocolReason, message: str) -> None:
        super().__init__(reason, message)
        self.peer = b""

    def __str__(self) -> str:
        origin = f" (from the peer {self.peer!r})" if self.peer else ""
        return _cut(f"[{self.reason}] {self.args[1]}{origin}")


class LocalProtocolError(ProtocolError):
    """The caller tried to write a message that the protocol does not allow."""


class RemoteProtocolError(ProtocolError):
    """A received message breaks the protocol, or exceeds a limit of this reader."""


class TransportError(TensorWrapperError, OSError):
    """A socket operation failed, for example because an address is in use or a connection was refused."""

    peer: bytes = b""
    """The peer, if known: the identity that a ROUTER uses, or the address of the listener."""


class TransportTimeoutError(TransportError, TimeoutError):
    """A message did not arrive, or could not be sent, within the timeout."""


class PeerUnreachableError(TransportError, ConnectionError):
    """The receiver of a message is not connected."""


class PeerAbsentError(PeerUnreachableError, TransportTimeoutError):
    """A peer did not answer within the timeout: no process listens at the address, or it went away."""


class TransportHandshakeError(TransportError, ConnectionError):
    """The listener is not a peer for this socket: not ZeroMQ, another socket type, or other keys."""


class TransportAuthenticationError(TransportHandshakeError, PermissionError):
    """The peer rejects the key of this socket, or cannot prove that it has the expected key."""


class TransportClosedError(TransportError):
    """The socket is closed."""


# fmt: off
RefusalReason = Literal[
    "label", "schema", "version", "missing", "changed", "bounds", "limit", "unsupported", "readonly", "busy",
    "draining", "replayed", "internal"
]
# fmt: on
"""Why a server of tensors refused a request.

``label``, ``schema``: the request is not text or JSON of the protocol, or has other keys or types.
``version``: the server does not support this version of the protocol. ``missing``: the tensor does not exist,
or not for this client. ``changed``: the tensor has changed. ``bounds``: a selection is outside of it.
``limit``: the request exceeds a limit. ``unsupported``: the tensor does not support the operation.
``readonly``: this client may not write to it. ``busy``, ``draining``: the server has no capacity now, or is
shutting down. ``replayed``: the number of the request is in use. ``internal``: the server failed; its log has
the cause, under the number in the text.
"""


class RequestRefusedError(_ReasonedError[RefusalReason], TransportError):
    """A server of tensors refused a request; ``reason`` is one of ``RefusalReason``."""


class OutcomeUnknownError(TransportError):
    """A write was sent and no answer came, so it may or may not be done. The client did not repeat it."""


class ShardsLostError(TransportError):
    """Holders of some parts of a tensor do not answer; all other parts were read."""

    missing: tuple[str, ...] = ()
    """The names of the missing parts, as the servers list them."""
    reasons: tuple[tuple[str, str], ...] = ()
    """The address of each holder, and why it did not return the parts."""


class FlowAbortedError(TransportClosedError, ConnectionError):
    """The peer aborted a flow before its end, so the received data are incomplete."""


class TransportTornError(TransportClosedError):
    """A send was interrupted within a message: its frames were discarded and the socket was closed."""


class TransportForkError(TransportError):
    """A socket was used in a forked process, and not in the one that opened it."""


class TransportThreadError(TransportError):
    """A socket was used in a thread other than the one that opened it."""


class UnsupportedSocketError(TransportError):
    """The installed build of ZeroMQ cannot run the socket type safely."""


class DataFileError(TensorWrapperError, ValueError):
    """A data file is missing, damaged, or of an unexpected kind."""


class DataFileSystemError(OSError, DataFileError):
    """A system call on a data file failed; ``errno`` has its number."""

    def __str__(self) -> str:  # OSError shows its number before the text.
        return DataFileError.__str__(self)


class DataFileNotFoundError(DataFileSystemError, FileNotFoundError):
    """The file or its folder does not exist."""


class DataFileExistsError(DataFileSystemError, FileExistsError):
    """The file exists, and the call does not allow to overwrite it."""


class DataFilePermissionError(DataFileSystemError, PermissionError):
    """The system does not allow access to the file."""


class TensorNameError(TensorWrapperError, KeyError, ValueError):
    """The name of a tensor in a file, a set or records is unknown, taken, or invalid."""


class TensorSetError(TensorWrapperError, ValueError):
    """A set of tensors, or its metadata, does not follow Wire-Cell's tensor data model."""


class ComputationCancelledError(TensorWrapperError, RuntimeError):
    """The caller cancelled the computation. Elements written so far are kept."""


class VersionChangedError(TensorWrapperError, RuntimeError):
    """A source changed while it was read, or after a view of it was stored."""


class DistributionError(TensorWrapperError, ValueError):
    """A parameter of a random distribution, or its seed, is invalid."""


SelectionReason = Literal["json", "version", "schema", "limit", "bounds", "source", "cover"]
"""Why a description of a view was refused.

``json``: it is not strict JSON. ``version``: it has another version. ``schema``: it has other keys or types
than it should. ``limit``: it exceeds a limit. ``bounds``: a selection is outside of its source, or has
another rank or type. ``source``: it names a source that was not given, or a wrong one.
``cover``: pieces do not cover a mode exactly.
"""


class SelectionError(_ReasonedError[SelectionReason], ValueError):
    """An untrusted description of a view is invalid; ``reason`` is one of ``SelectionReason``.

    Examples
    --------
    >>> from tensorwrapper import selection as sel
    >>> try:
    ...     sel.from_json('{"view":1}', sources={})
    ... except SelectionError as error:
    ...     error.reason
    'schema'
    """


NdselReason = Literal[
    "invalid_json",
    "unknown_kind",
    "multiple_upper_bounds",
    "rank_mismatch",
    "step_zero",
    "negative_step_unsupported",
]
"""Why a message of ndsel was refused: the codes of its specification."""


class NdselError(_ReasonedError[NdselReason], ParseError):
    """A message of ndsel is invalid; ``reason`` is the code of its specification.

    Examples
    --------
    >>> from tensorwrapper import selection as sel
    >>> try:
    ...     sel.normalize_ndsel({"kind": "slice", "start": [0], "stop": [4], "step": [0]})
    ... except NdselError as error:
    ...     error.reason
    'step_zero'
    """


@final
@frozen
class Finding:
    """One fault that a check found: its rule, its place, and a text.

    >>> print(Finding("coverage", "index", "(0, 2) is in no box"))
    coverage: index: (0, 2) is in no box
    """

    rule: "FindingRule"
    where: str
    """The faulty part: the name of an operand, or the path of a JSON value."""
    text: str  # what was given, and what is allowed
    also: tuple[str, ...] = ()
    """Other parts that the text names."""

    def __str__(self) -> str:
        return f"{self.rule}: {self.where}: {self.text}"


FindingRule = Literal[
    "schema", "dtype", "reference", "bounds", "cycle", "operands", "projection", "shards", "coverage"
]
"""The rule that a fault breaks.

``schema``: a document has other keys or types than it should. ``dtype``: an element type is not
allowed. ``reference``: a node is missing, or has another type. ``bounds``: a region is outside of its tensor,
or has another rank. ``cycle``: tensors depend on themselves. ``operands``: names, numbers or tensors of
operands disagree. ``projection``: a region differs from the result of the index map. ``shards``: they are
missing, or do not span the index. ``coverage``: an index is covered twice, or not at all.
"""


class ValidationError(TensorWrapperError, ValueError):
    """A check found faults: ``findings`` has all of them, and the text has the first ten.

    Examples
    --------
    >>> error = ValidationError("the graph", (Finding("dtype", "$.nodes[0]", "no such type"),))
    >>> str(error), error.findings[0].rule
    ('the graph: 1 fault: dtype: $.nodes[0]: no such type', 'dtype')
    """

    findings: "tuple[Finding, ...]"
    """The faults, in the order of the checks."""

    def __init__(self, what: str, findings: "tuple[Finding, ...]") -> None:
        super().__init__(what, findings)
        self.findings = findings

    def __str__(self) -> str:
        count = len(self.findings)
        lines = [*map(str, self.findings[:_SHOWN]), *[f"and {count - _SHOWN} more"] * (count > _SHOWN)]
        return f"{self.args[0]}: {count} fault{'s' if count != 1 else ''}: {'; '.join(lines)}"


class DemoError(TensorWrapperError, RuntimeError):
    """The demonstration could not finish; a failed check is reported in another way."""
