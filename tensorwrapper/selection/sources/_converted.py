"""A source whose elements are read at another type: its own are cast where they are."""

from collections.abc import Sequence
from typing import Any, final

import numpy as np

from tensorwrapper._value_class import frozen
from tensorwrapper.selection.sources._runs import Wanted
from tensorwrapper.selection.sources._source import Ability, ReadHandle, Source
from tensorwrapper.shape import Shape
from tensorwrapper.typing import Array

__all__ = ["Converted"]


@final
@frozen
class Converted:
    """The elements of a source that has the ability "casts", as ones of another type."""

    source: Source
    dtype: "np.dtype[Any]"

    @property
    def shape(self) -> Shape:
        """The indices of the source."""
        return self.source.shape

    @property
    def version(self) -> str:
        """Version of the source."""
        return self.source.version

    @property
    def abilities(self) -> frozenset[Ability]:
        """Abilities of the source, except writing."""
        found: frozenset[Ability] = getattr(self.source, "abilities", frozenset())
        return found - {"write", "atomic"}

    def read(self, selections: Sequence[Wanted], out: Sequence[Array]) -> ReadHandle:
        """Read into arrays of the new type, as the source says that it can."""
        return self.source.read(selections, out)

    def cost(self, selection: Wanted) -> int:
        """Return the source's cost of a read, scaled down if elements become smaller."""
        return self.source.cost(selection) * self.dtype.itemsize // self.source.dtype.itemsize

    def __repr__(self) -> str:
        return f"{self.source!r} as {self.dtype}"
