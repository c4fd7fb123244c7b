"""Maps of files know which file they show."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tests.support.store.opened_arrays import KINDS, TABLE, written


@pytest.mark.parametrize("kind", [*KINDS, "npy", "tens"])
def test_a_plan_says_how_many_bytes_are_read_and_of_which_file(tmp_path, kind):
    if kind == "tens":
        tw.save(tmp_path / "a.tens", {"array": TABLE})
        path = tmp_path / "a.tens"
    else:
        path = written(tmp_path, kind, {"array": TABLE})
    with tw.open(path) as f:
        array = f["array"]
    whole = tw.concat([array, array[::-1]])
    part = whole[2:4, 1::2]
    assert part.plan().bytes_read == 8  # The last row, twice.
    (read,) = part.plan().reads
    assert repr(str(path)) in repr(read.source)
    assert repr(str(path)) in part.explain()
    np.testing.assert_array_equal(np.asarray(part), np.concatenate([TABLE, TABLE[::-1]])[2:4, 1::2])


def test_a_tensor_that_grew_says_its_file(tmp_path):
    path = tmp_path / "a.tens"
    with tw.open(path, "a") as f:
        f.extend("x", np.arange(4))
        f.extend("x", np.arange(4))
    with tw.open(path) as f:
        plan = f["x"][3:6].plan()
    assert (plan.bytes_read, repr(str(path)) in repr(plan.reads[0].source)) == (24, True)


def test_a_memory_map_of_numpy_says_its_file(tmp_path):
    path = tmp_path / "a.bin"
    TABLE.tofile(path)
    view = sel.as_view(np.memmap(path, "f4", "r", shape=(3, 4)))[1:]
    assert repr(str(path)) in repr(view.plan().reads[0].source)
    assert "'" not in repr(sel.as_view(TABLE).plan().reads[0].source)
