"""Positions of one mode, against lists."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import ExtentError, SizeOverflowError
from tensorwrapper.shape.masks._positions import Positions

steps = st.integers(-5, 5).filter(bool)
ranges = st.builds(
    lambda start, step, count: range(start, start + step * count, step),
    st.integers(-30, 30),
    steps,
    st.integers(0, 12),
)
lists = st.lists(st.integers(-30, 30), unique=True, max_size=12)


def picks_of(places):
    if isinstance(places, range):
        return Positions.of_range(places)
    return Positions.of_array(np.array(places, dtype=np.int64))


places = st.one_of(ranges, lists)


def listed(picks):
    return picks.to_numpy().tolist()


@given(places)
def test_evenly_spaced_places_are_a_range_however_they_are_given(given_):
    values = list(given_)
    picks = picks_of(given_)
    even = len({b - a for a, b in itertools.pairwise(values)}) <= 1

    assert listed(picks) == values
    assert isinstance(picks.places, range) == even
    assert picks == picks_of(values)
    assert hash(picks) == hash(picks_of(values))
    assert picks.count == len(values)


@given(places, st.lists(st.integers(-40, 40), max_size=60))
def test_a_place_is_found_where_it_stands(given_, sought):
    picks, values = picks_of(given_), list(given_)
    expected = [values.index(value) if value in values else -1 for value in sought]

    assert [picks.find(value) for value in sought] == expected
    assert picks.find_all(np.array(sought, dtype=np.int64)).tolist() == expected


@given(places, st.data())
def test_picks_compose_as_lists_do(given_, data):
    values = list(given_)
    inner = data.draw(st.lists(st.sampled_from(range(len(values))), unique=True)) if values else []
    if data.draw(st.booleans()):
        inner = range(len(values))[:: data.draw(steps)]

    assert listed(picks_of(given_).compose(picks_of(inner))) == [values[k] for k in inner]


@given(places, places)
def test_picks_meet_in_the_order_of_the_first(first, second):
    assert listed(picks_of(first).intersect(picks_of(second))) == [i for i in first if i in second]


@given(places)
def test_the_complement_has_all_others(given_):
    assert listed(picks_of(given_).complement(-100, 200)) == [i for i in range(-100, 100) if i not in given_]


@given(st.integers(10**18, 10**22), steps, st.integers(1, 50))
def test_places_beyond_64_bits_are_integers_of_any_size(start, step, count):
    whole = range(start, start + step * count, step)
    picks = Positions.of_range(whole)

    assert [picks.at(k) for k in range(count)] == list(whole)
    assert [picks.find(place) for place in whole] == list(range(count))
    assert picks.intersect(Positions.of_range(whole[::-3])).count == len(whole[::-3])
    known = [place for place in whole if place < 2**63]
    found = picks.find_all(np.array([*known, 3], dtype=np.int64)).tolist()
    assert found == [*[whole.index(place) for place in known], -1]


def test_ranges_that_leave_64_bits_give_those_places_that_do_not():
    picks = Positions.of_range(range(10**20, -1, -(10**17)))

    assert picks.take(np.array([1000, 999])).tolist() == [0, 10**17]
    assert picks.take(np.array([], dtype=np.int64)).tolist() == []
    with pytest.raises(SizeOverflowError, match="64 bits"):
        picks.take(np.array([0]))
    with pytest.raises(SizeOverflowError, match="64 bits"):
        picks.to_numpy()


@pytest.mark.parametrize("places", [[1, 1], [3, 1, 2, 3], [0, 10**15, 5, 10**15]])
def test_nothing_comes_twice(places):
    with pytest.raises(ExtentError, match="comes twice"):
        picks_of(places)


def test_a_complement_that_no_memory_holds_is_refused():
    assert Positions.of_range(range(5, 10**30)).complement(0, 10**30).places == range(5)
    with pytest.raises(SizeOverflowError, match="more than memory holds"):
        Positions.of_range(range(0, 10**30, 2)).complement(0, 10**30)
