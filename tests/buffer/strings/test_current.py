"""Strings that are written one by one are gathered: every reader sees a list that is written the same way."""

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.buffer import StringData
from tensorwrapper.buffer.strings._current import CurrentStrings

TEXT = st.one_of(st.text(max_size=3), st.none())
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.integers(0, 4), TEXT),
        st.tuples(st.just("replace"), st.sets(st.integers(0, 4)), TEXT),
        st.tuples(st.just("item"), st.integers(0, 4), st.none()),
        st.tuples(st.just("value"), st.none(), st.none()),
    ),
    max_size=12,
)


@given(STEPS)
def test_any_writes_and_reads_are_those_of_a_list(steps):
    expected = ["a", "bc", None, "", "é"]
    current = CurrentStrings(StringData.from_list(expected))
    for what, place, item in steps:
        if what == "put":
            current.keep(place, item)
            expected[place] = item
        elif what == "replace":
            places = sorted(place)
            current.replace(
                np.array(places, np.int64), StringData.from_list([item] * len(places), kind="utf8")
            )
            for one in places:
                expected[one] = item
        elif what == "item":
            assert current.item(place) == expected[place]
        else:
            assert current.value.to_list() == expected
        assert len(current.unmerged) == 5
    assert current.value.to_list() == expected


@pytest.mark.parametrize("kind", ["text", "bytes"])
def test_a_loop_of_writes_is_what_one_write_does(kind):
    items = [f"{k:x}" * (k % 7) for k in range(1000)]
    longer = [item + "é" for item in items]
    if kind == "bytes":
        items, longer = ([s.encode() for s in own] for own in (items, longer))
    words = tw.strings(items, shape=(10, 100))
    turned, part = words.permute((1, 0)), words[3]
    for k, item in enumerate(longer):
        words[k // 100, k % 100] = item
    assert words.tolist() == [longer[k : k + 100] for k in range(0, 1000, 100)]
    assert turned[5, 3].item() == part[5].item() == longer[305]
    part[7] = items[1]
    assert turned[7, 3].item() == items[1]


@pytest.mark.parametrize("wrong", [b"a", 1, None, 1.5])
def test_what_does_not_fit_is_refused_and_changes_nothing(wrong):
    words = tw.strings(["a", "b"])
    with pytest.raises(tw.errors.TensorWrapperError):
        words[0] = wrong
    with pytest.raises(tw.errors.TensorWrapperError):
        words[1] = "\ud800"
    with pytest.raises(tw.errors.ReadOnlyError):
        words.broadcast((2, 2))[0, 0] = "x"
    assert words.tolist() == ["a", "b"]


def test_readers_see_whole_strings_while_a_writer_writes():
    current = CurrentStrings(StringData.from_list(["a" * 5] * 200))
    wrong = []

    def read():
        for _ in range(300):
            wrong.extend(s for s in current.value.to_list() if len(set(s)) != 1)
            wrong.extend(s for s in [current.item(k) for k in range(0, 200, 17)] if len(set(s)) != 1)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for k in range(3000):
        current.keep(k % 200, "bcd"[k % 3] * (k % 9 + 1))
    for reader in readers:
        reader.join()
    assert wrong == []
