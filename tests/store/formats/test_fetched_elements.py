"""Elements of a part of a file: every selection reads what NumPy has, into arrays of any strides."""

import threading

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.selection import Outer, Runs
from tensorwrapper.store import Ranges
from tensorwrapper.store.formats._fetched_elements import FetchedElements
from tests.support.store.served_files import served

EXTENTS = (7, 5, 6)
ARRAY = np.arange(210, dtype="<i2").reshape(EXTENTS)


@given(st.data(), st.integers(0, 40))
def test_outer_selections_are_numpys(data, gap):
    source = FetchedElements(
        Ranges.of(b"head" + ARRAY.tobytes(), gap=gap), 4, tw.Shape(*EXTENTS), ARRAY.dtype
    )
    modes = [
        data.draw(
            st.one_of(
                st.sets(st.integers(0, extent - 1), min_size=1).map(sorted),
                st.builds(range, st.integers(0, extent - 1), st.just(extent), st.integers(1, extent)),
            )
        )
        for extent in EXTENTS
    ]
    selection = Outer(modes)
    expected = ARRAY[np.ix_(*modes)]
    for out in (np.empty(expected.shape, "<i2"), np.empty(expected.shape[::-1], "<i2").T):
        before = source.ranges.requests, source.ranges.bytes_fetched
        source.read([selection], [out])
        assert out.tolist() == expected.tolist()
        fetched = source.ranges.requests - before[0], source.ranges.bytes_fetched - before[1]
        assert fetched == source.fetches([selection])
    assert source.cost(selection) >= expected.nbytes


@given(st.sets(st.integers(0, 209), min_size=1), st.integers(0, 40))
def test_runs_are_the_elements_of_their_numbers(numbers, gap):
    source = FetchedElements(Ranges.of(ARRAY.tobytes(), gap=gap), 0, tw.Shape(210), ARRAY.dtype)
    wanted = sorted(numbers)
    out = np.empty(len(wanted), "<i2")
    source.read([Runs(wanted)], [out])
    assert out.tolist() == wanted


def test_equal_are_the_same_elements_of_the_same_file():
    ranges = Ranges.of(ARRAY.tobytes())
    one, two = [FetchedElements(ranges, 0, tw.Shape(210), ARRAY.dtype) for _ in range(2)]
    assert one == two
    assert hash(one) == hash(two)
    assert one != FetchedElements(ranges, 2, tw.Shape(209), ARRAY.dtype)
    assert one != FetchedElements(Ranges.of(ARRAY.tobytes()), 0, tw.Shape(210), ARRAY.dtype)


def test_all_selections_of_a_read_come_at_the_same_time():
    raw = np.random.default_rng(3).bytes(600_000)
    both = threading.Barrier(2, timeout=60)

    def together(_handler, _start, _stop):
        both.wait()
        return False

    with served(raw) as server:
        source = FetchedElements(Ranges.of(server.url), 0, tw.Shape(600_000), np.dtype("u1"))
        server.twist = together
        chosen = [Outer([range(10, 20)]), Outer([range(0)]), Outer([range(300_000, 300_005)])]
        out = [np.empty(len(own.modes[0]), "u1") for own in chosen]
        source.read(chosen, out)
        assert [own.tobytes() for own in out] == [raw[10:20], b"", raw[300_000:300_005]]
