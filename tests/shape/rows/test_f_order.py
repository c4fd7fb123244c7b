"""Jagged shapes with the first mode fastest: cut in halves and sorted, never made as one table."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.shape import Shape
from tensorwrapper.shape.facade._numbering import SortedParts
from tensorwrapper.shape.rows._f_order import f_order_part, f_order_parts
from tensorwrapper.testing import jagged_shapes, tiled_shapes, triangular_shapes, views

SHAPES = views(st.one_of(jagged_shapes(), tiled_shapes(), triangular_shapes())).filter(
    lambda shape: shape.kind == "jagged"
)
LIMITS = st.sampled_from([1, 2, 3, 7, 100])


def by_sorting(shape):
    """All indices, the last mode the most significant."""
    return sorted(shape.indices(), key=lambda index: index[::-1])


@given(SHAPES, LIMITS, st.one_of(st.just(slice(None)), st.slices(20)), st.integers(1, 5))
def test_any_places_at_any_size_of_the_parts(shape, limit, key, length):
    expected = by_sorting(shape)
    numbers, places = SortedParts(shape.implementation, limit), range(shape.size)[key]
    tables = list(numbers.tables(places, length))
    assert all(len(table) == length for table in tables[:-1])
    assert all(0 < len(table) <= length for table in tables)
    assert [tuple(row) for table in tables for row in table.tolist()] == expected[key]
    assert list(numbers.walk(places)) == expected[key]


@given(SHAPES, LIMITS)
def test_every_index_has_one_place(shape, limit):
    numbers = SortedParts(shape.implementation, limit)
    for place, index in enumerate(by_sorting(shape)):
        assert numbers.index(place) == index
        assert numbers.place(index) == place
        assert SortedParts(shape.implementation, limit).place(index) == place
    # From one part to another: in row-major order, neighbours are far apart.
    places = {index: place for place, index in enumerate(by_sorting(shape))}
    assert [numbers.place(index) for index in shape.indices()] == [places[i] for i in shape.indices()]
    assert list(shape.indices(order="F")) == by_sorting(shape)


@given(SHAPES, LIMITS, st.sampled_from([1, 2**16, 2**17, 2**32]))
def test_parts_follow_one_another_and_keep_to_the_limit(shape, limit, cells):
    """As many cells as there are said to be, so many windows: the parts are the same."""
    place = 0
    for before, table in f_order_parts(shape.implementation, limit, range(shape.size), cells):
        assert before == place
        assert 0 < len(table) <= limit
        for found in (
            f_order_part(shape.implementation, limit, before, cells),
            f_order_part(shape.implementation, limit, tuple(table[-1])),
        ):
            assert found[0] == before
            assert np.array_equal(found[1], table)
        place += len(table)
    assert place == shape.size


@pytest.mark.parametrize("length", [1, 3, 4, 7, 30, 100])
def test_tables_are_full_whatever_the_parts(length):
    shape = Shape.jagged([9, 4, 9, 1, 7])
    tables = list(SortedParts(shape.implementation, 4).tables(range(30), length))
    assert [len(table) for table in tables] == [length] * (30 // length) + [30 % length] * (30 % length > 0)
    assert [tuple(row) for table in tables for row in table.tolist()] == by_sorting(shape)


def test_only_parts_that_are_asked_for_are_sorted():
    shape = Shape.jagged(np.full(4, 1000)).implementation
    parts = f_order_parts(shape, 10, range(3999, -1, -1000))
    assert [before <= place < before + len(table) for place, (before, table) in zip(
        range(3999, -1, -1000), parts, strict=True
    )] == [True] * 4  # fmt: skip


@pytest.mark.parametrize(
    "shape",
    [
        Shape.jagged(np.arange(400) % 400),
        Shape.from_cells((10, 3), np.arange(60).reshape(30, 2) % 40),
        Shape.jagged(np.where(np.arange(3000) == 7, 50_000, 20)),
    ],
)
def test_many_parts_agree_with_one_sort(shape):
    table = shape.indices().to_numpy()
    expected = table[np.lexsort(table.T)]
    run = shape.indices(order="F")
    assert np.array_equal(run.to_numpy(), expected)
    assert np.array_equal(np.concatenate(list(run[::-7].batches(1000))), expected[::-7])
    assert list(run) == list(map(tuple, expected.tolist()))
    place = shape.size * 2 // 3
    assert run[place] == tuple(expected[place])
    assert run.index(tuple(expected[place])) == place


def test_memory_is_that_of_the_cells_and_of_one_part():
    run = Shape.jagged(np.full(1000, 1000)).indices(order="F")
    tracemalloc.start()
    try:
        count = sum(len(table) for table in run.batches(1000))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == 10**6
    # A table of all indices alone has 16 MB.
    assert peak < 10**7
