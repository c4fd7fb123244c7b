"""Positions and their ranks in row-major order: NumPy is the oracle."""

import numpy as np
import pytest

from tensorwrapper.errors import SizeOverflowError
from tensorwrapper.selection.operations._operation import grouped, inserted, ranks_of, unravel, with_column


@pytest.mark.parametrize("extents", [(), (5,), (3, 4), (2, 1, 3)])
def test_ranks_and_positions_are_inverse(extents):
    ranks = np.arange(np.prod(extents, dtype=int)).reshape(1, -1)
    positions = unravel(ranks, extents)

    assert positions.shape == (*ranks.shape, len(extents))
    assert ranks_of(positions, extents).tolist() == ranks.tolist()
    if extents:
        assert positions[0].T.tolist() == np.array(np.unravel_index(ranks[0], extents)).tolist()


def test_ranks_that_64_bits_do_not_hold_are_refused():
    with pytest.raises(SizeOverflowError, match="leave 64 bits"):
        ranks_of(np.zeros((1, 2), dtype=np.int64), (2**32, 2**32))


def test_modes_are_put_in_and_replaced_beside_the_others():
    positions = np.array([[1, 2], [3, 4]])

    assert inserted(positions, (0, 2), 7).tolist() == [[7, 1, 7, 2], [7, 3, 7, 4]]
    assert with_column(positions, 1, np.array([8, 9])).tolist() == [[1, 8], [3, 9]]
    assert positions.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("numbers", [[], [3], [2, 0, 2, 2, 0], [-1, 7, -1], [2**40, 1, 2**40], [40_000, 0]])
def test_places_of_each_number_are_ascending(numbers):
    found = {number: places.tolist() for number, places in grouped(np.array(numbers, dtype=np.int64))}
    assert list(found) == sorted(set(numbers))
    assert found == {own: [k for k, n in enumerate(numbers) if n == own] for own in numbers}
