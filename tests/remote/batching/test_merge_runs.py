"""Runs that are alike in rows that follow one another are boxes, of the same elements in the same order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.remote.batching import _merge_runs
from tensorwrapper.remote.batching._merge_runs import in_bands
from tensorwrapper.selection import Outer, Runs


def read(array, selections):
    """What arrives for each selection, and what was asked for."""
    out = [np.full(own.extents, -1.0) for own in selections]
    parts = list(in_bands(selections, out, array.shape))
    for _, own, target in parts:
        if isinstance(own, Runs):
            target[...] = array.reshape(-1)[own.numbers()]
        else:
            target[...] = array[np.ix_(*map(list, own.modes))]
    return out, parts


@given(st.lists(st.integers(1, 6), min_size=2, max_size=3), st.data())
def test_elements_are_those_of_the_runs_in_their_order(extents, data):
    size = int(np.prod(extents))
    array = np.arange(float(size)).reshape(extents)
    flags = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    mask = flags.reshape(extents)
    if data.draw(st.booleans()):
        # Rows of which many are alike.
        mask = mask & False | mask[..., :1, :]
    selections = [Runs(np.flatnonzero(mask)), Outer([range(1)] * len(extents))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_merge_runs, "_FEW", 1)
        patch.setattr(_merge_runs, "_BOX", -(10**6))
        out, parts = read(array, selections)
    assert out[0].tolist() == array[mask].tolist()
    assert out[1].tolist() == array[(slice(0, 1),) * len(extents)].tolist()
    if mask.any():
        assert all(isinstance(own, Outer) for _, own, _ in parts)
    assert sorted({number for number, own, _ in parts if own.size}) == [0, 1][not mask.any() :]


def test_tiles_are_a_few_boxes_and_scattered_points_stay_points():
    array = np.arange(400.0 * 300).reshape(400, 300)
    mask = np.zeros((400, 300), bool)
    for row, column in ((0, 20), (0, 100), (75, 40), (75, 60), (300, 280)):
        mask[row : row + 25, column : column + 20] = True
    out, parts = read(array, [Runs(np.flatnonzero(mask))])
    assert out[0].tolist() == array[mask].tolist()
    assert [own.extents for _, own, _ in parts] == [(25, 40), (25, 40), (25, 20)]

    points = Runs(np.sort(np.random.default_rng(1).choice(120_000, 500, replace=False)))
    out, parts = read(array, [points])
    assert parts[0][1] is points


def test_a_set_of_small_tiles_is_said_in_few_bytes():
    x = np.arange(500.0 * 500).reshape(500, 500)
    tiling = tw.Tiling([25] * 20, [20] * 25)
    with tw.serve({"T": tw.as_tensor(x).tiled(tiling)}) as server, tw.connect(server.address) as remote:
        mask = np.random.default_rng(2).random((20, 25)) < 0.1
        few = remote["T"].select_tiles(mask)
        before = remote.counters
        assert few.compute().tolist() == tw.as_tensor(x).tiled(tiling).select_tiles(mask).tolist()
        after = remote.counters
        moved = after.bytes_sent_on_wire + after.bytes_received_on_wire
        moved -= before.bytes_sent_on_wire + before.bytes_received_on_wire
        assert moved == few.plan().bytes_on_wire <= 1.02 * few.nbytes + 512
