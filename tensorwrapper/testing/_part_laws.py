"""Laws of parts: slices, chips, keys, moves and permutations are those of the set of indices."""

from collections.abc import Sequence

import pytest
from hypothesis import strategies as st
from hypothesis.strategies import DataObject, DrawFn

from tensorwrapper.errors import JaggedModeError, LayerError, OutOfBoundsError, RankError
from tensorwrapper.shape import Shape
from tensorwrapper.testing._laws import Laws
from tensorwrapper.testing._tree import Tree, indices_of, moved, nodes_of, selected, tree_of
from tensorwrapper.typing import Index

_WHOLE = slice(None)


class PartLaws(Laws):
    """Abstract: `shapes`. A part has the selected elements at their indices, or the selection raises."""

    __slots__ = ()

    def test_a_slice_keeps_what_lies_inside_or_raises(self, shape: Shape, data: DataObject) -> None:
        """Test that a slice keeps rank, kind and layers, and that only clipped bounds may exceed a row."""
        pairs = data.draw(_boxes(shape))
        clip = data.draw(st.booleans())
        first, last = [start for start, _ in pairs], [stop for _, stop in pairs]
        expected = _expected(shape, [slice(*pair) for pair in pairs], clip=clip)
        if expected is None:
            with pytest.raises(OutOfBoundsError, match=r"outside|reversed"):
                shape.slice(first, last, clip=clip)
            return
        part = shape.slice(first, last, clip=clip)

        assert tree_of(part) == expected[0]
        assert (part.kind, part.rank, part.layers) == (shape.kind, shape.rank, shape.layers)
        assert list(part.indices()) == [
            index for index in indices_of(tree_of(shape)) if _within(index, first, last)
        ]
        with pytest.raises(RankError, match=str(shape.rank)):
            shape.slice([*first, 0], [*last, 0])

    def test_a_slice_of_a_slice_is_a_slice(self, shape: Shape, data: DataObject) -> None:
        """Test that a slice of a slice equals the second slice of the whole, as bounds are absolute."""
        tree = tree_of(shape)
        if not shape.size:
            return
        keep = data.draw(st.sampled_from(list(indices_of(tree))))
        once = shape.slice([k - 1 for k in keep], [k + 2 for k in keep], clip=True)
        bounds = keep, [k + 1 for k in keep]

        assert keep in once
        assert once.slice(*bounds, clip=True).same_elements(shape.slice(*bounds, clip=True))
        assert tree_of(once.slice(*bounds, clip=True)) == selected(
            tree_of(once), [slice(k, k + 1) for k in keep], clip=True
        )

    def test_a_key_selects_under_every_prefix_that_is_left(self, shape: Shape, data: DataObject) -> None:
        """Test that an index can be pinned in any mode if every remaining row has it."""
        key = data.draw(_keys(shape))
        expected = _expected(shape, key)
        if expected is None:
            with pytest.raises(OutOfBoundsError, match=r"outside|reversed"):
                _ = shape[tuple(key)]
            return
        part = shape[tuple(key)]

        assert part.rank == sum(isinstance(entry, slice) for entry in key)
        assert tree_of(part) == expected[0]

    def test_a_chip_is_what_is_left_under_a_prefix(self, shape: Shape, data: DataObject) -> None:
        """Test that pinned leading modes are dropped, and that cells and elements are chips."""
        tree = tree_of(shape)
        length = data.draw(st.integers(0, shape.rank))
        prefixes = [node.prefix for node in nodes_of(tree, length)] or list(indices_of(tree))
        prefix = data.draw(st.sampled_from(prefixes)) if prefixes else ()
        chip = shape.chip(*prefix)

        assert chip.rank == shape.rank - len(prefix)
        assert tree_of(chip) == selected(tree, [*prefix, *[_WHOLE] * chip.rank])
        assert chip == (shape[prefix] if prefix else shape)
        if chip.rank:
            for outside in (shape.origin_at(prefix) - 1, shape.origin_at(prefix) + shape.extent_at(prefix)):
                with pytest.raises(OutOfBoundsError, match=str(outside)):
                    shape.chip(*prefix, outside)
        with pytest.raises(RankError):
            shape.chip(*[0] * (shape.rank + 1))
        if not shape.is_box:
            cells = list(shape.cells())
            assert [index for index, _ in cells] == list(shape.outer().indices())
            assert all(tree_of(cell) == tree_of(shape.chip(*index)) for index, cell in cells)
            assert sum(cell.size for _, cell in cells) == shape.size

    def test_translation_moves_every_prefix_and_back(self, shape: Shape, data: DataObject) -> None:
        """Test that `translate_by` adds its offset everywhere, and that `translate_to` sets the origin."""
        tree = tree_of(shape)
        offset = data.draw(st.tuples(*[st.integers(-5, 5)] * shape.rank))
        there = shape.translate_by(offset)

        assert tree_of(there) == moved(tree, offset)
        back = there.translate_by([-k for k in offset])
        assert back.is_congruent(shape)
        # Tiles without indices keep their sizes; rows, the result of a translation within tiles, do not.
        assert back == shape or not shape.size
        assert there.is_congruent(shape)
        assert shape.is_congruent(there)
        assert (there.kind, there.layers) == (shape.kind, shape.layers)
        with pytest.raises(RankError, match=str(shape.rank)):
            shape.translate_by([*offset, 0])
        try:
            origin = there.origin
        except JaggedModeError:
            with pytest.raises(JaggedModeError, match="origin"):
                there.translate_to(offset)
            return
        # A mode without prefixes has no origin.
        seen = [mode for mode in range(shape.rank) if any(nodes_of(tree, mode))]
        back = there.translate_to(offset)
        assert [back.origin[mode] for mode in seen] == [offset[mode] for mode in seen]
        assert tree_of(back.translate_to(origin)) == tree_of(there)

    def test_a_permutation_is_one_where_modes_follow_what_they_need(
        self, shape: Shape, data: DataObject
    ) -> None:
        """Test that it raises if a mode precedes one on which it depends, or leaves its layer."""
        order = data.draw(st.permutations(range(shape.rank)))
        homes = [layer for layer, count in enumerate(shape.layers) for _ in range(count)]
        if [homes[mode] for mode in order] != homes:
            with pytest.raises(LayerError):
                shape.permute(order)
            return
        needs = [shape.dependencies(mode) for mode in range(shape.rank)]
        if any(set(needs[mode]) - set(order[:place]) for place, mode in enumerate(order)):
            with pytest.raises(JaggedModeError, match="depends"):
                shape.permute(order)
            return
        permuted = shape.permute(order)
        expected = [tuple([index[mode] for mode in order]) for index in indices_of(tree_of(shape))]

        assert list(permuted.indices()) == sorted(expected)
        assert (permuted.kind, permuted.layers) == (shape.kind, shape.layers)
        assert permuted.permute([order.index(mode) for mode in range(shape.rank)]).same_elements(shape)
        with pytest.raises(RankError, match="permutation"):
            shape.permute([*order, 0])


def _expected(shape: Shape, key: Sequence[int | slice], *, clip: bool = False) -> tuple[Tree | None] | None:
    """Return the tree of a selection, or None if the selection must raise."""
    for entry in key:
        if isinstance(entry, slice) and None not in (entry.start, entry.stop) and entry.start > entry.stop:
            return None
    pins = next((mode for mode, entry in enumerate(key) if isinstance(entry, slice)), len(key))
    try:
        part, rest = shape.chip(*[entry for entry in key[:pins] if isinstance(entry, int)]), key[pins:]
        flat = part.flatten()
        if flat.is_box and not clip:
            # A box has its bounds even where no prefix leads to a mode.
            for entry, start, extent in zip(rest, flat.origin, flat.extents, strict=True):
                _check_bounds(entry, start, start + extent)
        return (selected(tree_of(shape), key, clip=clip),)
    except OutOfBoundsError:
        return None


def _check_bounds(entry: int | slice, start: int, stop: int) -> None:
    points = [entry.start, entry.stop] if isinstance(entry, slice) else [entry, entry + 1]
    if any(point is not None and not start <= point <= stop for point in points):
        raise OutOfBoundsError(entry)


def _within(index: Index, first: Sequence[int], last: Sequence[int]) -> bool:
    return all(start <= i < stop for start, i, stop in zip(first, index, last, strict=True))


_HOW, _NEAR = st.integers(0, 4), st.integers(-1, 2)


@st.composite
def _boxes(draw: DrawFn, shape: Shape) -> list[tuple[int, int]]:
    """Draw first and last indices, most of them inside or just outside the shape."""
    box = shape.as_smooth()
    pairs: list[tuple[int, int]] = []
    for start, extent in zip(box.origin, box.extents, strict=True):
        how = draw(_HOW)
        if how < 3:
            pairs.append((start, start + (min(extent, how) if how else extent)))
        else:
            pairs.append((start + draw(_NEAR), start + draw(_NEAR) + (extent if how == 3 else 1)))
    return pairs


@st.composite
def _keys(draw: DrawFn, shape: Shape) -> list[int | slice]:
    """Draw one entry per mode, near an existing index."""
    box = shape.as_smooth()
    near: Index = shape.index(draw(st.integers(0, shape.size - 1))) if shape.size else box.origin
    key: list[int | slice] = []
    for i in near:
        how = draw(_HOW)
        if how == 0:
            key.append(_WHOLE)
        elif how < 3:
            key.append(i if how == 1 else i + draw(_NEAR))
        else:
            start, stop = i + draw(_NEAR), i + draw(_NEAR)
            key.append(slice(start, None) if how == 3 else slice(start, stop))
    return key
