"""What is copied out of memory is what the tensor has there, whatever its strides are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.remote.served._fast_gather import memory_of
from tensorwrapper.selection import Outer, Runs

BOX = np.arange(120.0).reshape(4, 5, 6)
TENSORS = {
    "plain": tw.as_tensor(BOX),
    "turned": tw.as_tensor(BOX.copy()).permute((2, 0, 1))[::-1, :, ::2],
    "broadcast": tw.as_tensor(np.broadcast_to(np.arange(6.0), (4, 5, 6))),
    "part": tw.as_tensor(np.arange(1000.0))[100:220].reshape((4, 5, 6)),
}
ROWS = tw.from_buffer(np.arange(4950), tw.Shape.jagged(np.arange(100)))


def modes(extents):
    def one(extent):
        ranges = st.builds(
            lambda a, n, step: range(a, min(a + n * step, extent), step),
            st.integers(0, extent - 1),
            st.integers(0, extent),
            st.integers(1, 3),
        )
        tables = st.sets(st.integers(0, extent - 1), min_size=1).map(lambda own: np.array(sorted(own)))
        return ranges | tables

    return st.tuples(*map(one, extents))


@pytest.mark.parametrize("name", TENSORS)
@given(st.data())
def test_grids_are_those_of_numpy(name, data):
    tensor = TENSORS[name]
    array = np.asarray(tensor)
    memory = memory_of(tensor)
    wanted = Outer(data.draw(modes(array.shape)))
    target = np.empty(wanted.extents)

    assert memory.knows(wanted)
    memory.copy_to(wanted, target)
    assert np.array_equal(target, array[np.ix_(*[np.asarray(own, int) for own in wanted.modes])])


@given(st.sets(st.integers(0, 4949), min_size=1), st.integers(1, 40))
def test_runs_are_those_of_the_elements(starts, length):
    found = sorted(starts)
    lengths = np.minimum(np.diff([*found, 4950]), length)
    runs = Runs(found, lengths)
    target = np.empty(runs.size, ROWS.dtype)
    memory_of(ROWS).copy_to(runs, target)
    assert np.array_equal(target, runs.numbers())


def test_what_has_no_memory_of_its_own_is_left_to_others():
    assert memory_of(tw.sparse([(0,)], [1.0], tw.Shape(3))) is None
    assert memory_of(tw.strings(["a"])) is None
    assert memory_of(tw.as_tensor(np.arange(3, dtype=">f8"))) is None
    assert not memory_of(TENSORS["turned"]).knows(Runs(0, 3))
    assert not memory_of(ROWS).knows(Outer([range(3)]))


@pytest.mark.parametrize(
    ("wanted", "quick"),
    [
        (Outer([range(2), range(5), range(6)]), True),
        (Outer([range(1000), range(1000), range(2)]), False),
        (Outer([range(100), range(2), range(1000)]), True),
        (Outer([range(100), range(2), range(0, 1000, 2)]), False),
        (Outer([range(100), range(20), range(1000)]), False),
        (Runs(0, 200_000), True),
        (Runs(range(0, 200_000, 2)), False),
    ],
)
def test_what_takes_long_is_not_quick(wanted, quick):
    memory = memory_of(tw.as_tensor(np.zeros((1000, 20, 1000))))
    assert memory.is_quick(wanted) is quick
