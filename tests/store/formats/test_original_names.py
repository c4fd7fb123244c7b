"""Names with slashes go into a `.tens` file and back, for every kind of file that has such names."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.store.formats._kinds import PATHS


@pytest.mark.parametrize("ending", PATHS)
def test_a_conversion_back_restores_original_names(tmp_path, ending):
    first, between, last = tmp_path / f"a{ending}", tmp_path / "b.tens", tmp_path / f"c{ending}"
    tensors = {"k/v": np.arange(3), "w": np.arange(3.0)}
    tw.save(first, tensors)
    tw.store.convert(first, between)
    done = tw.store.convert(between, last)
    assert sorted(done.names) == sorted(tensors)
    with tw.open(last) as file:
        assert {name: np.asarray(file[name]).tolist() for name in file} == {
            name: own.tolist() for name, own in tensors.items()
        }
