"""What `as_tensor` makes of what lies in files: all of it, with names, origins, text and rows."""

import h5py
import numpy as np
import pytest
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
    with pytest.raises(ConversionError, match="single mode"):
        tw.as_tensor(table)
    with pytest.raises(DTypeError, match="as_tensor"):
        sel.as_view(ragged)


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
