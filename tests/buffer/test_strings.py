"""Buffers of strings: the contract of buffers, and what a write does to the memory."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.buffer import StringData, Strings, count_copies
from tensorwrapper.errors import ConversionError, DTypeError, ReadOnlyError
from tensorwrapper.testing import BufferContract

TEXT = ["a", "", "héllo", "日本\0", "b" * 40, "a", "x"]
TEXT_DTYPE = np.dtypes.StringDType()
NULLABLE_DTYPE = np.dtypes.StringDType(na_object=None)


def objects(items):
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


class TestText(BufferContract):
    def buffer(self):
        return Strings(StringData.from_list(TEXT))

    def expected(self):
        return np.array(TEXT, dtype=TEXT_DTYPE)


class TestTextWithNulls(BufferContract):
    def buffer(self):
        return Strings(StringData.from_list([None, *TEXT, None]).slice(1, 9))

    def expected(self):
        return np.array([*TEXT, None], dtype=NULLABLE_DTYPE)


class TestTextThatMayHaveNulls(BufferContract):
    def buffer(self):
        return Strings(StringData.from_list(TEXT), nullable=True)

    def expected(self):
        return np.array(TEXT, dtype=NULLABLE_DTYPE)


class TestBytes(BufferContract):
    def buffer(self):
        return Strings(StringData.from_list([b"a", b"\xff\0", b"", b"\0", b"bc"]).take([4, 3, 2, 1, 0, 0]))

    def expected(self):
        return objects([b"bc", b"\0", b"", b"\xff\0", b"a", b"a"])


class TestBytesWithNulls(BufferContract):
    def buffer(self):
        return Strings(StringData.from_list([None, b"a", None, b"", b"bc", b"d"]))

    def expected(self):
        return objects([None, b"a", None, b"", b"bc", b"d"])


class TestReadOnlyText(BufferContract):
    def buffer(self):
        return Strings(StringData.from_list(TEXT)).as_readonly()

    def expected(self):
        return np.array(TEXT, dtype=TEXT_DTYPE)


ITEMS = st.one_of(st.none(), st.text(max_size=5), st.sampled_from(["y" * 3000, "z" * 5000]))


@given(st.data())
def test_writes_in_a_row_are_those_of_a_list(data):
    items = data.draw(st.lists(ITEMS, min_size=1, max_size=8))
    buffer = Strings(StringData.from_list([*items, "other"]).slice(0, len(items)), nullable=True)
    for _ in range(data.draw(st.integers(1, 12))):
        places = data.draw(st.lists(st.integers(0, len(items) - 1), unique=True))
        values = data.draw(st.lists(ITEMS, min_size=len(places), max_size=len(places)))
        buffer.replace(np.array(places, dtype=np.int64), StringData.from_list(values))
        for place, value in zip(places, values, strict=True):
            items[place] = value
        assert buffer.stored.to_list() == items
        assert buffer.stored.null_count == items.count(None)
    assert pickle.loads(pickle.dumps(buffer)).stored.to_list() == items


def test_bytes_of_nobody_are_given_back():
    buffer = Strings(StringData.from_list(["short"] * 10))
    for k in range(1000):
        buffer.replace(np.array([k % 10]), StringData.from_list([str(k % 10) * 1000]))

    assert buffer.stored.to_list() == [str(k) * 1000 for k in range(10)]
    assert buffer.stored.data.nbytes <= 2 * 10_000 + 1000 + 2**12


def test_one_string_for_many_places_is_kept_once():
    buffer = Strings(StringData.from_list([""] * 1000))
    buffer.replace(np.arange(1000), StringData.from_list(["x" * 100]).take(np.zeros(1000, dtype=int)))

    assert buffer.stored.data.nbytes == 100
    assert buffer.read(np.array([999])).tolist() == ["x" * 100]


def test_a_few_strings_of_many_do_not_bring_all_bytes_along():
    many = StringData.from_list(["x" * 1000] * 1000)
    buffer = Strings(StringData.from_list(["", ""]))
    buffer.replace(np.array([0, 1]), many.take([0, 999]))

    assert buffer.stored.data.nbytes == 2000


def test_a_write_leaves_what_was_read_and_what_it_came_from_alone():
    given_strings = StringData.from_list(["a", "b"])
    buffer = Strings(given_strings)
    before = buffer.stored
    buffer.replace(np.array([0]), StringData.from_list(["new"]))

    assert before is given_strings
    assert given_strings.to_list() == ["a", "b"]
    assert buffer.stored.to_list() == ["new", "b"]


def test_what_is_refused_changes_nothing():
    buffer = Strings(StringData.from_list(["a", "b"]))
    for error, values in (
        (ConversionError, StringData.from_list([None, "x"])),
        (ConversionError, StringData.from_list([b"x", b"y"])),
    ):
        with pytest.raises(error):
            buffer.replace(np.array([0, 1]), values)
    with pytest.raises(ConversionError, match="element 1 is 5"):
        buffer.write(np.array([0, 1]), objects(["x", 5]))
    with pytest.raises(ConversionError, match="'binary'"):
        buffer.write(np.array([0]), objects([b"x"]))
    with pytest.raises(ReadOnlyError):
        buffer.as_readonly().replace(np.array([0]), StringData.from_list(["x"]))
    with pytest.raises(DTypeError, match="not numbers"):
        buffer.accumulate(np.array([0]), objects(["x"]))

    assert buffer.stored.to_list() == ["a", "b"]


def test_nulls_are_refused_where_there_are_to_be_none():
    strings = StringData.from_list(["a", None])
    with pytest.raises(ConversionError, match=r"element 1 is a null.*fill_null"):
        Strings(strings, nullable=False)

    assert Strings(strings).nullable
    assert Strings(strings).dtype == NULLABLE_DTYPE
    assert not Strings(strings.slice(0, 1)).nullable


def test_making_viewing_and_pickling_copies_no_bytes():
    with count_copies() as count:
        buffer = Strings(StringData.from_list(["abc"] * 1000))
        buffer.as_readonly().guarded()
        out_of_band = []
        pickle.dumps(buffer, 5, buffer_callback=out_of_band.append)

    assert count.nbytes == 0
    assert max(part.raw().nbytes for part in out_of_band) == 8008


def test_threads_that_read_see_a_write_as_a_whole():
    size = 200
    buffer = Strings(StringData.from_list(["a"] * size))
    everywhere = np.arange(size)

    def read(_):
        return len(set(buffer.read(everywhere).tolist()))

    def write(letter):
        buffer.replace(everywhere, StringData.from_list([letter * 50] * size))
        return 1

    with ThreadPoolExecutor(4) as pool:
        reads = pool.map(read, range(200))
        writes = pool.map(write, "bcdefghij" * 5)
        assert set(reads) == set(writes) == {1}
