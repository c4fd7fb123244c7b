"""What the operations of a `View` give: the rank of each result, as checkers and editors know it."""

from collections.abc import Iterable
from types import GenericAlias
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import numpy as np
import numpy.typing as npt

from tensorwrapper.shape import Shape, ShapeLike, Tiling
from tensorwrapper.typing import (
    AnyRank,
    Array,
    IndexT_co,
    Integer,
    Modes,
    Rank0,
    Rank1,
    Rank2,
    Rank3,
    Rank4,
    Rank6,
    ScalarT_co,
    UnknownRank,
)

if TYPE_CHECKING:
    from tensorwrapper.selection._view import View
    from tensorwrapper.selection._view_parts import OuterView, PointView
    from tensorwrapper.selection.computing._fetching import Cancel, Progress
    from tensorwrapper.selection.computing._targets import Target
    from tensorwrapper.tensor import Tensor
    from tensorwrapper.typing import Order

__all__ = ["ViewRanks"]

_S = TypeVar("_S", bound=np.generic)
_V = TypeVar("_V")
_J = TypeVar("_J", bound=AnyRank)


class ViewRanks(Generic[ScalarT_co, IndexT_co]):
    """No primitives. The mixins do what stands here, and cannot say it: their results are of one rank."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def shape(self) -> Shape[IndexT_co]: ...
        def to_numpy(self) -> "np.ndarray[IndexT_co, np.dtype[ScalarT_co]]": ...
        @overload
        def __array__(self, dtype: None = None, copy: bool | None = None) -> "npt.NDArray[ScalarT_co]": ...  # noqa: FBT001
        @overload
        def __array__(self, dtype: "np.dtype[_S]", copy: bool | None = None) -> "npt.NDArray[_S]": ...  # noqa: FBT001
        @overload
        def __array__(self, dtype: "np.dtype[Any] | None" = None, copy: bool | None = None) -> Array: ...  # noqa: FBT001
        def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any: ...  # noqa: FBT001

        def item(self: "ViewRanks[np.generic[_V], AnyRank]") -> _V: ...
        @overload
        def tolist(self: "ViewRanks[Any, UnknownRank]") -> Any: ...  # noqa: ANN401
        @overload
        def tolist(self: "ViewRanks[np.generic[_V], Rank0]") -> _V: ...
        @overload
        def tolist(self: "ViewRanks[np.generic[_V], Rank1]") -> list[_V]: ...
        @overload
        def tolist(self: "ViewRanks[np.generic[_V], Rank2]") -> list[list[_V]]: ...
        @overload
        def tolist(self: "ViewRanks[np.generic[_V], Rank3]") -> list[list[list[_V]]]: ...
        @overload
        def tolist(self) -> Any: ...  # noqa: ANN401
        def tolist(self) -> Any: ...

        @overload
        def squeeze(
            self: "ViewRanks[ScalarT_co, UnknownRank]", *modes: Integer | Iterable[Integer]
        ) -> "View[ScalarT_co]": ...
        @overload
        def squeeze(
            self: "ViewRanks[ScalarT_co, tuple[int, *Modes]]", mode: Integer, /
        ) -> "View[ScalarT_co, tuple[*Modes]]": ...
        @overload
        def squeeze(self, *modes: Integer | Iterable[Integer]) -> "View[ScalarT_co]": ...
        def squeeze(self, *modes: Any) -> Any: ...

        @overload
        def unsqueeze(self: "ViewRanks[ScalarT_co, UnknownRank]", mode: Integer) -> "View[ScalarT_co]": ...
        @overload
        def unsqueeze(
            self: "ViewRanks[ScalarT_co, tuple[*Modes]]", mode: Integer
        ) -> "View[ScalarT_co, tuple[int, *Modes]]": ...
        def unsqueeze(self, mode: Any) -> Any: ...

        @overload
        def sliding_window(
            self: "ViewRanks[ScalarT_co, UnknownRank]", mode: Integer, length: Integer
        ) -> "View[ScalarT_co]": ...
        @overload
        def sliding_window(
            self: "ViewRanks[ScalarT_co, tuple[*Modes]]", mode: Integer, length: Integer
        ) -> "View[ScalarT_co, tuple[int, *Modes]]": ...
        def sliding_window(self, mode: Any, length: Any) -> Any: ...

        @overload
        def diagonal(
            self: "ViewRanks[ScalarT_co, UnknownRank]", first: Integer = 0, second: Integer = 1
        ) -> "View[ScalarT_co]": ...
        @overload
        def diagonal(
            self: "ViewRanks[ScalarT_co, tuple[int, int, *Modes]]", first: Integer = 0, second: Integer = 1
        ) -> "View[ScalarT_co, tuple[int, *Modes]]": ...
        def diagonal(self, first: Any = 0, second: Any = 1) -> Any: ...

        @overload
        def reshape(self, extents: UnknownRank, /) -> "View[ScalarT_co]": ...
        @overload
        def reshape(self, extents: Integer | tuple[Integer], /) -> "View[ScalarT_co, Rank1]": ...
        @overload
        def reshape(self, extents: tuple[Integer, Integer], /) -> "View[ScalarT_co, Rank2]": ...
        @overload
        def reshape(self, a: Integer, b: Integer, /) -> "View[ScalarT_co, Rank2]": ...
        @overload
        def reshape(self, extents: tuple[Integer, Integer, Integer], /) -> "View[ScalarT_co, Rank3]": ...
        @overload
        def reshape(self, a: Integer, b: Integer, c: Integer, /) -> "View[ScalarT_co, Rank3]": ...
        @overload
        def reshape(
            self, extents: tuple[Integer, Integer, Integer, Integer], /
        ) -> "View[ScalarT_co, Rank4]": ...
        @overload
        def reshape(self, a: Integer, b: Integer, c: Integer, d: Integer, /) -> "View[ScalarT_co, Rank4]": ...
        @overload
        def reshape(self, *extents: Integer | Iterable[Integer]) -> "View[ScalarT_co]": ...
        def reshape(self, *extents: Any) -> Any: ...

        @overload
        def broadcast(self, shape: Shape[_J]) -> "View[ScalarT_co, _J]": ...
        @overload
        def broadcast(self, shape: ShapeLike) -> "View[ScalarT_co]": ...
        def broadcast(self, shape: Any) -> Any: ...

        @overload
        def tiled(self: "ViewRanks[ScalarT_co, UnknownRank]", tiling: Tiling) -> "View[ScalarT_co]": ...
        @overload
        def tiled(
            self: "ViewRanks[ScalarT_co, Rank1]", tiling: Tiling[Rank1]
        ) -> "View[ScalarT_co, Rank2]": ...
        @overload
        def tiled(
            self: "ViewRanks[ScalarT_co, Rank2]", tiling: Tiling[Rank2]
        ) -> "View[ScalarT_co, Rank4]": ...
        @overload
        def tiled(
            self: "ViewRanks[ScalarT_co, Rank3]", tiling: Tiling[Rank3]
        ) -> "View[ScalarT_co, Rank6]": ...
        def tiled(self, tiling: Tiling[Any]) -> Any: ...

        def split_mode(self, mode: Integer, extents: Iterable[Integer]) -> "View[ScalarT_co]": ...
        def merge_modes(self, first: Integer, last: Integer) -> "View[ScalarT_co]": ...

        @property
        def oindex(self) -> "OuterView[View[ScalarT_co]]": ...
        @property
        def vindex(self) -> "PointView[View[ScalarT_co]]": ...
        def compute(
            self,
            out: "Target | None" = None,
            order: "Order | Iterable[Integer]" = "C",
            *,
            threads: Integer | None = None,
            progress: "Progress | None" = None,
            cancel: "Cancel | None" = None,
        ) -> "Tensor[ScalarT_co, IndexT_co]": ...
        def copy(self) -> "Tensor[ScalarT_co, IndexT_co]": ...

    else:  # Python 3.11 has no defaults of type variables: without this, one argument were too few.

        def __class_getitem__(cls, item):  # noqa: ANN001, ANN204
            return GenericAlias(cls, item)
