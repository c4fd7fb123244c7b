"""Tensors in blocks of arrays of TeNPy, and the pattern of their charges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import BlockPattern, Tiling
from tests.support.tiles.block_tensors import dense

npc = pytest.importorskip("tenpy.linalg.np_conserved")
CHARGES = npc.ChargeInfo([1])


def leg(charges, sizes, sign=1):
    return npc.LegCharge.from_qind(CHARGES, np.cumsum([0, *sizes]), [[own] for own in charges], sign)


@given(
    st.lists(st.tuples(st.integers(-2, 2), st.integers(1, 3)), min_size=1, max_size=4),
    st.lists(st.tuples(st.integers(-2, 2), st.integers(1, 3)), min_size=1, max_size=4),
    st.sampled_from([1, -1]),
    st.integers(-2, 2),
)
def test_an_array_has_the_tiles_that_its_charges_allow(rows, columns, sign, total):
    legs = [leg(*zip(*rows, strict=True)), leg(*zip(*columns, strict=True), sign)]
    array = npc.Array.from_func(np.ones, legs, qtotal=[total])
    tensor = tw.blocks(array)
    assert np.array_equal(dense(tensor), array.to_ndarray())
    tiling = Tiling([size for _, size in rows], [size for _, size in columns])
    allowed = BlockPattern.from_charges(
        tiling, [[own for own, _ in rows], [own for own, _ in columns]], signs=(1, sign), total=total
    )
    assert tensor.pattern == allowed


def test_a_transposed_array_is_read_in_its_order():
    first, second = leg([0, 1], [2, 1]), leg([0, 1, 2], [1, 2, 1])
    array = npc.Array.from_func(np.ones, [first, first, second.conj()])
    values = [np.arange(own.size).reshape(own.shape) for own, *_ in array]
    for (own, *_), new in zip(array, values, strict=True):
        own[...] = new
    turned = array.transpose([2, 0, 1])
    tensor = tw.blocks(turned)
    assert tensor.shape == tw.blocks(array).permute((2, 0, 1, 5, 3, 4)).shape
    assert np.array_equal(dense(tensor), turned.to_ndarray())


def test_an_array_of_no_blocks_has_its_type_and_any_tiling():
    none = npc.zeros([leg([0, 1], [2, 1]), leg([5, 6], [1, 1])], dtype=np.complex128)
    tensor = tw.blocks(none)
    assert (tensor.pattern.count, tensor.dtype) == (0, np.complex128)
    array = npc.Array.from_func(np.ones, [leg([0, 1], [2, 2]), leg([0, 1], [2, 2], -1)])
    coarse = tw.blocks(array, Tiling([4], [1, 3]))
    assert np.array_equal(dense(coarse), array.to_ndarray())
    assert tw.blocks(array, dtype="f4").dtype == np.float32
