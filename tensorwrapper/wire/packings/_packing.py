"""Base classes of packings: encodings of tensors that are more than row-major elements of a box.

There are two kinds, which can be combined. A `ShapePacking` describes the indices of a run of elements, an
`ElementPacking` the storage of the run itself. Each is one file: its fields of the label, the tensors it
takes, and how to read it within limits. docs/format.md describes the built-in ones for other implementers.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias, final

import numpy as np

from tensorwrapper._json import Json
from tensorwrapper._json_fields import Field
from tensorwrapper._value_class import frozen
from tensorwrapper.buffer import BufferCommon
from tensorwrapper.layout import Layout
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import Array, Index
from tensorwrapper.wire._limits import DEFAULT_LIMITS, Limits
from tensorwrapper.wire.parts._allocation_limit import Claim
from tensorwrapper.wire.parts._compress import Compression, check_compression
from tensorwrapper.wire.parts._part_reader import PartReader
from tensorwrapper.wire.parts._part_writer import PartWriter

ElementOrder: TypeAlias = Literal["packed", "keep"]
"""Elements of boxes in row-major order; or in memory order, if they have no gaps."""

StringForm: TypeAlias = Literal["offsets", "tf_string"]
"""Encoding of strings: bytes and a part of offsets, or one part as TensorFlow up to 2.3 has it."""


@final
@frozen
class WriteOptions:
    """Options of a call of `encode`.

    Raises
    ------
    LocalProtocolError
        If there is no such codec, or it cannot be loaded here.

    Examples
    --------
    >>> WriteOptions().compress is None
    True
    """

    compress: Compression | None = None
    """The codec to compress elements by."""
    strings: StringForm = "offsets"
    """Encoding of strings."""
    layout: ElementOrder = "packed"
    """Order of the elements of boxes."""
    allow_longdouble: bool = False
    """True if long doubles may be sent."""
    limits: Limits = DEFAULT_LIMITS
    """Limits of the readers."""
    keep_nullable: bool = False
    """True if nullable tensors without nulls stay nullable, for tensors that may get some."""
    metadata_depth: int = 1
    """Depth of nesting of a tensor's metadata; 1 is one level of scalars."""

    def __attrs_post_init__(self) -> None:
        if self.compress is not None:
            check_compression(self.compress)


@final
@frozen(eq=False)
class Packed:
    """Elements of a tensor as an `ElementPacking` writes them.

    Examples
    --------
    >>> import numpy as np
    >>> Packed(np.array([7, 8]), {"lengths": 1}).fields
    {'lengths': 1}
    """

    data: Array
    """Content of the tensor's part: a flat array of any type."""
    fields: dict[str, Json]
    """Fields in the label, under the name of the packing, beside the version and the shape."""
    place_of: Callable[[int], int] | None = None
    """Function of the number of an element to its start in `data`, for senders of some elements at a time;
    None
    if unknown."""


@final
@frozen(eq=False)
class PackedShape:
    """Shape of a tensor as a `ShapePacking` writes it.

    Examples
    --------
    >>> import tensorwrapper as tw
    >>> PackedShape({"rows": 1}, (6,), tw.zeros((2, 3))).extents
    (6,)
    """

    fields: dict[str, Json]
    """Fields in the label, under the name of the packing, beside the version."""
    extents: Sequence[int]
    """Extents for readers that support dense tensors only; their product is the number of elements."""
    elements: Tensor[Any]
    """The tensor whose elements, in row-major order, are the run."""


@final
@frozen(eq=False)
class Received:
    """Packed elements of one tensor, as they came; all of it is foreign."""

    fields: Field
    """Fields of the label under the name of the packing: an object of a known version."""
    data: memoryview
    """The bytes in the part of the tensor."""
    dtype: "np.dtype[Any]"
    """The type of the elements."""
    size: int
    """Number of elements of the tensor; no array of that size was made yet."""
    parts: PartReader
    """Reads other parts, and knows the limits."""
    claim: Claim
    """Counter of bytes, for packings that make elements when they are read."""
    layout: Layout[Any] | None = None
    """Layout of the elements of a packed shape in the run; None for a box."""

    @property
    def values(self) -> Array:
        """The part as elements of their type, read-only and without a copy."""
        return self.parts.view(self.data, self.dtype, self.fields)


class PackingCommon(ABC):
    """Abstract: `name`."""

    __slots__ = ()

    @property
    @abstractmethod
    def name(self) -> str:
        """Value of the key ``packing`` of a label, and the key of the fields."""

    @property
    def version(self) -> int:
        """The version that is written, and the only one that is read."""
        return 1

    def not_understood(self, fields: Field) -> str | None:  # noqa: ARG002 - most know all of a version
        """Return what an object of this version says that this reader does not know; None if it knows all.

        A reader calls this first: all else may have another meaning in a later version.
        """
        return None


class ElementPacking(PackingCommon):
    """Abstract: `name`, `pack`, `unpack`. Storage of a run of elements."""

    __slots__ = ()

    @property
    def replaces_elements(self) -> bool:
        """True if the part has any number of bytes, and the label describes the elements made of them.

        Else the label describes the part itself, which has so many elements of that type; readers that ignore
        packings see these. The bytes of the elements are counted against the limits beforehand, unless
        `is_lazy`.
        """
        return False

    @property
    def is_lazy(self) -> bool:
        """True if `unpack` makes no elements, and the buffer counts them by `Received.claim` when it does."""
        return False

    def applies(self, options: WriteOptions) -> bool:  # noqa: ARG002 - most do whatever was asked for
        """Return whether any tensor of a message with these options is for this packing."""
        return True

    @abstractmethod
    def pack(self, tensor: Tensor[Any], parts: PartWriter, options: WriteOptions) -> Packed | None:
        """Return the packed elements of a tensor, in row-major order; None if this packing does not apply.

        Further arrays become separate parts: the fields have the numbers of these.
        """

    @abstractmethod
    def unpack(self, received: Received) -> BufferCommon[Any]:
        """Return a read-only buffer of ``received.size`` elements in row-major order.

        Check first, then allocate: `PartReader.claim` counts bytes against the limits of the reader.

        Raises
        ------
        RemoteProtocolError
            If anything is wrong with the received data, and no other error.
        """


class ShapePacking(PackingCommon):
    """Abstract: `name`, `pack_shape`, `unpack_shape`. Indices of a run of elements."""

    __slots__ = ()

    @abstractmethod
    def pack_shape(self, tensor: Tensor[Any], parts: PartWriter) -> PackedShape | None:
        """Return the packed shape of a tensor; None if this packing does not apply."""

    @abstractmethod
    def unpack_shape(self, fields: Field, extents: Index, parts: PartReader) -> Layout[Any]:
        """Return the layout of the elements in a buffer that has only them.

        Raises
        ------
        RemoteProtocolError
            If anything is wrong with the received data, and no other error.
        """


Packing: TypeAlias = ElementPacking | ShapePacking
"""A packing that may be registered."""
