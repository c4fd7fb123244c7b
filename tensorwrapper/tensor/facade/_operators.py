"""Operators and NumPy's protocols for tensors and views: NumPy computes elements, shapes are kept.

The operators are a thin layer over the ufuncs. It checks the other operand first, because NumPy's mixin calls
the ufunc for any object: ``t == None`` would be NumPy's TypeError, and the comparisons of other classes would
never be called.
"""

# pyright: reportOverlappingOverload=false
# To type checkers an int is a float as well, so overloads for ints come before those for floats.

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Protocol, TypeAlias, TypeVar, overload

import numpy as np
import numpy.typing as npt

from tensorwrapper._hints import Hinted, hint
from tensorwrapper.errors import TensorWrapperError
from tensorwrapper.tensor.operators._dense import GIVEN, call_dense
from tensorwrapper.typing import AnyRank, IndexT_co, ScalarT_co

if TYPE_CHECKING:
    from tensorwrapper.tensor._common import TensorCommon
    from tensorwrapper.tensor._tensor import Tensor

Operand: TypeAlias = "TensorCommon[Any] | npt.ArrayLike"
"""An operand of a tensor: numbers, strings, arrays, lists of these, tensors and views."""

Scalar: TypeAlias = "complex | np.generic | str | bytes"
"""A single value as an operand, which keeps the rank."""

_J = TypeVar("_J", bound=AnyRank)
_O_contra = TypeVar("_O_contra", contravariant=True)
Beside: TypeAlias = "complex | np.generic | str | bytes | Operators[Any, _J]"
"""An operand that keeps the rank: a single value, or one of the same rank."""

_F = TypeVar("_F", bound=np.inexact[Any])
# These come first where integers and booleans become others: mypy does not check the bound of the variable
# that `self`
# solves. Beside a number of Python whole numbers stay, or become float64.
_Whole: TypeAlias = "np.integer[Any] | np.bool_"
_N: TypeAlias = "np.integer[Any]"
_I = TypeVar("_I", bound=np.integer[Any])
_L = TypeVar("_L", bound=np.integer[Any] | np.bool_)


if TYPE_CHECKING:
    # Argument and result types of an operator for these elements and this rank, shared by many operators.

    class _Comparison(Protocol[_O_contra, IndexT_co]):
        @overload
        def __call__(self: "_Comparison[Any, _J]", other: "Beside[_J]", /) -> "Tensor[np.bool_, _J]": ...
        @overload
        def __call__(self, other: _O_contra, /) -> "Tensor[np.bool_]": ...

    class _Numeric(Protocol[ScalarT_co, IndexT_co]):
        @overload
        def __call__(self: "_Numeric[np.bool_, _J]", other: "Beside[_J]", /) -> "Tensor[Any, _J]": ...
        @overload
        def __call__(self: "_Numeric[_I, _J]", other: "int | Operators[_I, _J]", /) -> "Tensor[_I, _J]": ...
        @overload
        def __call__(self: "_Numeric[_N, _J]", other: float, /) -> "Tensor[np.float64, _J]": ...
        @overload
        def __call__(self: "_Numeric[_F, _J]", other: "float | Operators[_F, _J]", /) -> "Tensor[_F, _J]": ...
        @overload
        def __call__(self: "_Numeric[Any, _J]", other: "Beside[_J]", /) -> "Tensor[Any, _J]": ...
        @overload
        def __call__(self, other: Operand, /) -> "Tensor[Any]": ...

    class _Divide(Protocol[ScalarT_co, IndexT_co]):
        @overload
        def __call__(self: "_Divide[_Whole, _J]", other: "Beside[_J]", /) -> "Tensor[Any, _J]": ...
        @overload
        def __call__(self: "_Divide[_F, _J]", other: "float | Operators[_F, _J]", /) -> "Tensor[_F, _J]": ...
        @overload
        def __call__(self: "_Divide[Any, _J]", other: "Beside[_J]", /) -> "Tensor[Any, _J]": ...
        @overload
        def __call__(self, other: Operand, /) -> "Tensor[Any]": ...

    class _Bitwise(Protocol[ScalarT_co, IndexT_co]):
        @overload
        def __call__(self: "_Bitwise[_L, _J]", other: "Operators[_L, _J]", /) -> "Tensor[_L, _J]": ...
        @overload
        def __call__(self: "_Bitwise[Any, _J]", other: "Beside[_J]", /) -> "Tensor[Any, _J]": ...
        @overload
        def __call__(self, other: Operand, /) -> "Tensor[Any]": ...

    class _Shift(Protocol[ScalarT_co, IndexT_co]):
        @overload
        def __call__(self: "_Shift[_I, _J]", other: "int | Operators[_I, _J]", /) -> "Tensor[_I, _J]": ...
        @overload
        def __call__(self: "_Shift[Any, _J]", other: "Beside[_J]", /) -> "Tensor[Any, _J]": ...
        @overload
        def __call__(self, other: Operand, /) -> "Tensor[Any]": ...


class Operators(Generic[ScalarT_co, IndexT_co], metaclass=Hinted):
    """No primitives. Operators are NumPy's ufuncs, element by element."""

    __slots__ = ()

    __pandas_priority__: ClassVar[int] = 5000
    """Above that of a frame (4000), so that pandas leaves its operators beside tensors to these."""

    def __dir__(self) -> list[str]:
        return dir(type(self))

    def __array_ufunc__(
        self,
        ufunc: np.ufunc,
        method: Literal["__call__", "reduce", "reduceat", "accumulate", "outer", "at"],
        *inputs: Any,  # noqa: ANN401 - whatever stands beside a tensor
        **options: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        if method == "__call__" and not options and ufunc.nout == 1 and ufunc.signature is None:
            quick = call_dense(ufunc, inputs, type(self))
            if quick is not None:
                return quick
        # Loaded here: most programs compute nothing on tensors.
        from tensorwrapper.tensor.operators._elementwise import call  # noqa: PLC0415
        from tensorwrapper.tensor.operators._operand import is_foreign, refuse_strangers  # noqa: PLC0415

        outs = options.get("out") or ()
        strangers = list(filter(is_foreign, (*inputs, *outs)))
        if strangers:
            refuse_strangers(map(type, strangers), ufunc.__name__)
            if not outs or any(map(is_foreign, outs)):
                return NotImplemented
            # No other library writes into a tensor.
        if method == "__call__":
            return call(ufunc, inputs, options)
        from tensorwrapper.tensor.operators._reductions import METHODS  # noqa: PLC0415

        return METHODS[method](ufunc, inputs, options)

    def __array_function__(
        self,
        func: "Callable[..., Any]",
        types: Iterable[type],
        args: "tuple[Any, ...]",
        kwargs: dict[str, Any],
    ) -> Any:  # noqa: ANN401 - what the function returns
        from tensorwrapper.tensor.operators._functions import call_function  # noqa: PLC0415

        return call_function(func, types, args, kwargs)

    if TYPE_CHECKING:
        # NumPy's stubs ignore the results of its protocol, so type checkers need these declarations.

        __lt__: "_Comparison[Operand, IndexT_co]"
        __le__: "_Comparison[Operand, IndexT_co]"
        __gt__: "_Comparison[Operand, IndexT_co]"
        __ge__: "_Comparison[Operand, IndexT_co]"

        __eq__: "_Comparison[object, IndexT_co]"  # type: ignore[assignment]  # pyright: ignore[reportIncompatibleMethodOverride]
        __ne__: "_Comparison[object, IndexT_co]"  # type: ignore[assignment]  # pyright: ignore[reportIncompatibleMethodOverride]
        __hash__: ClassVar[None]  # type: ignore[assignment]  # pyright: ignore[reportIncompatibleMethodOverride]

        __add__: "_Numeric[ScalarT_co, IndexT_co]"
        __radd__: "_Numeric[ScalarT_co, IndexT_co]"
        __sub__: "_Numeric[ScalarT_co, IndexT_co]"
        __rsub__: "_Numeric[ScalarT_co, IndexT_co]"
        __mul__: "_Numeric[ScalarT_co, IndexT_co]"
        __rmul__: "_Numeric[ScalarT_co, IndexT_co]"
        __floordiv__: "_Numeric[ScalarT_co, IndexT_co]"
        __rfloordiv__: "_Numeric[ScalarT_co, IndexT_co]"
        __mod__: "_Numeric[ScalarT_co, IndexT_co]"
        __rmod__: "_Numeric[ScalarT_co, IndexT_co]"
        __pow__: "_Numeric[ScalarT_co, IndexT_co]"
        __rpow__: "_Numeric[ScalarT_co, IndexT_co]"
        __truediv__: "_Divide[ScalarT_co, IndexT_co]"
        __rtruediv__: "_Divide[ScalarT_co, IndexT_co]"
        __and__: "_Bitwise[ScalarT_co, IndexT_co]"
        __rand__: "_Bitwise[ScalarT_co, IndexT_co]"
        __or__: "_Bitwise[ScalarT_co, IndexT_co]"
        __ror__: "_Bitwise[ScalarT_co, IndexT_co]"
        __xor__: "_Bitwise[ScalarT_co, IndexT_co]"
        __rxor__: "_Bitwise[ScalarT_co, IndexT_co]"
        __lshift__: "_Shift[ScalarT_co, IndexT_co]"
        __rlshift__: "_Shift[ScalarT_co, IndexT_co]"
        __rshift__: "_Shift[ScalarT_co, IndexT_co]"
        __rrshift__: "_Shift[ScalarT_co, IndexT_co]"

        def __matmul__(self, other: Operand) -> "npt.NDArray[Any]": ...
        def __rmatmul__(self, other: Operand) -> "npt.NDArray[Any]": ...
        def __divmod__(self, other: Operand) -> "tuple[Tensor[Any], Tensor[Any]]": ...
        def __rdivmod__(self, other: Operand) -> "tuple[Tensor[Any], Tensor[Any]]": ...
        def __neg__(self) -> "Tensor[ScalarT_co, IndexT_co]": ...
        def __pos__(self) -> "Tensor[ScalarT_co, IndexT_co]": ...
        def __abs__(self) -> "Tensor[Any, IndexT_co]": ...
        def __invert__(self) -> "Tensor[ScalarT_co, IndexT_co]": ...

    else:
        # Elementwise comparison gives no one answer to whether two are equal, so nothing can be a key.
        __hash__ = None


def _is_operand(value: object) -> bool:
    """Return True if an operator computes with a value before trying the value's operators."""
    if isinstance(value, np.generic | bool | int | float | complex | str | bytes | list | tuple | Operators):
        return True
    return getattr(type(value), "__array_ufunc__", None) is not None


def _forward(ufunc: np.ufunc, theirs: str) -> "Callable[[Any, Any], Any]":
    """Return the operator of a ufunc; `theirs` is the reflected operator of the other operand.

    If both decline to compare, Python would compare identities: here that is an error, as for other objects.
    """
    has_one_result = ufunc.nout == 1 and ufunc.signature is None

    def operator(self: Any, other: Any) -> Any:  # noqa: ANN401
        kind = type(self)
        if type(other) is kind or type(other) in GIVEN or _is_operand(other):
            # Not through NumPy, whose search for the method takes as long as the addition of small rows.
            quick = call_dense(ufunc, (self, other), kind) if has_one_result else None
            if quick is not None:
                return quick
            answer = _called(ufunc, (self, other))
            if answer is not NotImplemented or ufunc not in (np.equal, np.not_equal):
                return answer
        answer = _asked(other, theirs, self)
        return ufunc(self, _read(other, ufunc)) if answer is NotImplemented else answer

    return operator


def _reflected(ufunc: np.ufunc) -> "Callable[[Any, Any], Any]":
    def operator(self: Any, other: Any) -> Any:  # noqa: ANN401
        return _called(ufunc, (other, self)) if _is_operand(other) else ufunc(_read(other, ufunc), self)

    return operator


def _called(ufunc: np.ufunc, operands: "tuple[Any, Any]") -> Any:  # noqa: ANN401
    """Return the result of a ufunc; if the other operand declines, Python tries its operator."""
    try:
        return ufunc(*operands)
    except TypeError as error:
        if isinstance(error, TensorWrapperError):
            raise
        return NotImplemented


def _asked(other: object, theirs: str, tensor: object) -> object:
    """Return the result of the other operand's operator for a tensor; classes have none."""
    if isinstance(other, type):
        return NotImplemented
    # Not by `getattr`: classes have operators, too, as `|` of types.
    own: Any = next((vars(kind)[theirs] for kind in type(other).__mro__ if theirs in vars(kind)), None)
    return NotImplemented if own is None else own(other, tensor)


def _read(other: object, ufunc: np.ufunc) -> Any:  # noqa: ANN401
    """Return an object as an operand, or raise the common error."""
    from tensorwrapper.tensor.operators._operand import read_operand  # noqa: PLC0415 - as of all calls

    return read_operand(other, ufunc.__name__)


def _in_place(ufunc: np.ufunc) -> "Callable[[Any, Any], Any]":
    def operator(self: Any, other: Any) -> Any:  # noqa: ANN401
        return ufunc(self, other, out=(self,)) if _is_operand(other) else NotImplemented

    return operator


def _short_power(tensor: Any, exponent: object) -> np.ufunc | None:  # noqa: ANN401
    """Return the ufunc that NumPy's ``**`` calls in place of `power`; None if it calls `power`.

    The square of booleans is int8, and complex numbers differ in their last bits.
    """
    found: np.ufunc | None = None
    if type(exponent) is int:
        found = np.square if exponent == 2 else np.reciprocal if exponent == -1 else None
    elif type(exponent) is float and exponent == 0.5:
        found = np.sqrt
    return found if tensor.dtype.kind in ("biufc" if found is np.square else "fc") else None


def _raised(power: "Callable[[Any, Any], Any]", *, in_place: bool) -> "Callable[[Any, Any], Any]":
    def operator(self: Any, other: Any) -> Any:  # noqa: ANN401
        short = _short_power(self, other)
        if short is None:
            return power(self, other)
        return short(self, out=(self,)) if in_place else short(self)

    return operator


_BINARY = {
    "divmod": np.divmod,
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": np.true_divide,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "pow": np.power,
    "matmul": np.matmul,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "lshift": np.left_shift,
    "rshift": np.right_shift,
}
_COMPARISONS = {
    "lt": (np.less, "gt"),
    "le": (np.less_equal, "ge"),
    "gt": (np.greater, "lt"),
    "ge": (np.greater_equal, "le"),
    "eq": (np.equal, "eq"),
    "ne": (np.not_equal, "ne"),
}
_UNARY = {"neg": np.negative, "pos": np.positive, "abs": np.absolute, "invert": np.invert}

if not TYPE_CHECKING:
    for _name, _ufunc in _BINARY.items():
        setattr(Operators, f"__{_name}__", _forward(_ufunc, f"__r{_name}__"))
        setattr(Operators, f"__r{_name}__", _reflected(_ufunc))
        if _name != "divmod":
            setattr(Operators, f"__i{_name}__", _in_place(_ufunc))
    Operators.__pow__ = _raised(Operators.__pow__, in_place=False)
    Operators.__ipow__ = _raised(Operators.__ipow__, in_place=True)
    for _name, (_ufunc, _theirs) in _COMPARISONS.items():
        setattr(Operators, f"__{_name}__", _forward(_ufunc, f"__{_theirs}__"))
    for _name, _ufunc in _UNARY.items():
        setattr(Operators, f"__{_name}__", lambda self, _ufunc=_ufunc: _ufunc(self))


hint(Operators, "Tensor")
