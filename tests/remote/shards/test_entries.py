"""What a sparse tensor in parts stores comes of all tiles that selections meet, each entry once."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.remote import Sharding
from tensorwrapper.remote.shards._entries import entries_of
from tensorwrapper.selection import Outer, Runs
from tests.remote.shards.conftest import held

X = np.where(np.arange(120).reshape(10, 12) % 7 == 0, np.arange(120.0).reshape(10, 12), 0.0)


def test_entries_are_those_within_the_selections():
    places = np.argwhere(X)
    sparse = tw.sparse(places, X[tuple(places.T)], tw.Shape(10, 12))

    def cut(tensor, addresses):
        return Sharding(tw.Tiling([4, 6], [5, 0, 7]), tensor.dtype, addresses, fill_value=0)

    with held({"x": sparse}, cut) as (shards, _):
        source = shards["x"]._source
        for wanted in (
            (Outer([range(2, 9, 2), [0, 4, 5, 11]]),),
            (Runs([0, 60], [30, 11]),),
            (Outer([range(10), range(6)]), Runs(0, 120)),
            (),
        ):
            inside = np.zeros(120, bool)
            for own in wanted:
                if isinstance(own, Runs):
                    inside[own.numbers()] = True
                else:
                    inside.reshape(10, 12)[np.ix_(*map(list, own.modes))] = True
            found = entries_of(source, wanted)
            expected = np.flatnonzero(inside & (X.reshape(-1) != 0))
            assert (found.coords() @ [12, 1]).tolist() == expected.tolist()
            assert found.values().tolist() == X.reshape(-1)[expected].tolist()


@pytest.mark.parametrize("dtype", [">f8", ">i4", ">c16", ">M8[D]", "<f4"])
def test_tiles_in_either_byte_order_are_of_the_sharding(dtype):
    """The fill of a tile was told in the order of its own bytes, and taken for another."""
    own = np.array([5, 6, 2], "i8").astype(dtype)
    sparse = tw.sparse([(0, 1), (3, 2)], own[:2], tw.Shape(4, 3), fill_value=own[2])

    def cut(tensor, addresses):
        return Sharding(
            tw.Tiling([1, 3], [3]), tensor.dtype, addresses, [0, 1], fill_value=tensor.buffer.fill_value
        )

    with held({"x": sparse}, cut, count=2) as (shards, _):
        for key in (..., 3, (slice(None), slice(None, None, -1))):
            found = shards["x"][key].compute()
            assert found.tolist() == sparse[key].tolist()
            assert found.buffer.fill_value == sparse.buffer.fill_value
