"""Base of the facade: the implementation inside of a shape, and the names of its modes.

`Shape` is one class over sibling mixins, one per file. These are properties (``_queries``), parts of the same
rank (``_parts``), sets (``_sets``), named constructors (``_constructors``), and conversions (``_exchange``).
None of them builds on another.
"""

from abc import abstractmethod
from collections.abc import Iterable
from typing import Generic, NoReturn, Self, SupportsIndex, TypeAlias

from tensorwrapper._hints import Hinted
from tensorwrapper.errors import ConversionError, ExtentError
from tensorwrapper.shape.boxes._common import ShapeCommon
from tensorwrapper.shape.boxes._keys import mode_of
from tensorwrapper.shape.boxes._names import ModeNames, Names, agreed_names, mode_of_name, names_tuple
from tensorwrapper.shape.boxes._smooth import Smooth, SmoothCommon
from tensorwrapper.shape.kinds._jagged import JaggedCommon
from tensorwrapper.shape.kinds._nested import Implementation, NestedCommon
from tensorwrapper.typing import IndexT_co


class ShapeBase(Generic[IndexT_co], metaclass=Hinted):
    """Abstract: `implementation`, which answers, `_names`, those of its modes, and `_wrap`."""

    __slots__ = ()

    implementation: Implementation
    _names: Names

    def __dir__(self) -> list[str]:
        return dir(type(self))

    @classmethod
    @abstractmethod
    def _wrap(cls, implementation: ShapeCommon, names: Names = None) -> Self:
        """Return the facade over `implementation`, whose modes have these names."""

    @property
    def rank(self) -> int:
        """The number of modes."""
        return self.implementation.rank

    @property
    def ndim(self) -> int:
        """The number of modes: `rank` by NumPy's name."""
        return self.rank

    @property
    def names(self) -> ModeNames:
        """The name of every mode, None for a mode without one; `named` gives names.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> Shape(2, 3).names, Shape(2, 3).named("atom", "shell").names
        ((None, None), ('atom', 'shell'))
        """
        return names_tuple(self._names, self.implementation.rank)

    def mode(self, mode: SupportsIndex | str) -> int:
        """Return the number of a mode that is given by name, or counted from the last if negative.

        Raises
        ------
        ModeNameError
            If no mode has the name; the text lists those there are.
        RankError
            If there is no such mode.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> Shape(2, 3).named("atom", "shell").mode("shell"), Shape(2, 3).mode(-1)
        (1, 1)
        """
        if isinstance(mode, str):
            return mode_of_name(mode, self._names)
        return mode_of(mode, self.implementation.rank)

    def __len__(self) -> NoReturn:
        raise TypeError("a shape has no len: `s.extents`, `s.rank` and `s.size` are attributes")

    def __iter__(self) -> None:
        # Not NoReturn, with which checkers would take a shape for an iterable.
        raise TypeError(
            "a shape is not iterable: `s.indices()` goes over its indices, `s.extents` has its extents"
        )

    def __bool__(self) -> bool:
        # Without this, truth would ask __len__ and raise.
        return True


ShapeLike: TypeAlias = ShapeBase[IndexT_co] | ShapeCommon | Iterable[SupportsIndex]
"""What `as_shape` accepts: a shape, an implementation of one, or extents. It has a rank if the shape has."""


def implementation_of(shape: ShapeLike) -> Implementation:
    """Return the implementation of a shape or of extents, which make a box at the origin."""
    if isinstance(shape, ShapeBase):
        return shape.implementation
    if isinstance(shape, ShapeCommon):
        if isinstance(shape, SmoothCommon | JaggedCommon | NestedCommon):
            return shape
        raise ConversionError(f"{type(shape).__name__} is not a smooth, jagged or nested shape")
    if isinstance(shape, int):
        raise ExtentError(f"a shape is given by a sequence of extents, not by the integer {shape}")
    return Smooth(shape)


def names_of(shape: ShapeLike) -> Names:
    """Return the names of the modes of a shape or of extents."""
    return shape._names if isinstance(shape, ShapeBase) else None


def check_names(target: ShapeLike, value: ShapeLike, what: str) -> None:
    """Raise `ModeNameError` if a mode of a value has another name than the one it is written into.

    They meet from the last mode on; a mode without a name goes into any.
    """
    mine, theirs = names_of(target), names_of(value)
    if mine is not None and theirs is not None:
        count = min(len(mine), len(theirs))
        agreed_names([mine[len(mine) - count :], theirs[len(theirs) - count :]], what)
