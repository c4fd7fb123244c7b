"""Sources: where the elements of views come from.

A source is the only thing that a selection knows of tensors, files, remote tensors and tasks. It has a
shape, and it reads selections from itself: some positions of each mode, or runs of elements by number.
It never has to send more, however a view repeats, pads or rotates them.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, Protocol, SupportsIndex, TypeAlias, final, runtime_checkable

import attrs
import numpy as np

from tensorwrapper._integers import to_count
from tensorwrapper._value_class import frozen, token_of, token_of_parts
from tensorwrapper.buffer import BufferCommon
from tensorwrapper.buffer.lowlevel import write_elements
from tensorwrapper.errors import ExtentError
from tensorwrapper.layout import Layout
from tensorwrapper.selection.sources._runs import Runs, Wanted
from tensorwrapper.shape import Shape
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import Array


def _positive(_link: object, attribute: "attrs.Attribute[float]", value: float) -> None:
    if not value > 0:
        raise ExtentError(f"{attribute.name} must be greater than 0, not {value}")


@final
@frozen
class Link:
    """Speed of a link between the holder and the reader of a source: seconds, and bytes a second.

    A source that reads over such a link uses it to compute the cost of a selection.

    Parameters
    ----------
    bandwidth
        The bytes that the link carries in a second.
    packing
        The bytes of a selection that the holder can put together in a second; less for shorter runs.
    latency
        The seconds until the first byte arrives.
    overhead
        The seconds that each message takes beside its bytes.

    Examples
    --------
    >>> link = Link(bandwidth=1.25e9, packing=0.74e9)
    >>> link.is_box_faster(1000, 8000)
    False
    >>> round(link.time(1000, packed=True) * 1e6, 2), round(link.time(8000) * 1e6, 2)
    (2.15, 6.4)
    """

    bandwidth: float = attrs.field(validator=_positive)
    packing: float = attrs.field(validator=_positive)
    latency: float = 0.0
    overhead: float = 0.0

    def time(self, nbytes: SupportsIndex, *, messages: SupportsIndex = 1, packed: bool = False) -> float:
        """Return the seconds that a transfer takes; longer if the holder puts it together first."""
        size = to_count(nbytes, "nbytes")
        waiting = self.latency + to_count(messages, "messages") * self.overhead
        return waiting + size / self.bandwidth + (size / self.packing if packed else 0.0)

    def is_box_faster(self, selected: SupportsIndex, box: SupportsIndex) -> bool:
        """Return True if the box around a selection arrives before the selection, which is gathered first.

        Parameters
        ----------
        selected, box
            How many bytes each has.
        """
        return self.time(box) < self.time(selected, packed=True)

    def cost(self, selected: SupportsIndex, box: SupportsIndex, *, runs: SupportsIndex = 1) -> int:
        """Return the cost of a selection as a number of bytes of equal time, for `Source.cost`.

        A selection of one run needs no packing, and costs its own bytes.
        """
        size = to_count(selected, "selected")
        if to_count(runs, "runs") <= 1 or size == to_count(box, "box"):
            return size
        return round(self.time(size, packed=True) * self.bandwidth)


Ability: TypeAlias = Literal["runs", "threads", "write", "atomic", "casts"]
"""Abilities of a source beside reading outer selections in the caller's thread.

"runs": it reads runs of elements by number. "threads": any thread may read it, and several at once. "write":
it is a `WritableSource`. "atomic": a write that fails has written nothing.
"casts": `read` fills arrays of another type, too, with elements cast as by `View.astype`, and raises
where an element does not fit.
"""


class ReadHandle(Protocol):
    """A read that may still be going on."""

    def completed(self) -> Iterator[int | None]:
        """Return an iterator over the numbers of the selections, each as soon as it is at its destination.

        In between it may yield None, after having waited a little: a caller that waits for several sources
        turns to the next, and checks for cancellation. It is used by the thread that started the read.
        """
        ...

    def cancel(self) -> None:
        """Stop reading; missing elements will not arrive."""
        ...


@final
@frozen(eq=False)
class Finished:
    """A read that was done when it was started."""

    count: int

    def completed(self) -> Iterator[int | None]:
        return iter(range(self.count))

    def cancel(self) -> None:
        """Do nothing: all has arrived."""


@runtime_checkable
class Source(Protocol):
    """A source of elements for views. Sources are equal if they have the same elements at the same places.

    An attribute ``abilities``, a frozenset of `Ability`, declares further abilities; without it a box
    is read by outer selections alone. A source that is not a box is always read by runs.

    Views of a source have its shape, unless it has an attribute ``layout`` that is not None: a `Layout` from
    the indices of views to the row-major numbers of its elements. So a box is seen in tiles, or in layers.
    """

    @property
    def shape(self) -> Shape:
        """The indices of the elements, of any kind. It is used often, and must not read elements."""
        ...

    @property
    def dtype(self) -> "np.dtype[Any]":
        """The type of the elements."""
        ...

    @property
    def version(self) -> str:
        """Identity of the present elements, different after each change; "" if unknown.

        It is compared before a read and after each answer: elements of two versions are not combined. So it
        must be cheap, and returns the version of the last answer.
        """
        ...

    def read(self, selections: Sequence[Wanted], out: Sequence[Array]) -> ReadHandle:
        """Read each selection into the array beside it, which has its extents and may have any strides."""
        ...

    def cost(self, selection: Wanted) -> int:
        """Return how many bytes a read of the selection moves: arithmetic, without any request."""
        ...


class HasSource(Protocol):
    """An object with remote elements that is not a source itself: views of it read the source it returns."""

    def as_source(self) -> Source:
        """Return the source of its elements."""
        ...


class WritableSource(Source, Protocol):
    """A source that can be written to, through views of it: one of its `abilities` is "write"."""

    @property
    def abilities(self) -> frozenset[Ability]:
        """Abilities; "atomic" too, if a write that fails has written nothing."""
        ...

    def write(self, selections: Sequence[Wanted], values: Sequence[Array]) -> None:
        """Write each array, which may have any strides, where the selection beside it is.

        No element is in two of the selections. All are written when this returns.
        """
        ...


@final
@frozen(eq=False, repr=False)
class TensorSource:
    """A tensor in this process. Two are equal if they have the same buffer: then views of both can be one."""

    tensor: Tensor[Any]

    @property
    def shape(self) -> Shape:
        """The indices of the tensor."""
        return self.tensor.shape

    @property
    def dtype(self) -> "np.dtype[Any]":
        """The type of the elements."""
        return self.tensor.dtype

    @property
    def version(self) -> str:
        """Empty: the elements are always those in memory."""
        return ""

    @property
    def owner(self) -> BufferCommon[Any]:
        """The buffer that holds the elements; of one that is guarded, the one beneath."""
        return self.tensor.buffer.owner

    @property
    def abilities(self) -> frozenset[Ability]:
        """Abilities beside outer selections: runs of elements."""
        return frozenset(("runs",))

    def read(self, selections: Sequence[Wanted], out: Sequence[Array]) -> ReadHandle:
        """Read each selection into the array beside it; it is there when this returns."""
        for selection, target in zip(selections, out, strict=True):
            if isinstance(selection, Runs):
                places = self.tensor.layout.offsets_of_ordinals(selection.numbers())
                write_elements(target, self.tensor.buffer.read(places))
                continue
            part = self.tensor[...]
            for mode, positions in enumerate(selection.modes):
                if isinstance(positions, range):
                    key = slice(positions.start, positions.stop, positions.step)
                    part = part[(*[slice(None)] * mode, key)]
                else:
                    part = part.gather(mode, positions)
            memory = part.buffer.memory_of(part.layout.implementation)
            write_elements(target, part.elements().reshape(target.shape) if memory is None else memory)
        return Finished(len(selections))

    def cost(self, selection: Wanted) -> int:
        """Return how many bytes the elements of a selection have."""
        return selection.size * self.dtype.itemsize

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorSource) and self.owner is other.owner

    def __hash__(self) -> int:
        return id(self.owner)

    def __repr__(self) -> str:
        filename = self.owner.filename
        where = "" if filename is None else f"{filename!r}, "
        return f"tensor({where}{self.shape!r}, {self.dtype})"

    def __reduce__(self) -> "tuple[Callable[..., TensorSource], tuple[Layout[Any], BufferCommon[Any]]]":
        # A tensor by itself would be packed, and layouts that address its buffer find others there.
        return _restore, (self.tensor.layout, self.owner)

    def __dask_tokenize__(self) -> object:
        return token_of("TensorSource", self.tensor.layout, token_of_parts(self.owner))


def _restore(layout: Layout[Any], buffer: BufferCommon[Any]) -> TensorSource:
    return TensorSource(Tensor(layout, buffer))
