"""`Entry`: facts about a tensor in a file, from the label of its record alone."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast, final

from tensorwrapper._value_class import frozen
from tensorwrapper.shape import Shape
from tensorwrapper.store.records._format import HEADER_BYTES
from tensorwrapper.store.records._index_rows import Place
from tensorwrapper.tensor import Tensor
from tensorwrapper.wire import Message

if TYPE_CHECKING:
    from tensorwrapper.selection import View

__all__ = ["Entry", "make_entry", "number_of", "packing_of"]


@final
@frozen
class Entry:
    """Facts about a stored tensor; none needs its elements."""

    name: str
    shape: Shape
    dtype: str
    """The type of the elements, as NumPy names it."""
    packing: str
    """Storage of the elements: ``dense``, or another packing of the format."""
    size: int
    """Number of elements."""
    nbytes: int
    """The bytes in the file, labels and padding included; of a field of records those of its elements."""
    pieces: int
    """In how many records the tensor is stored."""
    start: int
    """Start of the first of them."""


def number_of(message: Message, field: str) -> int:
    """Return the number of the tensor that is a field of records; 0 without a field."""
    if not field:
        return 0
    label = cast("Mapping[str, Any]", message.label_object)
    return cast("int", dict(label["TENS"]["records"][0]["fields"])[field])


def packing_of(message: Message, field: str = "") -> str:
    """Return how the elements of the tensor in a message, or of a field of its records, are stored."""
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
    """Return the facts of a tensor, or of a field, whose first record holds `message`."""
    nbytes = tensor.nbytes if field else sum([HEADER_BYTES + place.length for place in places])
    return Entry(
        name,
        tensor.shape,
        str(tensor.dtype),
        packing_of(message, field),
        tensor.size,
        nbytes,
        len(places),
        places[0].start,
    )
