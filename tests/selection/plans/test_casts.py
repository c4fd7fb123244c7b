"""Casts go to the source where it sends less, and nowhere else."""

import dask.array as da
import h5py
import numpy as np
import pytest
import zarr
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import SizeOverflowError, VersionChangedError
from tests.support.selection.counting_source import CountingSource

X = np.arange(12.0).reshape(3, 4)
WIDE = X + 300 * (X == 11)


class Casting(CountingSource):
    """A source that casts, and counts the bytes that it sends."""

    def __init__(self, array, abilities=("runs", "casts")):
        super().__init__(array, abilities=abilities)
        self.sent = 0

    def read(self, selections, out):
        self.sent += sum(target.nbytes for target in out)
        return super().read(selections, out)


def test_a_narrower_type_is_read():
    source = Casting(X)
    view = sel.as_view(source)[1:, ::-1].astype("f4")
    plan = view.plan()
    assert plan.bytes_read == 8 * 4
    assert "as float32" in repr(plan.reads[0].source)
    np.testing.assert_array_equal(view.compute(), X[1:, ::-1].astype("f4"))
    assert (source.calls, source.sent) == (1, 32)


@pytest.mark.parametrize("abilities", [("runs",), ("runs", "casts")])
def test_a_wider_type_is_made_here(abilities):
    source = Casting(X.astype("i2"), abilities)
    view = sel.as_view(source).astype("f8")
    np.testing.assert_array_equal(view.compute(), X)
    assert source.sent == 24
    wraps = sel.as_view(Casting(X + 300)).astype("u1", casting="unsafe")
    np.testing.assert_array_equal(wraps.compute(), (X + 300).astype("i8").astype("u1"))


def test_what_is_read_at_two_types_is_read_once():
    source = Casting(X)
    view = sel.as_view(source)
    both = sel.concat([view.astype("f4").astype("f8"), view])
    np.testing.assert_array_equal(both.compute(), np.concatenate([X, X]))
    assert (source.calls, source.sent) == (1, 96)


@given(st.lists(st.integers(0, 2), min_size=1, max_size=4), st.sampled_from(["f4", "i2", "i1"]))
def test_trees_of_casts(rows, dtype):
    source = Casting(X)
    view = sel.as_view(source)
    parts = [view[k : k + 1].astype(dtype) for k in rows]
    tree = sel.minimum(sel.concat(parts)[::-1], sel.full((len(rows), 4), 7, dtype=dtype))
    expected = np.minimum(X[rows][::-1].astype(dtype), np.array(7, dtype))
    assert tree.dtype == expected.dtype
    assert tree.plan().bytes_read == len(set(rows)) * 4 * np.dtype(dtype).itemsize
    np.testing.assert_array_equal(tree.compute(), expected)
    assert source.sent == len(set(rows)) * 4 * np.dtype(dtype).itemsize


def test_rows_are_cast_where_they_are():
    rows = tw.jagged([[1.0, 2.0], [], [3.0, 4.0, 5.0]])
    source = Casting(rows)
    view = sel.as_view(source)[[2, 0]].astype("i2")
    assert view.compute().tolist() == [[3, 4, 5], [1, 2]]
    assert source.sent == 10


def test_versions_are_those_of_the_source():
    source = Casting(X)
    blocks = sel.as_view(source).astype("f4").blocks(16)
    next(blocks)
    source.version = "2"
    with pytest.raises(VersionChangedError):
        list(blocks)


@pytest.fixture(params=["h5py", "zarr", "dask"])
def array(request, tmp_path):
    if request.param == "h5py":
        with h5py.File(tmp_path / "a.h5", "w") as file:
            yield file.create_dataset("x", data=WIDE, chunks=(2, 2))
    elif request.param == "zarr":
        yield zarr.create_array(tmp_path / "a.zarr", data=WIDE, chunks=(2, 2))
    else:
        yield da.from_array(WIDE, chunks=2)


def test_arrays_of_libraries_cast(array):
    view = sel.as_view(array)
    np.testing.assert_array_equal(view[1:].astype("f4").compute(), WIDE[1:].astype("f4"))
    np.testing.assert_array_equal(view.vindex[[0, 2], [3, 1]].astype("i1").compute(), [3, 9])
    with pytest.raises(SizeOverflowError):
        view.astype("i1").compute()


def test_what_is_put_in_order_by_number_is_cast_at_its_source_where_all_of_it_is_taken():
    source = sel.as_view(da.arange(100.0, chunks=10))
    rows = source.unflatten(np.full(10, 10)).pad_rows(12)
    narrow = rows.astype("f4")
    assert (rows.plan().bytes_read, narrow.plan().bytes_read) == (800, 400)
    assert narrow.compute().tolist() == rows.compute().tolist()
    # What is not taken need not fit.
    far = sel.concat([tw.as_tensor([[1.0, 1e300]]), tw.as_tensor([[2.0, 3.0]])])
    assert far.flatten()[[0, 2, 3]].astype("i4").compute().tolist() == [1, 2, 3]


def test_one_source_may_be_read_cast_and_as_it_is_beside_another():
    one, other = Casting(X), Casting(X + 10)
    joined = sel.concat([sel.concat([other, one]).astype("f4"), one])
    np.testing.assert_array_equal(joined.compute(), np.concatenate([X + 10, X, X]))
    assert other.sent == X.size * 4
