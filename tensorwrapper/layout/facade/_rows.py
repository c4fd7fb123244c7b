"""Rows of a layout: modes counted as one and dealt anew, without a copy; methods of the facade."""

from abc import ABC
from typing import Generic, SupportsIndex

import numpy as np
import numpy.typing as npt

from tensorwrapper.errors import RankError
from tensorwrapper.layout.boxes._named import named_layout
from tensorwrapper.layout.facade._layout_base import LayoutBase
from tensorwrapper.layout.operations._regroup import merge_mode, split_mode_by
from tensorwrapper.shape.lowlevel import integer_array, mode_of, to_index_array
from tensorwrapper.typing import IndexT_co, IntArray


class LayoutRows(LayoutBase[IndexT_co], ABC, Generic[IndexT_co]):
    """Abstract: as `LayoutBase`."""

    __slots__ = ()

    def merge_rows(self, mode: SupportsIndex) -> "LayoutBase":
        """Return the layout in which `mode` counts on in the mode before it; layers are dropped.

        All modes start at zero then. O(1) where rows are packed, else O(cells); of boxes that no stride
        reaches on, O(the two extents).

        Raises
        ------
        RankError
            If there is no such mode, or none before it.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> Layout(Shape.jagged([2, 0, 3])).merge_rows(1).shape
        Shape(5)
        """
        flat, names = self.implementation.without_layers(), self.implementation.names
        number = mode_of(mode, flat.shape.rank)
        if names is not None:
            names = (*names[: number - 1], None, *names[number + 1 :])
        return self._wrap(named_layout(merge_mode(flat, number), names))

    def split_rows(
        self, lengths: npt.ArrayLike, mode: SupportsIndex = 0, *, parents: IntArray | None = None
    ) -> "LayoutBase":
        """Return the layout in which `mode` is dealt to rows of these lengths; layers are dropped.

        O(rows), and O(cells) where cells have a place each.

        Parameters
        ----------
        lengths
            How many indices each row has.
        mode
            Which mode to deal.
        parents
            Where the lengths of each prefix begin, if they say so: an array of one entry more than prefixes.

        Raises
        ------
        ExtentError
            If the lengths do not add up to the extents of the mode.
        RankError
            If there is no such mode, or the lengths form no axis.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> Layout(Shape(5)).split_rows([2, 0, 3]).shape
        Shape.jagged([2, 0, 3])
        """
        flat, names = self.implementation.without_layers(), self.implementation.names
        number, given = mode_of(mode, flat.shape.rank), integer_array(lengths, "counts")
        if given.ndim != 1:
            raise RankError(f"counts form one axis, not an array of shape {given.shape}")
        counts = to_index_array(given[:, np.newaxis], 1)[:, 0]
        if names is not None:
            names = (*names[:number], None, None, *names[number + 1 :])
        return self._wrap(named_layout(split_mode_by(flat, number, counts, parents), names))
