"""``encode`` and ``decode``: pure functions between tensors and frames. No I/O, no copies of elements."""

from collections.abc import Mapping, Sequence
from typing import SupportsIndex

from tensorwrapper._integers import to_ints
from tensorwrapper._json import Json
from tensorwrapper.errors import LocalProtocolError, RemoteProtocolError
from tensorwrapper.tensor import as_tensor
from tensorwrapper.typing import BufferLike
from tensorwrapper.wire._buffers import byte_views, check_several
from tensorwrapper.wire._header import make_header, pack_coordinates, pack_prefix, unpack_header
from tensorwrapper.wire._label import dump_label, plain_object
from tensorwrapper.wire._limits import DEFAULT_LIMITS, Limits
from tensorwrapper.wire._message import Message, make_message, read_tensors
from tensorwrapper.wire._write import Writer, plain_label

__all__ = ["decode", "encode"]


def encode(
    tensors: Sequence[object],
    *,
    form: str = "TENS",
    level: SupportsIndex = 0,
    origin: SupportsIndex = 0,
    granule: SupportsIndex = 0,
    seqno: SupportsIndex = 0,
    metadata: Mapping[str, object] | None = None,
    tensor_metadata: Sequence[Mapping[str, object] | None] | None = None,
    parts: Sequence[SupportsIndex] | None = None,
    label: Mapping[str, object] | None = None,
    allow_longdouble: bool = False,
) -> list[bytes | memoryview]:
    """Return the frames of a TENS message; the payload frames are views of the tensors' own memory.

    The text and the bytes are those of the C++ reference. Elements are copied only where they do not lie
    packed in row-major order, or are not little-endian. Tensor i is in payload part i unless `parts` says
    otherwise; the index arrays of jagged and tiled tensors come after all elements.

    Parameters
    ----------
    tensors
        Tensors, or anything that `as_tensor` takes.
    form, level, origin, granule, seqno
        Header fields, as in `Message`.
    metadata
        What to say about the message; ``{}`` is written, None is not.
    tensor_metadata
        Per tensor, one level of scalars to say about it, or None.
    parts
        Per tensor, the payload part for its elements: a permutation.
    label
        Keys of the application's own, beside ``TENS``.
    allow_longdouble
        Send x86 long doubles, which no other machine reads.

    Raises
    ------
    LocalProtocolError
        If a value does not fit the format, or an element type has no name in TENS.
    ConversionError
        If `tensors` is one tensor and not a sequence of them, or holds what is no tensor.

    Examples
    --------
    >>> import numpy as np
    >>> frames = encode([np.arange(6, dtype="<f4").reshape(2, 3)], seqno=7)
    >>> bytes(frames[0])
    b'ZIO0TENS{"TENS":{"tensors":[{"dtype":"f","part":0,"shape":[2,3],"word":4}]}}'
    """
    check_several(tensors, "tensors")
    places = _places(parts, len(tensors))
    if tensor_metadata is not None:
        check_several(tensor_metadata, "tensor_metadata")
        if len(tensor_metadata) != len(tensors):
            raise LocalProtocolError(
                "schema", f"{len(tensor_metadata)} metadata do not fit {len(tensors)} tensors"
            )
    writer = Writer(len(tensors), allow_longdouble=allow_longdouble)
    for k, tensor in enumerate(tensors):
        if tensor_metadata is not None or not writer.add_plain(tensor, places[k]):
            writer.add(as_tensor(tensor), places[k], tensor_metadata[k] if tensor_metadata else None)
    if writer.plain and metadata is None and label is None:
        text = plain_label(tuple(writer.plain))
    else:
        text = _label(writer.descriptions, metadata, label)
    header = make_header(form, level, text, (origin, granule, seqno))
    return [pack_prefix(header), pack_coordinates(header), *writer.payload]


def _label(
    descriptions: list[dict[str, Json]],
    metadata: Mapping[str, object] | None,
    label: Mapping[str, object] | None,
) -> str:
    tens: dict[str, Json] = {"tensors": [*descriptions]}
    if metadata is not None:
        tens["metadata"] = plain_object(metadata, "metadata")
    whole: dict[str, Json] = {} if label is None else plain_object(label, "label")
    if "TENS" in whole:
        raise LocalProtocolError("schema", "the label key TENS is the message's own")
    whole["TENS"] = tens
    return dump_label(whole)


def _places(parts: Sequence[SupportsIndex] | None, n_tensors: int) -> Sequence[int]:
    if parts is None:
        return range(n_tensors)
    places = to_ints(parts, "parts")
    if sorted(places) != list(range(n_tensors)):
        raise LocalProtocolError(
            "layout", f"parts must give the tensors the payload parts 0 to {n_tensors - 1}, not {places}"
        )
    return places


def decode(
    frames: Sequence[BufferLike], *, limits: Limits = DEFAULT_LIMITS, allow_longdouble: bool = False
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
        What to take at most.
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
    >>> decode(encode([np.arange(3)])).tensors[0].tolist()
    [0, 1, 2]
    """
    check_several(frames, "frames")
    if len(frames) < 2:
        raise RemoteProtocolError("frame", f"a message has two header frames at least, not {len(frames)}")
    if len(frames) - 2 > limits.parts:
        raise RemoteProtocolError("limit", f"{len(frames) - 2} parts are over the {limits.parts} allowed")
    views = byte_views(frames, "frame")
    total = sum([view.nbytes for view in views])
    if total > limits.total_bytes:
        raise RemoteProtocolError("limit", f"{total} bytes are over the {limits.total_bytes} allowed")
    header = unpack_header(views[0], views[1], limits)
    payload = tuple(views[2:])
    tensors = read_tensors(header, payload, limits, allow_longdouble=allow_longdouble)
    return make_message(header, payload, limits=limits, allow_longdouble=allow_longdouble, tensors=tensors)
