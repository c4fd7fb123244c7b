"""Queries of a view: the sources of its elements, its text, and explanations."""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, Generic, SupportsIndex, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._error_text import type_text
from tensorwrapper._integers import MAX_INT64
from tensorwrapper.errors import OutOfBoundsError, SizeOverflowError
from tensorwrapper.layout.lowlevel import to_inside
from tensorwrapper.selection.facade._view_base import ViewBase
from tensorwrapper.selection.operations._atom import Atom
from tensorwrapper.selection.operations._table import atoms_of
from tensorwrapper.shape.lowlevel import to_index
from tensorwrapper.typing import IndexT_co, ScalarT_co

if TYPE_CHECKING:
    from tensorwrapper.selection.routing._routes import Route, RouteGroup

__all__ = ["ViewQueries"]

_SHOWN: Final = 3  # steps that a text lists


class ViewQueries(ViewBase[ScalarT_co, IndexT_co], Generic[ScalarT_co, IndexT_co]):
    """Abstract: as `ViewBase`."""

    __slots__ = ()

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """The simple steps, in order, that select this view from its source, or from its joined sources.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> from tensorwrapper import selection as sel
        >>> v = sel.as_view(tw.as_tensor([[1, 2, 3], [4, 5, 6]]))
        >>> [str(atom) for atom in v[1, ::-1].rotate([1]).atoms]
        ['slice(1, 2, -1, 3)', 'chip(0, 1)', 'rotate((1,))']
        """
        return tuple([atom for call in self._expression.calls for atom in atoms_of(call)])

    def route(self, index: Iterable[SupportsIndex]) -> "Route":
        """Return where the element at an absolute index comes from: its source, and the index there.

        The steps are followed one by one, without the normal form. Routing through `where` reads the mask at
        this index; through `minimum` or `maximum` the operands. The first of several equal operands is named.

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
        from tensorwrapper.selection.routing._routes import Route  # noqa: PLC0415 - few ask for a route

        numbers = to_index(index, self.shape.rank)
        shape = self._expression.layout.shape
        if numbers not in shape:
            raise OutOfBoundsError(f"index {numbers} is not in {shape}")
        if any(abs(number) > MAX_INT64 for number in numbers):
            raise SizeOverflowError(f"index {numbers} leaves 64 bits")
        (group,) = self.route_many(np.array([numbers], dtype=np.int64))
        return Route(group.source, tuple(group.indices[0].tolist()), group.casts)

    def route_many(self, indices: npt.ArrayLike) -> "tuple[RouteGroup, ...]":
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
        from tensorwrapper.selection.routing._routes import routes  # noqa: PLC0415 - few ask for a route

        shape = self.shape
        given = to_inside(indices, shape)
        rows = given.reshape(math.prod(given.shape[:-1]), shape.rank)
        if shape.is_box:
            rows = rows - np.array(shape.origin, dtype=np.int64)
        return tuple(routes(self._expression, rows))

    def explain(self) -> str:
        """Return the steps of the view, the last one first, and how they are executed.

        Each line has a step, and the shape and type after it; details of a step are indented. The last part
        is the execution: the layout of each remaining source, and the number of bytes read. O(steps).

        Examples
        --------
        >>> from tensorwrapper import selection as sel
        >>> print(sel.pad([1, 2, 3], [(2, 2)], fill_value=9)[1:4].explain())
        slice(0, 1, 1, 3)  # Shape(3) int64
          pad(((2, 2),), fill_value=9)
            source tensor(Shape(3), int64)  # Shape(3) int64, strides (1,), offset 0
        runs as  # 1 step on pad(((2, 2),), fill_value=9); reads 16 B of 1 source
          route(mode=0)  # Shape(3) int64
            [0:1] full(9)  # Shape(1) int64, strides (1,), offset 0
            [1:3] source tensor(Shape(3), int64)  # Shape(2) int64, strides (1,), offset 0
        """
        from tensorwrapper.selection.explain._explain import explain, to_text  # noqa: PLC0415

        return to_text(explain(self._expression, self.normal_form(), cast("Any", self).plan().reads))

    def to_svg(self) -> str:
        """Return a picture: one cell per element, coloured by the source that it comes from.

        The text of a cell is the index in the source, or the constant. Views of rank 2 or less with a few
        hundred elements are drawn; others give a note.

        Examples
        --------
        >>> from tensorwrapper import selection as sel
        >>> sel.pad([[1, 2], [3, 4]], [(1, 1), (1, 1)]).to_svg().count('class="cell"')
        16
        """
        from tensorwrapper.selection.explain._pictures import view_svg  # noqa: PLC0415

        return view_svg(self._expression, self.normal_form())

    def _repr_html_(self) -> str:
        """Return HTML for notebooks: facts, sources and the steps as written; nothing is planned or read."""
        from tensorwrapper.selection.explain._explain import view_html  # noqa: PLC0415 - few are shown

        return view_html(self._expression, self._head())

    def __repr__(self) -> str:
        atoms = [str(atom) for atom in self.atoms]
        steps = "".join([f".{atom}" for atom in atoms[-_SHOWN:]])
        dots = "..." if len(atoms) > _SHOWN else ""
        return f"<View {self._head()}, not computed: {self._expression.node.name}{dots}{steps}>"

    def _head(self) -> str:
        """Return the shape in words, the type, and the bytes of the result."""
        from tensorwrapper.drawing import bytes_text  # noqa: PLC0415 - few are shown
        from tensorwrapper.shape.lowlevel import shape_words  # noqa: PLC0415

        size = bytes_text(self.shape.size * self.dtype.itemsize)
        return f"{shape_words(self.shape)}, {type_text(self.dtype)}, {size}"
