"""``decode``: a pure function from foreign frames to a message. No I/O, no copies of elements."""

from collections.abc import Sequence

from tensorwrapper.errors import RemoteProtocolError
from tensorwrapper.typing import BufferLike
from tensorwrapper.wire._limits import DEFAULT_LIMITS, Limits
from tensorwrapper.wire._message import Message, make_message
from tensorwrapper.wire._protocol_errors import refuse_over
from tensorwrapper.wire.codec._tensors import read_described
from tensorwrapper.wire.frames._buffers import byte_views, check_several
from tensorwrapper.wire.frames._header import Header, unpack_header


def decode(
    frames: Sequence[BufferLike],
    *,
    limits: Limits = DEFAULT_LIMITS,
    strict: bool = False,
    allow_longdouble: bool = False,
) -> Message:
    """Return the message in foreign frames; its tensors are read-only views of them.

    Everything is checked before it is used: frames, label, schema, limits, sizes. Elements are copied only
    if their frame is not aligned for them. TENS is found by its label key, whatever the form; a message
    without it, or with an empty label, has no tensors.

    Parameters
    ----------
    frames
        Prefix, coordinates, payload parts: anything with the buffer protocol.
    limits
        Limits on what a message may contain.
    strict
        Refuse the message if one of its tensors has a packing or a logical type that is not known. Else
        only that tensor is refused, when it is taken from `Message.tensors`.
    allow_longdouble
        Read x86 long doubles.

    Raises
    ------
    RemoteProtocolError
        If the message breaks the protocol or a limit; ``reason`` says how.
    ConversionError
        If `frames` are not several buffers.

    Examples
    --------
    >>> import numpy as np
    >>> from tensorwrapper.wire import encode
    >>> decode(encode([np.arange(3)])).tensors[0].tolist()
    [0, 1, 2]
    """
    header, payload = split_frames(frames, limits)
    described = read_described(header, payload, limits, strict=strict, allow_longdouble=allow_longdouble)
    return make_message(
        header, payload, limits=limits, allow_longdouble=allow_longdouble, described=described
    )


def split_frames(
    frames: Sequence[BufferLike], limits: Limits = DEFAULT_LIMITS
) -> tuple[Header, tuple[memoryview, ...]]:
    """Parse the two header frames of an untrusted message; return header and parts. The label is not parsed.

    Raises
    ------
    RemoteProtocolError, ConversionError
        As `decode`, except for errors of the label.
    """
    check_several(frames, "frames")
    if len(frames) < 2:
        raise RemoteProtocolError("frame", f"a message has two header frames at least, not {len(frames)}")
    if len(frames) - 2 > limits.parts:
        refuse_over("parts", f"{len(frames) - 2} parts are over the {limits.parts} allowed")
    views = byte_views(frames, "frame")
    total = sum([view.nbytes for view in views])
    if total > limits.total_bytes:
        refuse_over("total_bytes", f"{total} bytes are over the {limits.total_bytes} allowed")
    return unpack_header(views[0], views[1], limits), tuple(views[2:])
