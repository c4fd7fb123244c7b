"""Views of arrays in the other order of bytes are kept: their elements are stored in that of records."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel

SOURCES = {
    "box": tw.as_tensor(np.arange(6, dtype=">i2").reshape(3, 2)),
    "no rows": tw.as_tensor(np.zeros((0, 2), ">f4")),
    "rows": tw.as_tensor(np.arange(3, dtype=">f8")).unflatten([1, 0, 2]),
    "nulls": tw.nullable(np.arange(3, dtype=">u4"), [True, False, True]),
    "times": tw.as_tensor(np.arange(3).astype(">M8[s]")),
    "sparse": tw.sparse([(1,)], np.array([2], ">c8"), (3,)),
    "triangle": tw.from_buffer(np.arange(3, dtype=">i8"), tw.Shape.triangular(2)),
}
STEPS = {
    "as it is": lambda v: v[...],
    "turned": lambda v: v[::-1],
    "joined": lambda v: tw.concat([v, v[1:]]),
    "longer rows": lambda v: sel.pad_rows(v, 3),
    "some": lambda v: v[np.arange(len(v)) % 2 > 0],
}


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("name", SOURCES)
def test_views_of_big_endian_tensors_are_kept(tmp_path, name, step):
    source = SOURCES[name]
    view = STEPS[step](sel.as_view(source))
    path = tmp_path / "v.tens"
    for beside in ({}, {"own": source}):
        tw.save(path, {**beside, "view": view}, keep_views=True)
        with tw.open(path) as file:
            found = file["view"]
            assert found.dtype == view.dtype
            assert found.shape == view.shape
            assert found.tolist() == view.tolist()
        assert not tw.store.verify(path, deep=True).problems
