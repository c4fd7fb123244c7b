"""Writing through views."""

from typing import Any, Generic, TypeAlias

import numpy.typing as npt

from tensorwrapper.errors import ReadOnlyError
from tensorwrapper.selection._view_facade import ViewFacade
from tensorwrapper.selection.expressions._expression import Expression
from tensorwrapper.selection.expressions._reading import Reading
from tensorwrapper.selection.sources._source import TensorSource
from tensorwrapper.selection.writing._writes import accumulate, assign, writable_targets
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import ScalarT_co, WriteCasting

__all__ = ["Value", "ViewWriting"]

Value: TypeAlias = "npt.ArrayLike | Tensor[Any] | ViewFacade[Any]"
"""What is written: a view, a tensor, an array, a number, or lists of them."""


class ViewWriting(ViewFacade[ScalarT_co], Generic[ScalarT_co]):
    """Abstract: as `ViewFacade`."""

    __slots__ = ()

    @property
    def is_readonly(self) -> bool:
        """Whether writing raises: an element is no element of a source, or comes twice, or may not change.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> from tensorwrapper import selection as sel
        >>> v = sel.pad(tw.as_tensor([1, 2, 3]), [(1, 0)])
        >>> v.is_readonly, v[1:].is_readonly, v.repeat([2]).is_readonly
        (True, False, True)
        """
        try:
            if self.shape.size:
                writable_targets(self._expression, self.normal_form())
        except ReadOnlyError:
            return True
        return False

    def assign(self, value: Value, *, casting: WriteCasting = "same_kind") -> None:
        """Write `value`, broadcast as NumPy does, to where the elements of the view are stored.

        Each element must be one element of a tensor, and none may come twice: views that join, deal, turn or
        reorder elements can be written to, those that compute, convert or repeat them cannot. An error
        changes nothing, and what overlaps the sources is read first.

        Raises
        ------
        ReadOnlyError
            If an element is not stored, is stored where nothing may change, or comes twice; the text says
            which positions they are.
        ExtentMismatchError
            If the extents of the value do not broadcast to those of the view.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> from tensorwrapper import selection as sel
        >>> a, b = tw.as_tensor([1, 2, 3]), tw.as_tensor([4, 5])
        >>> sel.interleave([a, b])[1:4].assign([70, 80, 90])
        >>> a.tolist(), b.tolist()
        ([1, 80, 3], [70, 90])
        >>> sel.pad(a, [(1, 0)]).assign(0)
        Traceback (most recent call last):
        tensorwrapper.errors.ReadOnlyError: position 0 of mode 0: a constant, which cannot be written to
        """
        given = value.copy() if isinstance(value, ViewFacade) else value
        assign(self._expression, self.normal_form(), given, casting)

    def accumulate_into(self, target: "Tensor[Any] | ViewFacade[Any]") -> None:
        """Add the elements to those of `target`, also where several of its indices share an element.

        This is the way to write through a view that repeats elements: every index adds its own, as
        ``np.add.at`` does.

        Raises
        ------
        ReadOnlyError
            If an element of the target is not stored, or is stored where nothing may change.
        ExtentMismatchError
            If the extents do not broadcast to those of the target.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> from tensorwrapper import selection as sel
        >>> total = tw.as_tensor([0, 0, 0])
        >>> windows = sel.as_view(total).sliding_window(0, 2)
        >>> sel.as_view([[1, 2], [4, 8]]).accumulate_into(windows)
        >>> total.tolist()
        [1, 6, 8]
        """
        if isinstance(target, Tensor):
            node = Reading(TensorSource(target))
            accumulate(self.copy(), Expression(node, target.layout))
        else:
            accumulate(self.copy(), target.normal_form())
