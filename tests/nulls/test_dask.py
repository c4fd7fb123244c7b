"""Nulls in collections of Dask: part by part, as in tensors; boxes are arrays of masked chunks."""

import numpy as np
import pytest

import tensorwrapper as tw

N = tw.jagged([[3, None, 1], [], [None], [2, 2]] * 30)
BOX = tw.as_tensor([[1, None], [2, 3]])

CALLS = {
    "as it is": lambda t: t,
    "compared": lambda t: t > 1,
    "added": lambda t: np.add(t, N),
    "sorted": lambda t: np.sort(t, axis=-1),
    "summed up": lambda t: np.cumsum(t, axis=-1),
    "chosen": lambda t: np.where(t > 1, t, 0),
}


@pytest.mark.parametrize("name", CALLS)
def test_rows_part_by_part(name):
    collection = N.to_dask(max_elements=20)
    assert collection.chunks != ((120,),)
    found = CALLS[name](collection).compute(scheduler="sync")
    assert found.array_equal(CALLS[name](N))


def test_reductions_skip_nulls():
    collection = N.to_dask(max_elements=20)
    assert np.sum(collection, axis=-1).compute(scheduler="sync").tolist() == np.sum(N, axis=-1).tolist()
    assert int(collection.reduce(np.add).compute(scheduler="sync")) == 240
    assert tw.as_tensor(collection).array_equal(N)


def test_boxes_are_masked_arrays():
    array = BOX.to_dask(chunks=(1, 2))
    found = (array + 1).compute(scheduler="sync")
    assert isinstance(found, np.ma.MaskedArray)
    assert found.tolist() == [[2, None], [3, 4]]
    assert tw.concat([BOX, BOX]).to_dask().compute(scheduler="sync").tolist() == BOX.tolist() * 2
