"""Views computed, and read as arrays, lists and numbers."""

from collections.abc import Iterable
from typing import Any, Generic, SupportsIndex, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper.buffer._copy import copy_elements
from tensorwrapper.buffer._sparse import Sparse
from tensorwrapper.buffer._strided_copy import to_threads
from tensorwrapper.buffer._strings import Strings
from tensorwrapper.errors import ConversionError
from tensorwrapper.layout._orders import fastest_first
from tensorwrapper.selection._run import Target, new_array, new_tensor, source_tensor, target_array
from tensorwrapper.selection._run_blocks import full_window
from tensorwrapper.selection._run_view import runner_of
from tensorwrapper.selection._view_explaining import ViewExplaining
from tensorwrapper.tensor import Tensor, as_tensor
from tensorwrapper.typing import Array, Order, ScalarT_co

__all__ = ["ViewRunning"]


class ViewRunning(ViewExplaining[ScalarT_co], Generic[ScalarT_co]):
    """Abstract: `_expression`, `_normal` and `_make`."""

    __slots__ = ()

    def compute(
        self,
        out: "Target | None" = None,
        order: Order | Iterable[SupportsIndex] = "C",
        *,
        threads: SupportsIndex = 1,
    ) -> Tensor[Any]:
        source = source_tensor(self._expression)
        if source is not None and (source.shape.kind != "smooth" or isinstance(source.buffer, Sparse | Strings)):
            if out is None:
                return source.copy()
            target = out if isinstance(out, Tensor) else as_tensor(out)
            target.assign(source)
            return target
        extents = self.shape.extents
        fastest = fastest_first(order, self.rank)
        array = new_array(extents, self.dtype, fastest) if out is None else target_array(out, self.shape, self.dtype)
        runner = runner_of(self.normal_form(), None)
        runner.fill(full_window(extents), array, to_threads(threads))
        if out is None:
            return new_tensor(array, self.shape, fastest)
        return out if isinstance(out, Tensor) else as_tensor(out)

    def copy(self) -> Tensor[Any]:
        """Return the elements in memory of their own: the same as `compute`."""
        return self.compute()

    def elements(self) -> "npt.NDArray[ScalarT_co]":
        """Return the elements as a flat array in row-major order; a view if they lie so, else a copy."""
        source = source_tensor(self._expression)
        return (self.compute() if source is None else source).elements()

    def to_numpy(self) -> "npt.NDArray[ScalarT_co]":
        return cast("npt.NDArray[ScalarT_co]", np.asarray(self))

    def __array__(self, dtype: "np.dtype[Any] | None" = None, copy: bool | None = None) -> Array:  # noqa: FBT001
        source = source_tensor(self._expression)
        if source is not None:
            return source.__array__(dtype, copy)
        if copy is False:
            raise ConversionError("no")
        return self.compute().__array__(dtype, None)

    def tolist(self) -> Any:  # noqa: ANN401 - a number, or lists of them as deep as the rank
        """Return the elements as Python's numbers or strings in nested lists; just one if the rank is 0."""
        source = source_tensor(self._expression)
        return (self.compute() if source is None else source).tolist()
