"""`View`: a selection of one or many sources, which reads no element before it is computed."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, cast, final, overload

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import check_casting, times_like, to_dtype
from tensorwrapper._hints import hint
from tensorwrapper._value_class import slot_setters, token_of, value_class
from tensorwrapper.buffer.lowlevel import convert_elements, holds_strings, kind_of
from tensorwrapper.errors import ConversionError, DTypeError
from tensorwrapper.selection.expressions._elementwise import Casting
from tensorwrapper.selection.expressions._expression import Expression, unnamed_view
from tensorwrapper.selection.facade._view_base import ViewQueries, to_element_type
from tensorwrapper.selection.facade._view_cells import ViewCells, ViewRows
from tensorwrapper.selection.facade._view_compute import ViewRunning
from tensorwrapper.selection.facade._view_kinds import ViewKinds
from tensorwrapper.selection.facade._view_parts import ViewParts
from tensorwrapper.selection.facade._view_writing import Value, ViewWriting
from tensorwrapper.selection.jagged._rows import put_together_rows
from tensorwrapper.selection.optimizer._shrink_buffers import compacted
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import (
    Operators,
    TensorBlocks,
    TensorCommon,
    TensorLibraries,
    TensorSparse,
    TensorStrings,
    TensorSymmetry,
)
from tensorwrapper.typing import (
    ArrayKey,
    DType,
    ElementCasting,
    Extents,
    Fewer,
    IntArray,
    Integer,
    IntegerAndSlice,
    KeyWithArray,
    Modes,
    NamedKey,
    Rank1,
    Rank2,
    Rank3,
    Rank4,
    Rank6,
    Slices,
    UnknownRank,
)
from tensorwrapper.typing import IndexT_co as J
from tensorwrapper.typing import ScalarT_co as S

if TYPE_CHECKING:
    from tensorwrapper.selection.execution._single_source import Direct
    from tensorwrapper.selection.plans._plan import Plan

_R = TypeVar("_R")
_S = TypeVar("_S", bound=np.generic)


@final
@value_class(eq=False, repr=False, getstate_setstate=False)
class View(
    ViewParts[S, J],
    ViewQueries[S, J],
    ViewRows[S, J],
    ViewCells[S, J],
    ViewKinds[S, J],
    ViewRunning[S, J],
    ViewWriting[S, J],
    TensorStrings[S, J],
    TensorSparse[S, J],
    TensorBlocks[S, J],
    TensorSymmetry[S, J],
    TensorLibraries[S, J],
    TensorCommon[S],
    Operators[S, J],
    Generic[S, J],
):
    """A lazy selection of elements of sources, made of simple steps; `compute` reads them.

    Made by `as_view` of a tensor or another source, by the functions of this module, and by every operation
    on a view. It has the operations of a `Tensor`. Two views are equal only if they are the same object;
    ``a.normal_form() == b.normal_form()`` tells whether they surely have the same elements.

    Examples
    --------
    >>> import tensorwrapper as tw
    >>> from tensorwrapper import selection as sel
    >>> v = sel.as_view(tw.as_tensor([[1, 2, 3], [4, 5, 6]]))
    >>> v[:, ::-1].shape
    Shape(2, 3)
    """

    _expression: Expression = attrs.field(alias="expression")
    _normal: Expression | None = attrs.field(default=None, init=False)
    _plan: "Plan | None" = attrs.field(default=None, init=False)
    _direct: "Direct | None" = attrs.field(default=None, init=False)

    if TYPE_CHECKING:

        def __init__(self, expression: Expression) -> None: ...

        # Return types of the operations that tensors and views share: see `Kin`.
        @overload
        def _kin(self, change: None, /) -> "View[S]": ...
        @overload
        def _kin(self: "View[S, UnknownRank]", change: str, /) -> "View[S]": ...
        @overload
        def _kin(
            self: "View[S, tuple[int, int, *Modes]]", change: Literal["diagonal"], /
        ) -> "View[S, tuple[int, *Modes]]": ...
        @overload
        def _kin(self, change: Rank1, /) -> "View[S, Rank1]": ...
        @overload
        def _kin(self, change: Rank2, /) -> "View[S, Rank2]": ...
        @overload
        def _kin(self, change: Rank3, /) -> "View[S, Rank3]": ...
        @overload
        def _kin(self, change: Rank4, /) -> "View[S, Rank4]": ...
        @overload
        def _kin(self, change: Rank6, /) -> "View[S, Rank6]": ...
        def _kin(self, change: Any, /) -> Any: ...

    def __attrs_post_init__(self) -> None:
        if not isinstance(cast("object", self._expression), Expression):
            raise ConversionError(
                f"a View is made of an expression, not of {type(self._expression).__name__}: as_view() "
                "makes the view of a tensor, an array or another source"
            )

    def _as_operand(self) -> "Tensor[S]":
        return self.compute()

    def __mask_places__(self) -> "tuple[Extents, IntArray] | None":
        asked = self.dtype == np.bool_ and (self.is_sparse or self.is_nullable)
        return self.compute().__mask_places__() if asked else None

    @classmethod
    def _make(cls, expression: Expression) -> "View[S, J]":
        view: View[S, J] = object.__new__(View)
        _set_expression(view, expression)
        _set_normal(view, None)
        _set_plan(view, None)
        _set_direct(view, None)
        return view

    # Parts of another rank.

    @overload
    def __getitem__(self, key: Slices) -> "View[S, J]": ...
    @overload
    def __getitem__(self: "View[S, UnknownRank]", key: ArrayKey) -> "View[S]": ...
    @overload
    def __getitem__(self, key: KeyWithArray) -> "View[S]": ...
    @overload
    def __getitem__(self: "View[S, tuple[int, *Modes]]", key: Integer) -> "View[S, tuple[*Modes]]": ...
    @overload
    def __getitem__(
        self: "View[S, tuple[int, int, *Modes]]", key: tuple[Integer, Integer]
    ) -> "View[S, tuple[*Modes]]": ...
    @overload
    def __getitem__(
        self: "View[S, tuple[int, int, *Modes]]", key: IntegerAndSlice
    ) -> "View[S, tuple[int, *Modes]]": ...
    @overload
    def __getitem__(self: "View[S, tuple[*Modes]]", key: None) -> "View[S, tuple[int, *Modes]]": ...
    @overload
    def __getitem__(self, key: "ArrayKey | NamedKey") -> "View[S]": ...
    def __getitem__(self, key: "ArrayKey | NamedKey") -> "View[Any, Any]":
        """Return the selected part, which starts at zero; NumPy's rules, and nothing is copied.

        Integers, slices, ellipses and None move the modes; lists, arrays and masks pick positions as NumPy
        does: several of them together pick points.

        Raises
        ------
        OutOfBoundsError
            If a position does not exist, or a mask has other extents.
        TooManyIndicesError
            If there are more indices than modes.
        """
        return self._at(key)

    def __setitem__(self, key: "ArrayKey | NamedKey", value: Value) -> None:
        """Write `value` into the selected part, as `assign` does; no element may be selected twice.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> from tensorwrapper import selection as sel
        >>> t = tw.as_tensor([[1, 2], [3, 4]])
        >>> sel.concat([t, t[:0]])[:, 1] = 0
        >>> t.tolist()
        [[1, 0], [3, 0]]
        """
        self[key].assign(value)

    def __iter__(self: Fewer[_R]) -> Iterator[_R]:
        view: Any = self
        return (view[k] for k in range(len(view)))

    # Elements of another type.

    @overload
    def astype(self, dtype: "DType[_S]", *, casting: ElementCasting = ...) -> "View[_S, J]": ...
    @overload
    def astype(self, dtype: npt.DTypeLike, *, casting: ElementCasting = ...) -> "View[Any, J]": ...
    def astype(self, dtype: npt.DTypeLike, *, casting: ElementCasting = "checked") -> "View[Any, Any]":
        """Return the view of the elements as ones of another type, cast when it is computed.

        Parameters
        ----------
        dtype
            The type of the new elements.
        casting
            Whether an element that the type cannot hold raises `SizeOverflowError` when the view is computed,
            or integers wrap round as NumPy's. Fractions are dropped in either case.

        Raises
        ------
        DTypeError
            If it is not a type, or tensors have no such elements, or the elements are strings.

        Examples
        --------
        >>> from tensorwrapper import selection as sel
        >>> sel.as_view([1.5, 2.5]).astype("i4").compute().tolist()
        [1, 2]
        """
        if casting != "checked":
            check_casting(casting, ElementCasting)
        if dtype is self.dtype:
            return self
        if self.dtype.kind in "mM":
            dtype = times_like(to_dtype(dtype), self.dtype)
        wanted = to_element_type(dtype, {"O": "TO", "T": "T"}.get(self.dtype.kind, ""))
        if wanted == self.dtype:
            return self
        kind = kind_of(self.dtype) if holds_strings(self.dtype) else None
        if kind is not None and (not holds_strings(wanted) or kind_of(wanted) != kind):
            raise DTypeError(f"astype needs numbers, and the elements are strings of kind {kind!r}")
        unsafe = casting == "unsafe"
        if kind is None and (self.dtype.kind in "mMV" or wanted.kind in "mMV"):
            # What no element of the type can become is refused now; all numbers of NumPy have a way.
            convert_elements(np.zeros(0, self.dtype), wanted, checked=not unsafe)
        given = unnamed_view(self._expression)
        seen = given.layout.implementation.tiled
        if seen is not None:
            tiled = self.untiled().astype(wanted, casting=casting).tiled(seen.tiling)
            if tiled.shape == self.shape:  # else the grid was moved
                return tiled
        if not given.is_box:
            view: View[Any] = View(put_together_rows("cast", [given], wanted, unsafe))
            names = self._expression.layout.implementation.names
            return view if names is None else view.named(*names)
        return View(Expression(Casting(given, wanted, unsafe), self._in_order()))

    def __dask_tokenize__(self) -> object:
        return token_of("View", self._expression)

    def __reduce__(self) -> "tuple[Callable[[Expression], View[Any]], tuple[Expression]]":
        # The normal form and the plan, which are found again, stay behind.
        return View, (compacted(self._expression),)


def expression_of(view: View[Any]) -> Expression:
    """Return the expression of a view, with its recorded steps."""
    return view._expression


def same_steps(view: View[Any], before: View[Any], after: View[Any]) -> View[Any] | None:
    """Return a view after the steps from `before` to `after`, without computing their layouts again.

    None if its layout is another object than that of `before`, or if a step made a new node.
    """
    old, new = before._expression, after._expression
    if view._expression.layout is not old.layout or new.node is not old.node:
        return None
    made = view
    for call in new.calls[len(old.calls) :] if new.written is old.written else new.calls:
        made = made._after(call, new.layout)
    return made


hint(View, "Tensor")

# The setters of the slots themselves: half the cost of ``object.__setattr__``, and every step makes a view.
_set_expression, _set_normal, _set_plan, _set_direct = slot_setters(
    View, "_expression", "_normal", "_plan", "_direct"
)
