"""A deflated member of an archive is inflated when it is read."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import (
    DataFileError,
)
from tests.support.store.opened_arrays import written


@pytest.mark.parametrize(
    "key", [np.s_[::-1], np.s_[2, ::3], np.s_[[4, 0, 4], 1:], np.s_[..., [6, 2]], np.s_[1:1]]
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_parts_of_what_is_deflated(tmp_path, key, order, monkeypatch):
    monkeypatch.setattr("tensorwrapper.store.formats._zip_member._CHUNK", 100)
    array = np.asarray(np.arange(35.0).reshape(5, 7), order=order)
    part = tw.open(written(tmp_path, "npz deflated", {"x": array}))["x"][key]
    np.testing.assert_array_equal(np.asarray(part.compute()), array[key])
    assert part.plan().bytes_read == np.unique(array[key]).size * 8


def test_points_of_what_is_deflated(tmp_path):
    array = np.arange(60).reshape(3, 4, 5)
    view = tw.open(written(tmp_path, "npz deflated", {"x": array}))["x"]
    assert view.vindex[[2, 0], [3, 1], [4, 2]].tolist() == [59, 7]
    assert view.diagonal(0, 1).plan().bytes_read == 15 * 8


def test_a_deflated_member_that_is_damaged_is_refused_when_it_is_read(tmp_path):
    path = written(tmp_path, "npz deflated", {"x": np.random.default_rng(1).random(1000)})
    raw = bytearray(path.read_bytes())
    raw[4000] ^= 0xFF
    path.write_bytes(raw)
    view = tw.open(path)["x"]
    with pytest.raises(DataFileError, match=r"a\.npz"):
        view.compute()


def test_a_deflated_member_of_more_than_a_reader_allows_is_refused(tmp_path):
    path = written(tmp_path, "npz deflated", {"x": np.zeros((2, 10_000))})
    limits = tw.wire.Limits(decompressed_bytes=1000)
    view = tw.open(path, limits=limits)["x"]
    with pytest.raises(DataFileError, match="decompressed_bytes"):
        view[0, :2].compute()
