"""Laws of the set of indices: membership, order and ordinals."""

from collections.abc import Iterable
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.strategies import DataObject

from tensorwrapper.errors import OutOfBoundsError, RankError, TensorWrapperError
from tensorwrapper.shape import Shape
from tensorwrapper.testing._laws import Laws
from tensorwrapper.testing._tree import indices_of, nodes_of, tree_of, zeroed
from tensorwrapper.typing import Index, IntArray

_NEAR = 40  # neighbours to test


class IndexLaws(Laws):
    """Abstract: `shapes`. `indices`, `ordinal` and `contains` agree on one set in one order."""

    __slots__ = ()

    def test_indices_are_those_under_the_prefixes_in_order(self, shape: Shape) -> None:
        """Test that every index under the prefixes comes once: sorted in C order, reversed in F order."""
        expected = list(indices_of(tree_of(shape)))

        assert shape.size == len(expected)
        assert list(shape.indices()) == expected == sorted(expected)
        assert list(shape.indices(order="F")) == sorted(expected, key=lambda index: index[::-1])
        assert np.array_equal(shape.indices().to_numpy(), _table(expected, shape.rank))

    def test_offsets_count_from_the_origin_under_each_prefix(self, shape: Shape) -> None:
        """Test that every index has an offset, and that each of its entries counts from 0."""
        expected = list(indices_of(zeroed(tree_of(shape))))

        assert len(list(shape.offsets())) == shape.size
        assert list(shape.offsets()) == expected
        assert np.array_equal(shape.offsets().to_numpy(), _table(expected, shape.rank))

    def test_membership_is_that_of_the_set(self, shape: Shape, data: DataObject) -> None:
        """Test `contains` for indices and arrays of indices, and for neighbours outside the set."""
        inside = set(indices_of(tree_of(shape)))
        near = sorted(_neighbours(inside, shape.rank))
        points = data.draw(st.lists(st.sampled_from(near), max_size=_NEAR)) + sorted(inside)
        expected = [point in inside for point in points]

        assert [point in shape for point in points] == expected
        assert shape.contains(_table(points, shape.rank)).tolist() == expected
        odd: tuple[Any, ...] = (None, 0, "text", (0.5,) * max(shape.rank, 1))
        assert not any(thing in shape for thing in odd)
        assert (0,) * (shape.rank + 1) not in shape
        for point in set(points) - inside:
            with pytest.raises(OutOfBoundsError):
                shape.ordinal(point)
            with pytest.raises(OutOfBoundsError):
                shape.ordinals(_table([point], shape.rank))

    def test_ordinals_and_indices_are_inverse(self, shape: Shape) -> None:
        """Test single values and arrays of any shape; ordinals out of range raise."""
        expected = list(indices_of(tree_of(shape)))
        numbers = list(range(len(expected)))
        table = _table(expected, shape.rank)

        assert [shape.index(k) for k in numbers] == expected
        assert [shape.ordinal(index) for index in expected] == numbers
        assert shape.ordinals(table).tolist() == numbers
        assert shape.ordinals(table[np.newaxis]).shape == (1, len(expected))
        assert np.array_equal(shape.indices_at(numbers), table)
        assert shape.indices_at(np.array([numbers], dtype=np.int64)).shape == (1, len(expected), shape.rank)
        assert shape.ordinals(table).dtype == shape.indices_at(numbers).dtype == np.int64
        for outside in (-1, len(expected)):
            with pytest.raises(OutOfBoundsError, match=str(outside)):
                shape.index(outside)
            with pytest.raises(OutOfBoundsError, match=str(outside)):
                shape.indices_at([outside])
        with pytest.raises(RankError):
            shape.ordinal((0,) * (shape.rank + 1))

    def test_prefixes_that_lead_nowhere_are_refused(self, shape: Shape) -> None:
        """Test that `extent_at` and `origin_at` accept every existing prefix and raise for any other."""
        tree = tree_of(shape)
        for mode in range(shape.rank - 1):
            for node in nodes_of(tree, mode):
                for outside in (node.origin - 1, node.origin + node.extent):
                    with pytest.raises(OutOfBoundsError):
                        shape.extent_at((*node.prefix, outside))
                    with pytest.raises(OutOfBoundsError):
                        shape.origin_at((*node.prefix, outside))
        for index in list(indices_of(tree))[:1]:
            with pytest.raises(RankError):
                shape.extent_at(index)
        with pytest.raises(TensorWrapperError):
            shape.extent_at(cast("Any", (0.5,)))


def _table(indices: Iterable[Index], rank: int) -> IntArray:
    rows = list(indices)
    return np.array(rows, dtype=np.int64).reshape(len(rows), rank)


def _neighbours(inside: set[Index], rank: int) -> set[Index]:
    """Return the indices that differ from one inside, or from the origin, by one step in one mode."""
    near: set[Index] = set()
    for index in inside or {(0,) * rank}:
        for mode in range(rank):
            for step in (-1, 1):
                near.add((*index[:mode], index[mode] + step, *index[mode + 1 :]))
    return near | {(0,) * rank}
