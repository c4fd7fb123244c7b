"""Generators: nodes whose elements are computed from their coordinates, and stored nowhere.

Coordinates are absolute indices of the shape that was declared, so that an element does not depend on what
else is selected.
"""

# The field of a frozen class is read as the property that it stands for.
# pyright: reportIncompatibleMethodOverride=false

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast, final

import attrs
import numpy as np

from tensorwrapper.buffer.lowlevel import fit_number
from tensorwrapper.errors import ConversionError, ExtentMismatchError
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import packed_strides
from tensorwrapper.selection.expressions._expression import Expression, Node
from tensorwrapper.selection.random._parameters import Distribution
from tensorwrapper.selection.random._values import draw
from tensorwrapper.shape import Shape
from tensorwrapper.typing import Array, Extents, IntArray

__all__ = ["Computing", "Counting", "Diagonal", "Filling", "Generator", "RandomField", "Sampling"]

CoordinateFunction: TypeAlias = "Callable[..., Array]"
"""Takes one int64 array of coordinates per mode, which broadcast together; returns the elements there."""


class Generator(Node):
    """Abstract: `shape`, `dtype`, `name` and `values`."""

    __slots__ = ()

    @property
    @abstractmethod
    def shape(self) -> Shape:
        """The box that was declared; its origin counts."""

    @abstractmethod
    def values(self, places: Sequence[IntArray]) -> Array:
        """Return the elements at positions counted from 0, one array per mode, which broadcast together."""

    @property
    def extents(self) -> Extents:
        return self.shape.extents

    @property
    def origin(self) -> tuple[int, ...]:
        """The absolute index of position zero."""
        return self.shape.origin


def _same_value(a: object, b: object) -> bool:
    if isinstance(a, str | bytes):
        return a == b
    # Zeros of two signs are two constants, and not-a-number is the same as itself.
    one, other = np.asarray(a), np.asarray(b)
    return one.dtype == other.dtype and one.tobytes() == other.tobytes()


@final
@attrs.frozen
class Filling(Generator):
    """One constant everywhere; `value` is a Python number or string that the dtype can say."""

    shape: Shape
    value: Any = attrs.field(eq=cast("Any", attrs.cmp_using)(eq=_same_value), hash=False)
    dtype: "np.dtype[Any]"

    @property
    def name(self) -> str:
        return "full"

    def values(self, places: Sequence[IntArray]) -> Array:  # noqa: ARG002 - the same everywhere
        return fit_number(self.value, self.dtype, "the constant")


@final
@attrs.frozen
class Counting(Generator):
    """A start, plus a step per mode times the absolute coordinate: what iota and linspace count."""

    shape: Shape
    start: Any
    steps: tuple[Any, ...]
    dtype: "np.dtype[Any]"
    word: str = "iota"

    @property
    def name(self) -> str:
        return self.word

    def values(self, places: Sequence[IntArray]) -> Array:
        total: Any = np.array(self.start, dtype=self.dtype)
        for step, origin, own in zip(self.steps, self.origin, places, strict=True):
            if step:
                total = total + (own + origin).astype(self.dtype, copy=False) * self.dtype.type(step)
        return np.asarray(total, dtype=self.dtype)


@final
@attrs.frozen
class Diagonal(Generator):
    """Ones where the coordinates of two modes differ by `offset`, else zeros: the identity matrix."""

    shape: Shape
    offset: int
    dtype: "np.dtype[Any]"

    @property
    def name(self) -> str:
        return "eye"

    def values(self, places: Sequence[IntArray]) -> Array:
        row, column = [own + start for own, start in zip(places, self.origin, strict=True)]
        found: Array = np.equal(column - row, self.offset).astype(self.dtype)
        return found


@final
@attrs.frozen
class Computing(Generator):
    """What a function makes of absolute coordinates: one array per mode, which broadcast together."""

    shape: Shape
    function: CoordinateFunction
    dtype: "np.dtype[Any]"

    @property
    def name(self) -> str:
        return "compute"

    def values(self, places: Sequence[IntArray]) -> Array:
        coordinates = [own + start for own, start in zip(places, self.origin, strict=True)]
        found = np.asarray(self.function(*coordinates))
        extents = np.broadcast_shapes(*[own.shape for own in places])
        try:
            np.broadcast_to(found, extents)
        except ValueError as error:
            raise ExtentMismatchError(
                f"the function gave an array of extents {found.shape} for coordinates of extents {extents}"
            ) from error
        if not np.can_cast(found.dtype, self.dtype, casting="same_kind"):
            raise ConversionError(f"the function gave {found.dtype} where {self.dtype} was declared")
        return found


@final
@attrs.frozen
class RandomField(Generator):
    """Random numbers, each drawn by a counter that is the rank of its coordinate in the declared box.

    Attributes
    ----------
    parameters
        What the distribution needs: numbers, or the numbers of operands, each over the same box.
    """

    shape: Shape
    distribution: Distribution
    seed: int
    parameters: tuple[Any, ...]
    dtype: "np.dtype[Any]"

    @property
    def name(self) -> str:
        return "random"

    @property
    def operands(self) -> tuple[Expression, ...]:
        return tuple([p for p in self.parameters if isinstance(p, Expression)])

    def check(self) -> None:
        """Raise unless the seed, the type and the parameters that are numbers are right."""
        empty = np.empty(0, dtype=np.int64)
        given = [0.5 if isinstance(p, Expression) else p for p in self.parameters]
        if all(p is q for p, q in zip(given, self.parameters, strict=True)):
            draw(self.distribution, self.seed, empty, given, self.dtype)

    def values(self, places: Sequence[IntArray]) -> Array:
        return self.draw(places, [])

    def draw(self, places: Sequence[IntArray], given: Sequence[Array]) -> Array:
        """Return the numbers at places, with the elements of the operands there, which broadcast to them."""
        strides = packed_strides(self.extents, range(len(self.extents) - 1, -1, -1))
        ranks: Any = np.int64(0)
        for own, stride in zip(places, strides, strict=True):
            ranks = ranks + own * np.int64(stride)
        operands = iter(given)
        parameters = [next(operands) if isinstance(p, Expression) else p for p in self.parameters]
        # A field without modes has one rank, whose number the operands may be asked for many times.
        ranks = np.broadcast_to(
            ranks, np.broadcast_shapes(np.shape(ranks), *[np.shape(own) for own in given])
        )
        return draw(self.distribution, self.seed, ranks, parameters, self.dtype)


@final
@attrs.frozen
class Sampling(Node):
    """Random numbers at some places of a field whose parameters are views, over the box of the selection."""

    field: RandomField
    layout: Layout
    operands: tuple[Expression, ...]

    @property
    def extents(self) -> Extents:
        return self.layout.shape.extents

    @property
    def dtype(self) -> "np.dtype[Any]":
        return self.field.dtype

    @property
    def name(self) -> str:
        return "random"
