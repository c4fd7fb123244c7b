"""Rows of gathered boxes have the cells that rows of a copy have, with every operation on them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.tensor import Tensor

OPERATIONS = {
    "itself": lambda t: t,
    "a row": lambda t: t[len(t.row_lengths()) - 1],
    "rows": lambda t: t[:2],
    "a run in rows": lambda t: t[:, :2],
    "a run in cells": lambda t: t[:, :, 1:],
    "reversed rows": lambda t: t[::-1],
    "chosen rows": lambda t: t[[1, 0]],
    "reversed cells": lambda t: t.reverse(2),
    "turned cells": lambda t: t.permute((0, 2, 1)),
    "sums of cells": lambda t: t.reduce_tiles(np.add),
    "sums of rows": lambda t: t.rows().reduce(np.add),
    "dealt again": lambda t: t.unflatten([1, len(t.row_lengths()) - 1]),
    "joined": lambda t: tw.concat([t, t]),
    "stacked": lambda t: tw.stack([t, t], mode=1),
    "chosen": lambda t: tw.where(t > 4, t, 0),
    "merged": lambda t: t.flatten(),
    "merged cells": lambda t: t.flatten(2),
    "twice": lambda t: t + t,
}


def rows_of(make, data, places, counts, mode=0):
    return make(tw.as_tensor(data.copy())).gather(0, places).unflatten(counts, mode)


def facts(found):
    made = found if isinstance(found, Tensor) else found.compute()
    return made.shape, made.tolist()


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("make", [lambda t: t, sel.as_view])
@pytest.mark.parametrize("counts", [[1, 3], [0, 2, 2, 0], [4, 0]])
def test_each_operation_gives_what_it_gives_of_a_copy(make, counts, name):
    data, places = np.arange(12).reshape(4, 3), [1, 3, 0, 0]
    copied = tw.as_tensor(data[places]).unflatten(counts)
    seen = rows_of(make, data, places, counts)
    assert seen.shape == copied.shape
    found, expected = OPERATIONS[name](seen), OPERATIONS[name](copied)
    assert found.shape == expected.shape
    assert facts(found) == facts(expected)
    if name == "itself":
        assert (seen + copied).shape == (copied + seen).shape == copied.shape
        assert copied.array_equal(seen.copy())


@given(st.data())
def test_cells_of_any_rank_are_those_of_a_copy(data):
    extents = data.draw(st.lists(st.integers(0, 4), min_size=2, max_size=4))
    array = np.arange(np.prod(extents)).reshape(extents)
    places = data.draw(st.lists(st.integers(0, extents[0] - 1), max_size=6)) if extents[0] else []
    chosen = array[np.array(places, dtype=np.int64)]
    mode = data.draw(st.integers(0, 1))
    number = len(places) if not mode else extents[1]
    marks = sorted([0, *data.draw(st.lists(st.integers(0, number), max_size=3)), number])
    one = np.diff(marks)
    counts = one if not mode else np.tile(one, len(places))
    copied = tw.as_tensor(chosen)
    expected = copied.unflatten(counts, mode)
    for make in (lambda t: t, sel.as_view):
        seen = rows_of(make, array, np.array(places, dtype=np.int64), counts, mode)
        assert seen.shape == expected.shape
        assert facts(seen) == facts(expected)
        start, stop, step = (data.draw(st.sampled_from([None, 1, -1])) for _ in range(3))
        key = (slice(start, stop, step),)
        assert facts(seen[key]) == facts(expected[key])


def test_elements_of_such_rows_are_written():
    base = tw.as_tensor(np.zeros((4, 2), dtype=np.int64))
    rows = sel.as_view(base).gather(0, [3, 0, 2]).unflatten([1, 0, 2])
    rows.assign(tw.from_buffer(np.arange(1, 7), rows.shape))
    rows[2] += 10
    assert base.tolist() == [[13, 14], [0, 0], [15, 16], [1, 2]]
    tw.as_tensor(np.ones((3, 2), dtype=np.int64)).unflatten([1, 0, 2]).accumulate_into(rows)
    assert base.tolist() == [[14, 15], [0, 0], [16, 17], [2, 3]]


def test_grouped_records_have_the_cells_of_grouped_tensors():
    fields = {"run": np.array([1, 0, 0, 2]), "xyz": np.arange(8.0).reshape(4, 2)}
    held = tw.records(fields, shape=(4,)).group_by("run")["xyz"]
    seen = tw.records({name: sel.as_view(x) for name, x in fields.items()}, shape=(4,)).group_by("run")["xyz"]
    assert repr(seen.shape) == repr(held.shape)
    assert seen.reduce_tiles(np.add).tolist() == held.reduce_tiles(np.add).tolist() == [14, 1, 13]


def test_long_rows_are_read_in_parts():
    data = np.random.default_rng(3).normal(size=(50_000, 3))
    places = np.random.default_rng(4).permutation(50_000)
    counts = [0, 20_000, 1, 29_999]
    seen, copied = (
        rows_of(sel.as_view, data, places, counts),
        tw.as_tensor(data[places]).unflatten(counts),
    )
    for key in (slice(None), slice(1, 2), slice(None, None, -1), (slice(None), slice(5, 25_000, 7))):
        assert seen[key].compute().array_equal(copied[key].copy())
    assert seen.reduce_tiles(np.add).shape == copied.reduce_tiles(np.add).shape


@pytest.mark.parametrize("make", [lambda t: t, sel.as_view])
def test_rows_of_a_gathered_line_are_grouped_and_reduced_by_any_function(make):
    rows = make(tw.as_tensor(np.arange(4.0))).gather(0, [2, 1, 2, 0, 3]).unflatten([3, 1, 1])
    groups = [(group.extents, group.cells.tolist()) for group in rows.group_by_shape()]
    assert groups == [((1,), [[0.0], [3.0]]), ((3,), [[2.0, 1.0, 2.0]])]
    assert rows.reduce_tiles(np.median).tolist() == [2.0, 0.0, 3.0]
    cells = make(tw.as_tensor(np.arange(8.0).reshape(4, 2))).gather(0, [2, 0, 1]).unflatten([1, 2])
    assert [group.cells.tolist() for group in cells.group_by_shape()] == [[[[4, 5]]], [[[0, 1], [2, 3]]]]
