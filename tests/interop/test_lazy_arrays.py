"""What `as_tensor` makes of what lies in files: all of it, with names, origins, text and rows."""

import dask.array as da
import h5py
import numpy as np
import pytest
import scipy.sparse
import sparse
import xarray as xr
import zarr

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, DataFileError, DTypeError


@pytest.fixture
def file():
    with h5py.File("lists.h5", "w", driver="core", backing_store=False) as opened:
        yield opened


@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "f2", "f8", "c16", ">i4", ">f8"])
def test_numbers_keep_their_type(file, dtype):
    x = np.arange(24).astype(dtype).reshape(4, 6)
    arrays = [file.create_dataset("x", data=x), zarr.array(x)]
    for array in arrays:
        tensor = tw.as_tensor(array)

        assert tensor.dtype == x.dtype
        assert tensor.tolist() == x.tolist()
        assert sel.as_view(array)[1:3, ::2].compute().tolist() == x[1:3, ::2].tolist()


def test_text_becomes_strings(file):
    words = ["a", "", "ß and more than twelve bytes"]
    text = file.create_dataset("text", data=words)
    octets = file.create_dataset("octets", data=[w.encode() for w in words], dtype=h5py.string_dtype("ascii"))

    assert tw.as_tensor(text).tolist() == words
    assert tw.as_tensor(octets).tolist() == [word.encode() for word in words]
    assert tw.as_tensor(zarr.array(np.array(["a", "bc"], "T"))).tolist() == ["a", "bc"]


def test_arrays_of_any_length_become_rows(file):
    ragged = file.create_dataset("ragged", (3,), dtype=h5py.vlen_dtype(np.int32))
    ragged[0], ragged[2] = [1, 2], [3]
    empty = file.create_dataset("empty", (0,), dtype=h5py.vlen_dtype(np.int32))
    table = file.create_dataset("table", (1, 1), dtype=h5py.vlen_dtype(np.int32))

    assert tw.as_tensor(ragged).shape == tw.jagged(ragged).shape == tw.Shape.jagged([2, 0, 1])
    assert tw.as_tensor(ragged).dtype == np.int32
    assert tw.as_tensor(empty).shape == tw.Shape.jagged([], rank=2)
    assert tw.as_tensor(table).shape == tw.Shape.from_cells((1, 1), [[0]])
    with pytest.raises(DTypeError, match="as_tensor"):
        sel.as_view(ragged)


def test_what_files_refuse_of_sequences_datasets_refuse(file):
    for kind in (">i4", np.dtype([("a", "i4")]), np.dtype((">i4", (2,)))):
        held = file.create_dataset(str(np.dtype(kind).str), (2,), dtype=h5py.vlen_dtype(np.dtype(kind)))
        with pytest.raises(DTypeError, match="sequences of"):
            tw.as_tensor(held)


def test_one_text_and_one_sequence_are_tensors(file):
    file["text"] = "ab"
    one = file.create_dataset("one", (), dtype=h5py.vlen_dtype(np.int32))
    one[()] = [1, 2]

    assert tw.as_tensor(file["text"]).tolist() == "ab"
    assert tw.as_tensor(one).tolist() == [1, 2]


def test_names_of_dimensions_are_names_of_modes():
    array = zarr.array(np.eye(2), dimension_names=["row", None])

    assert tw.as_tensor(array).shape.names == sel.as_view(array).shape.names == ("row", None)


def test_a_tensorstore_keeps_origin_and_labels():
    ts = pytest.importorskip("tensorstore")
    array = ts.array(np.arange(6).reshape(2, 3))[ts.d[:].translate_to[3, -1].label["x", ""]]
    tensor = tw.as_tensor(array)

    assert tensor.shape == sel.as_view(array).shape == tw.Shape(2, 3, origin=(3, -1)).named("x", None)
    assert tensor.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_what_is_no_array_is_refused_by_name(file):
    file.create_dataset("x", data=[1])
    group, nothing = zarr.group(), file.create_dataset("nothing", data=h5py.Empty("f4"))
    structure = file.create_dataset("s", data=np.zeros(2, [("a", "i4")]))
    for given, error, words in [
        (file, ConversionError, "'x'"),
        (group, ConversionError, "group\\['name'\\]"),
        (nothing, ConversionError, "extents"),
        (structure, DTypeError, "field"),
    ]:
        for read in (tw.as_tensor, sel.as_view):
            with pytest.raises(error, match=words):
                read(given)
    with pytest.raises(ConversionError, match="copy=False"):
        tw.as_tensor(zarr.array(np.eye(2)), copy=False)
    gone = file["x"]
    file.close()
    with pytest.raises(DataFileError, match="closed"):
        tw.as_tensor(gone)


def sparse_blocks():
    full = np.arange(24).reshape(6, 4) * (np.arange(24).reshape(6, 4) % 3 == 0)
    whole = sparse.COO.from_numpy(full)
    rows = da.from_array(full, chunks=(3, 4)).map_blocks(scipy.sparse.csr_matrix)
    blocks = da.from_array(whole, chunks=(3, 4))
    named = [xr.DataArray(own, dims=("a", "b")) for own in (whole, blocks, rows)]
    return full, [rows, blocks, *named]


def test_a_view_of_sparse_blocks_is_refused_when_it_is_made_and_the_advice_works():
    full, given = sparse_blocks()
    for array in given:
        with pytest.raises(ConversionError, match=r"as_tensor\(\) of it is a sparse tensor"):
            sel.as_view(array)
        found = tw.as_tensor(array)
        assert found.is_sparse
        np.testing.assert_array_equal(np.asarray(sel.as_view(found)[1:3].compute().to_dense()), full[1:3])


class Backed:
    """A sparse matrix in a file, as anndata has it."""

    shape, dtype, format = (2, 2), np.dtype("f8"), "csr"

    def __getitem__(self, key):
        return self.to_memory()[key]

    def to_memory(self):
        return scipy.sparse.csr_array(np.eye(2))


class Variable:
    """A variable of rows, as netCDF4 has it: its type is that of the elements of a row."""

    shape, dtype, _isvlen = (3,), np.dtype("i4"), True

    def __getitem__(self, _key):
        found = np.empty(3, object)
        found[:] = [np.array([1, 2], "i4"), np.array([], "i4"), np.array([3], "i4")]
        return found


def test_what_is_read_in_other_ways_says_so_when_a_view_is_made():
    with pytest.raises(ConversionError, match="to_memory"):
        sel.as_view(Backed())
    assert tw.as_tensor(Backed().to_memory()).is_sparse
    with pytest.raises(ConversionError, match="jagged"):
        sel.as_view(Variable())
    found = tw.jagged(Variable())
    assert (found.tolist(), found.dtype) == ([[1, 2], [], [3]], np.int32)


def test_rows_of_xarray_are_rows():
    data = xr.Dataset({"rag": ("r", Variable()[:])})
    for given in (data["rag"], data["rag"].variable):
        with pytest.raises(DTypeError, match=r"jagged\(\)"):
            tw.as_tensor(given)
        assert tw.jagged(given).tolist() == [[1, 2], [], [3]]
    assert tw.jagged(Variable()[:]).tolist() == [[1, 2], [], [3]]


@pytest.mark.parametrize("extents", [(3,), (2, 2), (), (0,), (2, 0)])
def test_sequences_are_the_same_rows_from_a_dataset_and_from_its_file(tmp_path, extents):
    with h5py.File(tmp_path / "a.h5", "w") as f:
        made = f.create_dataset("x", extents, h5py.vlen_dtype(np.dtype("i4")))
        if made.size:
            made[(1,) * len(extents) if extents else ()] = np.array([5, 6], "i4")
        found, again = tw.as_tensor(made), tw.open(tmp_path / "a.h5")["x"]
        assert (found.shape, found.dtype) == (again.shape, again.dtype)
        assert found.tolist() == again.tolist()


def test_packed_variables_of_netcdf_make_no_view(tmp_path):
    """What is read is of another type than what is stored: a view would round, or never be computed."""
    netcdf = pytest.importorskip("netCDF4")
    with netcdf.Dataset(tmp_path / "a.nc", "w") as f:
        f.createDimension("x", 3)
        for name, said in (("v", {"scale_factor": 0.1}), ("u", {"_Unsigned": "true"}), ("plain", {})):
            made = f.createVariable(name, "i2", ("x",))
            made.setncatts(said)
            made[:] = [1, 2, 3]
    with netcdf.Dataset(tmp_path / "a.nc") as f:
        assert sel.as_view(f["plain"]).compute().tolist() == [1, 2, 3]
        for name in ("v", "u"):
            with pytest.raises(ConversionError, match="set_auto_scale"):
                sel.as_view(f[name])
            assert tw.as_tensor(f[name]).tolist() == f[name][:].tolist()
            f[name].set_auto_scale(False)
            assert sel.as_view(f[name]).compute().tolist() == f[name][:].tolist()


@pytest.mark.parametrize("base", ["<i4", ">f8", "c8", "?", "text"])
@pytest.mark.parametrize("extents", [(2,), (), (2, 0)])
def test_elements_that_are_arrays_are_the_last_modes_as_in_the_file(tmp_path, base, extents):
    dtype = np.dtype((h5py.string_dtype() if base == "text" else base, (3,)))
    with h5py.File(tmp_path / "a.h5", "w") as made:
        made.create_dataset("x", extents, dtype)
    with tw.open(tmp_path / "a.h5") as whole, h5py.File(tmp_path / "a.h5") as file:
        found, wanted = tw.as_tensor(file["x"]), whole["x"]
        assert found.shape == wanted.shape == tw.Shape(*extents, 3)
        assert (found.dtype.kind, found.tolist()) == (wanted.dtype.kind, wanted.tolist())


def test_text_of_fixed_length_in_hdf5_is_text_however_it_is_read(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["ascii"] = np.array([b"ab", b""], "S3")
        file["one"] = np.bytes_(b"xy")
        file["bytes"] = np.array([b"\xff\xfe", b"a"], "S2")
        file.create_dataset("arrays", (2,), dtype=np.dtype(("S2", (2,))))
    with h5py.File(tmp_path / "a.h5") as file, tw.open(tmp_path / "a.h5") as opened:
        for name in file:
            found, expected = tw.as_tensor(file[name]), opened[name]
            assert found.array_equal(expected), name
            assert found.dtype == expected.dtype
        assert tw.as_tensor(file["ascii"]).tolist() == ["ab", ""]
        assert tw.as_tensor(file["bytes"]).tolist() == [b"\xff\xfe", b"a"]
