"""Copies between two flat buffers by a plan, against brute force."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tensorwrapper import Layout, Shape, Tiling
from tensorwrapper.buffer import copy_between, count_copies, run_copy
from tensorwrapper.buffer.copies import _run_copy
from tensorwrapper.errors import (
    BufferSizeError,
    ConversionError,
    DTypeError,
    ExtentError,
    ReadOnlyError,
)
from tensorwrapper.layout.copies import _gather, _steps, _table, _tile_bands
from tests.support.layout.copies import pairs, places, room

DTYPES = ["u1", "i2", ">f4", "f8", "c16", "M8[s]", "S3", "?"]
rng = np.random.default_rng(11)


def filled(count, dtype):
    return rng.integers(0, 2, count * np.dtype(dtype).itemsize, dtype=np.uint8).view(dtype)


@given(pairs(), st.sampled_from(DTYPES), st.integers(1, 3))
def test_the_elements_of_the_plan_move_and_no_other(pair, dtype, threads):
    source, target = pair
    if not target.is_injective:
        return
    old = filled(room(source) + 2, dtype)
    new = filled(room(target) + 2, dtype)
    expected = new.copy()
    expected[places(target)] = old[places(source)]

    with count_copies() as count:
        copy_between(old, source, new, target, threads=threads)

    assert new.tobytes() == expected.tobytes()
    assert count.nbytes == source.shape.size * old.itemsize


@given(pairs(), st.integers(0, 9), st.integers(0, 9))
def test_memory_that_is_read_and_written_is_read_first(pair, here, there):
    source, target = pair
    if not target.is_injective:
        return
    memory = np.arange(max(room(source) + here, room(target) + there))
    expected = memory.copy()
    expected[there:][places(target)] = memory[here:][places(source)]

    copy_between(memory[here:], source, memory[there:], target)

    assert memory.tolist() == expected.tolist()


@given(pairs())
def test_the_inverse_restores(pair):
    source, target = pair
    if not (source.is_injective and target.is_injective):
        return
    plan = source.copy_plan(target)
    first, middle = filled(room(source), "i4"), np.zeros(room(target), "i4")
    last = first.copy()
    last[places(source)] = 7

    run_copy(plan, first, middle)
    run_copy(plan.inverse(), middle, last)

    assert last.tolist() == first.tolist()


def left_to_numpy(*_):
    """Stand in for loops in C that were not built."""
    return False


# What is decided by the size of blocks is decided otherwise, so that small copies show every way.
WAYS = {
    "block by block": {_run_copy: {"_SMALL": 0, "_LARGE": 0}, _tile_bands: {"_SMALL": 0}},
    "in one loop": {
        _run_copy: {"_SMALL": 0, "_LARGE": 1 << 40, "copy_boxes": left_to_numpy},
        _tile_bands: {"_SMALL": 0},
    },
    "form by form": {
        _run_copy: {"_SMALL": 1 << 40, "_ALIKE": 0, "_BYTES": 20, "_FEW": 0, "copy_boxes": left_to_numpy},
        _tile_bands: {"_SMALL": 0},
    },
    "by loops in C": {_run_copy: {"_FEW": 0, "_LARGE": 1 << 40}, _tile_bands: {"_SMALL": 0}},
    "band by band": {_tile_bands: {"_SMALL": 1 << 40, "_TIMES": 0}},
    "long runs": {_run_copy: {"_LONG": 16}, _gather: {"_BATCH": 3}},
    "short batches": {
        _run_copy: {"_FEW": 0, "_BYTES": 1},
        _gather: {"_BATCH": 1},
        _steps: {"_BLOCKS": 2, "_CELLS": 2, "_ELEMENTS": 3},
        _table: {"_ROWS": 2, "_KEYS": 1},
    },
}


@pytest.fixture(params=WAYS)
def way(request, monkeypatch):
    for module, values in WAYS[request.param].items():
        for name, value in values.items():
            monkeypatch.setattr(module, name, value)


@given(pair=pairs(), dtype=st.sampled_from(DTYPES))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@pytest.mark.usefixtures("way")
def test_every_way_moves_the_same_elements(pair, dtype):
    source, target = pair
    if not target.is_injective:
        return
    old, new = filled(room(source), dtype), filled(room(target), dtype)
    expected = new.copy()
    expected[places(target)] = old[places(source)]

    copy_between(old, source, new, target)

    assert new.tobytes() == expected.tobytes()


MANY = 1 << 21
TILED = Tiling.make_uniform((2048, 1024), 64)
UNEVEN = Tiling(np.resize([13, 9, 40, 2], 128), np.resize([7, 25, 16, 16], 64))
SHUFFLED = rng.permutation(1024)
LENGTHS = rng.integers(0, 30, 150_000)
BOX, ROWS = Layout(Shape(2048, 1024)), Shape.jagged(LENGTHS)


LARGE = {
    "a transpose": (BOX, Layout(Shape(2048, 1024), order="F")),
    "a part of a transpose": (BOX[1:, :1000], Layout(Shape(2047, 1000), order="F")),
    "backwards": (BOX.reverse(), BOX),
    "even tiles": (BOX, Layout.tiled(TILED)),
    "even tiles, ordered otherwise": (BOX, Layout.tiled(TILED, order="F", tile_order="F", alignment=1000)),
    "uneven tiles": (BOX, Layout.tiled(UNEVEN)),
    "from uneven tiles": (Layout.tiled(UNEVEN), BOX),
    "large uneven tiles": (BOX, Layout.tiled(Tiling([1000, 48, 1000], [300, 724]))),
    "uneven tiles, ordered otherwise": (BOX, Layout.tiled(UNEVEN, tile_order="F")),
    "from tiles to tiles": (Layout.tiled(UNEVEN), Layout.tiled(TILED)),
    "shuffled columns": (BOX.gather(1, SHUFFLED), BOX),
    "to shuffled columns": (BOX, BOX.gather(1, SHUFFLED)),
    "shuffled rows": (BOX.gather(0, rng.permutation(2048)), BOX),
    "shuffled rows of few": (
        Layout(Shape(MANY // 8, 8)).gather(0, rng.permutation(MANY // 8)),
        Layout(Shape(MANY // 8, 8)),
    ),
    "both shuffled": (BOX.gather(1, SHUFFLED).gather(0, rng.permutation(2048)), BOX),
    "rows apart": (Layout(ROWS), Layout.padded(ROWS)),
    "rows together": (Layout.padded(ROWS), Layout(ROWS)),
    "four modes": (Layout(Shape(64, 32, 16, 64)), Layout(Shape(64, 32, 16, 64), order=(0, 2, 1, 3))),
}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("case", LARGE)
def test_large_copies_and_what_they_allocate(case, threads):
    source, target = LARGE[case]
    old, new = np.arange(room(source), dtype=np.float64), np.zeros(room(target))
    plan = source.copy_plan(target)
    run_copy(plan, old, new)
    new[:] = -1

    tracemalloc.start()
    run_copy(plan, old, new, threads=threads)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    expected = np.full(room(target), -1.0)
    expected[places(target)] = old[places(source)]
    assert np.array_equal(new, expected)
    assert peak < 8 * 2**20 < old.nbytes


def test_nothing_moves_onto_itself():
    memory = np.arange(6.0)
    memory.flags.writeable = True
    with count_copies() as count:
        copy_between(memory, Layout(Shape(2, 3)), memory, Layout(Shape(2, 3)))

    assert count.copies == 0


def test_parts_of_one_buffer_that_do_not_meet_need_no_copy_in_between():
    memory = np.arange(8.0)
    with count_copies() as count:
        copy_between(memory, Layout(Shape(4)), memory, Layout(Shape(4), offset=4))

    assert memory.tolist() == [0, 1, 2, 3] * 2
    assert count.nbytes == 32


def test_the_bytes_in_between_are_counted():
    memory = np.arange(8.0)
    with count_copies() as count:
        copy_between(memory, Layout(Shape(4)), memory, Layout(Shape(4), offset=2))

    assert memory.tolist() == [0, 1, 0, 1, 2, 3, 6, 7]
    assert count.nbytes == 64


def locked():
    array = np.zeros(6)
    array.flags.writeable = False
    return array


PLAN = Layout(Shape(2, 3)).copy_plan(Layout(Shape(2, 3), order="F"))
SIX = np.zeros(6)
WRONG = {
    "a short source": (SIX[:5], SIX, 1, BufferSizeError, "source layout needs offsets 0 to 5"),
    "a short target": (SIX, SIX[:5], 1, BufferSizeError, "target layout needs offsets 0 to 5"),
    "another type": (SIX, np.zeros(6, "f4"), 1, DTypeError, "float64 do not move to memory of type float32"),
    "a locked target": (SIX, locked(), 1, ReadOnlyError, "read-only"),
    "two modes": (SIX.reshape(2, 3), SIX, 1, ConversionError, "flat array"),
    "gaps": (SIX, np.zeros(12)[::2], 1, ConversionError, "flat array"),
    "no thread": (SIX, SIX.copy(), 0, ExtentError, "at least 1"),
    "half a thread": (SIX, SIX.copy(), 0.5, ConversionError, "integer"),
}


@pytest.mark.parametrize("case", WRONG)
def test_refused(case):
    source, target, threads, error, text = WRONG[case]

    with pytest.raises(error, match=text):
        run_copy(PLAN, source, target, threads=threads)


def test_offsets_below_zero_are_refused():
    plan = Layout(Shape(3), strides=(-1,)).copy_plan(Layout(Shape(3)))

    with pytest.raises(BufferSizeError, match="-2 to 0"):
        run_copy(plan, np.zeros(3), np.zeros(3))


def test_the_plan_of_nothing_copies_nothing():
    plan = Layout(Shape(0, 3)).copy_plan(Layout(Shape(0, 3)))

    run_copy(plan, np.zeros(0), np.zeros(0))


def test_a_source_may_be_read_only():
    new = np.zeros(6)
    copy_between(locked() + 0, Layout(Shape(6)), new, Layout(Shape(6)).reverse())
    run_copy(PLAN, locked(), new)

    assert new.tolist() == [0] * 6
