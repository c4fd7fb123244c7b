"""Ragged arrays of the CF conventions; h5py writes dimension scales as netCDF-4 has them, zarr names."""

import h5py
import numpy as np
import pytest
import zarr

import tensorwrapper as tw
from tensorwrapper.wire import Limits
from tests.support.store.groups import KINDS

BARE = b"This is a netCDF dimension but not a netCDF variable%10d"


def write_variables(folder, kind, variables, dimensions=()):
    """Write variables, each with its values, the names of its dimensions, and attributes; return the path."""
    path = folder / f"a.{kind.rstrip('23')}"
    if kind == "h5":
        with h5py.File(path, "w") as file:
            for name, extent in dict(dimensions).items():
                file.create_dataset(name, (extent,), "f4").make_scale(BARE % extent)
            for name, (values, _, said) in variables.items():
                file[name] = values
                file[name].attrs.update(said)
            for name, (_, names, _) in variables.items():
                for mode, own in enumerate(names):
                    if own == name:
                        file[name].make_scale(own)
                    else:
                        file[name].dims[mode].attach_scale(file[own])
        return path
    root = zarr.create_group(str(path), zarr_format=int(kind[-1]))
    for name, (values, names, said) in variables.items():
        above, _, own = name.rpartition("/")
        group = root.require_group(above) if above else root
        given = {"dimension_names": names} if kind == "zarr3" else {}
        array = group.create_array(own, data=np.asarray(values), **given)
        array.attrs.update(said if kind == "zarr3" else {**said, "_ARRAY_DIMENSIONS": names})
    return path


def contiguous(counts=(2, 0, 3), **more):
    z, t = np.arange(5.0), np.arange(10.0).reshape(5, 2)
    return {
        "row_size": (np.array(counts), ["station"], {"sample_dimension": "obs"}),
        "station": (np.array([7, 8, 9]), ["station"], {}),
        "z": (z, ["obs"], {}),
        "t": (t, ["obs", "lev"], {}),
    } | more


def indexed(ids=(1, 1, 0, 2, 1), **more):
    return {
        "number": (np.array(ids), ["obs"], {"instance_dimension": "station"}),
        "station": (np.array([7, 8, 9]), ["station"], {}),
        "z": (np.arange(5.0), ["obs"], {}),
        "t": (np.arange(10.0).reshape(5, 2), ["obs", "lev"], {}),
    } | more


DIMENSIONS = {"obs": 5, "lev": 2}


@pytest.mark.parametrize("kind", KINDS)
def test_counts_deal_variables_to_rows(tmp_path, kind):
    file = tw.open(write_variables(tmp_path, kind, contiguous(), DIMENSIONS))
    assert (sorted(file), file.losses) == (["row_size", "station", "t", "z"], ())
    assert file["z"].shape == tw.Shape.jagged([2, 0, 3])
    assert file["z"].tolist() == [[0, 1], [], [2, 3, 4]]
    assert file["t"].tolist() == [[[0, 1], [2, 3]], [], [[4, 5], [6, 7], [8, 9]]]
    assert (file["row_size"].tolist(), file["station"].tolist()) == ([2, 0, 3], [7, 8, 9])
    assert (file.describe("z").packing, file["z"].size) == ("jagged", 5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ids", [(1, 1, 0, 2, 1), (0, 0, 1, 2, 2), (2, 2, 2, 2, 2)])
def test_numbers_of_instances_deal_variables_to_rows(tmp_path, kind, ids):
    file = tw.open(write_variables(tmp_path, kind, indexed(ids), DIMENSIONS))
    z, t = np.arange(5.0), np.arange(10.0).reshape(5, 2)
    assert file.losses == ()
    assert file["z"].tolist() == [z[np.array(ids) == k].tolist() for k in range(3)]
    assert file["t"].tolist() == [t[np.array(ids) == k].tolist() for k in range(3)]
    assert file["number"].tolist() == list(ids)


@pytest.mark.parametrize("kind", KINDS)
def test_raw_files_have_the_arrays(tmp_path, kind):
    file = tw.open(write_variables(tmp_path, kind, contiguous(), DIMENSIONS), raw=True)
    assert (file["z"].tolist(), file["t"].shape.extents, file.losses) == (list(range(5)), (5, 2), ())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("counts", [(2, 0, 2), (2, 0, 4), (6, -1, 0), (2**62, 2**62, 5)])
def test_counts_that_do_not_fit_are_told_and_leave_variables_as_they_are(tmp_path, kind, counts):
    file = tw.open(write_variables(tmp_path, kind, contiguous(counts), DIMENSIONS))
    assert [(loss.name, loss.code) for loss in file.losses] == [("row_size", "convention")]
    assert (file["z"].tolist(), file["t"].shape.extents) == (list(range(5)), (5, 2))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ids", [(1, 1, 0, 3, 1), (-1, 1, 0, 2, 1), np.array([1, 1, 0, 2**64 - 1, 1], "u8")])
def test_numbers_that_are_of_no_instance_are_told(tmp_path, kind, ids):
    file = tw.open(write_variables(tmp_path, kind, indexed(ids), DIMENSIONS))
    assert [(loss.name, loss.code) for loss in file.losses] == [("number", "convention")]
    assert file["z"].tolist() == list(range(5))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "dealer",
    [
        (np.array([2.0, 0, 3]), ["station"], {"sample_dimension": "obs"}),
        (np.array([[2, 0, 3]]), ["one", "station"], {"sample_dimension": "obs"}),
        (np.array([2, 0, 3]), ["station"], {"sample_dimension": "elsewhere"}),
        (np.array([1, 1, 0, 2, 1]), ["obs"], {"instance_dimension": "elsewhere"}),
    ],
)
def test_a_variable_that_can_deal_none_is_told(tmp_path, kind, dealer):
    variables = contiguous(row_size=dealer)
    file = tw.open(write_variables(tmp_path, kind, variables, DIMENSIONS | {"one": 1}))
    assert [(loss.name, loss.code) for loss in file.losses] == [("row_size", "convention")]
    assert file["z"].tolist() == list(range(5))


@pytest.mark.parametrize("kind", KINDS)
def test_the_second_variable_that_deals_a_dimension_is_told(tmp_path, kind):
    second = (np.array([5, 0, 0]), ["station"], {"sample_dimension": "obs"})
    file = tw.open(write_variables(tmp_path, kind, contiguous(second=second), DIMENSIONS))
    assert [(loss.name, loss.code) for loss in file.losses] == [("second", "convention")]
    assert file["z"].tolist() == [[0, 1], [], [2, 3, 4]]


@pytest.mark.parametrize("kind", ["zarr2", "zarr3"])
def test_an_array_of_another_extent_hides_no_rows(tmp_path, kind):
    file = tw.open(write_variables(tmp_path, kind, contiguous(bad=(np.arange(4), ["obs"], {}))))
    assert [(loss.name, loss.code) for loss in file.losses] == [("bad", "convention")]
    assert (file["z"].tolist(), file["bad"].tolist()) == ([[0, 1], [], [2, 3, 4]], [0, 1, 2, 3])


def test_variables_of_groups_see_the_dimensions_above(tmp_path):
    variables = contiguous(**{"g/u": (np.arange(5), ["obs"], {})})
    file = tw.open(write_variables(tmp_path, "h5", variables, DIMENSIONS))
    assert file["g/u"].tolist() == [[0, 1], [], [2, 3, 4]]


@pytest.mark.parametrize("kind", ["zarr2", "zarr3"])
def test_each_group_of_zarr_has_its_own_dimensions(tmp_path, kind):
    variables = {f"{group}/{name}": own for group in "gh" for name, own in contiguous().items()}
    variables["h/row_size"] = contiguous((1, 1, 3))["row_size"]
    file = tw.open(write_variables(tmp_path, kind, variables))
    assert file["g/z"].tolist() == [[0, 1], [], [2, 3, 4]]
    assert file["h/z"].tolist() == [[0], [1], [2, 3, 4]]


@pytest.mark.parametrize("kind", KINDS)
def test_text_is_dealt_as_numbers_are(tmp_path, kind):
    words = np.array([*"abcde"], object if kind == "h5" else np.dtypes.StringDType())
    file = tw.open(write_variables(tmp_path, kind, contiguous(word=(words, ["obs"], {})), DIMENSIONS))
    assert file["word"].tolist() == [["a", "b"], [], ["c", "d", "e"]]


def test_rows_are_read_when_they_are_computed(tmp_path):
    path = write_variables(tmp_path, "h5", contiguous(), DIMENSIONS)
    with h5py.File(path, "a") as file:
        scale = file["obs"]
        file.create_dataset("w", data=np.arange(5.0), chunks=(1,)).dims[0].attach_scale(scale)
    row = tw.open(path)["w"][2]
    assert (row.plan().bytes_read, row.tolist()) == (24, [2, 3, 4])


def test_a_dimension_of_many_instances_takes_no_memory(tmp_path):
    variables = indexed()
    del variables["station"]
    path = write_variables(tmp_path, "h5", variables, DIMENSIONS | {"station": 2**34})
    file = tw.open(path, limits=Limits(decompressed_bytes=2**20))
    assert [(loss.name, loss.code) for loss in file.losses] == [("number", "convention")]
    assert "decompressed_bytes" in file.losses[0]


@pytest.mark.parametrize("name", ["row_size", "z"])
def test_an_attribute_that_is_no_text_is_of_others(tmp_path, name):
    variables = contiguous()
    values, names, _ = variables[name]
    variables[name] = (values, names, {"sample_dimension": 3})
    file = tw.open(write_variables(tmp_path, "h5", variables, DIMENSIONS))
    assert file.losses == ()
    assert file["z"].tolist() == (list(range(5)) if name == "row_size" else [[0, 1], [], [2, 3, 4]])


def test_netcdf_writes_both_forms(tmp_path):
    netcdf = pytest.importorskip("netCDF4")
    with netcdf.Dataset(tmp_path / "a.nc", "w") as file:
        for name, extent in {"station": 3, "obs": 5}.items():
            file.createDimension(name, extent)
        row_size = file.createVariable("row_size", "i4", ("station",))
        row_size.sample_dimension = "obs"
        row_size[:] = [2, 0, 3]
        file.createVariable("z", "f8", ("obs",))[:] = np.arange(5)
    with netcdf.Dataset(tmp_path / "b.nc", "w") as file:
        for name, extent in {"station": 3, "obs": 5}.items():
            file.createDimension(name, extent)
        number = file.createVariable("number", "i4", ("obs",))
        number.instance_dimension = "station"
        number[:] = [1, 1, 0, 2, 1]
        file.createVariable("z", "f8", ("obs",))[:] = np.arange(5)
    first, second = tw.open(tmp_path / "a.nc"), tw.open(tmp_path / "b.nc")
    assert (first["z"].tolist(), first.losses) == ([[0, 1], [], [2, 3, 4]], ())
    assert (second["z"].tolist(), second.losses) == ([[2], [0, 1, 4], [3]], ())


@pytest.mark.parametrize("variables", [contiguous(), indexed((0, 0, 2, 2, 2))], ids=["counts", "numbers"])
def test_fields_of_records_over_the_dimension_are_dealt(tmp_path, variables):
    records = np.array(
        [(k, f"w{k}".encode(), [k, -k]) for k in range(5)], [("a", "i4"), ("s", "S3"), ("v", "f8", 2)]
    )
    path = write_variables(
        tmp_path, "h5", {**variables, "r": (records, ["obs"], {}), "r.a": ([1], [], {})}, DIMENSIONS
    )
    with tw.open(path) as f:
        assert [(loss.name, loss.code) for loss in f.losses] == [("r.a", "name")]
        assert (f["r.a"].tolist(), f["r.a~1"].tolist()) == ([1], [[0, 1], [], [2, 3, 4]])
        assert f["r.s"].tolist() == [["w0", "w1"], [], ["w2", "w3", "w4"]]
        assert f["r.v"].tolist() == [[[0, 0], [1, -1]], [], [[2, -2], [3, -3], [4, -4]]]
        assert f.describe("r.s").packing == "field"
    with h5py.File(tmp_path / "b.h5", "w") as file:
        file["far"] = h5py.ExternalLink("a.h5", "/r")
    with tw.open(tmp_path / "b.h5", follow=tmp_path) as f:
        assert f["far.s"].tolist() == [["w0", "w1"], [], ["w2", "w3", "w4"]]
    assert tw.open(path, raw=True)["r.s"].tolist() == ["w0", "w1", "w2", "w3", "w4"]
