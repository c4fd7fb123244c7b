"""Tile-major storage against a loop over tiles."""

import itertools
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import Tiling
from tensorwrapper.errors import OutOfBoundsError
from tensorwrapper.layout.tiles._tile_major import TileMajor


@st.composite
def stored(draw):
    """A layout and what a loop over its tiles gives: index to offset, and where the last element lies."""
    rank = draw(st.integers(0, 3))
    sizes = [draw(st.lists(st.integers(0, 3), max_size=3)) for _ in range(rank)]
    tiling = Tiling(*sizes, origin=[draw(st.integers(-3, 3)) for _ in range(rank)])
    outer, inner = (tuple(draw(st.permutations(range(rank)))) for _ in range(2))
    alignment, offset = draw(st.sampled_from([1, 1, 2, 4])), draw(st.integers(0, 5))
    table, place = {}, offset
    for tile in _counted([len(s) for s in sizes], outer):
        box = tiling.tile(tile)
        places = itertools.count(place)
        for inside in _counted(box.extents, inner):
            table[tuple(start + i for start, i in zip(box.origin, inside, strict=True))] = next(places)
        place += -(-box.size // alignment) * alignment
    return TileMajor(tiling, outer, inner, alignment, offset), table


def _counted(extents, order):
    """All places in a box, the first mode of `order` fastest."""
    for slow_first in itertools.product(*[range(extents[mode]) for mode in order[::-1]]):
        place = [0] * len(extents)
        for mode, k in zip(order[::-1], slow_first, strict=True):
            place[mode] = k
        yield tuple(place)


@given(stored())
def test_every_element_lies_where_a_loop_over_the_tiles_puts_it(case):
    layout, table = case
    indices = list(layout.shape.indices())

    assert len(table) == layout.shape.size
    assert layout.to_numpy().reshape(-1).tolist() == [table[index] for index in indices]
    assert [layout.offset_of(index) for index in indices] == [table[index] for index in indices]
    assert layout.is_injective
    if table:
        assert layout.bounds() == (min(table.values()), max(table.values()))


@given(stored())
def test_offsets_lead_back_and_gaps_belong_to_no_element(case):
    layout, table = case
    homes = {offset: index for index, offset in table.items()}
    for offset in range(layout.offset - 1, layout.offset + layout.span + 2):
        if offset in homes:
            assert layout.index_of(offset) == homes[offset]
        else:
            with pytest.raises(OutOfBoundsError):
                layout.index_of(offset)


@given(stored())
def test_contiguous_means_consecutive_in_row_major_order(case):
    layout, _ = case
    offsets = layout.to_numpy().reshape(-1).tolist()

    consecutive = not offsets or offsets == list(range(offsets[0], offsets[0] + len(offsets)))
    assert layout.is_contiguous == consecutive


@given(stored())
def test_a_tile_is_one_run_and_a_window_inside_it_is_strided(case):
    layout, table = case
    for number in layout.tiling.grid.indices():
        box = layout.tiling.tile(number)
        part = layout.window(box)
        assert part.shape == box
        assert part.to_numpy().reshape(-1).tolist() == [table[index] for index in box.indices()]
        if box.size:
            assert part.span == box.size


@given(stored())
def test_it_is_a_value(case):
    layout, _ = case
    again = pickle.loads(pickle.dumps(layout))

    assert again == layout
    assert hash(again) == hash(layout)


def test_the_closed_form_keeps_no_table():
    tiling = Tiling.make_uniform((10**9, 10**9), 10**6)
    layout = TileMajor(tiling, (1, 0), (1, 0), 1, 0)

    index = (10**9 - 1, 12345678)
    assert layout.index_of(layout.offset_of(index)) == index
    assert layout.offset_of((10**9 - 1, 10**9 - 1)) == 10**18 - 1
