"""Many rows are gone through window after window: work and memory are counted in bytes, not in seconds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import Shape
from tensorwrapper.errors import SizeOverflowError
from tensorwrapper.shape import Jagged, Rows
from tensorwrapper.shape.lowlevel import wrap
from tensorwrapper.shape.rows._columns import WINDOW
from tensorwrapper.shape.rows._dependencies import dependencies_of, extent_bounds
from tests.support.shape.row_sets import LENGTHS, MIB, N, peak_of


@pytest.fixture
def long():
    """Rows of 2 to 5, of which nothing is known yet."""
    return Shape.jagged(LENGTHS)


def test_w12_a_slice_that_lies_in_every_row_is_one_extent(long):
    kept, peak = peak_of(lambda: long[:, 0:2])
    assert peak < 4 * MIB
    assert kept == Shape.jagged(np.full(N, 2))
    # What is known of the rows is looked at once.
    for again in (
        lambda: long[:, 0:2],
        lambda: long[: N - 1, 1:2],
        lambda: long.slice((0, -3), (N, 2), clip=True),
        lambda: long.slice((0, -3), (N, 9), clip=True),
    ):
        _, peak = peak_of(again)
        assert peak < MIB / 16


def test_w12_other_slices_take_what_they_result_in(long):
    kept, peak = peak_of(lambda: long.slice((0, 1), (N, 4), clip=True))
    assert kept.translate_to((0, 0)) == Shape.jagged(np.minimum(LENGTHS, 4) - 1)
    assert peak < (8 + 2 + 4) * MIB


def test_w12_the_first_mode_runs_fastest_in_the_memory_of_a_part(long):
    run = long.indices(order="F")
    for question, answer in (
        (lambda: next(iter(run)), (0, 0)),
        (lambda: run[2 * N], (int(np.flatnonzero(LENGTHS > 2)[0]), 2)),
        (lambda: run.index((N - 1, 1)), 2 * N - 1),
        (lambda: next(iter(run.batches(10))).tolist()[1], [1, 0]),
    ):
        found, peak = peak_of(question)
        assert found == answer
        # A table of 2^20 indices, sorted.
        assert peak < 64 * MIB


def test_w12_as_many_windows_as_there_are_give_the_same_numbers():
    """Of more than `WINDOW` rows, and each window with another origin: against NumPy."""
    numbers = np.arange(3 * WINDOW + 7)
    lengths, starts = numbers * 5 % 7, numbers // WINDOW * 100 - 50
    shape = wrap(Jagged(Rows.of_lengths(lengths, origins=[starts])))
    box = shape.as_smooth()
    assert (box.extents[1], box.origin[1]) == (300 + 6, -50)
    kept = shape.slice((0, -48), (len(numbers), 53), clip=True)
    low = np.clip(-48, starts, starts + lengths)
    assert kept == wrap(Jagged(Rows.of_lengths(np.clip(53, low, starts + lengths) - low, origins=[low])))
    assert shape.dependencies(1) == (0,)


def test_w12_rows_that_are_stored_as_one_are_a_box_at_any_number():
    shape = Shape.from_uniform(2**40, 3)
    assert shape[:, 0:2].extents == (2**40, 2)
    run = shape.indices(order="F")
    assert (run[2**40 + 5], run.index((7, 2)), next(iter(run))) == ((5, 1), 2**41 + 7, (0, 0))


def test_w12_more_tiles_than_can_be_gone_through_are_refused():
    run = Shape.tiled([3] * 2**17, [5] * 2**17).indices(order="F")
    for refused in (lambda: run[5], lambda: next(iter(run)), lambda: run.index((5, 5, 0, 0))):
        with pytest.raises(SizeOverflowError, match="order 'C'"):
            refused()


@given(st.lists(st.integers(0, 3), min_size=1, max_size=6), st.sampled_from([1, 2, 5]), st.data())
def test_w12_windows_of_any_size_tell_the_same(counts, nodes, data):
    inner = data.draw(st.lists(st.integers(0, 2), min_size=sum(counts), max_size=sum(counts)))
    rows = Rows.of_lengths(np.array(counts), np.array(inner, dtype=np.int64), first=-1)
    windows = list(rows.windows(nodes))
    assert [window.first for window in windows] == [window.start - 1 for window in windows]
    assert [0, *[window.stop for window in windows]] == [*[window.start for window in windows], len(counts)]
    assert all(window.count == 1 or window.packed().columns.n_nodes <= nodes for window in windows)
    for mode in (1, 2):
        assert dependencies_of(rows, mode, nodes) == dependencies_of(rows, mode)
        extents = rows.reached_ranges(mode)[0]
        assert extent_bounds(rows, mode) == ((extents.min(), extents.max()) if len(extents) else (0, 0))


@pytest.mark.parametrize("spread", [1, 10**6])
def test_w12_what_a_mode_depends_on_is_a_table_or_a_search(spread):
    """Indices that fill their box have a place each; those that lie apart are sorted."""
    counts, starts = np.full(500, 40), np.arange(500) % 2 * spread
    places = starts[:, np.newaxis] + np.arange(40)
    for inner, expected in (
        (places * 13 % 11, (1,)),
        (places * np.arange(500)[:, np.newaxis] % 11, (0, 1)),
        (np.repeat(np.arange(500), 40), (0,)),
    ):
        rows = Rows.of_lengths(counts, inner.reshape(-1), origins=[starts, 0])
        assert dependencies_of(rows, 2, 1000) == dependencies_of(rows, 2, 10**6) == expected
