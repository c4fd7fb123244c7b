"""`RemoteArray`: common methods of tensors on one or several servers, computed by their views."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal, cast

from tensorwrapper._value_class import Shown
from tensorwrapper.errors import ConversionError
from tensorwrapper.remote.client._view_methods import ViewMethods
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import ROW_FUNCTIONS, Operators, TensorCommon
from tensorwrapper.typing import AnyRank

if TYPE_CHECKING:
    import numpy as np

    from tensorwrapper.selection import Cancel, Plan, Progress, Target
    from tensorwrapper.typing import Array, Extents, IntArray


class RemoteArray(Shown, ViewMethods, Operators[Any, AnyRank]):
    """Abstract: `view`, with all elements and mode names. Operators and ufuncs use it."""

    __slots__ = ()

    def compute(
        self,
        out: "Target | None" = None,
        *,
        progress: "Progress | None" = None,
        cancel: "Cancel | None" = None,
    ) -> Tensor[Any]:
        """Return all elements as a tensor in new memory, or in `out`; see `View.compute`."""
        return self.view().compute(out, progress=progress, cancel=cancel)

    def plan(self) -> "Plan":
        """Return the plan of computing the whole tensor; requests its shape, and entries of a sparse one."""
        return self.view().plan()

    def tolist(self) -> list[Any]:
        """Return all elements as nested lists."""
        return cast("list[Any]", self.compute().tolist())

    def _reduced_there(
        self,
        function: "Callable[..., Any]",  # noqa: ARG002 - it is for those that can
        arguments: tuple[Any, ...],  # noqa: ARG002
        options: dict[str, Any],  # noqa: ARG002
    ) -> object:
        """Return a reduction by the server; `NotImplemented` to read the tensor instead."""
        return NotImplemented

    # For operators and keys of tensors and views.

    def _as_operand(self) -> Tensor[Any]:
        return self.compute()

    def __mask_places__(self) -> "tuple[Extents, IntArray] | None":
        return self.view().__mask_places__()

    def __array_ufunc__(
        self,
        ufunc: "np.ufunc",
        method: Literal["__call__", "reduce", "reduceat", "accumulate", "outer", "at"],
        *inputs: Any,  # noqa: ANN401 - whatever stands beside a tensor
        **options: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        out = options.get("out") or ()
        if method == "at" or any(isinstance(own, RemoteArray) for own in out):
            raise ConversionError(
                f"{ufunc.__name__} cannot write into a {type(self).__name__}; use `r[...] = r "
                f"+ 1`, which computes here and sends the result"
            )
        if method == "reduce" and isinstance(inputs[0], RemoteArray):
            found = inputs[0]._reduced_there(ufunc, inputs[1:], options)
            if found is not NotImplemented:
                return found
        return getattr(ufunc, method)(*map(_viewed, inputs), **{k: _viewed(v) for k, v in options.items()})

    def __array_function__(
        self,
        func: "Callable[..., Any]",
        types: Iterable[type],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:  # noqa: ANN401 - what the function returns
        if args and isinstance(args[0], RemoteArray):
            found = args[0]._reduced_there(func, args[1:], kwargs)
            if found is not NotImplemented:
                return found
            if func.__name__ in ROW_FUNCTIONS:
                # The result is always a tensor, whether the server or this process computes it.
                args = (args[0].compute(), *args[1:])
        return func(*map(_viewed, args), **{name: _viewed(value) for name, value in kwargs.items()})

    def __array__(self, dtype: "np.dtype[Any] | None" = None, copy: bool | None = None) -> "Array":  # noqa: FBT001
        return self.view().__array__(dtype, copy)

    def __bool__(self) -> bool:
        return bool(self.view())

    def __contains__(self, value: object) -> bool:
        return value in self.compute()

    def __float__(self) -> float:
        return float(self.view())

    def __int__(self) -> int:
        return int(self.view())

    def __complex__(self) -> complex:
        return complex(self.view())

    def __round__(self, digits: int | None = None) -> Any:  # noqa: ANN401 - a number, as Python's round
        return round(self.view(), digits)

    if not TYPE_CHECKING:
        # Type checkers would accept any tensor in brackets as an index.
        def __index__(self) -> int:
            return self.view().__index__()


TensorCommon.register(RemoteArray)  # type: ignore[type-abstract]


def _viewed(value: object) -> object:
    """Replace remote tensors by their views, also in lists, because NumPy would dispatch again otherwise."""
    if isinstance(value, RemoteArray):
        return value.view()
    if type(value) in (list, tuple):
        items = cast("list[object]", value)
        return type(items)(map(_viewed, items))
    return value
