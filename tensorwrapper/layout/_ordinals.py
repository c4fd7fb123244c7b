"""What a hierarchical layout can be asked: its nested modes, its order, and its text."""

from abc import ABC
from typing import Generic, Self, cast

import numpy.typing as npt

from tensorwrapper._integers import to_int
from tensorwrapper.layout._facade import LayoutFacade
from tensorwrapper.layout.boxes._common import LayoutCommon
from tensorwrapper.layout.boxes._hierarchical import Hierarchical, ordinal_offset
from tensorwrapper.layout.boxes._hierarchy import IntTree, NestedInts, OrdinalOrder, check_order, is_flat
from tensorwrapper.layout.boxes._strided import Strided
from tensorwrapper.layout.operations._composite import Composite
from tensorwrapper.shape.lowlevel import to_ordinal_array
from tensorwrapper.typing import Extents, IndexT_co, IntArray

__all__ = ["LayoutOrdinals", "ordinal_repr"]


class LayoutOrdinals(LayoutFacade[IndexT_co], ABC, Generic[IndexT_co]):
    """Abstract: as `LayoutFacade`."""

    __slots__ = ()

    @classmethod
    def parse(cls, text: str, *, order: OrdinalOrder = "lex") -> Self:
        """Return the layout that CuTe writes as `text`: extents, a colon, strides, both nested alike.

        A composite is written ``A o 3 o B`` (first B, then 3 is added, then A), a swizzle ``S<2,0,3>``. Our
        own addition is an offset after the strides, as in ``(4):(-1)+3``. ``str`` writes the same text.

        Parameters
        ----------
        text
            What to read.
        order
            How the ordinals count: the last mode fastest ("lex", row-major), or the first, as in CuTe
            ("colex"). The text does not say, and nothing is guessed.

        Raises
        ------
        LayoutError
            If it is no such text, or extents and strides are nested differently.

        Examples
        --------
        >>> from tensorwrapper import Layout
        >>> nested = Layout.parse("((2,2),4):((1,8),2)")
        >>> nested.shape, nested.offset_of((1, 0, 3)), str(nested)
        (Shape(2, 2, 4), 7, '((2,2),4):((1,8),2)')
        >>> Layout.parse("(2,3):(3,1)")
        Layout(Shape(2, 3), strides=(3, 1), offset=0)
        """
        from tensorwrapper.layout.pictures._text import parse_layout  # noqa: PLC0415

        return cls._wrap(parse_layout(text, check_order(order)))

    @property
    def ordinal_order(self) -> OrdinalOrder:
        """How ordinals count: "lex" (the last mode fastest) or "colex" (the first)."""
        held = self.implementation
        return held.order if isinstance(held, Hierarchical | Composite) else "lex"

    @property
    def nested_extents(self) -> IntTree:
        """The extents as they are nested; a tuple of integers unless the layout is hierarchical.

        Raises
        ------
        LayoutError
            If the layout is not strided.

        Examples
        --------
        >>> from tensorwrapper import Layout
        >>> Layout.parse("((2,2),4):((1,8),2)").nested_extents
        ((2, 2), 4)
        """
        held = self.implementation
        if isinstance(held, Hierarchical):
            return held.extents
        if isinstance(held, Composite):
            return held.inner.extents
        extents: Extents = self._strided("nested_extents").shape.extents
        return extents

    @property
    def nested_strides(self) -> IntTree:
        """The strides as they are nested.

        Raises
        ------
        LayoutError
            If the layout is not strided; a composite is not.
        """
        held = self.implementation
        return held.nested_strides if isinstance(held, Hierarchical) else self._strided("strides").strides

    @property
    def is_hierarchical(self) -> bool:
        """Whether there are modes made of modes."""
        held = self.implementation
        if isinstance(held, Hierarchical | Composite):
            extents = self.nested_extents
            return not isinstance(extents, int) and not is_flat(extents)
        return False

    @property
    def is_composite(self) -> bool:
        """Whether this is one layout after the other, or after a swizzle."""
        return isinstance(self.implementation, Composite)

    def offset_of_ordinal(self, ordinal: "NestedInts") -> int:
        """Return the place of the element whose index is number `ordinal` in the layout's own order.

        That is row-major order, unless the layout is one of the algebra with order "colex".

        Parameters
        ----------
        ordinal
            The number of an element, from 0 on. Or one entry per mode of `nested_extents`: where a mode is
            made of modes, an entry is a tuple again, or the ordinal within that mode.

        Raises
        ------
        OutOfBoundsError
            If there are not so many elements, or a number is negative.
        LayoutError
            If there is not one entry per mode, or the layout, given entries, is not strided.

        Examples
        --------
        >>> from tensorwrapper import Layout
        >>> [Layout.parse("(2,3):(1,10)").offset_of_ordinal(k) for k in range(4)]
        [0, 10, 20, 1]
        >>> [Layout.parse("(2,3):(1,10)", order="colex").offset_of_ordinal(k) for k in range(4)]
        [0, 1, 10, 11]
        >>> nested = Layout.parse("((2,2),4):((1,8),2)")
        >>> [nested.offset_of_ordinal(k) for k in (((1, 0), 3), (2, 3), 11)]
        [7, 7, 7]
        """
        held = self.implementation
        # These classes are final; isinstance takes many times longer to find that an object is none of one.
        if type(held) is Strided and not isinstance(ordinal, tuple | list):
            modes = list(zip(reversed(held.extents), reversed(held.strides), strict=True))
            return ordinal_offset(modes, held.offset, to_int(ordinal, "an ordinal"))
        if isinstance(held, (Hierarchical, Composite)):
            return held.offset_of_ordinal(ordinal)
        if isinstance(ordinal, tuple | list):
            flat: Strided = self._strided("offset_of_ordinal")
            nested = Hierarchical(flat.shape.extents, flat.strides, flat.offset, "lex")
            return nested.offset_of_ordinal(cast("object", ordinal))
        return held.offset_of(held.shape.index(ordinal))

    def offsets_of_ordinals(self, ordinals: npt.ArrayLike | None = None) -> IntArray:
        """Return the places of the elements with these numbers in the layout's own order.

        Parameters
        ----------
        ordinals
            An array of any shape; if not given, the numbers of all elements, one after the other.

        Raises
        ------
        OutOfBoundsError
            If there are not so many elements, or a number is negative.
        SizeOverflowError
            If a place does not fit into 64 bits; `offset_of_ordinal` answers.

        Examples
        --------
        >>> from tensorwrapper import Layout
        >>> Layout.parse("(2,3):(1,10)").offsets_of_ordinals().tolist()
        [0, 10, 20, 1, 11, 21]
        >>> first_fastest = Layout.parse("(2,3):(1,10)", order="colex")
        >>> first_fastest.offsets_of_ordinals([0, 5, 1]).tolist()
        [0, 21, 1]
        """
        held = self.implementation
        if ordinals is None:
            return (
                held.by_ordinal() if isinstance(held, Hierarchical | Composite) else held.to_numpy().ravel()
            )
        numbers = to_ordinal_array(ordinals)
        if self.ordinal_order == "colex":
            turned = held.shape.permute(range(held.shape.rank - 1, -1, -1))
            return held.offsets_of(turned.indices_at(numbers)[..., ::-1])
        return held.offsets_of(held.shape.indices_at(numbers))

    def __str__(self) -> str:
        from tensorwrapper.layout.pictures._text import layout_text  # noqa: PLC0415

        text = layout_text(self.implementation)
        return repr(self) if text is None else text

    def to_svg(self) -> str:
        """Return a picture of the layout as the text of an SVG document: the offset in each cell.

        A box of one or two modes is a grid, one of three modes a grid per index of mode 0, a jagged shape
        one row below the other; lines stand where tiles begin or outer modes go on. Of long modes the ends
        are drawn, so that it stays small and quick at any size.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> svg = Layout(Shape(2, 3), order="F").to_svg()
        >>> svg.count('class="cell"'), svg.endswith("</svg>")
        (6, True)
        """
        # Loaded here: most programs draw nothing.
        from tensorwrapper.layout.pictures._draw import draw_layout  # noqa: PLC0415

        return draw_layout(self.implementation).to_svg()

    def _repr_html_(self) -> str:
        """Return what notebooks show: the text of the layout, a few facts, and its picture."""
        from tensorwrapper.layout.pictures._draw import layout_html  # noqa: PLC0415 - as in to_svg

        return layout_html(self.implementation, str(self))


def ordinal_repr(held: LayoutCommon) -> str | None:
    """Return what rebuilds a hierarchical or composite layout; None for any other."""
    from tensorwrapper.layout.pictures._text import layout_text  # noqa: PLC0415

    if not isinstance(held, Hierarchical | Composite):
        return None
    text = layout_text(held)
    if text is None:
        return f"<{held.order} layout over {held.shape!r}: {held.offset} at its origin>"
    return (
        f"Layout.parse({text!r})" if held.order == "lex" else f"Layout.parse({text!r}, order={held.order!r})"
    )
