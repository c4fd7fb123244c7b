"""`Message`: header fields, label and payload parts as one frozen value, and access to the label."""

import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex, cast, final

import attrs

from tensorwrapper._integers import to_count
from tensorwrapper._value_class import slot_setters, value_class
from tensorwrapper.errors import LocalProtocolError, RemoteProtocolError
from tensorwrapper.tensor import Tensor, as_tensor
from tensorwrapper.typing import BufferLike
from tensorwrapper.wire._limits import DEFAULT_LIMITS, Limits
from tensorwrapper.wire.codec._plan import check_written
from tensorwrapper.wire.codec._tensors import JSON_FORMS, Described, read_described
from tensorwrapper.wire.codec._write import Writer
from tensorwrapper.wire.frames._amend import described_tensors, label_to_amend
from tensorwrapper.wire.frames._buffers import byte_views, check_several
from tensorwrapper.wire.frames._header import Header, make_header, pack_coordinates, pack_prefix
from tensorwrapper.wire.frames._label import SPACE, dump_label, load_label
from tensorwrapper.wire.packings._packing import ElementOrder, WriteOptions

if TYPE_CHECKING:
    from tensorwrapper.fields import Records


@final
@value_class(eq=False, repr=False, getstate_setstate=False)
class Message:
    """One ZIO message: two header frames' worth of fields, and payload parts.

    `decode` makes one of foreign frames; `encode` makes the frames of one that carries tensors. Made by
    hand, a message may carry any label, or none.

    Parameters
    ----------
    form
        Up to four ASCII characters that name the format of the label.
    level
        0 (undefined) to 8 (fatal).
    label
        Free text; for the forms ``TENS``, ``FLOW`` and ``JSON`` it is read as JSON.
    origin, granule, seqno
        Sender, time, and place in a sequence: unsigned 64-bit integers.
    parts
        The payload: any buffers, kept and not copied.

    Raises
    ------
    LocalProtocolError
        If a value does not fit the format.
    ConversionError
        If `parts` are not several buffers.

    Examples
    --------
    >>> [bytes(frame) for frame in Message(form="TEXT", label="Extra spicy", parts=[b"hot"]).to_frames()]
    [b'ZIO0TEXTExtra spicy', b'...', b'hot']
    """

    _header: Header
    _parts: tuple[memoryview, ...]
    _limits: Limits
    _allow_longdouble: bool
    _described: "Described | None"

    def __init__(
        self,
        *,
        form: str = "TENS",
        level: SupportsIndex = 0,
        label: str = "",
        origin: SupportsIndex = 0,
        granule: SupportsIndex = 0,
        seqno: SupportsIndex = 0,
        parts: Iterable[BufferLike] = (),
    ) -> None:
        check_several(parts, "parts", Iterable)
        header = make_header(form, level, _text(label), (origin, granule, seqno))
        _fill(self, header, tuple(byte_views(parts, "part")))

    @property
    def form(self) -> str:
        """Format of the label, without the spaces that pad it."""
        return self._header.form

    @property
    def level(self) -> int:
        """Priority of the message, 0 to 8."""
        return self._header.level

    @property
    def label(self) -> str:
        """The label, as text of the frame."""
        return self._header.label

    @property
    def origin(self) -> int:
        """Number of the sender."""
        return self._header.origin

    @property
    def granule(self) -> int:
        """Time of creation; by custom, microseconds since 1970."""
        return self._header.granule

    @property
    def seqno(self) -> int:
        """Its place in a sequence."""
        return self._header.seqno

    @property
    def parts(self) -> tuple[memoryview, ...]:
        """Payload parts, including those that no tensor refers to."""
        return self._parts

    @property
    def nbytes(self) -> int:
        """The bytes of all payload parts."""
        return sum([part.nbytes for part in self._parts])

    @property
    def tensors(self) -> Sequence[Tensor[Any]]:
        """The tensors that the label describes, as read-only views of the parts.

        One whose packing or logical type is not known raises `RemoteProtocolError` when it is taken from the
        sequence, and only then; its neighbours are there.
        """
        return self._read()[0]

    @property
    def records(self) -> "Sequence[Records]":
        """The records that the label describes: their fields are among `tensors`; mostly there are none.

        A tensor with another version, or with an unknown field, raises `RemoteProtocolError` when it is taken
        from the sequence, and only then.
        """
        return self._read()[1]

    def _read(self) -> Described:
        described = self._described
        if described is None:
            described = read_described(
                self._header,
                self._parts,
                self._limits,
                strict=False,
                allow_longdouble=self._allow_longdouble,
            )
            object.__setattr__(self, "_described", described)
        return described

    @property
    def label_object(self) -> Any:  # noqa: ANN401 - whatever JSON the sender wrote
        """The label as JSON, application keys included; None if it is empty or free text. Not cached."""
        text = self._header.label.strip(SPACE)
        if not text:
            return None
        try:
            return load_label(text, self._limits)
        except RemoteProtocolError:
            if self._header.form in JSON_FORMS or text.startswith("{"):
                raise
            return None

    def _tens(self) -> Mapping[str, Any]:
        label = self.label_object
        tens = cast("Mapping[str, Any]", label).get("TENS") if isinstance(label, dict) else None
        return tens or {}

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Metadata of the message in the label; empty without any."""
        return self._tens().get("metadata") or {}

    @property
    def tensor_metadata(self) -> tuple[Any, ...]:
        """Metadata of each tensor in the label; None for a tensor without any."""
        return tuple([description.get("metadata") for description in self._tens().get("tensors", ())])

    def append(
        self,
        tensor: object,
        metadata: Mapping[str, object] | None = None,
        *,
        layout: ElementOrder = "packed",
        metadata_depth: SupportsIndex = 1,
        allow_longdouble: bool = False,
    ) -> "Message":
        """Return this message with one tensor more, in the payload part after the last one.

        Application keys, other parts and descriptions of other tensors are kept. The label is written
        again, with its keys sorted. One after the other, n tensors take O(n^2); `encode` takes them together.

        Parameters
        ----------
        tensor
            A tensor, or anything that `as_tensor` takes.
        metadata
            Metadata of the tensor: one level of scalars, unless `metadata_depth` is more.
        layout, metadata_depth, allow_longdouble
            As `encode` has them.

        Raises
        ------
        LocalProtocolError
            If the label is not JSON object, or the tensor does not fit the format.

        Examples
        --------
        >>> import numpy as np
        >>> message = Message(parts=[b"first"]).append(np.arange(3, dtype="i1"), {"gain": 2.5})
        >>> message.label
        '{"TENS":{"tensors":[{"dtype":"i","metadata":{"gain":2.5},"part":1,"shape":[3],"word":1}]}}'
        """
        label = label_to_amend(self._header)
        described, first = described_tensors(label), len(self._parts)
        depth = to_count(metadata_depth, "metadata_depth")
        options = WriteOptions(
            layout=layout, allow_longdouble=allow_longdouble, limits=self._limits, metadata_depth=depth
        )
        writer = Writer(first + 1, options, before=len(described))
        writer.add(as_tensor(tensor), first, metadata)
        described += writer.descriptions
        text = dump_label(label)
        check_written(text, sum([part.nbytes for part in writer.payload]), self._limits)
        return make_message(
            attrs.evolve(self._header, label=text),
            (*self._parts, *writer.payload[first:]),
            limits=self._limits,
            allow_longdouble=self._allow_longdouble or allow_longdouble,
            described=None,
        )

    def append_part(self, part: BufferLike) -> "Message":
        """Return this message with one payload part more, which no tensor refers to. It is not copied.

        Raises
        ------
        ConversionError
            If it is not contiguous memory.
        """
        return make_message(
            self._header,
            (*self._parts, *byte_views([part], "part")),
            limits=self._limits,
            allow_longdouble=self._allow_longdouble,
            described=self._described,
        )

    def to_frames(self) -> list[bytes | memoryview]:
        """Return the frames to send: prefix, coordinates, parts; the parts are not copied."""
        header = self._header
        prefix = pack_prefix(header.label, header.form, header.level)
        return [prefix, pack_coordinates(header), *self._parts]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Message):
            return NotImplemented
        return self._header == other._header and self._parts == other._parts

    def __hash__(self) -> int:
        return hash((self._header, tuple([part.nbytes for part in self._parts])))

    def __repr__(self) -> str:
        return (
            f"Message(form={self.form!r}, level={self.level}, seqno={self.seqno}, "
            f"{len(self._parts)} parts, {self.nbytes} bytes)"
        )

    def __copy__(self) -> "Message":
        # A value that never changes is its own copy; by way of pickling the parts would be copied.
        return self

    def __reduce_ex__(
        self, protocol: SupportsIndex
    ) -> tuple[Callable[..., "Message"], tuple[Header, Sequence[object], Limits, bool]]:
        # Out of band where the caller asks for it, so that no part is copied.
        pack = pickle.PickleBuffer if int(protocol) >= 5 else bytes
        parts = [pack(part) for part in self._parts]
        return _restore, (self._header, parts, self._limits, self._allow_longdouble)


def _text(label: object) -> str:
    if not isinstance(label, str):
        raise LocalProtocolError("header", f"a label is text, not {label!r}; encode writes objects as JSON")
    return label


_set_header, _set_parts, _set_limits, _set_allow_longdouble, _set_described = slot_setters(
    Message, "_header", "_parts", "_limits", "_allow_longdouble", "_described"
)


def _fill(
    message: Message,
    header: Header,
    parts: tuple[memoryview, ...],
    *,
    limits: Limits = DEFAULT_LIMITS,
    allow_longdouble: bool = False,
    described: "Described | None" = None,
) -> None:
    _set_header(message, header)
    _set_parts(message, parts)
    _set_limits(message, limits)
    _set_allow_longdouble(message, allow_longdouble)
    _set_described(message, described)


def make_message(
    header: Header,
    parts: tuple[memoryview, ...],
    *,
    limits: Limits,
    allow_longdouble: bool,
    described: "Described | None",
) -> Message:
    """Return a message of parts that were checked; limits and options are those it was checked with."""
    message = object.__new__(Message)
    _fill(message, header, parts, limits=limits, allow_longdouble=allow_longdouble, described=described)
    return message


def _restore(
    header: Header,
    parts: Sequence[BufferLike],
    limits: Limits,
    allow_longdouble: bool,  # noqa: FBT001
) -> Message:
    views = tuple(byte_views(parts, "part"))
    return make_message(header, views, limits=limits, allow_longdouble=allow_longdouble, described=None)
