"""The contract of layouts: guarantees for tensors, views and copies over any layout."""

import copy
import itertools
import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import Any, ClassVar, cast

import numpy as np
import pytest

from tensorwrapper.errors import LayoutError, OutOfBoundsError, RankError, TensorWrapperError
from tensorwrapper.layout import Layout, LayoutCommon, as_layout
from tensorwrapper.shape import Shape
from tensorwrapper.typing import Index

_FEW = 24  # keys, and permutations, tried on each layout
_KEYS: tuple[Any, ...] = (slice(None), slice(1, None), slice(None, None, -1), slice(None, None, 2), 0, -1)


class LayoutContract(ABC):
    """Abstract: `layouts`, some small layouts of boxes and, where supported, of jagged shapes.

    Every law compares with brute force over `offset_of`. Derive a class that pytest collects; every method is
    one law. A law that does not apply is disabled by name: ``test_... = None``; methods that raise a
    `LayoutError` are listed in `refuses`.

    Examples
    --------
    >>> from tensorwrapper import Layout, Shape
    >>> class TestColumns(LayoutContract):
    ...     def layouts(self):
    ...         return [Layout(Shape(2, 3), order="F")]
    >>> TestColumns().test_offsets_of_many_are_those_of_each()
    """

    __slots__ = ()

    refuses: ClassVar[Collection[str]] = ()
    """Operations that raise a `LayoutError`: "permute", "reverse", "gather", "repeat", "broadcast", ..."""

    @abstractmethod
    def layouts(self) -> "Sequence[Layout[Any] | LayoutCommon]":
        """Return the layouts to try, each of at most some hundred elements."""

    def _each(self) -> Iterator[tuple["Layout[Any]", dict[Index, int]]]:
        """Return an iterator over the layouts, each with the offsets of its indices in row-major order."""
        for given in self.layouts():
            layout = as_layout(given)
            yield layout, {index: layout.offset_of(index) for index in layout.shape.indices()}

    def _made(self, name: str, make: "Callable[[], Layout[Any]]") -> "Layout[Any] | None":
        """Return the result of an operation; None if `refuses` lists it and it raises."""
        if name not in self.refuses:
            return make()
        with pytest.raises(TensorWrapperError):
            make()
        return None

    # Offsets.

    def test_offsets_of_many_are_those_of_each(self) -> None:
        """Test `offsets_of` with arrays of indices of any shape; the result is int64."""
        for layout, places in self._each():
            rank, offsets = layout.shape.rank, list(places.values())
            table = np.array(list(places), dtype=np.int64).reshape(len(places), rank)
            found = layout.offsets_of(table)
            assert found.dtype == np.int64
            assert found.tolist() == offsets
            assert layout.offsets_of(table[::-1].reshape(1, len(places), rank)).tolist() == [offsets[::-1]]
            assert layout.offsets_of(np.empty((0, 3, rank), dtype=np.int64)).shape == (0, 3)

    def test_all_places_come_in_row_major_order(self) -> None:
        """Test that `to_numpy` and its `out` have the extents of a box, or are flat for jagged shapes."""
        for layout, places in self._each():
            shape, offsets = layout.shape, layout.to_numpy()
            flat = shape.flatten()
            assert offsets.shape == (flat.extents if flat.is_box else (shape.size,))
            assert offsets.ravel().tolist() == list(places.values())
            out = np.empty_like(offsets)
            assert layout.to_numpy(out=out) is out
            assert np.array_equal(out, offsets)

    def test_bounds_are_the_least_and_the_greatest_place(self) -> None:
        """Test also that `offset` is the offset of the first element."""
        for layout, places in self._each():
            if not places:
                assert (layout.bounds(), layout.span) == ((0, -1), 0)
                continue
            assert layout.bounds() == (min(places.values()), max(places.values()))
            assert layout.span == max(places.values()) - min(places.values()) + 1
            assert layout.offset == next(iter(places.values()))

    def test_what_it_says_of_its_places_is_so(self) -> None:
        """Test `is_injective`, `is_exhaustive`, `is_contiguous` and runs; the last two may be denied."""
        for layout, places in self._each():
            offsets = list(places.values())
            assert layout.is_injective == (len(set(offsets)) == len(offsets))
            if layout.is_contiguous:
                assert offsets == list(range(layout.offset, layout.offset + len(offsets)))
            run, moved = layout.implementation.run(), layout.implementation.moved_to_zero()
            if run is not None:
                assert offsets == list(range(run.start, run.stop))
            if moved is not None:
                assert moved.shape == layout.shape
                assert moved.to_numpy().ravel().tolist() == [offset - layout.offset for offset in offsets]
            assert layout.is_exhaustive == (layout.is_injective and layout.span == len(offsets))

    def test_indices_outside_are_refused(self) -> None:
        """Test single indices and arrays of indices."""
        for layout, places in self._each():
            box = layout.shape.as_smooth()
            beyond = tuple([o + n for o, n in zip(box.origin, box.extents, strict=True)])
            if layout.shape.rank and beyond not in places:
                with pytest.raises(OutOfBoundsError):
                    layout.offset_of(beyond)
                with pytest.raises(OutOfBoundsError):
                    layout.offsets_of([beyond])
            with pytest.raises(RankError):
                layout.offset_of((*beyond, 0))

    # From offsets to indices.

    def test_each_place_leads_back(self) -> None:
        """Test that `index_of` returns the first index at an offset, and `indices_of` all, in order."""
        for layout, places in self._each():
            back: dict[int, list[Index]] = {}
            for index, offset in places.items():
                back.setdefault(offset, []).append(index)
            for offset, indices in back.items():
                assert layout.index_of(offset) == indices[0]
                if "indices_of" not in self.refuses:
                    assert layout.indices_of(offset) == indices
            for offset in {min(back, default=0) - 1, max(back, default=0) + 1} - set(back):
                with pytest.raises(OutOfBoundsError):
                    layout.index_of(offset)

    def test_many_places_lead_back_at_once(self) -> None:
        """Test that `indices_at` returns the first index at each offset of an array."""
        for layout, places in self._each():
            firsts: dict[int, Index] = {}
            for index, offset in places.items():
                firsts.setdefault(offset, index)
            if "indices_at" in self.refuses:
                with pytest.raises(LayoutError):
                    layout.indices_at(list(firsts))
                continue
            found = layout.indices_at(np.array([list(firsts)], dtype=np.int64))
            assert found.shape == (1, len(firsts), layout.shape.rank)
            assert [tuple(row) for row in found[0].tolist()] == list(firsts.values())
            with pytest.raises(OutOfBoundsError):
                layout.indices_at([*firsts, max(firsts, default=0) + 1])

    def test_elements_have_ordinals(self) -> None:
        """Test ordinals in row-major order and in the layout's own order."""
        for layout, places in self._each():
            offsets = [layout.offset_of_ordinal(k) for k in range(len(places))]
            assert layout.offsets_of_ordinals().tolist() == offsets
            assert layout.offsets_of_ordinals(list(range(len(places)))[::-1]).tolist() == offsets[::-1]
            if layout.ordinal_order == "lex":
                assert offsets == list(places.values())
            with pytest.raises(OutOfBoundsError):
                layout.offset_of_ordinal(len(places))

    # Parts and rearrangements.

    def test_a_window_keeps_indices_and_places(self) -> None:
        """Test windows: rows of a shape, and smaller boxes of a box."""
        for layout, places in self._each():
            flat = layout.flatten()
            shape: Shape[Any] = flat.shape
            if not shape.rank:
                continue
            start, count = shape.origin_at(()), shape.extent(0)
            for first, last in ((0, count), (1, count), (0, count - 1)):
                if first > last:
                    continue
                region = shape.slice_outer(start + first, start + last)
                part = flat.window(region)
                assert part.shape.is_congruent(region)
                assert {index: part.offset_of(index) for index in region.indices()} == {
                    index: places[index] for index in region.indices()
                }

    def test_positional_keys_select_as_numpy_does(self) -> None:
        """Test integers, slices, new modes and the ellipsis for boxes, and runs of rows for jagged shapes."""
        for layout, places in self._each():
            flat = layout.flatten()
            if flat.shape.is_box:
                table = flat.to_numpy()
                keys = list(itertools.product(_KEYS, repeat=flat.shape.rank))
                chosen: list[Any] = [*keys[:: max(1, len(keys) // _FEW)], (..., None), (None, ...), ...]
                for key in chosen:
                    try:
                        expected = table[key]
                    except IndexError:
                        with pytest.raises(OutOfBoundsError):
                            flat[key]
                        continue
                    part = flat[key]
                    assert np.array_equal(part.to_numpy(), expected)
                    assert part.shape.extents == expected.shape
                continue
            heads = [index[0] - flat.shape.origin_at(()) for index in places]
            count = flat.shape.extent(0)
            for run in (slice(None), slice(1, None), slice(None, None, -1), slice(None, None, 2)):
                rows = list(range(count))[run]
                wanted = [o for row in rows for h, o in zip(heads, places.values(), strict=True) if h == row]
                assert flat[run].to_numpy().ravel().tolist() == wanted
            for row in range(count):
                wanted = [o for h, o in zip(heads, places.values(), strict=True) if h == row]
                assert flat[row].to_numpy().ravel().tolist() == wanted

    def test_permuted_modes_lead_to_the_same_places(self) -> None:
        """Test permutations; where the shape refuses one, the layout raises the error of the shape."""
        for layout, places in self._each():
            flat = layout.flatten()
            for order in itertools.islice(itertools.permutations(range(flat.shape.rank)), _FEW):
                try:
                    flat.shape.permute(order)
                    made = self._made("permute", partial(flat.permute, order))
                except TensorWrapperError:
                    assert not flat.shape.is_box
                    continue
                if made is not None:
                    for index, offset in places.items():
                        assert made.offset_of(tuple([index[mode] for mode in order])) == offset

    def test_the_last_mode_is_reversed_row_by_row(self) -> None:
        """Test reversal of the last mode, and of all modes of a box."""
        for layout, places in self._each():
            flat = layout.flatten()
            shape: Shape[Any] = flat.shape
            if not shape.rank:
                continue
            made = self._made("reverse", partial(flat.reverse, -1))
            if made is not None:
                for index, offset in places.items():
                    start, extent = shape.origin_at(index[:-1]), shape.extent_at(index[:-1])
                    other = (*index[:-1], 2 * start + extent - 1 - index[-1])
                    assert made.offset_of(other) == offset
                if shape.is_box:
                    assert np.array_equal(flat.reverse().to_numpy(), np.flip(flat.to_numpy()))

    def test_positions_of_the_first_mode_are_gathered(self) -> None:
        """Test positions in any order, repeated and negative; positions out of bounds raise."""
        for layout, places in self._each():
            flat = layout.flatten()
            if not flat.shape.rank or not flat.shape.extent(0):
                continue
            count = flat.shape.extent(0)
            positions = [count - 1, 0, -1, 0]
            made = self._made("gather", partial(flat.gather, 0, positions))
            if made is not None:
                heads = [index[0] - flat.shape.origin_at(()) for index in places]
                wanted = [
                    o
                    for k in positions
                    for h, o in zip(heads, places.values(), strict=True)
                    if h == k % count
                ]
                assert made.to_numpy().ravel().tolist() == wanted
                with pytest.raises(OutOfBoundsError):
                    flat.gather(0, [count])

    def test_modes_of_a_box_repeat_and_broadcast(self) -> None:
        """`rotate`, `repeat`, `repeat_each`, `pad` and `broadcast`, against NumPy on the offsets."""
        for layout, _ in self._each():
            flat = layout.flatten()
            if not flat.shape.is_box or not flat.shape.rank:
                continue
            rank, table = flat.shape.rank, flat.to_numpy()
            once = (1,) * rank
            operations: list[tuple[str, Callable[[], Layout[Any]], Any]] = [
                (
                    "rotate",
                    partial(flat.rotate, once),
                    np.roll(table, once, tuple(range(rank))),
                ),
                ("repeat", partial(flat.repeat, (2,) * rank), np.tile(table, (2,) * rank)),
                ("repeat_each", partial(flat.repeat_each, 0, 2), np.repeat(table, 2, 0)),
                (
                    "broadcast",
                    partial(flat.broadcast, (2, *table.shape)),
                    np.broadcast_to(table, (2, *table.shape)),
                ),
            ]
            if table.size:
                pad = [(1, 0)] * rank
                operations.append(
                    ("pad", partial(flat.pad, pad, boundary="wrap"), np.pad(table, pad, mode="wrap"))
                )
            for name, make, expected in operations:
                made = self._made(name, make)
                assert made is None or np.array_equal(made.to_numpy(), expected)

    def test_the_simplest_form_has_the_same_places(self) -> None:
        """Test that `simplify` keeps all offsets, in row-major order."""
        for layout, places in self._each():
            assert layout.simplify().to_numpy().ravel().tolist() == list(places.values())

    # Copies between two layouts, and cost estimates.

    def test_a_copy_moves_every_element(self) -> None:
        """Test a copy to packed memory and, if offsets are unique, back; runs have both offsets."""
        for layout, places in self._each():
            target = Layout(layout.shape, offset=3)
            plan = layout.copy_plan(target)
            assert plan.elements == len(places)
            moved = _moves(plan)
            assert moved == list(zip(places.values(), range(3, 3 + len(places)), strict=True))
            if layout.is_injective:
                assert sorted(_moves(plan.inverse())) == sorted([(b, a) for a, b in moved])

    def test_layouts_overlap_where_they_share_a_place(self) -> None:
        """Test that `overlaps` is exact; disjoint bounds already exclude it."""
        for layout, places in self._each():
            offsets = set(places.values())
            for start in {min(offsets, default=0), max(offsets, default=0), max(offsets, default=0) + 1}:
                single = Layout(Shape(1), offset=start)
                assert layout.overlaps(single) == (start in offsets) == single.overlaps(layout)
                assert layout.may_overlap(single) or start not in offsets

    def test_hints_count_what_there_is(self) -> None:
        """Test that hints count all elements, and one run more than there are jumps in row-major order."""
        for layout, places in self._each():
            hints, offsets = layout.hints(), list(places.values())
            assert hints.whole.greatest == len(offsets)
            assert sorted(hints.order) == list(range(layout.shape.rank))
            if offsets:
                assert hints.row_runs == 1 + sum(b != a + 1 for a, b in itertools.pairwise(offsets))

    def test_other_forms_are_given_or_refused_by_name(self) -> None:
        """Test that `losses` predicts whether a format can represent the layout."""
        for layout, _ in self._each():
            for form, make in (("mdspan", layout.to_mdspan), ("storage_order", layout.storage_order)):
                if layout.losses(cast("Any", form)).refused:
                    with pytest.raises(LayoutError):
                        make()
                else:
                    make()

    # As a value.

    def test_copies_and_pickles_are_equal(self) -> None:
        """Test that copies have the same hash, and that another offset or shape makes a layout unequal."""
        for layout, _ in self._each():
            for again in (copy.copy(layout), copy.deepcopy(layout), pickle.loads(pickle.dumps(layout))):
                assert again == layout
                assert hash(again) == hash(layout)
                assert np.array_equal(again.to_numpy(), layout.to_numpy())
            assert layout != Layout(Shape(7, 11, 13))
            others: list[object] = [None, 0, layout.implementation]
            assert all(layout != other for other in others)

    def test_it_shows_itself(self) -> None:
        """Test `str`, `repr` and the picture."""
        for layout, _ in self._each():
            assert repr(layout)
            assert str(layout)
            assert layout.to_svg().startswith("<svg")
            assert "svg" in layout._repr_html_()


def _moves(plan: Any) -> list[tuple[int, int]]:  # noqa: ANN401 - a copy plan
    """Return the source and target offset of each element, in target order."""
    pairs = [
        (source + k, target + k)
        for runs in plan.run_batches()
        for source, target, count in runs.tolist()
        for k in range(count)
    ]
    return sorted(pairs, key=lambda pair: pair[1])
