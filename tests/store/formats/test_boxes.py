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
