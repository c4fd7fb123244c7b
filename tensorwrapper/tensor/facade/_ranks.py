"""What the operations of a `Tensor` give: the rank of each result, as checkers and editors know it."""

from collections.abc import Callable, Iterable
from types import GenericAlias
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, overload

import numpy as np
import numpy.typing as npt

from tensorwrapper.layout import Layout
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

    from tensorwrapper.layout import Boundary
    from tensorwrapper.selection import View
    from tensorwrapper.tensor._tensor import Tensor
    from tensorwrapper.tensor.facade._indexing import OuterIndexer, PointIndexer

    # In stubs of NumPy before 2.2 no element type has a Python type; without the default, `item` were Never.
    _V = TypeVarWithDefault("_V", default=Any)

__all__ = ["TensorRanks"]

_S = TypeVar("_S", bound=np.generic)
_J = TypeVar("_J", bound=AnyRank)


class TensorRanks(Generic[ScalarT_co, IndexT_co]):
    """No primitives. The mixins do what stands here, and cannot say it: their results are of one rank."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def shape(self) -> Shape[IndexT_co]:
            """The indices of the elements."""
            ...

        @property
        def layout(self) -> Layout[IndexT_co]:
            """Where the elements lie in the buffer, in elements."""
            ...

        def to_numpy(self) -> "np.ndarray[IndexT_co, np.dtype[ScalarT_co]]":
            """Return the array over the same memory; it is read-only where the tensor is.

            Raises
            ------
            ConversionError
                If the tensor is jagged, tiled or sparse: nothing is densified without being asked. If it has
                strings, elements that are computed or decompressed when they are read, or a mode without a
                single stride (rotated, gathered): no array can be over them, and ``np.asarray`` reads them all.
            """
            ...

        @overload
        def __array__(self, dtype: None = None, copy: bool | None = None) -> "npt.NDArray[ScalarT_co]": ...  # noqa: FBT001
        @overload
        def __array__(self, dtype: "np.dtype[_S]", copy: bool | None = None) -> "npt.NDArray[_S]": ...  # noqa: FBT001
        @overload
        def __array__(self, dtype: "np.dtype[Any] | None" = None, copy: bool | None = None) -> Array: ...  # noqa: FBT001
        def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any: ...  # noqa: FBT001

        def item(self: "TensorRanks[np.generic[_V], AnyRank]") -> _V:
            """Return the only element as a Python number, string or bytes.

            Raises
            ------
            ConversionError
                If there is another number of elements than one.
            """
            ...

        @overload
        def tolist(self: "TensorRanks[Any, UnknownRank]") -> Any:  # noqa: ANN401
            """Return the elements as Python's numbers or strings in nested lists; just one if the rank is 0."""
            ...

        @overload
        def tolist(self: "TensorRanks[np.generic[_V], Rank0]") -> _V: ...
        @overload
        def tolist(self: "TensorRanks[np.generic[_V], Rank1]") -> list[_V]: ...
        @overload
        def tolist(self: "TensorRanks[np.generic[_V], Rank2]") -> list[list[_V]]: ...
        @overload
        def tolist(self: "TensorRanks[np.generic[_V], Rank3]") -> list[list[list[_V]]]: ...
        @overload
        def tolist(self) -> Any: ...  # noqa: ANN401
        def tolist(self) -> Any:
            """Return the elements as Python's numbers or strings in nested lists; just one if the rank is 0."""
            ...

        @overload
        def squeeze(
            self: "TensorRanks[ScalarT_co, UnknownRank]", *modes: Integer | Iterable[Integer]
        ) -> "Tensor[ScalarT_co]":
            """Return the view without the given modes of extent 1; without all such if none is given."""
            ...

        @overload
        def squeeze(
            self: "TensorRanks[ScalarT_co, tuple[int, *Modes]]", mode: Integer, /
        ) -> "Tensor[ScalarT_co, tuple[*Modes]]": ...
        @overload
        def squeeze(self, *modes: Integer | Iterable[Integer]) -> "Tensor[ScalarT_co]": ...
        def squeeze(self, *modes: Any) -> Any:
            """Return the view without the given modes of extent 1; without all such if none is given."""
            ...

        @overload
        def unsqueeze(
            self: "TensorRanks[ScalarT_co, UnknownRank]", *modes: Integer | Iterable[Integer]
        ) -> "Tensor[ScalarT_co]":
            """Return the view with new modes of extent 1, which become the modes `modes` of it."""
            ...

        @overload
        def unsqueeze(
            self: "TensorRanks[ScalarT_co, tuple[*Modes]]", mode: Integer, /
        ) -> "Tensor[ScalarT_co, tuple[int, *Modes]]": ...
        @overload
        def unsqueeze(self, *modes: Integer | Iterable[Integer]) -> "Tensor[ScalarT_co]": ...
        def unsqueeze(self, *modes: Any) -> Any:
            """Return the view with new modes of extent 1, which become the modes `modes` of it."""
            ...

        @overload
        def sliding_window(
            self: "TensorRanks[ScalarT_co, UnknownRank]", mode: Integer, length: Integer
        ) -> "Tensor[ScalarT_co]":
            """Return the view of all runs of `length` positions of `mode`; a new last mode counts in the run."""
            ...

        @overload
        def sliding_window(
            self: "TensorRanks[ScalarT_co, tuple[*Modes]]", mode: Integer, length: Integer
        ) -> "Tensor[ScalarT_co, tuple[int, *Modes]]": ...
        def sliding_window(self, mode: Any, length: Any) -> Any:
            """Return the view of all runs of `length` positions of `mode`; a new last mode counts in the run."""
            ...

        @overload
        def diagonal(
            self: "TensorRanks[ScalarT_co, UnknownRank]", first: Integer = 0, second: Integer = 1
        ) -> "Tensor[ScalarT_co]":
            """Return the view of the elements whose positions in two modes agree; the new mode is the last."""
            ...

        @overload
        def diagonal(
            self: "TensorRanks[ScalarT_co, tuple[int, int, *Modes]]", first: Integer = 0, second: Integer = 1
        ) -> "Tensor[ScalarT_co, tuple[int, *Modes]]": ...
        def diagonal(self, first: Any = 0, second: Any = 1) -> Any:
            """Return the view of the elements whose positions in two modes agree; the new mode is the last."""
            ...

        @overload
        def reshape(self, extents: UnknownRank, /) -> "Tensor[ScalarT_co]":
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
        def reshape(self, extents: Integer | tuple[Integer], /) -> "Tensor[ScalarT_co, Rank1]": ...
        @overload
        def reshape(self, extents: tuple[Integer, Integer], /) -> "Tensor[ScalarT_co, Rank2]": ...
        @overload
        def reshape(self, a: Integer, b: Integer, /) -> "Tensor[ScalarT_co, Rank2]": ...
        @overload
        def reshape(self, extents: tuple[Integer, Integer, Integer], /) -> "Tensor[ScalarT_co, Rank3]": ...
        @overload
        def reshape(self, a: Integer, b: Integer, c: Integer, /) -> "Tensor[ScalarT_co, Rank3]": ...
        @overload
        def reshape(
            self, extents: tuple[Integer, Integer, Integer, Integer], /
        ) -> "Tensor[ScalarT_co, Rank4]": ...
        @overload
        def reshape(
            self, a: Integer, b: Integer, c: Integer, d: Integer, /
        ) -> "Tensor[ScalarT_co, Rank4]": ...
        @overload
        def reshape(self, *extents: Integer | Iterable[Integer]) -> "Tensor[ScalarT_co]": ...
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
        def broadcast(self, shape: Shape[_J]) -> "Tensor[ScalarT_co, _J]":
            """Return the view that repeats modes of extent 1 and adds leading modes; it is read-only."""
            ...

        @overload
        def broadcast(self, shape: ShapeLike) -> "Tensor[ScalarT_co]": ...
        def broadcast(self, shape: Any) -> Any:
            """Return the view that repeats modes of extent 1 and adds leading modes; it is read-only."""
            ...

        @overload
        def tiled(self: "TensorRanks[ScalarT_co, UnknownRank]", tiling: Tiling) -> "Tensor[ScalarT_co]":
            """Return the tiled view: rank 2r, tile numbers first; memory stays as it is."""
            ...

        @overload
        def tiled(
            self: "TensorRanks[ScalarT_co, Rank1]", tiling: Tiling[Rank1]
        ) -> "Tensor[ScalarT_co, Rank2]": ...
        @overload
        def tiled(
            self: "TensorRanks[ScalarT_co, Rank2]", tiling: Tiling[Rank2]
        ) -> "Tensor[ScalarT_co, Rank4]": ...
        @overload
        def tiled(
            self: "TensorRanks[ScalarT_co, Rank3]", tiling: Tiling[Rank3]
        ) -> "Tensor[ScalarT_co, Rank6]": ...
        def tiled(self, tiling: Tiling[Any]) -> Any:
            """Return the tiled view: rank 2r, tile numbers first; memory stays as it is."""
            ...

        def split_mode(self, mode: Integer, extents: Iterable[Integer]) -> "Tensor[ScalarT_co]":
            """Return the view in which one mode counts in several, the last of them fastest."""
            ...

        def merge_modes(self, first: Integer, last: Integer) -> "Tensor[ScalarT_co]":
            """Return the view in which the modes `first` to `last` count as one, the last of them fastest."""
            ...

        def pad(
            self,
            widths: Iterable[tuple[Integer, Integer]],
            *,
            boundary: "Literal['constant'] | Boundary" = "constant",
            fill_value: object = 0,
        ) -> "View[ScalarT_co, IndexT_co]":
            """Return a view that goes on beyond the ends of a box, as NumPy's pad; nothing is copied.

            The elements of the tensor keep their indices. `pad_rows` lengthens the rows of a copy.

            Parameters
            ----------
            widths
                For each mode how many positions come before and after.
            boundary
                What stands there: a constant, or the tensor itself again in one of the ways of a layout.
            fill_value
                The constant.

            Raises
            ------
            RankError
                If there is not one pair per mode.
            JaggedModeError
                If the tensor is no box.
            """
            ...

        @property
        def oindex(self) -> "OuterIndexer[Tensor[ScalarT_co]]":
            """Outer indexing: ``t.oindex[key]`` takes the positions of each mode by themselves; a view.

            The result has one mode for each list, array, mask or slice, in their order, and no element is
            copied. A position that is named twice makes the view read-only.
            """
            ...

        @property
        def vindex(self) -> "PointIndexer[Tensor[ScalarT_co]]":
            """Pointwise indexing: ``t.vindex[key]`` takes one element per point; a copy.

            All arrays broadcast to the extents of the points, which become the first modes; slices come after
            them, integers have no mode. Masks may span several modes.
            """
            ...

        def select_tiles(
            self, numbers: "npt.ArrayLike | Callable[..., npt.ArrayLike]"
        ) -> "Tensor[ScalarT_co]":
            """Return any set of tiles of a tiled view as one jagged tensor, packed: one copy of each element.

            Parameters
            ----------
            numbers
                An (n, rank) array of tile numbers, a boolean array over the grid, or a predicate as in TAMM: a
                function that gets the tile numbers of each mode as an array, which broadcast together, and
                returns such a boolean array.

            Returns
            -------
            Tensor
                Row k is tile ``numbers[k]``; its origin is where the tile lies in the box.
            """
            ...

        def scatter(self, over: ShapeLike | Tiling, *, fill_value: object = 0) -> "Tensor[ScalarT_co]":
            """Return a box in which each cell of a jagged tensor lies at its own indices; undoes `select_tiles`.

            Parameters
            ----------
            over
                The indices of the result: a box, or a tiling, of which the result is the tiled view.
            fill_value
                What stands where no cell is. Strings are "" there.

            Returns
            -------
            Tensor
                One copy of each element; linear in the elements of the result.

            Raises
            ------
            OutOfBoundsError
                If a cell is not inside.
            LayoutError
                If cells overlap; the text names two of them.
            RankError
                If the cells have another rank than the result.
            """
            ...

        def reduce_tiles(
            self, function: "np.ufunc | Callable[..., npt.ArrayLike]", *, initial: object = None
        ) -> "Tensor[Any]":
            """Return what a function makes of each tile (or each cell of a jagged tensor).

            Empty tiles get the identity of a ufunc, as NumPy's ``reduce`` gives for an empty array. A function
            is called with them as with others: what it makes of no elements, such as not-a-number for
            ``np.median``, they get, and NumPy's warnings of that are not shown.

            Parameters
            ----------
            function
                A ufunc of two inputs that may take elements in any order, such as ``np.add``, ``np.maximum``. Or
                what reduces the modes that ``axis`` names of an array, as ``np.linalg.norm`` and ``np.median``
                do: it is called with many tiles of one size, ``function(array, axis=(1, 2))``, of at most 64 MiB
                (a larger tile comes alone), and returns one number for each.
            initial
                Takes part in every reduction by a ufunc; needed if a tile is empty and it has no identity.

            Returns
            -------
            Tensor
                One number per tile, over the shape of the tile numbers. Linear in the elements.

            Raises
            ------
            ExtentError
                If a tile is empty, and there is nothing that it gets: of ``np.maximum`` without `initial`, and of
                a function that raises for it, as ``np.max`` does.
            """
            ...

        def is_valid(self) -> "Tensor[np.bool_, IndexT_co]":
            """Tell of each element of a tensor of strings whether it is there, and not a null.

            Raises
            ------
            ConversionError
                If the tensor has no strings.
            """
            ...

        def byte_lengths(self) -> "Tensor[np.int64, IndexT_co]":
            """Return how many bytes each element of a tensor of strings has; a null has none.

            Raises
            ------
            ConversionError
                If the tensor has no strings.
            """
            ...

    else:  # Python 3.11 has no defaults of type variables: without this, one argument were too few.

        def __class_getitem__(cls, item):  # noqa: ANN001, ANN204
            return GenericAlias(cls, item)
