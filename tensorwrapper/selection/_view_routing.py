"""Coordinate routing: where each element of a view comes from."""

import math
from collections.abc import Iterable
from typing import Generic, SupportsIndex

import numpy as np
import numpy.typing as npt

from tensorwrapper._integers import MAX_INT64
from tensorwrapper.errors import OutOfBoundsError, SizeOverflowError
from tensorwrapper.layout.lowlevel import to_inside
from tensorwrapper.selection._view_parts import ViewParts
from tensorwrapper.selection.routing._routes import Route, RouteGroup, routes
from tensorwrapper.shape.lowlevel import to_index
from tensorwrapper.typing import ScalarT_co

__all__ = ["ViewRouting"]


class ViewRouting(ViewParts[ScalarT_co], Generic[ScalarT_co]):
    """Abstract: `_expression`, `_normal`, `_make` and `elements`."""

    __slots__ = ()

    def route(self, index: Iterable[SupportsIndex]) -> Route:
        """Return where the element at an absolute index comes from: its source, and the index there.

        It is found step by step, without the normal form. Of `where` the mask is read at this index, and of
        `minimum` and `maximum` the operands are; the first of several that are the least is named.

        Raises
        ------
        OutOfBoundsError
            If the index is not in the shape.
        RankError
            If it has another number of entries than the view modes.
        SizeOverflowError
            If it, or the rank of a position on the way, leaves 64 bits.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> from tensorwrapper import selection as sel
        >>> a, b = tw.as_tensor([[1, 2, 3], [4, 5, 6]]), tw.as_tensor([[7, 8, 9]])
        >>> where = sel.concat([a, b]).reverse().route((2, 0))
        >>> where.source is a, where.index
        (True, (0, 2))
        """
        numbers = to_index(index, self.rank)
        if numbers not in self.shape:
            raise OutOfBoundsError(f"index {numbers} is not in {self.shape}")
        if any(abs(number) > MAX_INT64 for number in numbers):
            raise SizeOverflowError(f"index {numbers} leaves 64 bits")
        (group,) = self.route_many(np.array([numbers], dtype=np.int64))
        return Route(group.source, tuple(group.indices[0].tolist()), group.casts)

    def route_many(self, indices: npt.ArrayLike) -> tuple[RouteGroup, ...]:
        """Return where the elements at many absolute indices come from, those of one source together.

        Parameters
        ----------
        indices
            Integers, (..., rank). Rows of a group count them in row-major order.

        Raises
        ------
        OutOfBoundsError
            If an index is not in the shape.
        RankError
            If the last extent is not the rank.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> from tensorwrapper import selection as sel
        >>> v = sel.pad(tw.as_tensor([5, 6]), [(1, 1)])
        >>> for group in v.route_many([[-1], [0], [1], [2]]):
        ...     print(group.rows.tolist(), group.indices.tolist())
        [1, 2] [[0], [1]]
        [0, 3] [[], []]
        """
        shape = self.shape
        given = to_inside(indices, shape)
        rows = given.reshape(math.prod(given.shape[:-1]), shape.rank)
        if shape.kind == "smooth":
            rows = rows - np.array(shape.origin, dtype=np.int64)
        return tuple(routes(self._expression, rows))
