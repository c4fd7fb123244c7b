"""Parts of a view, and the same elements elsewhere; nothing here reads an element."""

from collections.abc import Iterable
from typing import Any, Generic, Literal, Self, SupportsIndex, TypeVar, cast, final

import attrs

from tensorwrapper._integers import to_count, to_counts
from tensorwrapper.errors import ConversionError, JaggedModeError
from tensorwrapper.layout import Boundary, Layout, Widths
from tensorwrapper.layout.lowlevel import expand_positional, new_row_major, wrap_layout
from tensorwrapper.selection._view_facade import ViewFacade
from tensorwrapper.selection.expressions._padding import padded
from tensorwrapper.selection.expressions._reading import reading_of
from tensorwrapper.selection.sources._source import TensorSource
from tensorwrapper.shape.lowlevel import mode_of
from tensorwrapper.tensor.lowlevel import (
    ArrayKey,
    addresses_of_key,
    is_basic,
    positions_of,
    split_points,
    to_items,
)
from tensorwrapper.typing import IntArray, PositionalItem, PositionalKey, ScalarT_co

__all__ = ["ViewParts"]


class ViewParts(ViewFacade[ScalarT_co], Generic[ScalarT_co]):
    """Abstract: as `ViewFacade`."""

    __slots__ = ()

    def optimize(self) -> Self:
        """Return the same view, made of its normal form: of fewer steps, which later operations start from.

        What was written stays beside it: `as_written` gives it back, and `route` follows it.

        Examples
        --------
        >>> from tensorwrapper import selection as sel
        >>> v = sel.pad([1, 2, 3, 4], [(2, 3)], fill_value=9)[2:6].optimize()
        >>> v.atoms, v.normal_form().node.name
        ((), 'source')
        >>> [str(atom) for atom in v.as_written().atoms]
        ['slice(0, 2, 1, 4)']
        """
        normal = self.normal_form()
        view = self._make(attrs.evolve(normal, written=self._expression))
        object.__setattr__(view, "_normal", normal)
        return view

    def as_written(self) -> Self:
        """Return the view made of the steps that were written before `optimize`; itself if there are none."""
        last = self._expression
        if last.written is None:
            return self
        view = self._make(last.written).as_written()
        for name, arguments, _ in last.calls:
            view = view._step(name, arguments)
        return view

    def pad(
        self,
        widths: Widths,
        *,
        boundary: Literal["constant"] | Boundary = "constant",
        fill_value: object = 0,
    ) -> Self:
        """Return a view that goes on beyond its ends, as NumPy's pad; its own elements keep their indices.

        Parameters
        ----------
        widths
            For each mode how many positions come before and after.
        boundary
            What stands there: a constant, or the view itself again in one of the ways of a layout.
        fill_value
            The constant.

        Raises
        ------
        RankError
            If there is not one pair per mode.
        JaggedModeError
            If the view is no box.

        Examples
        --------
        >>> from tensorwrapper import selection as sel
        >>> v = sel.as_view([1, 2, 3]).pad([(2, 1)], fill_value=9)
        >>> v.compute().tolist(), v.shape
        ([9, 9, 1, 2, 3, 9], Shape(6, origin=(-2,)))
        >>> sel.as_view([1, 2, 3]).pad([(2, 1)], boundary="wrap").compute().tolist()
        [2, 3, 1, 2, 3, 1]
        """
        if not isinstance(cast("object", widths), Iterable):
            raise ConversionError(f"widths are one pair (before, after) per mode, not {widths!r}")
        pairs = cast("tuple[tuple[int, int], ...]", tuple([to_counts(pair, "widths") for pair in widths]))
        if self.shape.kind != "smooth":
            raise JaggedModeError(
                f"pad goes round a box, not round {self.shape}: to_padded() makes a box of it"
            )
        if boundary == "constant":
            return self._make(padded(self._expression, pairs, fill_value))
        return self._by(Layout.pad, pairs, boundary=boundary)

    def pad_rows(
        self, length: SupportsIndex, *, fill_value: object = 0, mode: SupportsIndex = -1, clip: bool = False
    ) -> Self:
        """Return the view in which `mode` has at least `length` indices; the new elements are `fill_value`.

        As `Tensor.pad_rows`. Of a box nothing is computed; rows of other lengths are, when this is called.

        Parameters
        ----------
        length
            How many indices the mode gets under every prefix; more stay unless they are clipped.
        fill_value
            What the new elements are.
        mode
            The last mode, or another one of a box.
        clip
            Whether what is longer loses its last elements.

        Examples
        --------
        >>> from tensorwrapper import selection as sel
        >>> v = sel.as_view([[1, 2, 3]])
        >>> v.pad_rows(5).compute().tolist(), v.pad_rows(2, clip=True).compute().tolist()
        ([[1, 2, 3, 0, 0]], [[1, 2]])
        """
        if self.shape.kind != "smooth":
            rows = self.copy().pad_rows(length, fill_value=fill_value, mode=mode, clip=clip)
            return self._make(reading_of(TensorSource(rows)))
        rank, count = self.shape.rank, to_count(length, "a length")
        number = mode_of(mode, rank)
        extent = self.shape.extent(number)
        if extent >= count:
            return self._at((slice(None),) * number + (slice(count),)) if clip else self
        widths = [(0, count - extent if other == number else 0) for other in range(rank)]
        return self.pad(widths, fill_value=fill_value)

    def _at(self, key: ArrayKey) -> Self:
        """Return the part that a key selects, by NumPy's rules."""
        if is_basic(key):
            return self._step("__getitem__", (key,))
        self._check_smooth("positions")
        return self._points(addresses_of_key(wrap_layout(new_row_major(self.shape.extents)), key))

    @property
    def oindex(self) -> "OuterView[Any]":
        """Outer indexing: ``v.oindex[key]`` takes the positions of each mode by themselves."""
        return OuterView(self)

    @property
    def vindex(self) -> "PointView[Any]":
        """Pointwise indexing: ``v.vindex[key]`` takes one element per point; their modes come first."""
        return PointView(self)

    def _points(self, ranks: IntArray) -> Self:
        """Return the view of the elements with these ranks in row-major order."""
        points = self._step("points", (ranks.reshape(-1),))
        return points if ranks.ndim == 1 else points._by(Layout.reshape, ranks.shape)

    def _check_smooth(self, what: str) -> None:
        if self.shape.kind != "smooth":
            raise JaggedModeError(f"{what} are selected of a box, not of {self.shape}: select rows by slices")

    def __copy__(self) -> Self:
        return self._make(self._expression)

    def __deepcopy__(self, memo: object) -> Self:
        return self._make(self._expression)


_T = TypeVar("_T", bound=ViewParts[Any])


@final
@attrs.frozen(eq=False)
class OuterView(Generic[_T]):
    """What stands before the brackets of `oindex`."""

    _view: _T

    def __getitem__(self, key: ArrayKey) -> _T:
        """Return the view of the outer product of the positions."""
        view = self._view
        view._check_smooth("positions")
        basic: list[PositionalItem] = []
        mode = 0
        for item in expand_positional(cast("PositionalKey", to_items(key)), view.shape.rank):
            if item is None or is_basic(item):
                basic.append(item)
            else:
                extent = view.shape.extents[mode]
                view = view._by(Layout.gather, mode, positions_of(cast("IntArray", item), extent, mode))
                basic.append(slice(None))
            mode += item is not None
        return view._step("__getitem__", (tuple(basic),))


@final
@attrs.frozen(eq=False)
class PointView(Generic[_T]):
    """What stands before the brackets of `vindex`."""

    _view: _T

    def __getitem__(self, key: ArrayKey) -> _T:
        """Return the view of the elements at the points."""
        view = self._view
        view._check_smooth("points")
        layout, points = split_points(wrap_layout(new_row_major(view.shape.extents)), key)
        return view._points(addresses_of_key(layout, points))
