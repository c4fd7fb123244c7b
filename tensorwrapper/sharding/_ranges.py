"""Adjacent ranges: rows of a jagged tensor, or tiles of a mode, as ranges of elements.

A map of indices to rows or tiles is affine, however long these are. A table says the rest: where each begins.
"""

from collections.abc import Callable
from typing import SupportsIndex, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import frozen_array
from tensorwrapper._integers import to_int
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import ExtentError, SizeOverflowError
from tensorwrapper.shape import ShapeLike, as_shape
from tensorwrapper.shape.lowlevel import integer_array, mode_of
from tensorwrapper.typing import IntArray

_LARGEST = 1 << 61  # so that places beyond a table stay in 64 bits


@final
@frozen(eq=False, repr=False, getstate_setstate=False)
class Ranges:
    """A table of ranges that follow one another: range k is from ``marks[k]`` to ``marks[k + 1]``.

    Made by `from_marks` and `of_rows`. Beyond its ends each number is one place more, so that an index
    outside the table is outside the tensor as well, which checks of the tensor find.

    Examples
    --------
    >>> from tensorwrapper.sharding import Ranges
    >>> tiles = Ranges.from_marks([0, 3, 3, 10])
    >>> len(tiles), tiles.marks_at([0, 2, 3, 4]).tolist()
    (3, [0, 3, 10, 11])
    """

    marks: IntArray = attrs.field(converter=frozen_array)
    """Starts of the ranges, and the end of the last; read-only."""
    origin: int
    """The number of the first range."""

    @classmethod
    def from_marks(cls, marks: npt.ArrayLike, *, origin: SupportsIndex = 0) -> "Ranges":
        """Return the ranges between marks that do not descend, which are copied.

        Raises
        ------
        ExtentError
            If there is no mark, or one is less than that before.
        ConversionError
            If the marks are not list of integers.
        SizeOverflowError
            If one is more than 2**61 from 0.
        """
        given = integer_array(marks, "marks")
        if given.ndim != 1 or not len(given):
            raise ExtentError(f"marks are a list of one integer or more, not an array of {given.shape}")
        own = given.astype(np.int64)
        falls = np.flatnonzero(own[1:] < own[:-1])
        if len(falls):
            k = int(falls[0])
            raise ExtentError(f"marks must not descend, but mark {k + 1} is {own[k + 1]}, after {own[k]}")
        first = to_int(origin, "the number of the first range")
        if max(-own.item(0), own.item(-1), abs(first)) > _LARGEST:
            raise SizeOverflowError(f"marks and numbers of ranges are at most {_LARGEST} from 0")
        return cls(own, first)

    @classmethod
    def of_rows(cls, shape: ShapeLike, prefix: SupportsIndex = 1) -> "Ranges":
        """Return the ranges of elements under each prefix of so many indices, counted in row-major order.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> from tensorwrapper.sharding import Ranges
        >>> deep = tw.Shape.jagged([[2, 1], [], [3]])
        >>> Ranges.of_rows(deep).marks.tolist(), Ranges.of_rows(deep, 2).marks.tolist()
        ([0, 3, 3, 6], [0, 2, 3, 6])
        """
        own = as_shape(shape)
        rank = mode_of(to_int(prefix, "a prefix") - 1, own.rank) + 1
        if own.is_box:
            outer, inner = own.leading(rank).size, own.size
            step = inner // max(outer, 1)
            return cls(np.arange(outer + 1, dtype=np.int64) * step, 0)
        rows = own.as_jagged()
        marks: IntArray = rows.splits(rank) if rank < own.rank else np.arange(own.size + 1, dtype=np.int64)
        for mode in range(rank + 1, own.rank):
            marks = rows.splits(mode)[marks]
        return cls(marks, 0)

    def __len__(self) -> int:
        return len(self.marks) - 1

    @property
    def start(self) -> int:
        """Start of the first range."""
        return self.marks.item(0)

    @property
    def stop(self) -> int:
        """End of the last range."""
        return self.marks.item(-1)

    def mark(self, number: int) -> int:
        """Return where the range of this number begins, which may be any integer."""
        place = number - self.origin
        inside = min(max(place, 0), len(self))
        return self.marks.item(inside) + place - inside

    def marks_at(self, numbers: npt.ArrayLike) -> IntArray:
        """Return where the ranges of these numbers begin."""
        places: IntArray = np.asarray(numbers, dtype=np.int64) - self.origin
        inside = np.clip(places, 0, len(self))
        return self.marks[inside] + (places - inside)

    def translate(self, offset: int) -> "Ranges":
        """Return the ranges moved by `offset`."""
        if max(-self.start - offset, self.stop + offset) > _LARGEST:
            raise SizeOverflowError(f"ranges moved by {offset} are more than {_LARGEST} from 0")
        return Ranges(self.marks + offset, self.origin)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ranges):
            return NotImplemented
        return self.origin == other.origin and np.array_equal(self.marks, other.marks)

    def __hash__(self) -> int:
        return hash((self.origin, self.marks.tobytes()))

    def __repr__(self) -> str:
        shown = self.marks[:6].tolist()
        tail = "" if len(self.marks) <= len(shown) else f", ... {len(self)} ranges to {self.stop}"
        return f"Ranges({str(shown)[:-1]}{tail}], origin={self.origin})"

    def __reduce__(self) -> "tuple[Callable[..., Ranges], tuple[IntArray, int]]":
        return Ranges, (self.marks, self.origin)
