"""`Elsewhere`: what tensors at one server and at several have in common: all of it comes here by its view."""

from typing import TYPE_CHECKING, Any, Literal, Never, cast

from tensorwrapper._value_class import Shown
from tensorwrapper.selection import View
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import Operators
from tensorwrapper.typing import AnyRank

if TYPE_CHECKING:
    import numpy as np

    from tensorwrapper.selection import Cancel, Plan, Progress, Target

__all__ = ["Elsewhere"]


class Elsewhere(Shown, Operators[Any, AnyRank]):
    """One primitive, `view`, which has all elements: operators and ufuncs compute on it."""

    __slots__ = ()

    if TYPE_CHECKING:

        def view(self) -> View[Any]:
            """Return the view of all of it."""
            ...

    def compute(
        self,
        out: "Target | None" = None,
        *,
        progress: "Progress | None" = None,
        cancel: "Cancel | None" = None,
    ) -> Tensor[Any]:
        """Return all elements as a tensor with memory of its own, or in `out`; see `View.compute`."""
        return self.view().compute(out, progress=progress, cancel=cancel)

    def plan(self) -> "Plan":
        """Return what computing all of it reads; nothing is read for that but its shape."""
        return self.view().plan()

    def tolist(self) -> list[Any]:
        """Return all elements as nested lists."""
        return cast("list[Any]", self.compute().tolist())

    if not TYPE_CHECKING:  # To checkers every name would be known.

        def __getattr__(self, name: str) -> Never:
            found = f": views have it, view().{name}" if hasattr(View, name) else ""
            raise AttributeError(f"a {type(self).__name__} has no {name}{found}", name=name, obj=self)

    def __array_ufunc__(
        self,
        ufunc: "np.ufunc",
        method: Literal["__call__", "reduce", "reduceat", "accumulate", "outer", "at"],
        *inputs: Any,  # noqa: ANN401 - whatever stands beside a tensor
        **options: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        return getattr(ufunc, method)(*map(_viewed, inputs), **options)


def _viewed(value: object) -> object:
    return value.view() if isinstance(value, Elsewhere) else value
