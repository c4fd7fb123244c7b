"""Addresses in batches are those of all elements in row-major order, however many come at a time."""

import numpy as np
import pytest

from tensorwrapper import Layout, Shape, Tiling
from tensorwrapper.layout.lowlevel import address_batches
from tensorwrapper.layout.operations import _addresses

TILING = Tiling((2, 3), (1, 4))
LAYOUTS = {
    "a box": Layout(Shape(7, 5), order="F"),
    "a mode with a table": Layout(Shape(7, 5)).gather(0, [6, 0, 3]),
    "rows": Layout(Shape.jagged([3, 0, 9, 1])),
    "rows that lie anywhere": Layout.from_block_offsets(Shape.jagged([3, 0, 9]), [20, 0, 5]),
    "tiles": Layout(Shape(5, 5)).as_tiled(TILING),
    "layers": Layout(Shape.nested(Shape(3, 4), layers=(1, 1))),
    "no element": Layout(Shape(0, 3)),
}


@pytest.mark.parametrize("most", [1, 4, 1 << 20])
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_batches_are_the_offsets_in_row_major_order(layout, most, monkeypatch):
    monkeypatch.setattr(_addresses, "BATCH", most)

    batches = [batch.reshape(-1) for batch in address_batches(layout.implementation)]

    expected = layout.implementation.to_numpy().reshape(-1)
    assert np.concatenate([np.empty(0, dtype=np.int64), *batches]).tolist() == expected.tolist()
    assert most > 1 or len(batches) >= min(len(expected), 3)
