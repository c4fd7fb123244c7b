"""Section 3: tables of indices that no memory holds are refused before anything is filled."""

import numpy as np
import pytest

from tensorwrapper import Layout, Shape
from tensorwrapper.errors import SizeOverflowError

SHAPES = {
    "box": Shape(2**31, 2**31),
    "long box": Shape(2**40, 2**40),
    "uniform": Shape.from_uniform(2**31, 2**31),
    "tiled": Shape.tiled([2**31] * 2, [2**31] * 2),
    "triangle": Shape.triangular(10**12),
}


@pytest.fixture(params=SHAPES)
def shape(request):
    return SHAPES[request.param]


@pytest.mark.parametrize("count", [2**40, 2**60, 2**62])
def test_section_3_what_no_memory_holds_is_refused_at_once(shape, count):
    run = shape.indices()
    it = run.iterator()
    it.position = 3
    for refused in (it.take, run.batches, lambda n: run[:n].to_numpy(), lambda n: run[::7][:n].to_numpy()):
        with pytest.raises(SizeOverflowError, match=r"memory holds"):
            refused(count)
    with pytest.raises(SizeOverflowError, match=r"memory holds|64 bits"):
        run.to_numpy()
    assert it.position == 3
    assert it.take(1).tolist() == [list(run[3])]


@pytest.mark.parametrize("count", [None, 2**40, 2**62])
def test_section_3_places_that_no_memory_holds_are_refused_at_once(count):
    layout = Layout(Shape(2**31, 2**31))
    it = layout.shape.indices().iterator()
    with pytest.raises(SizeOverflowError, match="places, one by one, are more than memory holds"):
        layout.offsets_of(it, count=count)
    assert it.position == 0
    assert layout.offsets_of(it, count=2).tolist() == [0, 1]
    with pytest.raises(SizeOverflowError, match="memory holds"):
        layout.offsets_of(layout.shape.indices())


@pytest.mark.parametrize("name", ["box", "long box"])
def test_section_3_the_first_mode_may_run_fastest(name):
    with pytest.raises(SizeOverflowError, match=r"memory holds"):
        SHAPES[name].indices(order="F").iterator().take(2**60)


def test_section_3_a_long_batch_of_few_indices_is_all_of_them():
    for shape in (Shape(2, 3), Shape.jagged([2, 1]), Shape(0, 2), Shape(), Shape.tiled([1, 2], [2])):
        run = shape.indices()
        (*tables,) = run.batches(2**62)
        assert sum(map(len, tables)) == run.size
        assert run.iterator().take(2**62).tolist() == [list(index) for index in run]
        assert run.to_numpy().dtype == np.int64
