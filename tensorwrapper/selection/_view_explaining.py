"""What a view tells about itself: its text, and explanations as text and HTML."""

from typing import Generic

from tensorwrapper.selection._view_routing import ViewRouting
from tensorwrapper.selection.explain._explain import explain, to_html, to_text
from tensorwrapper.selection.explain._pictures import view_svg
from tensorwrapper.typing import ScalarT_co

__all__ = ["ViewExplaining"]


class ViewExplaining(ViewRouting[ScalarT_co], Generic[ScalarT_co]):
    """Abstract: `_expression`, `_normal`, `_make` and `elements`."""

    __slots__ = ()

    def explain(self) -> str:
        """Return the steps of the view, the last one first, and what they become when it is computed.

        Each line has a step, and the shape and type after it; what belongs to a step is indented. Below
        stands what runs: the layout of each source that is left, and how many bytes are read. O(steps).

        Examples
        --------
        >>> from tensorwrapper import selection as sel
        >>> print(sel.pad([1, 2, 3], [(2, 2)], value=9)[1:4].explain())
        slice(0, 1, 1, 3)  # Shape(3) int64
          pad(((2, 2),), value=9)
            source tensor(Shape(3), int64)  # Shape(3) int64, strides (1,), offset 0
        runs as  # 1 step on pad(((2, 2),), value=9); reads 16 B of 1 source
          route(mode=0)  # Shape(3) int64
            [0:1] full(9)  # Shape(1) int64, strides (1,), offset 0
            [1:3] source tensor(Shape(3), int64)  # Shape(2) int64, strides (1,), offset 0
        """
        return to_text(explain(self._expression, self.normal_form()))

    def to_svg(self) -> str:
        """Return a picture: one cell per element, coloured by the source that it comes from.

        In a cell stands the index in the source, or the constant. Views of rank 2 or less with a few hundred
        elements are drawn; others give a note.

        Examples
        --------
        >>> from tensorwrapper import selection as sel
        >>> sel.pad([[1, 2], [3, 4]], [(1, 1), (1, 1)]).to_svg().count('class="cell"')
        16
        """
        return view_svg(self._expression, self.normal_form())

    def _repr_html_(self) -> str:
        """Return what notebooks show: the explanation as nested lists."""
        return to_html(explain(self._expression, self.normal_form()))

    def __repr__(self) -> str:
        atoms = [str(atom) for atom in self.atoms]
        steps = "".join([f".{atom}" for atom in atoms[-3:]])
        dots = "..." if len(atoms) > 3 else ""
        return f"<View {self.shape!r} {self.dtype} of {self._expression.node.name}{dots}{steps}>"
