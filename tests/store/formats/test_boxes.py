"""Files of NumPy and of safetensors are saved by name."""

import numpy as np
import pytest
import safetensors.numpy

import tensorwrapper as tw
from tensorwrapper.errors import ConversionError
from tests.support.store.foreign_files import names_in


def test_numpy_and_safetensors_read_what_was_saved(tmp_path):
    x = np.arange(12.0).reshape(3, 4)
    tw.save(tmp_path / "a.npy", {"array": x})
    tw.save(tmp_path / "a.npz", {"x": x, "y": x[0]})
    tw.save(tmp_path / "a.safetensors", {"x": x}, metadata={"by": "us"})
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), x)
    assert sorted(np.load(tmp_path / "a.npz")) == ["x", "y"]
    np.testing.assert_array_equal(safetensors.numpy.load_file(tmp_path / "a.safetensors")["x"], x)
    assert tw.open(tmp_path / "a.safetensors").metadata == {"by": "us"}


@pytest.mark.parametrize("how", [{"chunks": (2, 2)}, {"compress": "zlib"}])
@pytest.mark.parametrize("end", ["npy", "npz", "safetensors"])
def test_they_know_no_chunks_and_no_codecs(tmp_path, end, how):
    with pytest.raises(ConversionError):
        tw.save(tmp_path / f"a.{end}", {"array": np.zeros((4, 4))}, **how)
    assert names_in(tmp_path) == []


def test_rows_are_refused(tmp_path):
    with pytest.raises(ConversionError, match="boxes"):
        tw.save(tmp_path / "a.npz", {"rows": tw.jagged([[1], [2, 3]])})


@pytest.mark.parametrize("kind", ["npz", "npy", "safetensors", "parquet", "feather", "tar", "zip"])
def test_a_symmetry_that_is_left_out_is_told(tmp_path, kind):
    tw.save(tmp_path / "s.tens", {"s": tw.from_packed(np.arange(6.0), "s2", (3, 3))})
    lost = tw.store.convert(tmp_path / "s.tens", tmp_path / f"a.{kind}").lost
    assert any("the symmetry of" in text for text in lost)


@pytest.mark.parametrize("kind", ["h5", "zarr"])
def test_chunks_of_all_are_none_of_an_empty_box(tmp_path, kind):
    tw.save(tmp_path / f"a.{kind}", {"x": np.zeros(0), "y": np.arange(5)}, chunks=(2,))
    with tw.open(tmp_path / f"a.{kind}") as file:
        assert {name: file[name].tolist() for name in file} == {"x": [], "y": [0, 1, 2, 3, 4]}
