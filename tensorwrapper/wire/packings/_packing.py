"""What a packing is: a way for tensors to travel that are more than row-major elements of a box.

There are two kinds, which go together. A `ShapePacking` says which indices a run of elements has, an
`ElementPacking` how the run itself is held. Each is one file: what the label says of it, which tensors it
takes, how it is read within limits. docs/format.md describes the built-in ones for other implementers.
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
from tensorwrapper.wire.parts._claims import Claim
from tensorwrapper.wire.parts._compress import Compression, check_compression
from tensorwrapper.wire.parts._part_reader import PartReader
from tensorwrapper.wire.parts._part_writer import PartWriter

__all__ = [
    "ElementOrder",
    "ElementPacking",
    "Packed",
    "PackedShape",
    "Packing",
    "Received",
    "ShapePacking",
    "StringForm",
    "WriteOptions",
]

ElementOrder: TypeAlias = Literal["packed", "keep"]
"""Elements of boxes in row-major order; or as they lie, if they have no gaps."""

StringForm: TypeAlias = Literal["offsets", "tf_string"]
"""How strings travel: bytes and a part of offsets, or one part as TensorFlow up to 2.3 has it."""


@final
@frozen
class WriteOptions:
    """What the caller of `encode` asked for.

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
    """How strings are to travel."""
    layout: ElementOrder = "packed"
    """Whether elements may leave as they lie."""
    allow_longdouble: bool = False
    """Whether long doubles may leave at all."""
    limits: Limits = DEFAULT_LIMITS
    """Those of the readers."""
    keep_nullable: bool = False
    """Whether room for nulls is said also where there is none, as of tensors that may get some."""
    metadata_depth: int = 1
    """How deep what is said about a tensor may nest; 1 is one level of scalars."""

    def __attrs_post_init__(self) -> None:
        if self.compress is not None:
            check_compression(self.compress)


@final
@frozen(eq=False)
class Packed:
    """What an `ElementPacking` makes of the elements of a tensor.

    Examples
    --------
    >>> import numpy as np
    >>> Packed(np.array([7, 8]), {"lengths": 1}).fields
    {'lengths': 1}
    """

    data: Array
    """What goes into the part of the tensor: a flat array of any type."""
    fields: dict[str, Json]
    """What the label says of it, under the name of the packing, beside the version and the shape."""
    place_of: Callable[[int], int] | None = None
    """Where in `data` the element with a number begins, for those who send some elements at a time; None if
    nobody can say."""


@final
@frozen(eq=False)
class PackedShape:
    """What a `ShapePacking` makes of the shape of a tensor.

    Examples
    --------
    >>> import tensorwrapper as tw
    >>> PackedShape({"rows": 1}, (6,), tw.zeros((2, 3))).extents
    (6,)
    """

    fields: dict[str, Json]
    """What the label says of it, under the name of the packing, beside the version."""
    extents: Sequence[int]
    """Those that a reader sees who knows dense tensors only; their product is the number of elements."""
    elements: Tensor[Any]
    """The tensor whose elements, in row-major order, are the run."""


@final
@frozen(eq=False)
class Received:
    """Packed elements of one tensor, as they came; all of it is foreign."""

    fields: Field
    """What the label says under the name of the packing: an object of the version that is known."""
    data: memoryview
    """The bytes in the part of the tensor."""
    dtype: "np.dtype[Any]"
    """The type of the elements."""
    size: int
    """How many elements the tensor has; no array of that size was made yet."""
    parts: PartReader
    """Reads other parts, and knows the limits."""
    claim: Claim
    """What counts the bytes of elements that are made when they are read, for those who make them then."""
    layout: Layout[Any] | None = None
    """Where the elements of a packed shape lie in the run; None of a box."""

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
        """What stands under the key ``packing`` of a label, and the key of what else is said."""

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
    """Abstract: `name`, `pack`, `unpack`. How a run of elements is held."""

    __slots__ = ()

    @property
    def replaces_elements(self) -> bool:
        """Whether the part holds any number of bytes, and the label says what they become.

        Else the label describes the part itself, which has so many elements of that type; that is also what a
        reader sees who ignores packings. What the bytes become is counted against the limits beforehand,
        unless `is_lazy`.
        """
        return False

    @property
    def is_lazy(self) -> bool:
        """Whether `unpack` makes no elements, and the buffer counts them by `Received.claim` when it does."""
        return False

    def applies(self, options: WriteOptions) -> bool:  # noqa: ARG002 - most do whatever was asked for
        """Return whether any tensor of a message with these options is for this packing."""
        return True

    @abstractmethod
    def pack(self, tensor: Tensor[Any], parts: PartWriter, options: WriteOptions) -> Packed | None:
        """Return what the elements of a tensor become, in row-major order; None if they are not for this one.

        Other arrays are put into parts of their own: their numbers go into the fields.
        """

    @abstractmethod
    def unpack(self, received: Received) -> BufferCommon[Any]:
        """Return a read-only buffer of ``received.size`` elements in row-major order.

        Check first, then allocate: `PartReader.claim` counts bytes against the limits of the reader.

        Raises
        ------
        RemoteProtocolError
            If anything is wrong with what came, and nothing else.
        """


class ShapePacking(PackingCommon):
    """Abstract: `name`, `pack_shape`, `unpack_shape`. Which indices a run of elements has."""

    __slots__ = ()

    @abstractmethod
    def pack_shape(self, tensor: Tensor[Any], parts: PartWriter) -> PackedShape | None:
        """Return what the shape of a tensor becomes; None if it is not for this packing."""

    @abstractmethod
    def unpack_shape(self, fields: Field, extents: Index, parts: PartReader) -> Layout[Any]:
        """Return the layout of the elements as they lie in a buffer of their own.

        Raises
        ------
        RemoteProtocolError
            If anything is wrong with what came, and nothing else.
        """


Packing: TypeAlias = ElementPacking | ShapePacking
"""What may be registered."""
