"""Tensors that grew are one lazy tensor."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape, Tiling, _compiled
from tensorwrapper.errors import (
    ReadOnlyError,
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.tens"


def test_what_grew_is_read_only_and_pickled_with_its_elements(path):
    with tw.open(path, "a") as f:
        f.extend("x", np.arange(4).reshape(2, 2))
        f.extend("x", np.arange(4, 6).reshape(1, 2))
        view = f["x"]
    with pytest.raises(ReadOnlyError):
        view[0, 0] = 1
    for twin in (pickle.loads(pickle.dumps(view)), copy.copy(view), copy.deepcopy(view)):
        assert twin.tolist() == [[0, 1], [2, 3], [4, 5]]
    path.unlink()
    assert np.asarray(view[:, 1]).tolist() == [1, 3, 5]


def test_tiles_and_layers_grow_row_by_row(path):
    t = tw.as_tensor(np.arange(12.0).reshape(4, 3)).tiled(Tiling([1, 3], [2, 1]))
    with tw.open(path, "a") as f:
        f.extend("tiles", t)
        f.extend("tiles", t)
        assert f["tiles"].shape == Shape.tiled([1, 3, 1, 3], [2, 1])
        assert f["tiles"][3, 0].tolist() == t[1, 0].tolist()


def test_plans_read_what_they_say(path):
    with tw.open(path, "a") as f:
        for k in range(10):
            f.extend("x", np.full((5, 4), k, "f8"))
    with tw.open(path) as f:
        chosen = f["x"][12:17, ::2]
        assert chosen.plan().bytes_read <= 5 * 4 * 8
        records = f["x"]._expression.node.tensor.buffer.records
        assert records._opened.keys() == {9}
        assert records.open(0).size == 20
        read = f["x"]
        assert read[12:17, ::2].tolist() == [[2.0, 2.0]] * 3 + [[3.0, 3.0]] * 2
        assert read._expression.node.tensor.buffer.records._opened.keys() == {2, 3, 9}


def test_no_bounding_box_of_rows_is_looked_for(tmp_path, monkeypatch):
    with tw.open(tmp_path / "run.tens", "a") as f:
        for k in range(4):
            f.extend("x", tw.jagged([[k] * k, [7]]))
    with tw.open(tmp_path / "run.tens") as f:
        monkeypatch.setattr(tw.Shape, "as_smooth", None)
        assert len(f["x"]) == 8


@given(
    st.lists(st.tuples(st.integers(1, 4), st.booleans()), min_size=2, max_size=9),
    st.data(),
    st.sampled_from([np.bool_, np.int16, np.float64]),
    st.booleans(),
)
def test_any_run_of_what_grew_is_that_of_numpy(tmp_path_factory, parts, data, dtype, compiled):
    """Compressed records are opened one by one, others are read where they are in the file."""
    path = tmp_path_factory.mktemp("grown") / "run.tens"
    rows = [
        np.arange(3 * count).reshape(count, 3).astype(dtype) + dtype(k) for k, (count, _) in enumerate(parts)
    ]
    whole = np.concatenate(rows)
    with tw.open(path, "w") as f, pytest.MonkeyPatch.context() as patch:
        for own, (_, is_compressed) in zip(rows, parts, strict=True):
            f.extend("x", own, compress="zlib" if is_compressed else None)
        if not compiled:
            patch.setattr(_compiled, "_module", lambda: None)
        view = f["x"]
        for _ in range(3):
            start, stop = sorted(data.draw(st.tuples(*[st.integers(0, len(whole))] * 2)))
            step = data.draw(st.sampled_from([1, 1, 2, -1]))
            wanted = whole[start:stop][::step]
            found = view[start:stop][::step].compute()
            assert found.shape.extents == wanted.shape
            assert np.asarray(found).tolist() == wanted.tolist()
            assert not found.is_readonly
            buffer = view.expression.node.tensor.buffer
            run = buffer.own_run(start * 3, stop * 3)
            assert (
                run.tolist()
                == buffer.read_run(start * 3, stop * 3).tolist()
                == whole[start:stop].ravel().tolist()
            )
            assert run.flags.writeable
            assert run.base is None
