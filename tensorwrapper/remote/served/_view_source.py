"""`ViewSource`: any view as a source."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, final

import numpy as np

from tensorwrapper._value_class import frozen
from tensorwrapper.buffer.lowlevel import write_elements
from tensorwrapper.selection import ReadHandle, Runs, View, Wanted
from tensorwrapper.shape import Shape
from tensorwrapper.typing import Array

if TYPE_CHECKING:
    from tensorwrapper.selection import Cancel


@final
@frozen
class _Done:
    """A read that completed synchronously."""

    count: int

    def completed(self) -> Iterator[int | None]:
        return iter(range(self.count))

    def cancel(self) -> None:
        """Do nothing, because the read is complete."""


@final
@frozen(eq=False)
class ViewSource:
    """A view as a source: each selection is computed when it is read, unless `stop` is set meanwhile."""

    view: View[Any]
    stop: "Cancel | None" = None

    @property
    def shape(self) -> Shape[Any]:
        """The indices of the elements."""
        return self.view.shape

    @property
    def dtype(self) -> "np.dtype[Any]":
        """The type of the elements."""
        return self.view.dtype

    @property
    def version(self) -> str:
        """Version of the source; empty, because computing compares the versions of its sources."""
        return ""

    @property
    def abilities(self) -> "frozenset[Any]":
        """Reads runs of elements."""
        return frozenset(("runs",))

    def read(self, selections: Sequence[Wanted], out: Sequence[Array]) -> ReadHandle:
        """Compute each selection into the array beside it."""
        for wanted, target in zip(selections, out, strict=True):
            part = self._part(wanted)
            if self.dtype.kind == "T":
                # Views cannot compute into arrays of this dtype.
                found = part.compute(cancel=self.stop)
                write_elements(target, found.elements().reshape(target.shape))
            else:
                part.compute(out=target, cancel=self.stop)
        return _Done(len(out))

    def _part(self, wanted: Wanted) -> View[Any]:
        view: View[Any] = self.view
        if isinstance(wanted, Runs):
            if not view.rank:
                return view.reshape((1,))
            flat: View[Any] = view.reshape((view.shape.size,)) if view.shape.is_box else view
            while flat.rank > 1:
                flat = flat.flatten()
            if wanted.count == 1:
                return flat[wanted.starts.item(0) : wanted.stop]
            return flat.gather(0, wanted.numbers())
        for mode, positions in enumerate(wanted.modes):
            if isinstance(positions, range):
                view = view[(*[slice(None)] * mode, slice(positions.start, positions.stop, positions.step))]
            else:
                view = view.gather(mode, positions)
        return view

    def cost(self, selection: Wanted) -> int:
        """Return how many bytes the elements of a selection have."""
        return selection.size * self.dtype.itemsize

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ViewSource) and self.view is other.view

    def __hash__(self) -> int:
        return id(self.view)
