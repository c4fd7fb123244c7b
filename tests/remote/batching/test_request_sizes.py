"""Selections in pieces: each element once, and no request for more than it may have."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.remote.batching._request_sizes import batches_of, halved, halves_of
from tensorwrapper.selection import Outer, Runs

MODE = st.one_of(
    st.builds(range, st.integers(0, 3), st.integers(0, 9), st.integers(1, 3)),
    st.sets(st.integers(0, 12), max_size=7).map(sorted),
)
OUTER = st.lists(MODE, max_size=3).map(Outer)
RUNS = st.sets(st.integers(0, 60), max_size=40).map(sorted).map(Runs)


def filled(wanted, target):
    """Write into a target what tells each of its elements apart."""
    if isinstance(wanted, Runs):
        target[...] = wanted.numbers()
    elif wanted.size:
        grid = np.ix_(*[np.asarray(mode) for mode in wanted.modes]) if wanted.modes else ()
        target[...] = sum(own * 100**k for k, own in enumerate(grid)) if grid else 1


@given(st.lists(st.one_of(OUTER, RUNS), max_size=4), st.sampled_from([8, 24, 400]))
def test_pieces_are_all_of_each_selection(selections, answer_bytes):
    out = [np.full(own.extents, -1) for own in selections]
    wanted = [np.full(own.extents, -1) for own in selections]
    for own, target in zip(selections, wanted, strict=True):
        filled(own, target)
    for batch in batches_of(selections, out, 8, lambda: answer_bytes):
        assert sum(own.size for _, own, _ in batch) * 8 <= answer_bytes
        for _, own, target in batch:
            assert target.shape == own.extents
            assert (target == -1).all()
            filled(own, target)
    for found, right in zip(out, wanted, strict=True):
        assert np.array_equal(found, right)


@given(st.one_of(OUTER, RUNS).filter(lambda own: own.size > 1))
def test_halves_are_the_whole(wanted):
    left, right = halves_of(wanted)

    assert left.size + right.size == wanted.size
    assert 0 < left.size < wanted.size


def test_many_small_selections_are_few_requests():
    selections = [Runs(5 * k, 2) for k in range(1000)]
    out = [np.empty(2) for _ in selections]

    assert len(list(batches_of(selections, out, 8, lambda: 2**20))) < 10


def test_pieces_follow_what_is_allowed_meanwhile():
    x = np.arange(100_000)
    out, allowed = np.zeros(100_000, np.int64), [800]
    sizes = []
    for batch in batches_of([Runs(0, 100_000)], [out], 8, lambda: allowed[0]):
        for _, own, target in batch:
            sizes.append(own.size)
            filled(own, target)
        allowed[0] = min(2 * allowed[0], 160_000)
    assert sizes[:4] == [100, 100, 200, 400]
    assert max(sizes) == 20_000
    assert np.array_equal(out, x)


@given(st.data())
def test_halves_of_a_batch_ask_for_it_all(data):
    shape = (4, 6)
    out = np.zeros(shape, int)
    rows = data.draw(st.lists(st.integers(0, 3), min_size=1, unique=True).map(sorted))
    target = np.zeros((len(rows), 6), int)
    batch = [(0, Outer([np.array(rows), range(6)]), target), (1, Runs([1, 9], [3, 4]), np.zeros(7, int))]
    out.reshape(-1)[...] = np.arange(24)
    todo, single = [batch], 0
    while todo:
        own = todo.pop()
        halves = halved(own)
        todo += halves
        if not halves:
            [(_, wanted, part)] = own
            single += 1
            numbers = wanted.numbers() if isinstance(wanted, Runs) else None
            part[...] = out.reshape(-1)[numbers] if numbers is not None else out[np.ix_(*wanted.modes)]
    assert single == 6 * len(rows) + 7
    assert np.array_equal(target, out[rows])
    assert batch[1][2].tolist() == [1, 2, 3, 9, 10, 11, 12]
