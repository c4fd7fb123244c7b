"""Base of the facade: the implementation inside of a layout.

`Layout` is one class over sibling mixins, one per file. These are properties (``_queries``), ordinals
(``_ordinals``), layers (``_nested_queries``), rows (``_rows``), conversions (``_exchange``) and named
constructors (``_constructors``). None of them builds on another.
"""

from abc import abstractmethod
from typing import Generic, Self, cast

from tensorwrapper._error_text import brief
from tensorwrapper._hints import Hinted
from tensorwrapper.errors import ConversionError, LayoutError
from tensorwrapper.layout.boxes._common import LayoutCommon
from tensorwrapper.layout.boxes._strided import Strided
from tensorwrapper.typing import Index, IndexT_co


class LayoutBase(Generic[IndexT_co], metaclass=Hinted):
    """Abstract: `implementation`, which answers, and `_wrap`."""

    __slots__ = ()

    implementation: LayoutCommon

    def __dir__(self) -> list[str]:
        return dir(type(self))

    @classmethod
    @abstractmethod
    def _wrap(cls, layout: LayoutCommon) -> Self:
        """Return the facade over `layout`."""

    def __len__(self) -> int:
        raise TypeError("a layout has no len: `l.shape` has extents, rank and size")

    def __iter__(self) -> None:
        raise TypeError("a layout is not iterable: `l.to_numpy()` has its offsets")

    def __bool__(self) -> bool:
        return True

    def _strided(self, what: str) -> Strided:
        strided = self.implementation.as_strided()
        if strided is not None:
            return cast("Strided", strided)
        raise LayoutError(
            f"{what} needs a strided layout, which this one over {self.implementation.shape} is not: "
            "`t.to_dense()` of a tensor has one"
            + (": it has layers, flatten() it first" if self.implementation.layers else "")
        )


def implementation_of(layout: object, what: str) -> LayoutCommon:
    """Return what the facade holds, without names; ``what`` names the operation that is given a layout."""
    if isinstance(layout, LayoutBase):
        return cast("LayoutBase[Index]", layout).implementation.unnamed()
    raise ConversionError(f"{what} needs a Layout, not {brief(layout)}")
