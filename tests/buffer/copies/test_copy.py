"""The counted routines: whatever copies elements is one of these."""

import asyncio
import threading

import numpy as np
import pytest

from tensorwrapper.buffer import count_copies
from tensorwrapper.buffer.copies._copy import assign_elements, copy_elements, join_elements
from tensorwrapper.tensor import as_tensor


def test_the_counted_routines_copy_arrays_of_any_order():
    array = np.arange(60_000).reshape(200, 300)
    copied = copy_elements(array.T)
    cast = copy_elements(array.T, np.dtype(np.float64))
    joined = join_elements([array.T, array], array.dtype)
    assigned = np.zeros((300, 200))
    assign_elements(assigned, array.T)

    assert copied.flags.c_contiguous
    assert cast.dtype == np.float64
    for result in (copied, cast, assigned, joined[:60_000].reshape(300, 200)):
        assert np.array_equal(result, array.T)
    assert np.array_equal(joined[60_000:], array.ravel())


def test_an_array_is_assigned_to_itself_in_another_order():
    array = np.arange(90_000).reshape(300, 300)
    expected = array.T.copy()
    assign_elements(array, array.T)

    assert np.array_equal(array, expected)


X = np.arange(24.0).reshape(4, 6)


T = as_tensor(X)


def test_counts_nest():
    with count_copies() as outer:
        T.copy()
        with count_copies() as inner:
            T[0].copy()
        T[0, 0].copy()
    assert (inner.copies, inner.nbytes) == (1, 48)
    assert (outer.copies, outer.nbytes) == (3, 24 * 8 + 48 + 8)
    T.copy()
    assert outer.copies == 3
    assert repr(inner) == "CopyCount(nbytes=48, copies=1)"


def test_a_count_ends_with_its_block_also_on_errors():
    with pytest.raises(ZeroDivisionError), count_copies() as count:
        raise ZeroDivisionError
    T.copy()
    assert count.copies == 0


def test_other_threads_count_for_themselves():
    counts = {}

    def work(name, n):
        with count_copies() as count:
            for _ in range(n):
                T.copy()
        counts[name] = count.copies

    with count_copies() as mine:
        threads = [threading.Thread(target=work, args=(n, n)) for n in (1, 50, 100)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert counts == {1: 1, 50: 50, 100: 100}
    assert mine.copies == 0


def test_tasks_count_for_themselves():
    async def work(n):
        with count_copies() as count:
            for _ in range(n):
                T.copy()
                await asyncio.sleep(0)
        return count.copies

    async def both():
        return await asyncio.gather(work(2), work(5))

    assert asyncio.run(both()) == [2, 5]
