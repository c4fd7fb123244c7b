"""Attributes of HDF5 are values of Python; h5py writes them."""

import h5py
import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.store.formats.hdf5._attributes import plain_attribute


class NoHeaps:
    """Heaps that are looked at when text of any length is read."""

    def __init__(self):
        self.count = 0

    def check(self):
        self.count += 1


@pytest.mark.parametrize(
    ("value", "expected", "looks"),
    [
        ("text", "text", 1),
        (np.bytes_(b"\xff"), "\ufffd", 0),
        (np.array(["one"], object), "one", 1),
        (3, 3, 0),
        ([3, 4], [3, 4], 0),
        (np.array([2**63], "u8"), [2**63], 0),
        ([1.5], None, 0),
        (True, None, 0),
        (h5py.Empty("f4"), None, 0),
        (np.zeros(65, "i8"), None, 0),
        (np.array(["a", "b"], object), None, 0),
        (np.array([(1, 2)], "i4,i4"), None, 0),
    ],
)
def test_texts_and_integers_are_read(tmp_path, value, expected, looks):
    heaps = NoHeaps()
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.attrs.create(
            "x", value, dtype=h5py.string_dtype() if isinstance(expected, str) and looks else None
        )
        assert plain_attribute(file, heaps, "x") == expected
        assert plain_attribute(file, heaps, "y") is None
    assert heaps.count == looks


def test_attributes_that_numpy_has_no_type_for_are_of_others(tmp_path):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        group = file.create_group("g")
        group["x"] = np.arange(3)
        group.attrs["form"] = "a circle"
        space = h5py.h5s.create(h5py.h5s.SCALAR)
        for own in (group, group["x"]):
            for name in (b"encoding-type", b"length", b"sample_dimension"):
                h5py.h5a.create(own.id, name, h5py.h5t.UNIX_D32LE, space)
    file = tw.open(path)
    assert (list(file), file.losses, file["g/x"].tolist()) == (["g/x"], (), [0, 1, 2])
