"""What is asked of each source: boxes where reads overlap, and each source once."""

import tracemalloc

import numpy as np
import pytest

from tensorwrapper import selection as sel
from tensorwrapper.selection import Outer
from tests.support.selection.counting_source import CountingSource

X = np.arange(240.0).reshape(12, 20)


def test_overlapping_reads_become_the_box_around_them():
    source = CountingSource(X)
    v = sel.as_view(source)
    view = sel.concat([v[:8], v[4:]])
    assert view.plan().reads[0].selections == (Outer([range(12), range(20)]),)
    np.testing.assert_array_equal(np.asarray(view), np.concatenate([X[:8], X[4:]]))
    assert source.nbytes == X.nbytes


def test_reads_far_apart_stay_two():
    source = CountingSource(X)
    v = sel.as_view(source)
    view = sel.concat([v[:2], v[10:]])
    assert len(view.plan().reads[0].selections) == 2
    assert view.plan().bytes_read == 4 * 20 * 8


class Boxes(CountingSource):
    """A source that pays for every run, so that a box is cheaper than every second column."""

    def cost(self, selection):
        runs = selection.size // max(len(selection.modes[-1]), 1)
        even = isinstance(selection.modes[-1], range) and selection.modes[-1].step == 1
        return selection.size * 8 * (1 if even else 3) + runs


def test_a_source_that_says_so_is_read_as_a_box():
    source = Boxes(X)
    view = sel.as_view(source)[:, ::2]
    assert view.plan().reads[0].selections == (Outer([range(12), range(19)]),)
    np.testing.assert_array_equal(np.asarray(view), X[:, ::2])
    assert source.nbytes == view.plan().bytes_read == 12 * 19 * 8


def _zarr(folder):
    zarr = pytest.importorskip("zarr")
    return zarr.create_array(folder / "z", shape=(20_000, 20_000), chunks=(50, 50), dtype="f8")


def _h5py(folder):
    h5py = pytest.importorskip("h5py")
    return h5py.File(folder / "a.h5", "w").create_dataset("x", (20_000, 20_000), "f8", chunks=(50, 50))


def _dask(_folder):
    return pytest.importorskip("dask.array").zeros((2000, 2000), chunks=(500, 500))


@pytest.mark.parametrize("make", [_zarr, _h5py, _dask])
def test_few_points_of_a_large_array_take_memory_by_the_points(make, tmp_path):
    view = sel.as_view(make(tmp_path))
    view[[0, 3], [5, 2]].compute()  # what libraries load when they read for the first time
    places = np.linspace(0, view.shape.extents[0] - 1, 40).astype(int)
    tracemalloc.start()
    try:
        found = view[places, places[::-1]].compute()
        plan = view.diagonal()[:: view.shape.extents[0] // 40].plan()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.tolist() == [0] * 40
    assert plan.bytes_read == 8 * 40
    assert peak < 2**23


def test_a_sources_equal_to_another_is_read_with_it():
    class Named(CountingSource):
        def __eq__(self, other):
            return isinstance(other, Named)

        def __hash__(self):
            return 7

    first, second = Named(X), Named(X)
    assert sel.concat([first, second]).tolist() == np.concatenate([X, X]).tolist()
    assert first.calls + second.calls == 1


@pytest.mark.parametrize("abilities", [("runs",), ()])
def test_parts_that_no_layout_of_modes_says_lie_in_boxes_around_several(abilities):
    source = CountingSource(np.arange(8).reshape(4, 2), abilities=abilities)
    flat = sel.as_view(source).merge_modes(0, 1)
    view = sel.interleave([flat, flat[::-1], flat])[:19]
    expected = np.stack([np.arange(8), np.arange(8)[::-1], np.arange(8)], axis=1).reshape(-1)[:19]
    np.testing.assert_array_equal(np.asarray(view), expected)
    assert source.nbytes == view.plan().bytes_read == 64
    assert source.calls == 1
