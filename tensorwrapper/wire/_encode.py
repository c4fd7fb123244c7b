"""``encode``: a pure function from tensors, or a message, to frames. No I/O."""

from collections.abc import Mapping, Sequence
from typing import Literal, SupportsIndex, cast

from tensorwrapper._integers import to_count, to_ints
from tensorwrapper._json import Json
from tensorwrapper.errors import ConversionError, LocalProtocolError
from tensorwrapper.tensor import as_tensor
from tensorwrapper.typing import BufferLike
from tensorwrapper.wire._compat import strict_parts
from tensorwrapper.wire._limits import DEFAULT_LIMITS, Limits
from tensorwrapper.wire._message import Message
from tensorwrapper.wire.blocks._blocks import Block, describe_block
from tensorwrapper.wire.codec._fast_dense import plain_message
from tensorwrapper.wire.codec._plain_label import plain_label
from tensorwrapper.wire.codec._plan import check_written
from tensorwrapper.wire.codec._records import describe_records, is_records
from tensorwrapper.wire.codec._write import Writer
from tensorwrapper.wire.frames._amend import add_to_label, add_to_tens, label_to_amend, tens_of
from tensorwrapper.wire.frames._buffers import byte_views, check_several
from tensorwrapper.wire.frames._header import NOWHERE, Header, make_header, pack_coordinates, pack_prefix
from tensorwrapper.wire.frames._label import dump_label
from tensorwrapper.wire.packings._packing import ElementOrder, StringForm, WriteOptions
from tensorwrapper.wire.packings._table import known_packings
from tensorwrapper.wire.parts._checksum import Checksum, describe_checksums
from tensorwrapper.wire.parts._compress import Compression

_NO_PARTS: Sequence[BufferLike] = ()

_NEW = Header("TENS", 0, "", 0, 0, 0)
"""Default header."""


def encode(  # noqa: C901, PLR0913 - each is a key or a field of the format, and all but one have defaults
    tensors: Sequence[object] | Message,
    *,
    form: str | None = None,
    level: SupportsIndex | None = None,
    origin: SupportsIndex | None = None,
    granule: SupportsIndex | None = None,
    seqno: SupportsIndex | None = None,
    metadata: Mapping[str, object] | None = None,
    tensor_metadata: Sequence[Mapping[str, object] | None] | None = None,
    parts: Sequence[SupportsIndex] | None = None,
    extra_parts: Sequence[BufferLike] = _NO_PARTS,
    label: Mapping[str, object] | None = None,
    tens: Mapping[str, object] | None = None,
    metadata_depth: SupportsIndex = 1,
    layout: ElementOrder = "packed",
    compress: Compression | Sequence[Compression | None] | None = None,
    checksum: Checksum | None = None,
    strings: StringForm = "offsets",
    compat: Literal["strict"] | None = None,
    allow_longdouble: bool = False,
    limits: Limits = DEFAULT_LIMITS,
) -> list[bytes | memoryview]:
    """Return the frames of a TENS message; the payload frames are views of the tensors' own memory.

    The text and the bytes are those of the C++ reference. Elements are copied only if they are not contiguous
    in row-major order, or not little-endian. Tensor i is in payload part i unless `parts` says otherwise; the
    index arrays of jagged and tiled tensors come after all elements.

    Parameters
    ----------
    tensors
        Tensors, blocks of them, or anything that `as_tensor` takes. `Records` are written as one tensor per
        field, and arguments per tensor count every field. Or a message: its label and parts are written
        unchanged, except where other arguments replace them.
    form, level, origin, granule, seqno
        Header fields, as in `Message`. None: those of the message, else "TENS" and zeros.
    metadata
        Metadata of the message; ``{}`` is written, None is not.
    tensor_metadata
        Per tensor, one level of scalars as metadata, or None. Times are written in ISO 8601. Use
        `no_elements` for metadata without a tensor.
    parts
        Per tensor, the payload part for its elements: a permutation.
    extra_parts
        Additional buffers of the application, sent as parts after all others.
    label
        Additional keys of the application, beside ``TENS``.
    tens
        Additional keys of the application within ``TENS``, beside the list of tensors.
    metadata_depth
        How deep `tensor_metadata` may nest; 1 is what every reader of the format expects.
    layout
        "packed": elements of boxes in row-major order, as every reader expects them. "keep": permuted and
        reversed boxes without gaps in their memory order, without a copy. The keys ``order`` and ``ascend``
        describe this order; the reference implementations ignore them.
    compress
        Compress elements, in blocks that can be read one by one, where that saves bytes: "zlib", or (with
        the extra ``compress``) "zstd" or "blosc2"; or one of these, or None, per tensor. Sparse tensors and
        strings are sent as they are.
    checksum
        Add a check sum of all payload parts: "crc32", or (with the extra ``compress``) "xxh3".
    strings
        How to send strings: "offsets", or "tf_string" as TensorFlow up to 2.3 has them.
    compat
        "strict": refuse values that a known reader misreads (bools, complex numbers, origins, any packing,
        records), and end no message with an empty part.
    allow_longdouble
        Send x86 long doubles, which no other machine reads.
    limits
        Limits of the readers: a message over them is not written.

    Raises
    ------
    LocalProtocolError
        If a value does not fit the format or the limits, an element type has no name in TENS, or `compat`
        refuses it.
    ConversionError
        If `tensors` is one tensor and not a sequence of them, or contains other objects.

    Examples
    --------
    >>> import numpy as np
    >>> frames = encode([np.arange(6, dtype="<f4").reshape(2, 3)], seqno=7)
    >>> bytes(frames[0])
    b'ZIO0TENS{"TENS":{"tensors":[{"dtype":"f","part":0,"shape":[2,3],"word":4}]}}'
    """
    as_it_stands = metadata is None and label is None and tens is None and checksum is None and compat is None
    # The usual message: a list of tensors without further options.
    if (
        as_it_stands
        and not isinstance(tensors, Message)
        and (form is None and level is None and compress is None)
        and (tensor_metadata is None and parts is None)
        and limits is DEFAULT_LIMITS
        and layout == "packed"
        and not known_packings().strangers
        and (extra_parts is _NO_PARTS and metadata_depth == 1 and strings == "offsets")
        and (found := plain_message(tensors)) is not None
    ):
        if origin is None and granule is None and seqno is None:
            return [found[0], NOWHERE, *found[1]]
        placed = _header(_NEW, None, None, "", (origin, granule, seqno))
        return [found[0], pack_coordinates(placed), *found[1]]
    if compat is not None and compat != "strict":
        raise ConversionError(f"compat is 'strict' or None, not {compat!r}")
    text: str | None
    if isinstance(tensors, Message):
        if not (tensor_metadata is None and parts is None and compress is None and layout == "packed"):
            raise LocalProtocolError(
                "schema", "the tensors of a message are described, and in parts, already"
            )
        own, payload = tensors._header, list(tensors.parts)
        text, writer = own.label, None
    else:
        check_several(tensors, "tensors")
        tensors, groups = _fields(tensors)
        codec, codecs = _codecs(compress, len(tensors))
        depth = to_count(metadata_depth, "metadata_depth")
        options = WriteOptions(
            codec, strings, layout, allow_longdouble=allow_longdouble, limits=limits, metadata_depth=depth
        )
        writer = Writer(len(tensors), options)
        _write(writer, tensors, _places(parts, len(tensors)), tensor_metadata, codecs)
        writer.records += groups
        own, payload = _NEW, writer.payload
        plain = writer.plain
        text = plain_label(plain) if plain else None
    if extra_parts is not _NO_PARTS:
        check_several(extra_parts, "extra_parts")
        payload += byte_views(extra_parts, "extra part")
    if text is None or not as_it_stands:
        whole: dict[str, Json] = {"TENS": writer.tens()} if writer is not None else label_to_amend(own)
        add_to_label(whole, metadata, label)
        if tens is not None:
            add_to_tens(whole, tens)
        if compat is not None:
            payload += strict_parts(whole, [part.nbytes for part in payload])
        if checksum is not None:
            tens_of(whole)["checksums"] = describe_checksums(checksum, payload)
        text = dump_label(whole)
    if writer is not None or not as_it_stands:
        check_written(text, sum([part.nbytes for part in payload]), limits)
    header = _header(own, form, level, text, (origin, granule, seqno))
    return [pack_prefix(header.label, header.form, header.level), pack_coordinates(header), *payload]


def _fields(given: Sequence[object]) -> tuple[Sequence[object], list[Json]]:
    """Return tensors, with fields in the place of records, and the label entries of these."""
    if not any(map(is_records, given)):
        return given, []
    tensors: list[object] = []
    described: list[Json] = []
    for item in given:
        if is_records(item):
            described.append(describe_records(item.names, item.rank, len(tensors)))
            # Views among the fields are computed.
            tensors += item.compute().values()
        else:
            tensors.append(item)
    return tensors, described


def _header(
    own: Header,
    form: str | None,
    level: SupportsIndex | None,
    text: str,
    coordinates: tuple[SupportsIndex | None, SupportsIndex | None, SupportsIndex | None],
) -> Header:
    """Return a header with this label, and with fields of `own` where no other value is given."""
    origin, granule, seqno = coordinates
    return make_header(
        own.form if form is None else form,
        own.level if level is None else level,
        text,
        (
            own.origin if origin is None else origin,
            own.granule if granule is None else granule,
            own.seqno if seqno is None else seqno,
        ),
    )


def _write(
    writer: Writer,
    tensors: Sequence[object],
    places: Sequence[int],
    metadata: Sequence[Mapping[str, object] | None] | None,
    codecs: Sequence[Compression | None],
) -> None:
    if metadata is not None:
        check_several(metadata, "tensor_metadata")
        if len(metadata) != len(tensors):
            raise LocalProtocolError("schema", f"{len(metadata)} metadata do not fit {len(tensors)} tensors")
    for k, tensor in enumerate(tensors):
        said = metadata[k] if metadata else None
        if codecs:
            writer.compress_by(codecs[k])
        if isinstance(tensor, Block):
            writer.add(tensor.tensor, places[k], said, describe_block(tensor))
        elif metadata is not None or not writer.add_plain(tensor, places[k]):
            held = as_tensor(tensor)
            if metadata is not None or not writer.add_plain(held, places[k]):
                writer.add(held, places[k], said)


def _codecs(
    compress: Compression | Sequence[Compression | None] | None, n_tensors: int
) -> tuple[Compression | None, Sequence[Compression | None]]:
    """Return the codec of all tensors, or one for each."""
    if compress is None:
        return None, ()
    if isinstance(compress, str) or not isinstance(cast("object", compress), Sequence):
        return cast("Compression", compress), ()
    check_several(compress, "compress")
    if len(compress) != n_tensors:
        raise LocalProtocolError("schema", f"{len(compress)} codecs do not fit {n_tensors} tensors")
    return None, compress


def _places(parts: Sequence[SupportsIndex] | None, n_tensors: int) -> Sequence[int]:
    if parts is None:
        return range(n_tensors)
    places = to_ints(parts, "parts")
    if sorted(places) != list(range(n_tensors)):
        raise LocalProtocolError(
            "layout", f"parts must give the tensors the payload parts 0 to {n_tensors - 1}, not {places}"
        )
    return places
