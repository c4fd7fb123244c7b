"""Every exception and warning of the package.

One root, ``TensorWrapperError``; each class also derives from the builtin exception that callers would catch.
The text of an error says what was given, what is allowed, and where. They are plain classes: an ``attrs``
exception loses its ``args`` and cannot pass a context manager.
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
    """The root of all errors of this package. Its text has at most 600 characters; ``args`` has all."""

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
    """The root of all warnings of this package."""


class LossWarning(TensorWrapperWarning):
    """A conversion leaves out something that tensors have no place for; the text names it."""


class PositionWarning(TensorWrapperWarning):
    """A slice between brackets counts positions and selects none, though the indices that it names exist."""


class LeakedResourceWarning(TensorWrapperWarning, ResourceWarning):
    """A socket or file was dropped without being closed."""


class DamagedFileWarning(TensorWrapperWarning):
    """A file was opened whose middle is damaged: its later part is not read, and tensors may lack rows."""


class ChangedSourceWarning(TensorWrapperWarning):
    """A source of a stored view changed since the view was stored, and its elements are read all the same."""


class InsecureAddressWarning(TensorWrapperWarning):
    """A socket without keys listens where other machines reach it."""


class RankError(TensorWrapperError, ValueError):
    """The number of modes does not fit."""


class ExtentError(TensorWrapperError, ValueError):
    """An extent, a partition or a bound is not acceptable (negative, descending, not covering)."""


class ExtentMismatchError(ExtentError):
    """Two shapes that are to be combined disagree in a mode."""


class ParseError(TensorWrapperError, ValueError):
    """A text or JSON document cannot be parsed: the error has the position, and the expected text."""


class OutOfBoundsError(TensorWrapperError, IndexError):
    """An index or a slice leaves the shape."""


class TooManyIndicesError(RankError, IndexError):
    """More indices between brackets than a tensor or layout has modes."""


class StepError(TensorWrapperError, ValueError):
    """A slice of a shape has a step other than 1: such a selection is a mask, not a shape."""


class JaggedModeError(TensorWrapperError, ValueError):
    """An operation needs one extent of a mode that varies, or modes that depend on others."""


class PatternError(TensorWrapperError, ValueError):
    """A threshold, a sign or a modulus does not describe a block pattern, or tensors of one do not fit."""


class LabelError(TensorWrapperError, ValueError):
    """A label is not a name, is not among those of the operands, or is repeated where it must not be."""


class SymmetryError(TensorWrapperError, ValueError):
    """A symmetry allows only zeros, or elements do not have the symmetry that a call names."""


class LayerError(TensorWrapperError, ValueError):
    """Layers do not deal the modes of the shape, or an index or permutation does not keep to them."""


class ModeNameError(TensorWrapperError, KeyError, ValueError):
    """No mode or extent has this name, another one has it already, or it is not a valid name."""


class SizeOverflowError(TensorWrapperError, OverflowError):
    """A result would not fit into 64 bits."""


class OutOfMemoryError(SizeOverflowError, MemoryError):
    """A result is larger than the memory that there is."""


class LayoutError(TensorWrapperError, ValueError):
    """Strides, order or offset do not fit the shape."""


class BufferSizeError(TensorWrapperError, ValueError):
    """A buffer is smaller (or larger) than the layout over it needs."""


class DTypeError(TensorWrapperError, TypeError):
    """An element type is not supported here."""


class ConversionError(TensorWrapperError, TypeError):
    """An object cannot be converted to the requested type, or only with a loss."""


class ExportError(ConversionError, BufferError):
    """DLPack cannot represent these elements, or they are not in one memory; it requires a BufferError."""


class IndexTypeError(ConversionError, IndexError):
    """A key between brackets has a type that cannot select; NumPy raises an IndexError for it."""


class StringDataError(TensorWrapperError, ValueError):
    """Offsets, lengths or bytes do not form strings: out of order, out of the data, or not UTF-8."""


class ReadOnlyError(TensorWrapperError, ValueError):
    """A write to memory that must not change."""


class ProtocolError(_ReasonedError[ProtocolReason], ValueError):
    """A TENS message is not well formed; ``reason`` is from a closed set.

    Examples
    --------
    >>> str(ProtocolError("frame", "it is cut off"))
    '[frame] it is cut off'
    """

    peer: bytes
    """Sender of the message: a ROUTER's identity of the peer, else its host, if known; else empty."""

    def __init__(self, reason: ProtocolReason, message: str) -> None:
        super().__init__(reason, message)
        self.peer = b""

    def __str__(self) -> str:
        origin = f" (from the peer {self.peer!r})" if self.peer else ""
        return _cut(f"[{self.reason}] {self.args[1]}{origin}")


class LocalProtocolError(ProtocolError):
    """The caller requested a message that the protocol does not allow."""


class RemoteProtocolError(ProtocolError):
    """A received message breaks the protocol, or a limit of this reader."""


class TransportError(TensorWrapperError, OSError):
    """A socket operation failed, for example because the address is in use or the connection was refused."""

    peer: bytes = b""
    """Peer of the failed operation, if known: a ROUTER's identity, or the address of the listener."""


class TransportTimeoutError(TransportError, TimeoutError):
    """No message could be received or sent within the time allowed."""


class PeerUnreachableError(TransportError, ConnectionError):
    """The peer that a message is addressed to is not connected."""


class PeerAbsentError(PeerUnreachableError, TransportTimeoutError):
    """No peer was connected within the time allowed: none listens at the address, or it disconnected."""


class TransportHandshakeError(TransportError, ConnectionError):
    """The listener at an address cannot be a peer: it is not ZeroMQ, of another kind, or has other keys."""


class TransportAuthenticationError(TransportHandshakeError, PermissionError):
    """The peer does not let this socket's key in, or cannot prove that it has the key that is expected."""


class TransportClosedError(TransportError):
    """The socket is closed."""


# fmt: off
RefusalReason = Literal[
    "label", "schema", "version", "missing", "changed", "bounds", "limit", "unsupported", "readonly", "busy",
    "draining", "replayed", "internal"
]
# fmt: on
"""Reason why a server of tensors refused a request.

``label``, ``schema``: it is not text or JSON of the protocol, or has other keys or types. ``version``: it has
an unsupported version of the protocol. ``missing``: there is no such tensor, or none for this client.
``changed``: the tensor has another version. ``bounds``: a selection leaves it. ``limit``: it exceeds a limit.
``unsupported``: the tensor cannot do that. ``readonly``: this client may not write to it. ``busy``,
``draining``: there is no room now, or the server is closing. ``replayed``: the number of the request is in
use. ``internal``: the server failed; its log has the details, under the number in the text.
"""


class RequestRefusedError(_ReasonedError[RefusalReason], TransportError):
    """A server of tensors refused a request; ``reason`` is from a closed set."""


class OutcomeUnknownError(TransportError):
    """A write was sent without an answer, so its outcome is unknown. It was not repeated."""


class ShardsLostError(TransportError):
    """No holder of some parts of a tensor answers; all other parts were read."""

    missing: tuple[str, ...] = ()
    """The names of the parts, as they are served."""
    reasons: tuple[tuple[str, str], ...] = ()
    """The address of each holder that was tried, and its error."""


class FlowAbortedError(TransportClosedError, ConnectionError):
    """The peer aborted a flow: its messages are incomplete."""


class TransportTornError(TransportClosedError):
    """A send was interrupted within a message: the frames are discarded, and the socket is closed."""


class TransportForkError(TransportError):
    """A socket was used in a process that was forked from the one that opened it."""


class TransportThreadError(TransportError):
    """A socket was used from a thread that did not open it."""


class UnsupportedSocketError(TransportError):
    """A socket type that this build of ZeroMQ cannot run safely."""


class DataFileError(TensorWrapperError, ValueError):
    """A data file is missing, damaged, or of a wrong kind."""


class DataFileSystemError(OSError, DataFileError):
    """The operating system refused an operation on a data file: ``errno`` has the reason."""

    def __str__(self) -> str:  # OSError shows its number before the text.
        return DataFileError.__str__(self)


class DataFileNotFoundError(DataFileSystemError, FileNotFoundError):
    """The file, or the folder, does not exist."""


class DataFileExistsError(DataFileSystemError, FileExistsError):
    """The file exists already, and overwriting was not requested."""


class DataFilePermissionError(DataFileSystemError, PermissionError):
    """The system does not allow it."""


class TensorNameError(TensorWrapperError, KeyError, ValueError):
    """A file, a set or records have no tensor of this name, have one already, or cannot have one."""


class TensorSetError(TensorWrapperError, ValueError):
    """A set of tensors, or its metadata, breaks Wire-Cell's tensor data model."""


class ComputationCancelledError(TensorWrapperError, RuntimeError):
    """The caller cancelled the computation. Elements written so far are kept."""


class VersionChangedError(TensorWrapperError, RuntimeError):
    """A source was changed while it was read, or since a view of it was stored; versions are not mixed."""


class DistributionError(TensorWrapperError, ValueError):
    """A parameter of a random distribution, or its seed, is not acceptable."""


SelectionReason = Literal["json", "version", "schema", "limit", "bounds", "source", "cover"]
"""Error of a description of a view.

``json``: it is not strict JSON. ``version``: it has another version. ``schema``: it has wrong keys or types.
``limit``: it exceeds a limit. ``bounds``: a selection is out of bounds, or has another rank or type.
``source``: it names a source that was not given, or a wrong one.
``cover``: pieces do not partition a mode.
"""


class SelectionError(_ReasonedError[SelectionReason], ValueError):
    """An untrusted description of a view is refused; ``reason`` is from a closed set.

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
"""Error of a message of ndsel: the codes of that specification."""


class NdselError(_ReasonedError[NdselReason], ParseError):
    """A message of ndsel is refused; ``reason`` is the code that its specification has for it.

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
    """One error found by a check: the rule, the place, and the text.

    >>> print(Finding("coverage", "index", "(0, 2) is in no box"))
    coverage: index: (0, 2) is in no box
    """

    rule: "FindingRule"
    where: str
    """The part that breaks it: the name of an operand, or the path of a JSON value."""
    text: str  # the given value, and the allowed ones
    also: tuple[str, ...] = ()
    """Other parts that the text speaks of."""

    def __str__(self) -> str:
        return f"{self.rule}: {self.where}: {self.text}"


FindingRule = Literal[
    "schema", "dtype", "reference", "bounds", "cycle", "operands", "projection", "shards", "coverage"
]
"""The broken rule.

``schema``: a document has wrong keys or types. ``dtype``: an element type that is not
allowed. ``reference``: a missing node, or one of another type. ``bounds``: a region leaves its tensor,
or has another rank. ``cycle``: tensors that need themselves. ``operands``: names, numbers or tensors of
operands disagree. ``projection``: a region is not the index map's box for the index. ``shards``: there
are none, or they do not span the index. ``coverage``: an index twice, or not at all.
"""


class ValidationError(TensorWrapperError, ValueError):
    """A check found faults; ``findings`` has all of them, and the text the first few.

    Examples
    --------
    >>> error = ValidationError("the graph", (Finding("dtype", "$.nodes[0]", "no such type"),))
    >>> str(error), error.findings[0].rule
    ('the graph: 1 fault: dtype: $.nodes[0]: no such type', 'dtype')
    """

    findings: "tuple[Finding, ...]"
    """Broken rules, in the order of the checks."""

    def __init__(self, what: str, findings: "tuple[Finding, ...]") -> None:
        super().__init__(what, findings)
        self.findings = findings

    def __str__(self) -> str:
        count = len(self.findings)
        lines = [*map(str, self.findings[:_SHOWN]), *[f"and {count - _SHOWN} more"] * (count > _SHOWN)]
        return f"{self.args[0]}: {count} fault{'s' if count != 1 else ''}: {'; '.join(lines)}"


class DemoError(TensorWrapperError, RuntimeError):
    """The demonstration could not run to its end (not: a check that failed)."""
