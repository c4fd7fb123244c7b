"""Rows whose elements are one array of a file are a source that keeps the contract."""

import h5py
import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.store.formats._rows_source import RowsSource
from tensorwrapper.testing import SourceContract


class TestRows(SourceContract):
    @pytest.fixture(autouse=True)
    def file(self, tmp_path):
        self.rows = tw.from_buffer(np.arange(5000), tw.Shape.from_offsets([0, 3, 3, 4000, 5000]))
        tw.save(tmp_path / "a.h5", {"rows": self.rows}, compress="zlib")
        self.view = tw.open(tmp_path / "a.h5")["rows"]

    def source(self):
        return self.view.plan().reads[0].source

    def expected(self):
        return self.rows


class Counting:
    """An array that notes which slices are read."""

    def __init__(self, n):
        self.asked, self.array = [], np.arange(n)
        self.shape, self.dtype = (n,), self.array.dtype

    def __getitem__(self, key):
        self.asked.append((key[0].start, key[0].stop))
        return self.array[key]


def test_runs_that_lie_close_are_read_at_once():
    array = Counting(100_000)
    shape = tw.Shape.from_offsets(np.arange(0, 100_001, 10))
    view = sel.as_view(RowsSource(sel.ArraySource(array), shape))
    assert view[[5, 7, 9000, 9001]].tolist() == [list(range(10 * k, 10 * k + 10)) for k in (5, 7, 9000, 9001)]
    assert array.asked == [(50, 80), (90_000, 90_020)]


def test_a_block_is_not_read_for_what_is_far_apart_in_it(monkeypatch):
    monkeypatch.setattr("tensorwrapper.store.formats._rows_source.LONGEST", 4096)
    array = Counting(5000)
    view = sel.as_view(RowsSource(sel.ArraySource(array), tw.Shape.from_offsets(np.arange(0, 5001, 5))))
    np.testing.assert_array_equal(view[::3].elements(), array.array.reshape(-1, 5)[::3].reshape(-1))
    assert max(stop - start for start, stop in array.asked) <= 512 + 5


def test_rows_are_equal_if_elements_and_shape_are(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as f:
        values = sel.ArraySource(f.create_dataset("x", data=np.arange(4)))
        one, two = (RowsSource(values, tw.Shape.jagged(n)) for n in ([1, 3], [2, 2]))
        assert one == RowsSource(values, tw.Shape.jagged([1, 3]))
        assert one != two
        assert "rows(" in repr(one)
