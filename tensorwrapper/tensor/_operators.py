"""Operators and NumPy's protocols, for tensors and views: NumPy computes on the elements, the shape stays.

The operators are a thin layer over the ufuncs. It asks what stands on the other side first, because NumPy's
own mixin calls the ufunc whatever that is: ``t == None`` would be NumPy's TypeError, and objects that compare
themselves would never be asked.
"""

from abc import ABC
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeAlias, TypeVar, overload

import numpy as np
import numpy.typing as npt

from tensorwrapper.buffer import Dense
from tensorwrapper.errors import ConversionError, TensorWrapperError
from tensorwrapper.typing import AnyRank, IndexT_co, ScalarT_co

if TYPE_CHECKING:
    from tensorwrapper.shape import Shape
    from tensorwrapper.tensor._common import TensorCommon
    from tensorwrapper.tensor._tensor import Tensor

__all__ = ["Operand", "Operators"]

Operand: TypeAlias = "TensorCommon[Any] | npt.ArrayLike"
"""What may stand beside a tensor: numbers, strings, arrays, lists of them, tensors and views."""

Scalar: TypeAlias = "complex | np.generic | str | bytes"
"""What stands beside every element, so that the rank stays."""

_J = TypeVar("_J", bound=AnyRank)
Beside: TypeAlias = "complex | np.generic | str | bytes | Operators[Any, _J]"
"""What leaves the rank as it is: what stands beside every element, or has as many modes."""

_F = TypeVar("_F", bound=np.inexact[Any])
# Stands first where integers become floats: mypy does not look at the bound of what `self` solves.
_Whole: TypeAlias = "np.integer[Any] | np.bool_"
_I = TypeVar("_I", bound=np.integer[Any])
_L = TypeVar("_L", bound=np.integer[Any] | np.bool_)


class Operators(ABC, Generic[ScalarT_co, IndexT_co]):
    """No primitives. Operators are NumPy's ufuncs, element by element."""

    __slots__ = ()

    def __array_ufunc__(
        self,
        ufunc: np.ufunc,
        method: Literal["__call__", "reduce", "reduceat", "accumulate", "outer", "at"],
        *inputs: Any,  # noqa: ANN401 - whatever stands beside a tensor
        **options: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        if method == "__call__" and not options and ufunc.nout == 1 and ufunc.signature is None:
            quick = _quick(ufunc, inputs, type(self))
            if quick is not None:
                return quick
        # Loaded here: most programs compute nothing on tensors.
        from tensorwrapper.tensor.operators._elementwise import call  # noqa: PLC0415
        from tensorwrapper.tensor.operators._operand import is_foreign  # noqa: PLC0415

        if any(map(is_foreign, (*inputs, *(options.get("out") or ())))):
            return NotImplemented
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
        # NumPy's stubs never look at what its protocol returns, so checkers are told here.

        @overload
        def __lt__(self: "Operators[Any, _J]", other: "Beside[_J]") -> "Tensor[np.bool_, _J]": ...
        @overload
        def __lt__(self, other: Operand) -> "Tensor[np.bool_]": ...
        def __lt__(self, other: Any) -> Any: ...

        @overload
        def __le__(self: "Operators[Any, _J]", other: "Beside[_J]") -> "Tensor[np.bool_, _J]": ...
        @overload
        def __le__(self, other: Operand) -> "Tensor[np.bool_]": ...
        def __le__(self, other: Any) -> Any: ...

        @overload
        def __gt__(self: "Operators[Any, _J]", other: "Beside[_J]") -> "Tensor[np.bool_, _J]": ...
        @overload
        def __gt__(self, other: Operand) -> "Tensor[np.bool_]": ...
        def __gt__(self, other: Any) -> Any: ...

        @overload
        def __ge__(self: "Operators[Any, _J]", other: "Beside[_J]") -> "Tensor[np.bool_, _J]": ...
        @overload
        def __ge__(self, other: Operand) -> "Tensor[np.bool_]": ...
        def __ge__(self, other: Any) -> Any: ...

        @overload  # type: ignore[override]
        def __eq__(self: "Operators[Any, _J]", other: "Beside[_J]") -> "Tensor[np.bool_, _J]": ...
        @overload
        def __eq__(self, other: object) -> "Tensor[np.bool_]": ...
        def __eq__(self, other: object) -> Any: ...

        @overload  # type: ignore[override]
        def __ne__(self: "Operators[Any, _J]", other: "Beside[_J]") -> "Tensor[np.bool_, _J]": ...
        @overload
        def __ne__(self, other: object) -> "Tensor[np.bool_]": ...
        def __ne__(self, other: object) -> Any: ...

        __hash__: ClassVar[None]  # type: ignore[assignment]  # pyright: ignore[reportIncompatibleMethodOverride]

        @overload
        def __add__(self: "Operators[_F, _J]", other: "float | Operators[_F, _J]") -> "Tensor[_F, _J]": ...
        @overload
        def __add__(self: "Operators[_I, _J]", other: "int | Operators[_I, _J]") -> "Tensor[_I, _J]": ...
        @overload
        def __add__(self: "Operators[Any, _J]", other: "Beside[_J]") -> "Tensor[Any, _J]": ...
        @overload
        def __add__(self, other: Operand) -> "Tensor[Any]": ...
        def __add__(self, other: Any) -> Any: ...

        @overload
        def __radd__(self: "Operators[_F, _J]", other: float) -> "Tensor[_F, _J]": ...
        @overload
        def __radd__(self: "Operators[_I, _J]", other: int) -> "Tensor[_I, _J]": ...
        @overload
        def __radd__(self: "Operators[Any, _J]", other: Scalar) -> "Tensor[Any, _J]": ...
        @overload
        def __radd__(self, other: Operand) -> "Tensor[Any]": ...
        def __radd__(self, other: Any) -> Any: ...

        @overload
        def __sub__(self: "Operators[_F, _J]", other: "float | Operators[_F, _J]") -> "Tensor[_F, _J]": ...
        @overload
        def __sub__(self: "Operators[_I, _J]", other: "int | Operators[_I, _J]") -> "Tensor[_I, _J]": ...
        @overload
        def __sub__(self: "Operators[Any, _J]", other: "Beside[_J]") -> "Tensor[Any, _J]": ...
        @overload
        def __sub__(self, other: Operand) -> "Tensor[Any]": ...
        def __sub__(self, other: Any) -> Any: ...

        @overload
        def __rsub__(self: "Operators[_F, _J]", other: float) -> "Tensor[_F, _J]": ...
        @overload
        def __rsub__(self: "Operators[_I, _J]", other: int) -> "Tensor[_I, _J]": ...
        @overload
        def __rsub__(self: "Operators[Any, _J]", other: Scalar) -> "Tensor[Any, _J]": ...
        @overload
        def __rsub__(self, other: Operand) -> "Tensor[Any]": ...
        def __rsub__(self, other: Any) -> Any: ...

        @overload
        def __mul__(self: "Operators[_F, _J]", other: "float | Operators[_F, _J]") -> "Tensor[_F, _J]": ...
        @overload
        def __mul__(self: "Operators[_I, _J]", other: "int | Operators[_I, _J]") -> "Tensor[_I, _J]": ...
        @overload
        def __mul__(self: "Operators[Any, _J]", other: "Beside[_J]") -> "Tensor[Any, _J]": ...
        @overload
        def __mul__(self, other: Operand) -> "Tensor[Any]": ...
        def __mul__(self, other: Any) -> Any: ...

        @overload
        def __rmul__(self: "Operators[_F, _J]", other: float) -> "Tensor[_F, _J]": ...
        @overload
        def __rmul__(self: "Operators[_I, _J]", other: int) -> "Tensor[_I, _J]": ...
        @overload
        def __rmul__(self: "Operators[Any, _J]", other: Scalar) -> "Tensor[Any, _J]": ...
        @overload
        def __rmul__(self, other: Operand) -> "Tensor[Any]": ...
        def __rmul__(self, other: Any) -> Any: ...

        @overload
        def __floordiv__(
            self: "Operators[_F, _J]", other: "float | Operators[_F, _J]"
        ) -> "Tensor[_F, _J]": ...
        @overload
        def __floordiv__(self: "Operators[_I, _J]", other: "int | Operators[_I, _J]") -> "Tensor[_I, _J]": ...
        @overload
        def __floordiv__(self: "Operators[Any, _J]", other: "Beside[_J]") -> "Tensor[Any, _J]": ...
        @overload
        def __floordiv__(self, other: Operand) -> "Tensor[Any]": ...
        def __floordiv__(self, other: Any) -> Any: ...

        @overload
        def __rfloordiv__(self: "Operators[_F, _J]", other: float) -> "Tensor[_F, _J]": ...
        @overload
        def __rfloordiv__(self: "Operators[_I, _J]", other: int) -> "Tensor[_I, _J]": ...
        @overload
        def __rfloordiv__(self: "Operators[Any, _J]", other: Scalar) -> "Tensor[Any, _J]": ...
        @overload
        def __rfloordiv__(self, other: Operand) -> "Tensor[Any]": ...
        def __rfloordiv__(self, other: Any) -> Any: ...

        @overload
        def __mod__(self: "Operators[_F, _J]", other: "float | Operators[_F, _J]") -> "Tensor[_F, _J]": ...
        @overload
        def __mod__(self: "Operators[_I, _J]", other: "int | Operators[_I, _J]") -> "Tensor[_I, _J]": ...
        @overload
        def __mod__(self: "Operators[Any, _J]", other: "Beside[_J]") -> "Tensor[Any, _J]": ...
        @overload
        def __mod__(self, other: Operand) -> "Tensor[Any]": ...
        def __mod__(self, other: Any) -> Any: ...

        @overload
        def __rmod__(self: "Operators[_F, _J]", other: float) -> "Tensor[_F, _J]": ...
        @overload
        def __rmod__(self: "Operators[_I, _J]", other: int) -> "Tensor[_I, _J]": ...
        @overload
        def __rmod__(self: "Operators[Any, _J]", other: Scalar) -> "Tensor[Any, _J]": ...
        @overload
        def __rmod__(self, other: Operand) -> "Tensor[Any]": ...
        def __rmod__(self, other: Any) -> Any: ...

        @overload
        def __pow__(self: "Operators[_F, _J]", other: "float | Operators[_F, _J]") -> "Tensor[_F, _J]": ...
        @overload
        def __pow__(self: "Operators[_I, _J]", other: "int | Operators[_I, _J]") -> "Tensor[_I, _J]": ...
        @overload
        def __pow__(self: "Operators[Any, _J]", other: "Beside[_J]") -> "Tensor[Any, _J]": ...
        @overload
        def __pow__(self, other: Operand) -> "Tensor[Any]": ...
        def __pow__(self, other: Any) -> Any: ...

        @overload
        def __rpow__(self: "Operators[_F, _J]", other: float) -> "Tensor[_F, _J]": ...
        @overload
        def __rpow__(self: "Operators[_I, _J]", other: int) -> "Tensor[_I, _J]": ...
        @overload
        def __rpow__(self: "Operators[Any, _J]", other: Scalar) -> "Tensor[Any, _J]": ...
        @overload
        def __rpow__(self, other: Operand) -> "Tensor[Any]": ...
        def __rpow__(self, other: Any) -> Any: ...

        @overload
        def __truediv__(self: "Operators[_Whole, _J]", other: "Beside[_J]") -> "Tensor[Any, _J]": ...
        @overload
        def __truediv__(
            self: "Operators[_F, _J]", other: "float | Operators[_F, _J]"
        ) -> "Tensor[_F, _J]": ...
        @overload
        def __truediv__(self: "Operators[Any, _J]", other: "Beside[_J]") -> "Tensor[Any, _J]": ...
        @overload
        def __truediv__(self, other: Operand) -> "Tensor[Any]": ...
        def __truediv__(self, other: Any) -> Any: ...

        @overload
        def __rtruediv__(self: "Operators[_Whole, _J]", other: Scalar) -> "Tensor[Any, _J]": ...
        @overload
        def __rtruediv__(self: "Operators[_F, _J]", other: float) -> "Tensor[_F, _J]": ...
        @overload
        def __rtruediv__(self: "Operators[Any, _J]", other: Scalar) -> "Tensor[Any, _J]": ...
        @overload
        def __rtruediv__(self, other: Operand) -> "Tensor[Any]": ...
        def __rtruediv__(self, other: Any) -> Any: ...

        @overload
        def __and__(self: "Operators[_L, _J]", other: "Operators[_L, _J]") -> "Tensor[_L, _J]": ...
        @overload
        def __and__(self: "Operators[Any, _J]", other: "Beside[_J]") -> "Tensor[Any, _J]": ...
        @overload
        def __and__(self, other: Operand) -> "Tensor[Any]": ...
        def __and__(self, other: Any) -> Any: ...

        @overload
        def __rand__(self: "Operators[Any, _J]", other: Scalar) -> "Tensor[Any, _J]": ...
        @overload
        def __rand__(self, other: Operand) -> "Tensor[Any]": ...
        def __rand__(self, other: Any) -> Any: ...

        @overload
        def __or__(self: "Operators[_L, _J]", other: "Operators[_L, _J]") -> "Tensor[_L, _J]": ...
        @overload
        def __or__(self: "Operators[Any, _J]", other: "Beside[_J]") -> "Tensor[Any, _J]": ...
        @overload
        def __or__(self, other: Operand) -> "Tensor[Any]": ...
        def __or__(self, other: Any) -> Any: ...

        @overload
        def __ror__(self: "Operators[Any, _J]", other: Scalar) -> "Tensor[Any, _J]": ...
        @overload
        def __ror__(self, other: Operand) -> "Tensor[Any]": ...
        def __ror__(self, other: Any) -> Any: ...

        @overload
        def __xor__(self: "Operators[_L, _J]", other: "Operators[_L, _J]") -> "Tensor[_L, _J]": ...
        @overload
        def __xor__(self: "Operators[Any, _J]", other: "Beside[_J]") -> "Tensor[Any, _J]": ...
        @overload
        def __xor__(self, other: Operand) -> "Tensor[Any]": ...
        def __xor__(self, other: Any) -> Any: ...

        @overload
        def __rxor__(self: "Operators[Any, _J]", other: Scalar) -> "Tensor[Any, _J]": ...
        @overload
        def __rxor__(self, other: Operand) -> "Tensor[Any]": ...
        def __rxor__(self, other: Any) -> Any: ...

        @overload
        def __lshift__(self: "Operators[_I, _J]", other: "int | Operators[_I, _J]") -> "Tensor[_I, _J]": ...
        @overload
        def __lshift__(self: "Operators[Any, _J]", other: "Beside[_J]") -> "Tensor[Any, _J]": ...
        @overload
        def __lshift__(self, other: Operand) -> "Tensor[Any]": ...
        def __lshift__(self, other: Any) -> Any: ...

        @overload
        def __rlshift__(self: "Operators[Any, _J]", other: Scalar) -> "Tensor[Any, _J]": ...
        @overload
        def __rlshift__(self, other: Operand) -> "Tensor[Any]": ...
        def __rlshift__(self, other: Any) -> Any: ...

        @overload
        def __rshift__(self: "Operators[_I, _J]", other: "int | Operators[_I, _J]") -> "Tensor[_I, _J]": ...
        @overload
        def __rshift__(self: "Operators[Any, _J]", other: Scalar) -> "Tensor[Any, _J]": ...
        @overload
        def __rshift__(self, other: Operand) -> "Tensor[Any]": ...
        def __rshift__(self, other: Any) -> Any: ...

        @overload
        def __rrshift__(self: "Operators[Any, _J]", other: Scalar) -> "Tensor[Any, _J]": ...
        @overload
        def __rrshift__(self, other: Operand) -> "Tensor[Any]": ...
        def __rrshift__(self, other: Any) -> Any: ...

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


_NUMBERS = frozenset([int, float, bool, complex])


def _quick(ufunc: np.ufunc, inputs: "tuple[Any, ...]", kind: type) -> "Any":  # noqa: ANN401
    """Return a ufunc of a dense tensor and numbers, or another over the same indices; None for the rest.

    The short way for what most calls are. It gives what the general way gives: results over the shape of the
    tensor, and over its layout where that is packed.
    """
    found: Any = None
    arrays: list[Any] = []
    for operand in inputs:
        if type(operand) in _NUMBERS:
            arrays.append(operand)
            continue
        # Not asked for its attributes: those of strangers, such as Awkward's, have the names of ours.
        layout = getattr(operand, "_layout", None) if type(operand) is kind else None
        if layout is None:
            return None
        memory = operand._buffer.memory
        if memory is None:
            return None
        implementation = layout.implementation
        if not implementation.is_contiguous or implementation.offset:
            return None
        if found is None:
            found = operand
        elif layout is not found._layout and not _same_box(layout.shape, found._layout.shape):
            return None
        arrays.append(memory[: implementation.shape.size])
    try:
        result = ufunc(*arrays)
    except (TypeError, ValueError, OverflowError):
        return None  # the general way says what is wrong
    return found._make(found._layout, Dense(result))


def _same_box(one: "Shape[Any]", other: "Shape[Any]") -> bool:
    return one is other or (one.kind == "smooth" and one == other)


def _is_operand(value: object) -> bool:
    """Tell whether an operator computes with a value, rather than leave it to that value's own operators."""
    if isinstance(value, Operators | bool | int | float | complex | str | bytes | list | tuple):
        return True
    return getattr(type(value), "__array_ufunc__", None) is not None


def _forward(ufunc: np.ufunc) -> "Callable[[Any, Any], Any]":
    def operator(self: Any, other: Any) -> Any:  # noqa: ANN401
        return _called(ufunc, other, (self, other))

    return operator


def _called(ufunc: np.ufunc, other: object, operands: "tuple[Any, Any]") -> Any:  # noqa: ANN401
    """Return what a ufunc gives; a stranger that declines there has its own operator asked by Python."""
    if not _is_operand(other):
        return NotImplemented
    try:
        return ufunc(*operands)
    except TypeError as error:
        if isinstance(error, TensorWrapperError):
            raise
        return NotImplemented


def _reflected(ufunc: np.ufunc) -> "Callable[[Any, Any], Any]":
    def operator(self: Any, other: Any) -> Any:  # noqa: ANN401
        return _called(ufunc, other, (other, self))

    return operator


def _in_place(ufunc: np.ufunc) -> "Callable[[Any, Any], Any]":
    def operator(self: Any, other: Any) -> Any:  # noqa: ANN401
        return ufunc(self, other, out=(self,)) if _is_operand(other) else NotImplemented

    return operator


def _comparison(ufunc: np.ufunc, name: str) -> "Callable[[Any, Any], Any]":
    def operator(self: Any, other: object) -> Any:  # noqa: ANN401
        if _is_operand(other):
            return ufunc(self, other)
        # NotImplemented would let Python compare identities, and give a bare False.
        answer = NotImplemented if isinstance(other, type) else getattr(other, name)(self)
        if answer is NotImplemented:
            raise ConversionError(
                f"{name.strip('_')}: tensors are compared with numbers, strings, arrays and tensors, not "
                f"with {_shown(other)}; `t is None` tells whether there is a tensor"
            )
        return answer

    return operator


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) < 60 else f"a {type(value).__name__}"


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
_ORDER = {"lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}
_UNARY = {"neg": np.negative, "pos": np.positive, "abs": np.absolute, "invert": np.invert}

if not TYPE_CHECKING:
    for _name, _ufunc in _BINARY.items():
        setattr(Operators, f"__{_name}__", _forward(_ufunc))
        setattr(Operators, f"__r{_name}__", _reflected(_ufunc))
        if _name != "divmod":
            setattr(Operators, f"__i{_name}__", _in_place(_ufunc))
    for _name, _ufunc in _ORDER.items():
        setattr(Operators, f"__{_name}__", _forward(_ufunc))
    for _name, _ufunc in (("__eq__", np.equal), ("__ne__", np.not_equal)):
        setattr(Operators, _name, _comparison(_ufunc, _name))
    for _name, _ufunc in _UNARY.items():
        setattr(Operators, f"__{_name}__", lambda self, _ufunc=_ufunc: _ufunc(self))
