"""Tensors taken apart, and put together again of their parts."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import wire
from tensorwrapper.wire.lowlevel import read_skeleton, take_apart
from tests.support.selection.kinds import KINDS


def parts_of(apart):
    data = apart.run.elements() if apart.data is None else apart.data
    return [np.array(data), *[np.array(part) for part in apart.parts]]


@pytest.mark.parametrize("kind", KINDS)
def test_a_tensor_of_each_kind_is_made_of_its_parts(kind):
    tensor = KINDS[kind](5, 3)
    apart = take_apart(tensor, wire.DEFAULT_LIMITS)
    assert [part.nbytes for part in parts_of(apart)] == list(apart.whole.sizes)
    said = read_skeleton(apart.whole.described, wire.DEFAULT_LIMITS, allow_longdouble=False)
    assert said == apart.whole
    assert len(said.item_sizes) == len(said.sizes)
    made = said.assemble(parts_of(apart))
    assert made.shape == tensor.shape
    assert made.array_equal(tensor)


def test_no_element_is_looked_at():
    tensor = tw.as_tensor(np.broadcast_to(np.float32(1), (2**15, 2**15)))
    apart = take_apart(tensor, wire.DEFAULT_LIMITS)
    assert (apart.whole.sizes, apart.run is tensor, apart.whole.item_sizes) == ((2**32,), True, (4,))
