"""Sources: where the elements of views come from.

A source is the only thing that a selection knows of tensors, files, remote tensors and tasks. It has a
shape, and it reads outer selections of itself: some positions of each mode, which is all that ever has to
leave it, however a view repeats, pads or turns them.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, final, runtime_checkable

import attrs
import numpy as np

from tensorwrapper.buffer import BufferCommon
from tensorwrapper.buffer.lowlevel import write_elements
from tensorwrapper.layout import Layout
from tensorwrapper.selection.sources._outer import Outer
from tensorwrapper.shape import Shape
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import guard, make_tensor
from tensorwrapper.typing import Array

__all__ = ["Outer", "ReadHandle", "Source", "TensorSource"]


class ReadHandle(Protocol):
    """A read that may still be going on."""

    def completed(self) -> Iterator[int | None]:
        """Return an iterator over the numbers of the selections, each as soon as it lies at its destination.

        In between it may yield None, after having waited a little: whoever waits for several sources turns
        to the next, and looks whether it is still to go on. It is used by the thread that started the read.
        """
        ...

    def cancel(self) -> None:
        """Stop reading; what has not arrived will not."""
        ...


@final
@attrs.frozen(eq=False)
class _Finished:
    """A read that was done when it was started."""

    count: int

    def completed(self) -> Iterator[int | None]:
        return iter(range(self.count))

    def cancel(self) -> None:
        """Do nothing: all has arrived."""


@runtime_checkable
class Source(Protocol):
    """What a view reads from. Sources are equal if they have the same elements at the same places."""

    @property
    def shape(self) -> Shape:
        """The indices of the elements: a box."""
        ...

    @property
    def dtype(self) -> "np.dtype[Any]":
        """The type of the elements."""
        ...

    @property
    def version(self) -> str:
        """What tells these elements from those that the source had before, or will have."""
        ...

    def read(self, selections: Sequence[Outer], out: Sequence[Array]) -> ReadHandle:
        """Read each selection into the array beside it, which has its extents and may have any strides."""
        ...

    def cost(self, selection: Outer) -> int:
        """Return how many bytes a read of the selection moves."""
        ...


@final
@attrs.frozen(eq=False, repr=False)
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
        """Nothing: the elements are always those that are in memory."""
        return ""

    @property
    def owner(self) -> BufferCommon[Any]:
        """The buffer that holds the elements; of one that is guarded, the one beneath."""
        return self.tensor.buffer.owner

    def read(self, selections: Sequence[Outer], out: Sequence[Array]) -> ReadHandle:
        """Read each selection into the array beside it; it is there when this returns."""
        for selection, target in zip(selections, out, strict=True):
            part = self.tensor[...]
            for mode, positions in enumerate(selection.modes):
                if isinstance(positions, range):
                    key = slice(positions.start, positions.stop, positions.step)
                    part = part[(*[slice(None)] * mode, key)]
                else:
                    part = part.gather(mode, positions)
            memory = part.buffer.memory_of(part.layout.implementation)
            write_elements(target, part.elements().reshape(target.shape) if memory is None else memory)
        return _Finished(len(selections))

    def cost(self, selection: Outer) -> int:
        """Return how many bytes the elements of a selection have."""
        return selection.size * self.dtype.itemsize

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorSource) and self.owner is other.owner

    def __hash__(self) -> int:
        return id(self.owner)

    def __repr__(self) -> str:
        return f"tensor({self.shape!r}, {self.dtype})"

    def __reduce__(self) -> "tuple[Callable[..., TensorSource], tuple[Layout[Any], BufferCommon[Any]]]":
        # A tensor by itself would be packed, and layouts that address its buffer find others there.
        return _restore, (self.tensor.layout, self.owner)


def _restore(layout: Layout[Any], buffer: BufferCommon[Any]) -> TensorSource:
    return TensorSource(make_tensor(layout, guard(layout, buffer)))
