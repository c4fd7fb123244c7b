"""String data in which some elements are others: as in a list, and bytes of nobody do not pile up."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.buffer.strings._data import StringData
from tensorwrapper.buffer.strings._merge import replace_strings

ITEMS = st.lists(st.none() | st.text(max_size=4), min_size=1, max_size=6)


@given(ITEMS, st.data())
def test_elements_are_those_of_the_list(items, data):
    places = data.draw(st.lists(st.integers(0, len(items) - 1), unique=True, min_size=1))
    news = data.draw(st.lists(st.none() | st.text(max_size=4), min_size=len(places), max_size=len(places)))
    old = StringData.from_list(items, kind="utf8")
    merged = replace_strings(old, np.array(places), StringData.from_list(news, kind="utf8"))
    expected = list(items)
    for place, new in zip(places, news, strict=True):
        expected[place] = new

    assert merged.to_list() == expected
    assert old.to_list() == items


def test_bytes_that_belong_to_nobody_are_given_back():
    data = StringData.from_list(["x" * 10_000, "y"], kind="utf8")
    for _ in range(5):
        data = replace_strings(data, np.array([0]), StringData.from_list(["z" * 10_000], kind="utf8"))

    assert len(data.data) < 30_000
    assert data.to_list() == ["z" * 10_000, "y"]
