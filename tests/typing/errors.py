"""Each error is also the builtin that a stranger would catch. Checked, never run."""

from typing import assert_type

from tensorwrapper import errors
from tensorwrapper.errors import ProtocolReason, TensorWrapperError, TensorWrapperWarning

values: list[type[ValueError]] = [
    errors.RankError,
    errors.ExtentError,
    errors.StepError,
    errors.JaggedModeError,
    errors.LabelError,
    errors.PatternError,
    errors.LayoutError,
    errors.BufferSizeError,
    errors.ReadOnlyError,
    errors.ProtocolError,
    errors.LocalProtocolError,
    errors.RemoteProtocolError,
    errors.DataFileError,
    errors.ModeNameError,
    errors.DistributionError,
]
indices: list[type[IndexError]] = [errors.OutOfBoundsError]
types: list[type[TypeError]] = [errors.DTypeError, errors.ConversionError]
overflows: list[type[OverflowError]] = [errors.SizeOverflowError]
runtimes: list[type[RuntimeError]] = [
    errors.ComputationCancelledError,
    errors.DemoError,
    errors.VersionChangedError,
]
systems: list[type[OSError]] = [
    errors.TransportError,
    errors.TransportTimeoutError,
    errors.PeerUnreachableError,
    errors.TransportClosedError,
    errors.TransportThreadError,
    errors.UnsupportedSocketError,
]
timeouts: list[type[TimeoutError]] = [errors.TransportTimeoutError]
connections: list[type[ConnectionError]] = [errors.PeerUnreachableError]
resources: list[type[ResourceWarning]] = [errors.LeakedResourceWarning]

# One root for all of them.

roots: list[type[TensorWrapperError]] = [
    errors.RankError,
    errors.ExtentError,
    errors.OutOfBoundsError,
    errors.StepError,
    errors.JaggedModeError,
    errors.SizeOverflowError,
    errors.LayoutError,
    errors.BufferSizeError,
    errors.DTypeError,
    errors.ConversionError,
    errors.ReadOnlyError,
    errors.ProtocolError,
    errors.LocalProtocolError,
    errors.RemoteProtocolError,
    errors.TransportError,
    errors.TransportTimeoutError,
    errors.PeerUnreachableError,
    errors.TransportClosedError,
    errors.TransportThreadError,
    errors.UnsupportedSocketError,
    errors.DataFileError,
    errors.ModeNameError,
    errors.DemoError,
    errors.ComputationCancelledError,
    errors.VersionChangedError,
    errors.DistributionError,
]
warnings: list[type[TensorWrapperWarning]] = [errors.LeakedResourceWarning]

indices.append(errors.RankError)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
values.append(errors.OutOfBoundsError)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

# The reason of a refused message is from a closed set.

error = errors.RemoteProtocolError("size", "too short")
assert_type(error.reason, ProtocolReason)
reason: ProtocolReason = "frame"
errors.RemoteProtocolError("sise", "too short")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
