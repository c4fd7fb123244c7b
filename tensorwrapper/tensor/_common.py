"""Common base of tensors and views: every operation that selects, and queries of extents.

Each operation is one of a `Layout`; a subclass defines in `_by` how to apply the new layout.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Generic,
    Literal,
    ParamSpec,
    Protocol,
    Self,
    SupportsIndex,
    TypeVar,
    cast,
    overload,
)

import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import or_absent
from tensorwrapper._hints import wrong_call
from tensorwrapper._integers import completed, one_sequence, to_ints
from tensorwrapper.errors import ConversionError
from tensorwrapper.layout import Layout
from tensorwrapper.shape import Shape, ShapeLike, Tiling
from tensorwrapper.tensor._lazy_imports import view_of, with_its_nulls
from tensorwrapper.typing import (
    AnyRank,
    Extents,
    Fewer,
    IntArray,
    Integer,
    Integers2,
    Integers3,
    Integers4,
    More,
    Rank1,
    Rank2,
    Rank3,
    Rank4,
    Rank6,
    ScalarT_co,
    UnknownRank,
    ValueT,
    WriteCasting,
)

if TYPE_CHECKING:
    from tensorwrapper.tensor._tensor_base import TensorBase

_P = ParamSpec("_P")
_R = TypeVar("_R")
_R_co = TypeVar("_R_co", covariant=True)
_I_co = TypeVar("_I_co", bound=AnyRank, covariant=True)
_C_contra = TypeVar("_C_contra", contravariant=True)


if TYPE_CHECKING:

    class Kin(Protocol[_C_contra, _R_co]):
        """A class with a type for each rank, for type checkers: `Tensor` or `View`.

        An operation of both is written once, and `_kin` is its result type: the class of the object that it
        is called on, with a mode less or more, of a known rank, or (``None``) of an unknown one.
        """

        def _kin(self, change: _C_contra, /) -> _R_co: ...

    class _Tiles(Kin[_C_contra, _R_co], Protocol[_I_co, _C_contra, _R_co]):
        @property
        def shape(self) -> "Shape[_I_co]": ...


class TensorCommon(ABC, Generic[ScalarT_co]):
    """Abstract: `shape`, `dtype`, `elements`, `assign`, `_by`, `_see_by` and `_relabelled`.

    Also `_as_operand` and `__mask_places__`: its form as an operand, and as a key.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def shape(self) -> Shape:
        """The indices of the elements."""

    @property
    @abstractmethod
    def dtype(self) -> "np.dtype[ScalarT_co]":
        """The type of the elements."""

    @abstractmethod
    def elements(self) -> "npt.NDArray[ScalarT_co]":
        """Return the elements as a flat array in row-major order; a view if contiguous, else a copy."""

    @abstractmethod
    def assign(self, value: Any, *, casting: WriteCasting = "same_kind") -> None:  # noqa: ANN401 - each says what it takes
        """Write `value` into all elements, broadcast as NumPy does, cast within its kind."""

    @abstractmethod
    def _as_operand(self) -> "TensorBase[ScalarT_co]":
        """Return a tensor of the elements; a view is computed."""

    @abstractmethod
    def __mask_places__(self) -> "tuple[Extents, IntArray] | None":
        """Return the extents and the row-major ordinals of a sparse mask; None for others."""

    @abstractmethod
    def _by(
        self,
        operation: Callable[Concatenate[Layout[Any], _P], Layout[Any]],
        *arguments: _P.args,
        **options: _P.kwargs,
    ) -> Self:
        """Return the same elements with the layout of an operation."""

    @abstractmethod
    def _see_by(
        self,
        operation: Callable[Concatenate[Layout[Any], _P], Layout[Any]],
        *arguments: _P.args,
        **options: _P.kwargs,
    ) -> Self:
        """As `_by`, for operations that may map several indices to one position."""

    if TYPE_CHECKING:

        def _kin(self, change: Any, /) -> "TensorCommon[ScalarT_co]": ...  # noqa: ANN401

    @property
    def rank(self) -> int:
        """The number of modes."""
        return self.shape.rank

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.shape.size

    @property
    def is_nullable(self) -> bool:
        """True if an element may be a null."""
        return False

    def item(self: "TensorCommon[np.generic[ValueT]]") -> "ValueT":
        """Return the only element as a Python number, string or bytes."""
        if self.size != 1:
            raise ConversionError(
                f"item() reads tensors with one element, not {self.size}: `t[0, 1].item()` reads one, "
                f"`t.tolist()` all"
            )
        return self.elements().item()

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    if not TYPE_CHECKING:
        # Checkers would take any tensor in brackets for one index.
        def __index__(self) -> int:
            if self.rank or self.dtype.kind not in "iu":
                # A TypeError tells Python that the operation is not supported.
                raise TypeError(f"an index is one integer, not a {type(self).__name__} of shape {self.shape}")
            return int(self.item())

    def __str__(self) -> str:
        # NumPy puts the text of an object among its strings: one text is its own, as NumPy's.
        return str(self.item()) if self.dtype.kind == "T" and not self.rank else self._text()

    def _text(self) -> str:
        return repr(self)

    def __format__(self, spec: str) -> str:
        return str(self) if self.rank else format(self.item(), spec)

    def __round__(self, digits: int | None = None) -> Any:  # noqa: ANN401 - a number, as Python's round
        return round(self.item(), digits)

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ConversionError(
                f"the truth of {self.size} elements is not one answer: `t.array_equal(t)` compares whole "
                "tensors, `np.logical_and.reduce(t, axis=None)` asks for all"
            )
        return bool(self.item())

    def __len__(self) -> int:
        if not self.rank:
            raise ConversionError("a tensor of rank 0 has no len")
        return self.shape.extent(0)

    def window(self, region: ShapeLike) -> Self:
        """Return the view of the elements of `region`, which keeps its origin.

        Raises
        ------
        OutOfBoundsError
            If the region leaves the shape.
        """
        return self._by(Layout.window, region)

    def named(self, *names: str | Iterable[str | None] | None) -> Self:
        """Return the same elements with names for the modes; they replace those that the modes had.

        As `Shape.named`, with the same errors; selections keep the names of the remaining modes.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> t = tw.as_tensor([[1, 2, 3], [4, 5, 6]]).named("row", "column")
        >>> t[:, 1:].shape, t[{"column": 0}].tolist()
        (Shape(2, 2).named('row', 'column'), [1, 4])
        """
        return self._relabelled(Layout.named, *names)

    @abstractmethod
    def _relabelled(
        self,
        operation: Callable[Concatenate[Layout[Any], _P], Layout[Any]],
        *arguments: _P.args,
        **options: _P.kwargs,
    ) -> Self:
        """Return the same elements in the same order, with the layout of an operation."""

    def translate_to(self, origin: Iterable[SupportsIndex]) -> Self:
        """Return the same elements under indices that begin at `origin`; keys go on counting from zero.

        As `Shape.translate_to`, with the same errors.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> t = tw.as_tensor([[1, 2, 3], [4, 5, 6]]).translate_to((10, 0))
        >>> t.shape, t[0].tolist(), t.window(t.shape[11:, 1:]).tolist()
        (Shape(2, 3, origin=(10, 0)), [1, 2, 3], [[5, 6]])
        """
        return self._relabelled(Layout.translate_to, origin)

    def permute(self, *order: SupportsIndex | str | Iterable[SupportsIndex | str]) -> Self:
        """Return the view whose mode k is mode ``order[k]``; the order is given loose or as one sequence.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> t = tw.as_tensor([[1, 2], [3, 4]])
        >>> t.permute(1, 0).tolist(), t.permute((1, 0)).tolist()
        ([[1, 3], [2, 4]], [[1, 3], [2, 4]])
        """
        return self._by(Layout.permute, one_sequence(order))

    @property
    @or_absent
    def T(self) -> Self:  # noqa: N802 - the name that NumPy and array libraries give it
        """The view with the modes in reverse order, as `numpy.ndarray.T`; no element moves.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.as_tensor([[1, 2, 3], [4, 5, 6]]).T.tolist()
        [[1, 4], [2, 5], [3, 6]]
        """
        return self._by(Layout.permute, tuple(range(self.rank))[::-1])

    def reverse(self, *modes: SupportsIndex | Iterable[SupportsIndex]) -> Self:
        """Return the view with the order of the given modes reversed; all of them if none is given."""
        return self._by(Layout.reverse, *modes)

    def rotate(self, shifts: Iterable[SupportsIndex]) -> Self:
        """Return the view with every mode turned round, by one shift per mode; upwards as NumPy's roll.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.as_tensor([1, 2, 3]).rotate([1]).tolist()
        [3, 1, 2]
        """
        return self._by(Layout.rotate, shifts)

    def repeat(self, times: Iterable[SupportsIndex]) -> Self:
        """Return the view with every mode repeated whole, `times` of that mode; it is read-only.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.as_tensor([1, 2]).repeat([2]).tolist()
        [1, 2, 1, 2]
        """
        return self._see_by(Layout.repeat, times)

    def repeat_each(self, mode: SupportsIndex, times: SupportsIndex) -> Self:
        """Return the view with every position of `mode` repeated `times` times; it is read-only.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.as_tensor([1, 2]).repeat_each(0, 2).tolist()
        [1, 1, 2, 2]
        """
        return self._see_by(Layout.repeat_each, mode, times)

    def gather(self, mode: SupportsIndex, positions: npt.ArrayLike) -> Self:
        """Return the view of the given positions of `mode`, in their order; read-only if one is repeated.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.as_tensor([10, 20, 30]).gather(0, [2, 0]).tolist()
        [30, 10]
        """
        return self._see_by(Layout.gather, mode, positions)

    @abstractmethod
    def broadcast(self, shape: ShapeLike) -> "TensorCommon[ScalarT_co]":
        """Return the view that repeats modes of extent 1 and adds leading modes; it is read-only."""

    @overload
    def squeeze(self: "Fewer[_R]", mode: Integer, /) -> _R:
        """Return the view without the given modes of extent 1; without all such if none is given."""

    @overload
    def squeeze(self: "Kin[None, _R]", *modes: Integer | Iterable[Integer]) -> _R: ...
    def squeeze(self, *modes: SupportsIndex | Iterable[SupportsIndex]) -> Any:
        """Return the view without the given modes of extent 1; without all such if none is given."""
        return self._by(Layout.squeeze, *modes)

    @overload
    def unsqueeze(self: "More[_R]", mode: Integer, /) -> _R:
        """Return the view with new modes of extent 1, which become the modes `modes` of it."""

    @overload
    def unsqueeze(self: "Kin[None, _R]", *modes: Integer | Iterable[Integer]) -> _R: ...
    def unsqueeze(self, *modes: SupportsIndex | Iterable[SupportsIndex]) -> Any:
        """Return the view with new modes of extent 1, which become the modes `modes` of it."""
        return self._by(Layout.unsqueeze, *one_sequence(modes))

    @overload
    def reshape(self: "Kin[None, _R]", extents: UnknownRank, /) -> _R:
        """Return the view of the same elements, in row-major order, under new extents; never a copy.

        The extents are separate arguments or one sequence. One may be -1: it is computed from the others. A
        `View` takes any extents, and puts the elements in order when it is computed.

        Raises
        ------
        ExtentError
            If the number of elements changes.
        LayoutError
            If only a copy of a tensor could have these extents: ``copy().reshape(...)`` makes it.
        """

    @overload
    def reshape(self: "Kin[Rank1, _R]", extents: Integer | tuple[Integer], /) -> _R: ...
    @overload
    def reshape(self: "Kin[Rank2, _R]", extents: Integers2, /) -> _R: ...
    @overload
    def reshape(self: "Kin[Rank2, _R]", *extents: *Integers2) -> _R: ...
    @overload
    def reshape(self: "Kin[Rank3, _R]", extents: Integers3, /) -> _R: ...
    @overload
    def reshape(self: "Kin[Rank3, _R]", *extents: *Integers3) -> _R: ...
    @overload
    def reshape(self: "Kin[Rank4, _R]", extents: Integers4, /) -> _R: ...
    @overload
    def reshape(self: "Kin[Rank4, _R]", *extents: *Integers4) -> _R: ...
    @overload
    def reshape(self: "Kin[None, _R]", *extents: Integer | Iterable[Integer]) -> _R: ...
    def reshape(self, *extents: SupportsIndex | Iterable[SupportsIndex], **odd: object) -> Any:
        """Return the view of the same elements, in row-major order, under new extents; never a copy.

        The extents are separate arguments or one sequence. One may be -1: it is computed from the others. A
        `View` takes any extents, and puts the elements in order when it is computed.

        Raises
        ------
        ExtentError
            If the number of elements changes.
        LayoutError
            If only a copy of a tensor could have these extents: ``copy().reshape(...)`` makes it.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.as_tensor([[1, 2], [3, 4], [5, 6]]).reshape(-1, 3).tolist()
        [[1, 2, 3], [4, 5, 6]]
        """
        if odd:
            raise wrong_call("Tensor", "reshape", **odd)
        return self._by(Layout.reshape, completed(to_ints(one_sequence(extents), "extents"), self.size))

    def sliding_window(self: "More[_R]", mode: Integer, length: Integer) -> _R:
        """Return the view of all runs of `length` positions of `mode`; a new last mode counts in the run."""
        me: Any = self
        made: _R = me._see_by(Layout.sliding_window, mode, length)
        return made

    def diagonal(self: "Kin[Literal['diagonal'], _R]", first: Integer = 0, second: Integer = 1) -> _R:
        """Return the view of the elements whose positions in two modes agree; the new mode is the last."""
        me: Any = self
        made: _R = me._by(Layout.diagonal, first, second)
        return made

    def split_mode(self: "Kin[None, _R]", mode: Integer, extents: Iterable[Integer]) -> _R:
        """Return the view in which one mode counts in several, the last of them fastest."""
        me: Any = self
        made: _R = me._by(Layout.split_mode, mode, extents)
        return made

    def merge_modes(self: "Kin[None, _R]", first: Integer, last: Integer) -> _R:
        """Return the view in which the modes `first` to `last` count as one, the last of them fastest."""
        me: Any = self
        made: _R = me._by(Layout.merge_modes, first, last)
        return made

    @overload
    def tiled(self: "_Tiles[UnknownRank, None, _R]", tiling: Tiling) -> _R:
        """Return the tiled view: rank 2r, tile numbers first; memory stays as it is."""

    @overload
    def tiled(self: "_Tiles[Rank1, Rank2, _R]", tiling: Tiling[Rank1]) -> _R: ...
    @overload
    def tiled(self: "_Tiles[Rank2, Rank4, _R]", tiling: Tiling[Rank2]) -> _R: ...
    @overload
    def tiled(self: "_Tiles[Rank3, Rank6, _R]", tiling: Tiling[Rank3]) -> _R: ...
    def tiled(self, tiling: Tiling) -> Any:
        """Return the tiled view: rank 2r, tile numbers first; memory stays as it is."""
        return self._by(Layout.as_tiled, tiling)


def as_computed(value: object) -> Any:  # noqa: ANN401 - as it is, whatever it is
    """Compute a view, or rows elsewhere; return other values unchanged.

    An array would lose their structure.
    """
    if isinstance(value, TensorCommon):
        return cast("Any", value)._as_operand()
    if getattr(type(value), "as_source", None) is not None:
        return view_of(value).compute()
    return with_its_nulls(value)
