"""Tensors in blocks of tensors of cytnx, and the pattern of their charges."""

import importlib.util  # cytnx uses it without importing it

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import BlockPattern, Tiling
from tensorwrapper.errors import ConversionError
from tests.support.tiles.block_tensors import dense

assert importlib.util
cytnx = pytest.importorskip("cytnx")


def bond(charges, sizes, *, inward=True):
    return cytnx.Bond(cytnx.BD_IN if inward else cytnx.BD_OUT, [[own] for own in charges], list(sizes))


def filled(bonds):
    """Return a tensor of these bonds with numbers of its own in each element."""
    tensor, count = cytnx.UniTensor(bonds), 0
    for k in range(tensor.Nblocks()):
        block = tensor.get_block_(k)
        shape = block.numpy().shape
        size = int(np.prod(shape))
        tensor.put_block(cytnx.from_numpy(np.arange(count, count + size, dtype=float).reshape(shape) + 1), k)
        count += size
    return tensor


def dense_of(tensor):
    """Return all elements, one by one as cytnx says."""
    extents = tuple(tensor.shape())
    found = np.zeros(extents)
    for index in np.ndindex(extents):
        if tensor.elem_exists(list(index)):
            found[index] = tensor.at(list(index)).value
    return found


CHARGES = st.lists(st.integers(-2, 2), min_size=1, max_size=3, unique=True).map(sorted)


@given(CHARGES, CHARGES, st.booleans(), st.data())
def test_a_tensor_has_the_tiles_that_its_charges_allow(rows, columns, inward, data):
    sizes = [[data.draw(st.integers(1, 3)) for _ in own] for own in (rows, columns)]
    bonds = [bond(rows, sizes[0]), bond(columns, sizes[1], inward=inward)]
    allowed = BlockPattern.from_charges(Tiling(*sizes), [rows, columns], signs=(1, 1 if inward else -1))
    if not allowed.count:
        return  # which cytnx refuses
    theirs = filled(bonds)
    tensor = tw.blocks(theirs)
    assert np.array_equal(dense(tensor), dense_of(theirs))
    assert tensor.pattern == allowed


def test_permuted_and_diagonal_tensors_are_read_in_their_order():
    first, second = bond([0, 1], [2, 1]), bond([0, 1, 2], [1, 2, 1], inward=False)
    theirs = filled([first, first, second])
    turned = theirs.permute([2, 0, 1])
    assert np.array_equal(dense(tw.blocks(turned)), dense_of(theirs).transpose(2, 0, 1))
    square = cytnx.UniTensor([first, first.redirect()], is_diag=True)
    square.get_block_(0).fill(2.0)
    square.get_block_(1).fill(3.0)
    assert dense(tw.blocks(square)).tolist() == np.diag([2.0, 2.0, 3.0]).tolist()


def test_what_is_not_in_tiles_is_refused():
    with pytest.raises(ConversionError, match=r"type 'Dense'.*get_block"):
        tw.blocks(cytnx.UniTensor(cytnx.arange(6).reshape(2, 3)))
    parity = cytnx.Bond(cytnx.BD_IN, [[0], [1]], [1, 2], [cytnx.Symmetry.FermionParity()])
    with pytest.raises(ConversionError, match="Fermionic"):
        tw.blocks(cytnx.UniTensor([parity, parity.redirect()]))


def test_elements_go_back_by_the_bonds():
    theirs = filled([bond([0, 1, 2], [1, 2, 2]), bond([0, 1, 2], [1, 2, 2], inward=False)])
    tensor = 2 * tw.blocks(theirs)
    again = cytnx.UniTensor(theirs.bonds())
    for k in range(again.Nblocks()):
        again.put_block(cytnx.from_numpy(tensor.tile(again.get_qindices(k)).to_numpy()), k)
    assert np.array_equal(dense_of(again), 2 * dense_of(theirs))
