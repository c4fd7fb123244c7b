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
    from typing_extensions import TypeVar as TypeVarWithDefault

    from tensorwrapper.selection._view import View
    from tensorwrapper.selection.computing._fetching import Cancel, Progress
    from tensorwrapper.selection.computing._targets import Target
    from tensorwrapper.selection.facade._view_parts import OuterView, PointView
    from tensorwrapper.tensor import Tensor
    from tensorwrapper.typing import Order

    # In stubs of NumPy before 2.2 no element type has a Python type; without the default, `item` were Never.
    _V = TypeVarWithDefault("_V", default=Any)

__all__ = ["ViewRanks"]

_S = TypeVar("_S", bound=np.generic)
_J = TypeVar("_J", bound=AnyRank)


class ViewRanks(Generic[ScalarT_co, IndexT_co]):
    """No primitives. The mixins do what stands here, and cannot say it: their results are of one rank."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def shape(self) -> Shape[IndexT_co]:
            """The indices of the elements."""
            ...

        def to_numpy(self) -> "np.ndarray[IndexT_co, np.dtype[ScalarT_co]]":
            """Return the elements as an array.

            If they lie in memory with one step per mode, it is over that memory, and read-only where elements
            repeat, as of a tensor; else it is a new one. ``np.asarray`` does the same.
            """
            ...

        @overload
        def __array__(self, dtype: None = None, copy: bool | None = None) -> "npt.NDArray[ScalarT_co]": ...  # noqa: FBT001
        @overload
        def __array__(self, dtype: "np.dtype[_S]", copy: bool | None = None) -> "npt.NDArray[_S]": ...  # noqa: FBT001
        @overload
        def __array__(self, dtype: "np.dtype[Any] | None" = None, copy: bool | None = None) -> Array: ...  # noqa: FBT001
        def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any: ...  # noqa: FBT001

        def item(self: "ViewRanks[np.generic[_V], AnyRank]") -> _V:
            """Return the only element as a Python number, string or bytes."""
            ...

        @overload
        def tolist(self: "ViewRanks[Any, UnknownRank]") -> Any:  # noqa: ANN401
            """Return the elements as Python's numbers or strings in nested lists; just one if the rank is 0."""
            ...

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
        def tolist(self) -> Any:
            """Return the elements as Python's numbers or strings in nested lists; just one if the rank is 0."""
            ...

        @overload
        def squeeze(
            self: "ViewRanks[ScalarT_co, UnknownRank]", *modes: Integer | Iterable[Integer]
        ) -> "View[ScalarT_co]":
            """Return the view without the given modes of extent 1; without all such if none is given."""
            ...

        @overload
        def squeeze(
            self: "ViewRanks[ScalarT_co, tuple[int, *Modes]]", mode: Integer, /
        ) -> "View[ScalarT_co, tuple[*Modes]]": ...
        @overload
        def squeeze(self, *modes: Integer | Iterable[Integer]) -> "View[ScalarT_co]": ...
        def squeeze(self, *modes: Any) -> Any:
            """Return the view without the given modes of extent 1; without all such if none is given."""
            ...

        @overload
        def unsqueeze(
            self: "ViewRanks[ScalarT_co, UnknownRank]", *modes: Integer | Iterable[Integer]
        ) -> "View[ScalarT_co]":
            """Return the view with new modes of extent 1, which become the modes `modes` of it."""
            ...

        @overload
        def unsqueeze(
            self: "ViewRanks[ScalarT_co, tuple[*Modes]]", mode: Integer, /
        ) -> "View[ScalarT_co, tuple[int, *Modes]]": ...
        @overload
        def unsqueeze(self, *modes: Integer | Iterable[Integer]) -> "View[ScalarT_co]": ...
        def unsqueeze(self, *modes: Any) -> Any:
            """Return the view with new modes of extent 1, which become the modes `modes` of it."""
            ...

        @overload
        def sliding_window(
            self: "ViewRanks[ScalarT_co, UnknownRank]", mode: Integer, length: Integer
        ) -> "View[ScalarT_co]":
            """Return the view of all runs of `length` positions of `mode`; a new last mode counts in the run."""
            ...

        @overload
        def sliding_window(
            self: "ViewRanks[ScalarT_co, tuple[*Modes]]", mode: Integer, length: Integer
        ) -> "View[ScalarT_co, tuple[int, *Modes]]": ...
        def sliding_window(self, mode: Any, length: Any) -> Any:
            """Return the view of all runs of `length` positions of `mode`; a new last mode counts in the run."""
            ...

        @overload
        def diagonal(
            self: "ViewRanks[ScalarT_co, UnknownRank]", first: Integer = 0, second: Integer = 1
        ) -> "View[ScalarT_co]":
            """Return the view of the elements whose positions in two modes agree; the new mode is the last."""
            ...

        @overload
        def diagonal(
            self: "ViewRanks[ScalarT_co, tuple[int, int, *Modes]]", first: Integer = 0, second: Integer = 1
        ) -> "View[ScalarT_co, tuple[int, *Modes]]": ...
        def diagonal(self, first: Any = 0, second: Any = 1) -> Any:
            """Return the view of the elements whose positions in two modes agree; the new mode is the last."""
            ...

        @overload
        def reshape(self, extents: UnknownRank, /) -> "View[ScalarT_co]":
            """Return the view of the same elements, in row-major order, under new extents; never a copy.

            The extents are given loose or as one sequence. One may be -1: it becomes what the others leave. A
            `View` takes any extents, and puts the elements in order when it is computed.

            Raises
            ------
            ExtentError
                If the number of elements changes.
            LayoutError
                If only a copy of a tensor could have these extents: ``copy().reshape(...)`` makes it.
            """
            ...

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
        def reshape(self, *extents: Any) -> Any:
            """Return the view of the same elements, in row-major order, under new extents; never a copy.

            The extents are given loose or as one sequence. One may be -1: it becomes what the others leave. A
            `View` takes any extents, and puts the elements in order when it is computed.

            Raises
            ------
            ExtentError
                If the number of elements changes.
            LayoutError
                If only a copy of a tensor could have these extents: ``copy().reshape(...)`` makes it.
            """
            ...

        @overload
        def broadcast(self, shape: Shape[_J]) -> "View[ScalarT_co, _J]":
            """Return the view that repeats modes of extent 1, adds leading modes, or spreads over rows.

            Parameters
            ----------
            shape
                Of the result; of rows if there is one element for each index of their first modes.
            """
            ...

        @overload
        def broadcast(self, shape: ShapeLike) -> "View[ScalarT_co]": ...
        def broadcast(self, shape: Any) -> Any:
            """Return the view that repeats modes of extent 1, adds leading modes, or spreads over rows.

            Parameters
            ----------
            shape
                Of the result; of rows if there is one element for each index of their first modes.
            """
            ...

        @overload
        def tiled(self: "ViewRanks[ScalarT_co, UnknownRank]", tiling: Tiling) -> "View[ScalarT_co]":
            """Return the tiled view: rank 2r, tile numbers first; memory stays as it is."""
            ...

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
        def tiled(self, tiling: Tiling[Any]) -> Any:
            """Return the tiled view: rank 2r, tile numbers first; memory stays as it is."""
            ...

        def split_mode(self, mode: Integer, extents: Iterable[Integer]) -> "View[ScalarT_co]":
            """Return the view in which one mode counts in several, the last of them fastest."""
            ...

        def merge_modes(self, first: Integer, last: Integer) -> "View[ScalarT_co]":
            """Return the view in which the modes `first` to `last` count as one, the last of them fastest."""
            ...

        @property
        def oindex(self) -> "OuterView[View[ScalarT_co]]":
            """Outer indexing: ``v.oindex[key]`` takes the positions of each mode by themselves."""
            ...

        @property
        def vindex(self) -> "PointView[View[ScalarT_co]]":
            """Pointwise indexing: ``v.vindex[key]`` takes one element per point; their modes come first."""
            ...

        def compute(
            self,
            out: "Target | None" = None,
            order: "Order | Iterable[Integer]" = "C",
            *,
            threads: Integer | None = None,
            progress: "Progress | None" = None,
            cancel: "Cancel | None" = None,
            scheduler: object = None,
        ) -> "Tensor[ScalarT_co, IndexT_co]":
            """Return the elements as a tensor with memory of its own, at the same indices.

            Beside the result a few MiB are needed, and for sources that are not in this process what is
            on its way. A jagged, sparse or string tensor that is only sliced stays what it is.

            Parameters
            ----------
            out
                What is written into instead, and returned as a tensor: a tensor with strides, or an array, of
                these extents, any strides and a type that ours may be cast to; or what speaks DLPack, as a
                tensor of PyTorch does, and lets its memory be written to. Where it shares memory with a
                source, the elements are computed apart first.
            order
                How new memory is filled: "C", "F", or the modes from the fastest to the slowest.
            threads
                How many threads copy large parts. If not given, two for results of 32 MiB and more, where this
                process may use two processors, else one.
            progress
                Called with the bytes written so far, and of all, now and then.
            cancel
                A `threading.Event`, or whatever has an `is_set` method: once that is true, the computation ends.
            scheduler
                What runs the tasks of Dask that the view reads: a client of a cluster, or "threads", "sync" and
                the like. What is selected is cut where the chunks are, and comes here as it is.

            Raises
            ------
            ComputationCancelledError
                If it was cancelled. What was written into `out` stays; reads of sources are cancelled.
            ExtentMismatchError, DTypeError, ReadOnlyError
                If `out` does not fit.
            """
            ...

        def copy(self) -> "Tensor[ScalarT_co, IndexT_co]":
            """Return the elements in memory of their own: the same as `compute`."""
            ...

    else:  # Python 3.11 has no defaults of type variables: without this, one argument were too few.

        def __class_getitem__(cls, item):  # noqa: ANN001, ANN204
            return GenericAlias(cls, item)
