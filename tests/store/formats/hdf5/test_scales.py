"""Dimension scales of HDF5: the names of modes, and dimensions of netCDF that are no arrays."""

import numpy as np
import pytest

import tensorwrapper as tw

h5py = pytest.importorskip("h5py")

BARE = b"This is a netCDF dimension but not a netCDF variable.         3"


def scale(file, name, extent, *, text=None):
    """Write a dimension as netCDF-4 does, of which there is no variable, or a scale."""
    found = file.create_dataset(name, (extent,), "f4")
    if text is None:
        found[:] = np.arange(extent)
    h5py.h5ds.set_scale(found.id, text or b"")
    return found


def attach(dataset, *scales):
    for mode, own in enumerate(scales):
        dataset.dims[mode].attach_scale(own)


def test_modes_are_called_as_their_scales(tmp_path):
    with h5py.File(tmp_path / "a.nc", "w") as file:
        file["v"], file["r"] = np.zeros((2, 3)), np.zeros(2, [("a", "i4")])
        scales = scale(file, "g/time", 2), scale(file, "level", 3, text=BARE)
        attach(file["v"], *scales)
        attach(file["r"], scales[0])
    with tw.open(tmp_path / "a.nc") as found:
        assert list(found) == ["g/time", "r.a", "v"]
        assert {name: found[name].shape.names for name in found} == {
            "g/time": ("time",),
            "r.a": ("time",),
            "v": ("time", "level"),
        }
        assert found.losses == ()


def test_a_label_and_the_own_word_of_a_scale_come_before_its_name(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["v"] = np.zeros((2, 3))
        attach(file["v"], scale(file, "a", 2, text=b"row"), scale(file, "b", 3, text=b"column"))
        file["v"].dims[1].label = "level"
    assert tw.open(tmp_path / "a.h5")["v"].shape.names == ("row", "level")


def test_what_scales_say_and_cannot_be_names_is_told(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["twice"], file["odd"], file["many"] = np.zeros((3, 3)), np.zeros(2), np.zeros(2)
        own, other = scale(file, "x", 3), scale(file, "time (s)", 2, text=BARE)
        attach(file["twice"], own, own)
        attach(file["odd"], other)
        for name in ("p", "q"):
            attach(file["many"], scale(file, name, 2))
    with tw.open(tmp_path / "a.h5") as found:
        assert {name: any(found[name].shape.names) for name in ("twice", "odd", "many")} == dict.fromkeys(
            ("twice", "odd", "many"), False
        )
        told = {loss.name: str(loss) for loss in found.losses if loss.code == "name"}
    assert sorted(told) == ["many", "odd", "twice"]
    assert "'time (s)'" in told["odd"]
    assert "'p', 'q'" in told["many"]


def test_a_dimension_that_has_elements_is_an_array(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        scale(file, "x", 3, text=BARE)[:] = [1, 2, 3]
    assert tw.open(tmp_path / "a.h5")["x"].tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    "odd", ["text", [1, 2], np.zeros(2, [("dataset", "i4"), ("dimension", "i4")])], ids=str
)
@pytest.mark.parametrize("key", ["REFERENCE_LIST", "CLASS", "NAME", "DIMENSION_LIST", "DIMENSION_LABELS"])
def test_attributes_of_scales_that_say_anything(key, odd, tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["v"] = np.zeros(2)
        own = scale(file, "x", 2)
        attach(file["v"], own)
        for each in (own, file["v"]):
            each.attrs[key] = odd
    with tw.open(tmp_path / "a.h5") as found:
        assert found["v"].shape.extents == found["x"].shape.extents == (2,)
        assert found.losses == ()


def test_a_scale_whose_dataset_was_deleted(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["v"], file["w"] = np.zeros(2), np.zeros(2)
        attach(file["v"], scale(file, "x", 2))
        attach(file["w"], file["x"])
        del file["v"]
    with tw.open(tmp_path / "a.h5") as found:
        assert found["w"].shape.names == ("x",)
