"""Memory of answers: used again, never more of it than was in use at once, and given back."""

import gc
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.remote.protocol._elements import bytes_of
from tensorwrapper.remote.served._buffer_pool import _KEPT, BufferPool, _rounded, _slab_of


def test_what_was_given_back_is_used_again():
    staging = BufferPool()
    first = staging.take(2**15, np.dtype("<f8"))
    slab = weakref.ref(_slab_of(memoryview(first)))
    staging.give([memoryview(b"label"), bytes_of(first)])
    assert staging.nbytes == 2**18
    second = staging.take(2**17, np.dtype("<u2"))
    assert _slab_of(bytes_of(second)) is slab()
    assert staging.nbytes == 0

    staging.give([bytes_of(second)])
    del first, second
    staging.shrink()
    gc.collect()
    assert slab() is None
    assert staging.nbytes == 0


def test_answers_of_several_sizes_in_turn_lie_where_those_before_lay():
    """Each made pages of its own: 800 faults for 3 MiB, and twice the processor time of the whole answer."""
    staging, slabs = BufferPool(), []
    for nbytes in (2**21, 3 * 2**20, 2**21, 3 * 2**20, 3 * 2**19, 2**21):
        found = staging.take(nbytes, np.dtype("u1"))
        slabs.append(_slab_of(bytes_of(found)))
        staging.give([bytes_of(found)])
    # One of each size, which the next of that size lies in.
    assert len(set(map(id, slabs))) == 3
    assert staging.nbytes == 2**21 + 3 * 2**20 + 3 * 2**19


@pytest.mark.parametrize(
    "dtype", [np.dtype("i1"), np.dtype(">f4"), np.dtype("M8[ns]"), np.dtypes.StringDType()]
)
@pytest.mark.parametrize("count", [0, 1, 2**16, 100_001])
def test_elements_of_any_type_are_written_to_it(dtype, count):
    found = BufferPool().take(count, dtype)
    assert (found.shape, found.dtype, found.flags.writeable, found.flags.aligned) == (
        (count,), dtype, True, True,
    )  # fmt: skip
    found[...] = np.zeros(count, dtype)


@given(st.integers(2**16, 2**30))
def test_a_slab_is_at_most_a_quarter_larger(nbytes):
    size = _rounded(nbytes)
    assert nbytes <= size <= nbytes * 1.25
    assert size % 4096 == 0
    assert _rounded(size) == size


@given(st.lists(st.one_of(st.integers(2**16, 2**22), st.none()), max_size=60), st.integers(0, 2**32))
def test_there_is_never_more_than_was_in_use_at_once(asked, seed):
    rng, staging, out, most = np.random.default_rng(seed), BufferPool(), [], 0
    for nbytes in asked:
        if nbytes is None:
            if out:
                staging.give([memoryview(out.pop(rng.integers(len(out))))])
            continue
        out.append(staging.take(nbytes, np.dtype("u1")))
        most = max(most, sum(_rounded(own.nbytes) for own in out))
        lengths = [len(_slab_of(memoryview(own))) for own in out]
        assert all(
            _rounded(own.nbytes) <= n <= 1.25 * _rounded(own.nbytes)
            for own, n in zip(out, lengths, strict=True)
        )
        assert sum(lengths) + staging.nbytes <= 1.25 * most + _KEPT
        slabs = [id(_slab_of(memoryview(own))) for own in out]
        assert len(set(slabs)) == len(slabs)
