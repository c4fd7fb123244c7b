"""`Entry`: metadata of a tensor in a file, from the label of its record."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast, final

from tensorwrapper._error_text import type_text
from tensorwrapper._value_class import frozen
from tensorwrapper.shape import Shape
from tensorwrapper.store.records._format import HEADER_BYTES
from tensorwrapper.store.records._index_rows import Place
from tensorwrapper.tensor import Tensor
from tensorwrapper.wire import Message

if TYPE_CHECKING:
    from tensorwrapper.selection import View


@final
@frozen
class Entry:
    """Metadata of a stored tensor, known without reading elements."""

    name: str
    shape: Shape
    dtype: str
    """NumPy name of the dtype; ``string`` or ``nullable string`` for text."""
    packing: str
    """Storage of the elements: ``dense``, or another packing of the format."""
    size: int
    """Number of elements."""
    nbytes: int
    """Size in the file in bytes, with labels and padding; for a field of records that of its elements."""
    pieces: int
    """Number of records of the tensor."""
    start: int
    """Start of the first record."""


def number_of(message: Message, field: str) -> int:
    """Return the number of a field's tensor in its records; 0 without a field."""
    if not field:
        return 0
    label = cast("Mapping[str, Any]", message.label_object)
    return cast("int", dict(label["TENS"]["records"][0]["fields"])[field])


def packing_of(message: Message, field: str = "") -> str:
    """Return the packing of the tensor in a message, or of a field of its records."""
    label = cast("Mapping[str, Any]", message.label_object)
    number = number_of(message, field)
    return cast("str", label["TENS"]["tensors"][number].get("packing") or "dense")


def make_entry(
    name: str,
    tensor: "Tensor[Any] | View[Any]",
    message: Message,
    places: tuple[Place, ...],
    field: str = "",
) -> Entry:
    """Return the entry of a tensor, or of a field, whose first record has `message`."""
    nbytes = tensor.nbytes if field else sum([HEADER_BYTES + place.length for place in places])
    return Entry(
        name,
        tensor.shape,
        type_text(tensor.dtype),
        packing_of(message, field),
        tensor.size,
        nbytes,
        len(places),
        places[0].start,
    )
