"""Tensors in blocks of maps of metatensor."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Tiling
from tensorwrapper.errors import ConversionError, OutOfBoundsError
from tests.support.tiles.block_tensors import P, X, dense, of

metatensor = pytest.importorskip("metatensor")
T = P.tiling


def labels(name, start, stop):
    return metatensor.Labels([name], np.arange(start, stop).reshape(-1, 1))


def block(values, *starts):
    """Return a block of metatensor whose labels count indices from a place."""
    own = [labels(f"i{mode}", s, s + n) for mode, (s, n) in enumerate(zip(starts, values.shape, strict=True))]
    return metatensor.TensorBlock(values, own[0], own[1:-1], own[-1])


def mapped(blocks, rank=2):
    keys = np.array(list(blocks), np.int32).reshape(-1, rank)
    # Blocks are moved into a map, and gone afterwards.
    own = [block.copy() for block in blocks.values()]
    return metatensor.TensorMap(metatensor.Labels([f"tile{mode}" for mode in range(rank)], keys), own)


def blocks_of(tensor):
    """Return the present tiles of a tensor as blocks, those of the greatest numbers first."""
    tiles = reversed(list(tensor.pattern))
    return {
        number: block(np.array(tensor.tile(number)), *tensor.tile(number).shape.origin) for number in tiles
    }


def test_a_map_gives_its_tensor_back():
    tensor = of(P, X)
    again = tw.blocks(mapped(blocks_of(tensor)), T)
    assert again.pattern == P
    assert np.array_equal(dense(again), dense(tensor))
    assert tw.blocks(mapped({}), T).pattern.count == 0
    assert tw.blocks(mapped({}), T, dtype="i2").dtype == np.int16


def test_blocks_say_their_tiling():
    tiling = Tiling([2, 3], [1, 4], [2], origin=(5, -1, 0))
    full = tw.from_buffer(np.arange(50.0), tiling.elements).tiled(tiling)
    some = tw.blocks({number: full.tile(number) for number in [(0, 1, 0), (1, 0, 0)]}, tiling)
    again = tw.blocks(mapped(blocks_of(some), 3))
    assert again.pattern == some.pattern
    assert again.shape == some.shape
    assert np.array_equal(dense(again), dense(some))


def test_what_no_block_says_is_asked_for():
    one = {(1, 0): block(np.ones((2, 2)), 3, 0)}
    with pytest.raises(ConversionError, match="tile 0 of mode 0 begins: give the tiling"):
        tw.blocks(mapped(one))
    assert tw.blocks(mapped(one), Tiling([3, 2], [2])).tile((1, 0)).tolist() == [[1, 1], [1, 1]]
    with pytest.raises(ConversionError, match="give the tiling"):
        tw.blocks(mapped({}))


def test_labels_of_other_tiles_are_refused():
    ones = np.ones((2, 2))
    tiling = Tiling([2, 2], [2, 2])
    with pytest.raises(ConversionError, match=r"tile 0 of mode 0 has indices 0 to 2 .* 2 to 4 in block"):
        tw.blocks(mapped({(0, 0): block(ones, 0, 0), (0, 1): block(ones, 2, 2)}))
    with pytest.raises(ConversionError, match="begins at 3, and the one before ends at 2"):
        tw.blocks(mapped({(0, 0): block(ones, 0, 0), (1, 0): block(ones, 3, 0)}))
    with pytest.raises(ConversionError, match="has indices 2 to 4, not 0 to 2"):
        tw.blocks(mapped({(1, 0): block(ones, 0, 0)}), tiling)
    with pytest.raises(ConversionError, match="2 modes, and block"):
        tw.blocks(mapped({(0, 0): block(np.ones((2, 2, 2)), 0, 0, 0)}), tiling)
    with pytest.raises(ConversionError, match="2 modes, not Tiling"):
        tw.blocks(mapped({(0, 0): block(ones, 0, 0)}), Tiling([2]))
    with pytest.raises(OutOfBoundsError):
        tw.blocks(mapped({(2, 0): block(ones, 4, 0)}), tiling)


def test_labels_that_are_no_indices_are_refused():
    gaps = metatensor.Labels(["i"], np.array([[0], [2]]))
    pairs = metatensor.Labels(["a", "b"], np.array([[0, 0], [0, 1]]))
    for own in (gaps, pairs):
        given = metatensor.TensorBlock(np.ones((2, 2)), own, [], labels("j", 0, 2))
        with pytest.raises(ConversionError, match="one after the other"):
            tw.blocks(mapped({(0, 0): given}), Tiling([2], [2]))


def test_gradients_are_not_lost():
    given = block(np.ones((2, 2)), 0, 0)
    samples = metatensor.Labels(["sample"], np.array([[0]]))
    given.add_gradient("cell", metatensor.TensorBlock(np.ones((1, 2)), samples, [], labels("i1", 0, 2)))
    with pytest.raises(ConversionError, match="gradients"):
        tw.blocks(mapped({(0, 0): given}))


def test_empty_tiles_lie_where_the_tiling_says():
    tiling = Tiling([2, 0, 1], [2])
    given = {(0, 0): block(np.ones((2, 2)), 0, 0), (1, 0): block(np.ones((0, 2)), 0, 0)}
    last = {(2, 0): block(np.ones((1, 2)), 2, 0)}
    assert list(tw.blocks(mapped(given), tiling).pattern) == [(0, 0), (1, 0)]
    assert tw.blocks(mapped(given | last)).pattern.tiling == tiling
