"""Labels of plain tensors: what the short way takes of a text, the long way finds as well."""

import json

from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import RemoteProtocolError
from tensorwrapper.wire import DEFAULT_LIMITS, Limits
from tensorwrapper.wire.codec import _plain_label
from tensorwrapper.wire.codec._plain_label import plain_label, read_plain_label
from tensorwrapper.wire.codec._plan import plain_parts, plan_label

NUMBERS = st.one_of(st.integers(-1, 9), st.sampled_from([2**36, 2**36 + 1, 10**12 - 1, 10**12, 2**70]))
PLAIN = st.lists(
    st.tuples(
        st.sampled_from(["f", "i", "u", "c", "b", "?", "x", "ff"]),
        st.integers(-1, 9),
        st.lists(NUMBERS, max_size=3).map(tuple),
        st.sampled_from([0, 1, 4, 8, 16]),
    ),
    max_size=3,
).map(tuple)
LIMITS = st.one_of(
    st.just(DEFAULT_LIMITS),
    st.builds(
        Limits,
        label_items=st.integers(0, 40),
        depth=st.integers(3, 7),
        digits=st.integers(1, 20),
        rank=st.integers(0, 3),
        extent=st.integers(0, 10),
        tensors=st.integers(0, 3),
        total_bytes=st.integers(0, 3000),
    ),
)


@given(PLAIN, st.data())
def test_a_label_is_taken_only_in_its_one_form(plain, data):
    text = plain_label(plain)
    found = read_plain_label(text)
    if found is not None:
        assert tuple((t["dtype"], t["part"], tuple(t["shape"]), t["word"]) for t in found) == plain
    place = data.draw(st.integers(0, len(text)))
    piece = data.draw(st.sampled_from(["", "0", ",", "1", " ", "\n", "[", "}", "-", "٣", '"part":0,']))
    other = text[:place] + piece + text[place + data.draw(st.integers(0, 1)) :]
    found = read_plain_label(other)
    if found is not None:
        # Written again it is the same text, so nothing was passed over.
        assert json.dumps({"TENS": {"tensors": found}}, separators=(",", ":")) == other


@given(PLAIN, LIMITS)
def test_what_the_short_way_takes_the_long_way_finds_as_well(plain, limits):
    text = plain_label(plain)
    short = plain_parts(text, limits)
    try:
        long = plan_label(text, limits, strict=True, allow_longdouble=False).plain
    except RemoteProtocolError:
        long = None
    if short is not None:
        assert short == long
    elif limits is DEFAULT_LIMITS and plain:
        assert long is None


def test_labels_are_remembered_and_long_ones_are_not():
    plain = tuple(("f", part, (2,), 8) for part in range(200))
    assert plain_label(plain) == plain_label(plain)
    before = _plain_label._remembered_label.cache_info().currsize
    assert plain_label(plain[:2]) is plain_label(plain[:2])
    assert _plain_label._remembered_label.cache_info().currsize <= before + 1
