"""Kinds of file are told by the ends of names."""

import sys
from pathlib import Path

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.store.formats._kinds import KINDS
from tensorwrapper.store.wirecell._kinds import is_foreign


@pytest.mark.parametrize("end", KINDS)
@pytest.mark.parametrize("turn", [str.lower, str.upper])
def test_every_kind_is_saved_and_opened(tmp_path, end, turn):
    path = tmp_path / f"a{turn(end)}"
    assert is_foreign(path)
    tw.save(path, {"array": np.arange(6.0)})
    assert tw.open(path)["array"].tolist() == [0, 1, 2, 3, 4, 5]


def test_other_names_are_those_of_tens_files(tmp_path):
    assert not is_foreign(Path("a.tens"))
    assert not is_foreign(Path("h5"))
    tw.save(tmp_path / "a.dat", {"x": [1]})
    with tw.open(tmp_path / "a.dat") as f:
        assert isinstance(f, tw.TensFile)


@pytest.mark.parametrize(
    ("end", "library"),
    [(".h5", "h5py"), (".parquet", "pyarrow.parquet"), (".feather", "pyarrow"), (".zarr", "zarr")],
)
def test_a_library_that_is_not_there_is_named(tmp_path, monkeypatch, end, library):
    tw.save(tmp_path / f"a{end}", {"x": np.arange(6.0), "r": tw.jagged([[1]] * 6)})
    monkeypatch.setitem(sys.modules, library, None)
    for name in ("x", "r"):
        with pytest.raises(ModuleNotFoundError, match=library.partition(".")[0]):
            tw.open(tmp_path / f"a{end}")[name]
    with pytest.raises(ModuleNotFoundError, match=library.partition(".")[0]):
        tw.save(tmp_path / f"b{end}", {"x": np.arange(6.0)})
    assert not (tmp_path / f"b{end}").exists()
