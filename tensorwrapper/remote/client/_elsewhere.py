"""`Elsewhere`: what tensors at one server and at several have in common: all of it comes here by its view."""

from typing import TYPE_CHECKING, Any, cast

from tensorwrapper._value_class import Shown
from tensorwrapper.selection import View
from tensorwrapper.tensor import Tensor

if TYPE_CHECKING:
    from tensorwrapper.selection import Cancel, Plan, Progress, Target

__all__ = ["Elsewhere"]


class Elsewhere(Shown):
    """One primitive, `view`, which has all elements."""

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
