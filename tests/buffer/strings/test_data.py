"""String data against lists of Python's str, bytes and None: whatever happens to one happens to the other."""

import copy
import pickle

import numpy as np
from dask.base import tokenize
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.buffer import StringData

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
ITEMS = st.one_of(
    st.lists(st.one_of(TEXTS, st.none()), max_size=12),
    st.lists(st.one_of(st.binary(max_size=6), st.none()), max_size=12),
)


@st.composite
def held(draw, items=ITEMS):
    """A list, and string data of it whose bytes and marks lie in one of many ways."""
    wanted = draw(items)
    strings = StringData.from_list(wanted)
    filler = ["x", None, "éé"] if strings.kind == "utf8" else [b"\xff", None, b""]
    before = draw(st.lists(st.sampled_from(filler), max_size=10))
    n, k = len(wanted), len(before)
    match draw(st.sampled_from(["plain", "slice", "reversed", "spread", "twice"])):
        case "slice":
            strings = StringData.from_list([*before, *wanted, *before], kind=strings.kind).slice(k, k + n)
        case "reversed":
            strings = StringData.from_list(wanted[::-1], kind=strings.kind).take(np.arange(n)[::-1])
        case "spread":
            mixed = [item for pair in zip(wanted, [filler[0]] * n, strict=True) for item in pair]
            strings = StringData.from_list(mixed, kind=strings.kind).take(range(0, 2 * n, 2))
        case "twice":
            order = np.arange(n).repeat(2)
            strings = strings.take(order).take(range(0, 2 * n, 2))
    return wanted, strings


def nbytes(item):
    return len(item.encode() if isinstance(item, str) else item or b"")


@given(held())
def test_elements_one_by_one_and_all_at_once(case):
    items, strings = case

    assert len(strings) == len(items)
    assert strings.to_list() == items
    assert [strings.item(k) for k in range(len(items))] == items
    assert strings.lengths().tolist() == [nbytes(item) for item in items]
    assert strings.is_valid().tolist() == [item is not None for item in items]
    assert strings.null_count == items.count(None)
    marks = -(-len(items) // 8) if strings.validity is not None else 0
    assert strings.nbytes == sum(map(nbytes, items)) + 8 * (len(items) + 1) + marks


@given(held(), st.data())
def test_a_slice_shares_all_memory(case, data):
    items, strings = case
    low = data.draw(st.integers(0, len(items)))
    high = data.draw(st.integers(low, len(items)))
    part = strings.slice(low, high)

    assert part.to_list() == items[low:high]
    assert part.data is strings.data
    assert (part.offsets is None) == (strings.offsets is None)
    assert part.slice(0, high - low) == part


@given(held(), st.data())
def test_a_selection_shares_the_bytes(case, data):
    items, strings = case
    order = data.draw(st.lists(st.integers(0, len(items) - 1), max_size=20)) if items else []
    some = strings.take(order)

    assert some.to_list() == [items[k] for k in order]
    assert some.data is strings.data


@given(held())
def test_packing_keeps_the_elements_and_nothing_else(case):
    items, strings = case
    packed = strings.pack()

    assert packed.to_list() == items
    assert packed.offsets.tolist() == np.cumsum([0, *map(nbytes, items)]).tolist()
    assert len(packed.data) == packed.offsets[-1]
    assert packed.validity_offset == 0


@given(held(), held())
def test_joining_parts(first, second):
    items, strings = first
    more, other = second
    if strings.kind == other.kind:
        assert StringData.concat([strings, other, strings]).to_list() == items + more + items


@given(held(), st.sampled_from(["", "?", "日本"]))
def test_filling_nulls(case, text):
    items, strings = case
    value = text if strings.kind == "utf8" else text.encode()
    filled = strings.fill_null(value)

    assert filled.to_list() == [value if item is None else item for item in items]
    assert filled.validity is None or strings.validity is None


@given(held(), held())
def test_equality_is_that_of_the_lists(first, second):
    items, strings = first
    more, other = second
    same = strings.kind == other.kind and items == more

    assert strings.equals(other) == (strings == other) == same
    if same:
        assert hash(strings) == hash(other)
        assert tokenize(strings) == tokenize(other)


@given(held())
def test_where_the_bytes_lie_makes_no_difference(case):
    items, strings = case
    plain = StringData.from_list(items, kind=strings.kind)

    assert strings == plain
    assert hash(strings) == hash(plain)
    assert tokenize(strings) == tokenize(plain)


@given(held(), st.integers(2, 5))
def test_pickles(case, protocol):
    items, strings = case
    back = pickle.loads(pickle.dumps(strings, protocol))

    assert back.to_list() == items
    assert back == strings
    for array in (back.data, back.starts, back.stops, back.validity):
        assert array is None or not array.flags.writeable


@given(held())
def test_copies(case):
    items, strings = case

    assert copy.copy(strings).to_list() == items
    assert copy.deepcopy(strings) == strings


@given(held())
def test_text_and_bytes(case):
    items, strings = case
    as_bytes = strings.as_binary()

    assert as_bytes.to_list() == [item.encode() if isinstance(item, str) else item for item in items]
    assert as_bytes.data is strings.data
    if strings.kind == "utf8":
        assert as_bytes.as_utf8() == strings
