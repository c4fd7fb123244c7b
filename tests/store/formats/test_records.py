"""Tensors of files of other kinds whose rows agree are records."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import ExtentMismatchError, TensorNameError


def test_columns_and_members_are_fields(tmp_path):
    rows = {
        "t": tw.jagged([[5, 1, 7], [], [2, 9]]),
        "q": tw.jagged([[0.5, 1.5, 2.5], [], [3.5, 4.5]]),
        "run": [1, 2, 3],
    }
    for end in (".parquet", ".feather"):
        path = tmp_path / f"run{end}"
        tw.save(path, rows)
        events = tw.open(path).records()
        assert events.names == ("t", "q", "run")
        assert events.shape == tw.Shape.jagged([3, 0, 2])
        assert events[1:].to_dict() == {"t": [[], [2, 9]], "q": [[], [3.5, 4.5]], "run": [2, 3]}
    np.savez(tmp_path / "run.npz", a=[1, 2], b=[[1], [2]], c=[1, 2, 3])
    f = tw.open(tmp_path / "run.npz")
    assert f.records(["b", "a"]).to_dict() == {"b": [[1], [2]], "a": [1, 2]}
    with pytest.raises(ExtentMismatchError, match="'c'"):
        f.records()
    with pytest.raises(TensorNameError, match=r"f\.records\(\['a'\]\)"):
        f.records("a")
    assert f.records(["a"]).to_dict() == {"a": [1, 2]}


@pytest.mark.parametrize("end", [".h5", ".zarr"])
def test_groups_are_records(end, tmp_path):
    path = tmp_path / f"run{end}"
    if end == ".h5":
        h5py = pytest.importorskip("h5py")
        with h5py.File(path, "w") as h:
            h["events/t"], h["events/n"], h["other"] = np.arange(6).reshape(3, 2), [1, 2, 3], [9]
            h["events/kind/codes"], h["events/kind/categories"] = [0, 1, 0], [7, 8]
    else:
        zarr = pytest.importorskip("zarr")
        group = zarr.open_group(path, mode="w")
        for name, own in {
            "events/t": np.arange(6).reshape(3, 2),
            "events/n": np.arange(1, 4),
            "other": np.array([9]),
            "events/kind/codes": np.array([0, 1, 0]),
            "events/kind/categories": np.array([7, 8]),
        }.items():
            group.create_array(name, data=own)
    with tw.open(path) as f:
        for under in ("events", "events/"):
            events = f.records(under=under)
            assert set(events.names) == {"t", "n"}
            assert events[1:][["n", "t"]].to_dict() == {"n": [2, 3], "t": [[2, 3], [4, 5]]}
        assert f.records(under="events/kind", names=["codes"]).to_dict() == {"codes": [0, 1, 0]}
        assert f.records(under="/").names == f.records(under="").names == ("other",)
        with pytest.raises(TensorNameError, match="no tensors in the group 'event'"):
            f.records(under="event")
        assert f.records(["n"], under="events").to_dict() == {"n": [1, 2, 3]}
        with pytest.raises(TensorNameError, match="events/t"):
            f.records(["events/t"])
