"""Copies of arrays block by block: the same elements as NumPy, in any order of modes."""

import itertools
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.buffer import count_copies
from tensorwrapper.buffer.copies import _strided_copy
from tensorwrapper.buffer.copies._strided_copy import copy_strided


@pytest.fixture
def tiny(monkeypatch):
    """Blocks for arrays of any size, so that small ones show what large ones do."""
    for name, value in {"CACHED": 1, "_LINES": 1, "_COMPETING": 1, "_SIDE": 3, "_SIDE_WIDE": 2}.items():
        monkeypatch.setattr(_strided_copy, name, value)


@st.composite
def arrays(draw, dtype):
    """An array in any order of modes and directions, some modes with gaps, some broadcast."""
    extents = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    wide = [n * 2 if draw(st.booleans()) else n for n in extents]
    array = np.arange(np.prod(wide)).astype(dtype).reshape(wide)
    steps = [w // n * draw(st.sampled_from([1, -1])) for w, n in zip(wide, extents, strict=True)]
    array = array[tuple(slice(None, None, step) for step in steps)]
    return array.transpose(draw(st.permutations(range(len(extents)))))


@given(st.sampled_from(["u1", "i2", "f8", "c16", "M8[s]"]).flatmap(arrays), st.integers(1, 3), st.data())
@pytest.mark.usefixtures("tiny")
def test_the_same_elements_as_numpy(source, threads, data):
    order = data.draw(st.permutations(range(source.ndim)))
    target = np.zeros([source.shape[m] for m in order], source.dtype).transpose(np.argsort(order))
    copy_strided(target, source, threads=threads)

    assert np.array_equal(target, source)


@given(arrays("f8"))
@pytest.mark.usefixtures("tiny")
def test_the_cast_is_that_of_numpy(source):
    target = np.zeros(source.shape, "i2", order="F")
    copy_strided(target, source)

    assert np.array_equal(target, source.astype("i2"))


CASES = {
    "rows a page apart": ((1024, 1024), (1, 0)),
    "rows of another length": ((1100, 1030), (1, 0)),
    "three modes turned": ((40, 50, 60), (2, 0, 1)),
    "three modes reversed": ((64, 32, 128), (2, 1, 0)),
    "four modes reversed": ((20, 30, 25, 20), (3, 2, 1, 0)),
    "the last two swapped": ((10, 200, 150), (0, 2, 1)),
    "the first two swapped": ((200, 100, 30), (1, 0, 2)),
}


@pytest.mark.parametrize("dtype", ["u1", "f4", "f8", "c16"])
@pytest.mark.parametrize("case", CASES)
def test_large_arrays(case, dtype):
    extents, order = CASES[case]
    source = np.arange(np.prod(extents)).astype(dtype).reshape(extents).transpose(order)

    for threads in (1, 2):
        target = np.zeros(source.shape, dtype)
        copy_strided(target, source, threads=threads)
        assert np.array_equal(target, source)


def test_blocks_are_for_permutations_that_leave_the_cache():
    def by_blocks(*extents, order, dtype="f8"):
        source = np.empty(extents, dtype).transpose(order)
        return _strided_copy._block_steps(source) is not None

    assert by_blocks(8200, 4100, order=(1, 0))
    assert by_blocks(8192, 4096, order=(1, 0))
    assert by_blocks(300, 310, 320, order=(2, 0, 1))
    assert by_blocks(76, 76, 76, 76, order=(3, 2, 1, 0))
    assert not by_blocks(8200, 4100, order=(0, 1))
    assert not by_blocks(500, 4100, order=(1, 0))
    for order in [(0, 2, 1), (1, 2, 0), (1, 0, 2)]:
        assert not by_blocks(300, 310, 324, order=order)
    # Three bytes of a pixel share a line: one pass or three, it is loaded no more often.
    assert not by_blocks(2000, 2000, 3, order=(2, 0, 1), dtype="u1")


def test_blocks_cover_an_array_once():
    for extents in itertools.product([1, 4, 7], repeat=3):
        seen = np.zeros(extents, dtype=int)
        for block in _strided_copy._blocks(extents, (2, 3, 1)):
            seen[block] += 1
        assert (seen == 1).all()


def test_threads_end_with_the_copy_and_their_errors_arrive():
    before = threading.active_count()
    source = np.empty((2000, 3000)).T
    copy_strided(np.empty((3000, 2000)), source, threads=4)
    assert threading.active_count() == before

    locked = np.empty((3000, 2000))
    locked.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        copy_strided(locked, source, threads=2)


def test_tensors_copy_and_assign_this_way():
    array = np.arange(1_200_000.0).reshape(1000, 1200)
    tensor = tw.as_tensor(array)
    with count_copies() as count:
        turned = tensor.permute((1, 0)).copy()

    assert np.array_equal(np.asarray(turned), array.T)
    assert np.asarray(turned).flags.c_contiguous
    assert count.nbytes == array.nbytes
