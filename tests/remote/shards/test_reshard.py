"""Plans of what moves between holders, against a count of every element."""

import pickle
import tracemalloc
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import Tiling
from tensorwrapper.errors import ConversionError, DTypeError, ExtentError, ExtentMismatchError
from tensorwrapper.remote import Sharding, reshard_plan
from tensorwrapper.remote.shards import _reshard

NAMES = [f"tcp://{name}:1" for name in "abcde"]


def cut(draw, extent):
    marks = draw(st.lists(st.integers(0, extent), max_size=4))
    return np.diff([0, *sorted(marks), extent])


@st.composite
def pairs(draw):
    extents = draw(st.lists(st.integers(0, 6), min_size=1, max_size=3))
    found = []
    for _ in range(2):
        tiling = Tiling(*[cut(draw, extent) for extent in extents])
        holders = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True))
        some = st.lists(st.integers(0, len(holders) - 1), min_size=1, max_size=3, unique=True)
        places = draw(st.lists(some, min_size=1, max_size=3))
        count = tiling.grid.size
        tiles = draw(st.lists(st.integers(0, len(places) - 1), min_size=count, max_size=count))
        found.append(Sharding(tiling, "f4", holders, tiles, placements=places))
    return found


def holders_at(sharding):
    """Return for each element the names of the holders that have it."""
    found = np.empty(sharding.shape.extents, dtype=object)
    for tile in range(sharding.count):
        own = sharding.holders_of(sharding.tiling.grid.index(tile))
        for index in np.ndindex(found[sharding.box_of(tile)].shape):
            found[sharding.box_of(tile)][index] = [holder.address for holder in own]
    return found.ravel().tolist()


@given(pairs())
def test_every_element_comes_once_to_each_new_holder(pair):
    old, new = pair
    expected = Counter()
    for had, wanted in zip(holders_at(old), holders_at(new), strict=True):
        for receiver in wanted:
            expected[receiver if receiver in had else had[0], receiver] += 4
    for at_once, dense in ((2**18, 2**20), (3, 2**20), (5, 0)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_reshard, "_AT_ONCE", at_once)
            patch.setattr(_reshard, "_DENSE", dense)
            patch.setattr(_reshard, "_EXACT", 0 if dense else 2**53)
            plan = reshard_plan(old, new)
        names = [own.address for own in plan.holders]
        table = zip(plan.senders.tolist(), plan.receivers.tolist(), plan.nbytes.tolist(), strict=True)
        assert {(names[a], names[b]): n for a, b, n in table} == expected
        away = {pair: n for pair, n in expected.items() if pair[0] != pair[1]}
        assert (plan.total, plan.moved) == (sum(expected.values()), sum(away.values()))
        for name in names:
            assert plan.sent_by(name) == sum(n for pair, n in away.items() if pair[0] == name)
            assert plan.received_by(name) == sum(n for pair, n in away.items() if pair[1] == name)
        most = max([plan.sent_by(name) for name in names] + [plan.received_by(name) for name in names])
        assert plan.seconds(100.0) == pytest.approx(most * 1.05 / 100)
        assert pickle.loads(pickle.dumps(plan)) == plan


def test_a_million_tiles_at_a_hundred_holders_take_little_memory():
    rng = np.random.default_rng(1)
    marks = [np.sort(rng.choice(np.arange(1, 10**5), 999, replace=False)) for _ in range(4)]
    sizes = [np.diff(own, prepend=0, append=10**5) for own in marks]
    holders = [f"tcp://h{k}:1" for k in range(100)]
    old = Sharding(Tiling(*sizes[:2]), "f4", holders, rng.integers(0, 100, 10**6))
    new = Sharding(Tiling(*sizes[2:]), "f4", holders)
    tracemalloc.start()
    plan = reshard_plan(old, new)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 50e6
    assert plan.total == 4 * 10**10
    assert plan.pieces > 3_900_000


def test_two_tensors_are_no_plan():
    own = Sharding(Tiling([2, 2]), "f4", NAMES)
    with pytest.raises(ExtentMismatchError):
        reshard_plan(own, Sharding(Tiling([2, 3]), "f4", NAMES))
    with pytest.raises(ExtentMismatchError):
        reshard_plan(own, Sharding(Tiling([2, 2]), "f4", NAMES, rows=[1, 1]))
    with pytest.raises(DTypeError):
        reshard_plan(own, Sharding(Tiling([2, 2]), "f8", NAMES))
    plan = reshard_plan(own, own)
    assert (plan.moved, plan.kept) == (0, 16)
    with pytest.raises(ConversionError):
        plan.sent_by("tcp://other:1")
    with pytest.raises(ExtentError):
        plan.seconds(0)
    assert "0 of 16 bytes move" in repr(plan)
