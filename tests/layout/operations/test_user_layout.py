"""Layouts that say where an index lies and nothing else: all other answers are found by looking."""

from typing import Any

import attrs
import numpy as np
import pytest

from tensorwrapper import Layout, Shape
from tensorwrapper.errors import OutOfBoundsError
from tensorwrapper.layout import CustomLayout
from tensorwrapper.layout.lowlevel import wrap_layout


@attrs.frozen(eq=False)
class Diagonals(CustomLayout):
    """An n x n matrix, diagonal after diagonal, wrapped round."""

    side: int

    @property
    def shape(self) -> Shape[Any]:
        return Shape(self.side, self.side)

    def offset_of(self, index):
        i, j = index
        return (j - i) % self.side * self.side + i


TABLE = np.array([[0, 3, 6], [7, 1, 4], [5, 8, 2]])


def layout():
    return wrap_layout(Diagonals(3))


def test_all_is_found_by_looking():
    found = layout()

    assert np.array_equal(found.to_numpy(), TABLE)
    assert found.bounds() == (0, 8)
    assert found.is_injective
    assert found.is_exhaustive
    assert not found.is_contiguous
    assert found.index_of(5) == (2, 0)
    with pytest.raises(OutOfBoundsError):
        found.index_of(9)


def test_parts_have_the_places_of_their_elements():
    found = layout()

    assert np.array_equal(found[1:, ::2].to_numpy(), TABLE[1:, ::2])
    assert np.array_equal(found.permute(1, 0).to_numpy(), TABLE.T)
    assert np.array_equal(found.reverse(0)[:, 1].to_numpy(), TABLE[::-1, 1])
    assert found.window(Shape(2, 2, origin=(1, 1))).shape.origin == (1, 1)
    assert isinstance(found[0], Layout)


@attrs.frozen
class Counted(CustomLayout):
    """Row-major storage of a row that counts how many places it was asked for."""

    size: int
    asked: list[int] = attrs.field(factory=list, eq=False)

    @property
    def shape(self) -> Shape[Any]:
        return Shape(self.size)

    def offset_of(self, index):
        self.asked.append(1)
        return int(next(iter(index)))

    def offsets_of(self, indices):
        places = np.asarray(indices)[..., 0]
        self.asked.append(places.size)
        return places

    def bounds(self):
        return 0, self.size - 1


@pytest.mark.parametrize("size", [10, 2**20, 2**20 + 1, 2**24 + 1, 2**40])
def test_what_no_rule_decides_is_not_looked_for_among_too_many(size):
    layout = Counted(size)
    assert layout.is_injective == (size <= 2**20)
    assert sum(layout.asked) <= 2**20
    assert layout.is_contiguous == (size <= 2**24)
    assert sum(layout.asked) <= 2**20 + 2**24
    halves = wrap_layout(layout)[::2].implementation
    layout.asked.clear()
    # Every other element follows no other, whatever lies underneath.
    assert not halves.is_contiguous
    assert sum(layout.asked) <= 2**24 + 2


def test_an_element_that_is_there_twice_shares_its_place_with_itself():
    twice = wrap_layout(Counted(2**30)).repeat([2]).implementation
    assert not twice.is_injective
    assert wrap_layout(Diagonals(3)).permute(1, 0).is_injective
