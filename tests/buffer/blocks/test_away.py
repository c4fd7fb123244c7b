"""The buffer of tiles whose elements are elsewhere, as a buffer; and what it fetches."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import BlockPattern, Tiling
from tensorwrapper.buffer import Blocks, SymmetricBlocks
from tensorwrapper.buffer.lowlevel import blocks_away
from tensorwrapper.layout.lowlevel import new_strided
from tensorwrapper.shape import Symmetry
from tensorwrapper.tensor.lowlevel import make_tensor
from tensorwrapper.testing import BufferContract
from tests.support.tiles.block_tensors import block_tensors

CUT = Tiling([1, 2], [1, 2])
SOME = BlockPattern(CUT, [(1, 0), (1, 1)])


class Away:
    """A line that counts what is fetched of it."""

    def __init__(self, values):
        self.source, self.fetched = values, 0
        self.dtype = values.dtype

    def fetch(self, places):
        assert len(places)
        assert (np.diff(places) > 0).all()
        self.fetched += len(places)
        return self.source[places]


class TestTilesAway(BufferContract):
    def buffer(self):
        return blocks_away(Away(np.arange(1.0, 7)), SOME, np.array(9.0))

    def expected(self):
        return np.array([9.0, 9, 9, 1, 2, 3, 4, 5, 6])


class TestHermitianTilesAway(BufferContract):
    def buffer(self):
        line = Away(np.array([2j, 3, 4, 5 + 1j, 5 - 1j, 6]))
        return blocks_away(line, SOME.closure("h2"), np.array(0j), Symmetry.parse("h2"))

    def expected(self):
        return np.array([0, -2j, 3, 2j, 3, 4, 5 + 1j, 5 - 1j, 6])


@given(block_tensors(), st.data())
def test_any_window_fetches_what_is_present_in_it_once(given_one, data):
    ((tensor, array),) = given_one
    line = Away(np.array(tensor.packed_values()))
    away = make_tensor(tensor.layout, blocks_away(line, tensor.pattern, np.asarray(tensor.fill_value)))
    box, seen = tensor.untiled(), away.untiled()
    key = []
    for extent in array.shape:
        start = data.draw(st.integers(0, extent))
        key.append(slice(start, data.draw(st.integers(start, extent)), data.draw(st.sampled_from([1, 2]))))
        if data.draw(st.booleans()):
            key[-1] = slice(None, None, -1)
    box, seen = box[tuple(key)], seen[tuple(key)]
    stored = box.buffer.count_stored(box.layout.implementation)
    _, places = seen.buffer.asked_of([seen.layout.implementation] * 2)
    assert (len(places), line.fetched) == (stored, 0)
    assert np.array_equal(np.asarray(seen.to_dense()), array[tuple(key)])
    assert line.fetched == stored
    assert seen.copy().array_equal(box)


def test_a_pattern_needs_no_elements():
    line = Away(np.arange(6.0))
    tensor = make_tensor(tw.zeros(SOME).layout, blocks_away(line, SOME, np.array(0.0)))
    assert tensor[1:].pattern.count == 2
    assert line.fetched == 0
    assert isinstance(tensor.copy().buffer, Blocks)
    assert tensor.copy().packed_values().flags.writeable
    absent = tensor.tile((0, 0)).copy()
    absent[0, 0] = 5.0
    assert absent.tolist() == [[5.0]]
    with pytest.raises(tw.errors.ReadOnlyError, match="elsewhere"):
        tensor.buffer.write(np.array([3]), np.array([1.0]))


def test_all_of_a_symmetric_tensor_stays_packed():
    line = Away(np.array([2.0, 3, 4, 5, 5, 6]))
    pattern = SOME.closure("s2")
    tensor = make_tensor(
        tw.zeros(SOME).layout, blocks_away(line, pattern, np.array(0.0), Symmetry.parse("s2"))
    )
    assert (str(tensor.symmetry), line.fetched) == ("2: +(0 1)", 0)
    assert isinstance(tensor.copy().buffer, SymmetricBlocks)
    assert line.fetched == 6
    assert tensor.tile((0, 1)).tolist() == [[2.0, 3.0]]
    assert line.fetched == 8


def test_lists_of_tiles_store_no_fill():
    values = np.array([1.0, 0, 0, 4, 0, -0.0])
    here = tw.from_buffer(values, SOME)
    away = make_tensor(here.layout, blocks_away(Away(values), SOME, np.array(0.0)))
    for key in ([1, 0], [1, 1]):
        assert away[key].copy().nnz == here[key].copy().nnz
        assert away[key].copy().array_equal(here[key])


def test_a_line_of_all_elements_asks_for_each_stored_one():
    pattern = SOME.closure("h2")
    hermitian = Away(np.array([2j, 3, 4, 5 + 1j, 5 - 1j, 6])), pattern, np.array(0j), Symmetry.parse("h2")
    for parts in (hermitian, (Away(np.arange(8.0)), pattern, np.array(0.0))):
        buffer = blocks_away(*parts)
        line = new_strided((9,), (0,), (1,), 0)
        _, places = buffer.asked_of([line, new_strided((9,), (0,), (-1,), 8)])
        assert places.tolist() == list(range(len(parts[0].source)))
        assert buffer.elements_of(line).tolist() == buffer.read(np.arange(9)).tolist()
