"""Outer selections: some positions of each mode, in all combinations."""

from collections.abc import Callable, Iterable
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import frozen_array
from tensorwrapper._value_class import value_class
from tensorwrapper.errors import ConversionError, OutOfBoundsError
from tensorwrapper.shape.lowlevel import integer_array
from tensorwrapper.typing import Extents, IntArray

__all__ = ["Outer", "Positions"]

Positions: TypeAlias = range | IntArray
"""Ascending positions of a mode: a range if they are evenly spaced, else a read-only array."""


def _to_positions(given: "range | npt.ArrayLike") -> Positions:
    if isinstance(given, range):
        if given and (given[0] < 0 or given.step < 0):
            raise OutOfBoundsError(f"positions of a mode ascend from 0 or more, unlike {given}")
        return given
    array = integer_array(given, "positions")
    if array.ndim != 1:
        raise ConversionError(f"positions of a mode are a row of integers, not of extents {array.shape}")
    values = frozen_array(array.astype(np.int64, copy=False))
    steps = np.diff(values)
    if len(values) and (values[0] < 0 or (steps <= 0).any()):
        raise OutOfBoundsError("positions of a mode ascend from 0 or more, and none comes twice")
    if len(values) < 2:
        return range(int(values[0]), int(values[0]) + 1) if len(values) else range(0)
    step = int(steps[0])
    if (steps == step).all():
        return range(int(values[0]), int(values[-1]) + 1, step)
    if isinstance(given, np.ndarray) and given.flags.writeable:
        values = values.copy()
        values.flags.writeable = False
    return values


def _to_modes(modes: "Iterable[range | npt.ArrayLike]") -> tuple[Positions, ...]:
    return tuple([_to_positions(mode) for mode in modes])


@final
@value_class(eq=False, getstate_setstate=False)
class Outer:
    """Outer product of ascending zero-based positions of each mode of a box.

    It is a value: two are equal if they have the same positions.

    Parameters
    ----------
    modes
        For each mode a range, or ascending positions without repeats, which are kept as a range if they
        are evenly spaced.

    Examples
    --------
    >>> from tensorwrapper.selection import Outer
    >>> outer = Outer([range(2), [0, 3, 4]])
    >>> outer.extents, outer.size, outer == Outer([[0, 1], [0, 3, 4]])
    ((2, 3), 6, True)
    """

    modes: tuple[Positions, ...] = attrs.field(converter=_to_modes)
    _extents: Extents = attrs.field(init=False, repr=False)

    if TYPE_CHECKING:

        def __init__(self, modes: Iterable[range | npt.ArrayLike]) -> None: ...

    def __attrs_post_init__(self) -> None:
        # Cached, as every read uses it several times.
        object.__setattr__(self, "_extents", tuple([len(mode) for mode in self.modes]))

    @property
    def extents(self) -> Extents:
        """Number of positions of each mode."""
        return self._extents

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(self._extents)

    @property
    def nbytes(self) -> int:
        """Number of bytes that describe the selection: 24 for a range, else 8 for each position."""
        return sum([24 if isinstance(mode, range) else mode.nbytes for mode in self.modes])

    def bounding_box(self) -> "Outer":
        """Return the box from the first to the last position of each mode."""
        return Outer([range(int(m[0]), int(m[-1]) + 1) if len(m) else range(0) for m in self.modes])

    def hull(self, other: "Outer") -> "Outer":
        """Return the smallest box that has the positions of both; they are not empty."""
        pairs = zip(self.modes, other.modes, strict=True)
        ends = [(min(a[0], b[0]), max(a[-1], b[-1])) for a, b in pairs]
        return Outer([range(int(low), int(high) + 1) for low, high in ends])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Outer) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[range | bytes, ...]:
        # Equal positions have one form.
        return tuple([m if isinstance(m, range) else m.tobytes() for m in self.modes])

    def __reduce__(self) -> "tuple[Callable[..., Outer], tuple[tuple[Any, ...]]]":
        return Outer, (self.modes,)
