"""Properties of hierarchical layouts: nested modes, order, and text."""

from abc import ABC
from typing import Generic, Self

import numpy.typing as npt

from tensorwrapper._arguments import or_absent
from tensorwrapper.layout.boxes._hierarchy import IntTree, NestedInts, OrdinalOrder, check_order, is_flat
from tensorwrapper.layout.facade._layout_base import LayoutBase
from tensorwrapper.shape.lowlevel import to_ordinal_array
from tensorwrapper.typing import IndexT_co, IntArray


class LayoutOrdinals(LayoutBase[IndexT_co], ABC, Generic[IndexT_co]):
    """Abstract: as `LayoutBase`."""

    __slots__ = ()

    @classmethod
    def parse(cls, text: str, *, order: OrdinalOrder = "lex") -> Self:
        """Return the layout of CuTe's `text`: extents, a colon, strides, both nested alike.

        A composite is written ``A o 3 o B`` (first B, then 3 is added, then A), a swizzle ``S<2,0,3>``. An
        extension of CuTe's text is an offset after the strides, as in ``(4):(-1)+3``. ``str`` writes the same
        text.

        Parameters
        ----------
        text
            The text to parse.
        order
            Order of ordinals: the last mode fastest ("lex", row-major), or the first, as in CuTe ("colex").
            The text does not contain it.

        Raises
        ------
        LayoutError
            If the text is invalid, or extents and strides are nested differently.

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
        """Order of ordinals: "lex" (the last mode fastest) or "colex" (the first)."""
        return self.implementation.ordinal_order

    @property
    @or_absent
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
        tree = self.implementation.mode_tree
        return self._strided("nested_extents").extents if tree is None else tree

    @property
    @or_absent
    def nested_strides(self) -> IntTree:
        """The strides as they are nested.

        Raises
        ------
        LayoutError
            If the layout is not strided; a composite is not.
        """
        tree = self.implementation.stride_tree
        return self._strided("strides").strides if tree is None else tree

    @property
    def is_hierarchical(self) -> bool:
        """Return True if there are nested modes."""
        implementation = self.implementation
        tree = implementation.mode_tree if implementation.has_ordinals else None
        return tree is not None and not isinstance(tree, int) and not is_flat(tree)

    @property
    def is_composite(self) -> bool:
        """Return True for a composition of layouts, or of a layout and a swizzle."""
        return self.implementation.is_composite

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
        return self.implementation.offset_of_ordinal(ordinal)

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
        implementation = self.implementation
        if ordinals is None:
            return implementation.by_ordinal()
        numbers, shape = to_ordinal_array(ordinals), implementation.shape
        if implementation.ordinal_order == "colex":
            turned = shape.permute(range(shape.rank - 1, -1, -1))
            return implementation.offsets_of(turned.indices_at(numbers)[..., ::-1])
        return implementation.offsets_of(shape.indices_at(numbers))

    def __str__(self) -> str:
        text = self.implementation.text()
        return repr(self) if text is None else text

    def to_svg(self) -> str:
        """Return a picture of the layout as the text of an SVG document: the offset in each cell.

        A box of one or two modes is a grid, a box of three modes a grid per index of mode 0, a jagged shape
        one row below the other. Lines mark the starts of tiles and the steps of outer modes. Only the ends of
        long modes are drawn, so the picture stays small at any size.

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
