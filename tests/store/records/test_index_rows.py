"""The rows of an index as columns, which are what they are one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import DataFileError, TensorWrapperError
from tensorwrapper.store.records import _index_rows
from tensorwrapper.store.records._directory import Directory
from tensorwrapper.store.records._index_rows import Listing, Place, unpack_rows

NAMES = st.lists(
    st.one_of(
        st.text("ab./\\\x00\x7fé", max_size=3),
        st.sampled_from(["", ".", "..", "x" * 255, "x" * 256, "e\u0301", "plain", "two words"]),
    ),
    min_size=1,
    max_size=4,
)
# The records that extend a tensor repeat its name.
NAMES |= st.lists(st.sampled_from(["", "a", "b", ".", "cc", ".."]), min_size=1, max_size=40)


def outcome(run):
    try:
        return run()
    except TensorWrapperError as error:
        return type(error), str(error)


@given(st.lists(NAMES, min_size=1, max_size=3), st.sampled_from([1, 1, 2]), st.booleans())
def test_rows_that_are_read_at_once_are_those_that_are_read_one_by_one(indices, total, known):
    whole, slow = Directory(), Directory()
    for directory in (whole, slow):
        if known:
            directory.add(("plain", Place(0, 32), 0, 1, None))
    for number, names in enumerate(indices):
        encoded = [name.encode() for name in names]
        table = np.array([[0, 64 * k, 8, 0, total] for k in range(len(names))], dtype="<i8")
        table[:, 0] = np.cumsum([len(name) for name in encoded])
        table[:, 1] += 4096 * (number + 1)
        blob = b"".join(encoded)

        def rows(table=table, blob=blob):
            return unpack_rows(table, blob, 4096, 2**20)

        def one_by_one(rows=rows):
            with pytest.MonkeyPatch.context() as patched:
                patched.setattr(_index_rows, "_plain_names", lambda *_: None)
                return outcome(rows)

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(_index_rows, "_FEW", 0)
            found = outcome(rows)
        expected = one_by_one()
        assert (found.rows() if isinstance(found, Listing) else found) == expected
        if isinstance(expected, tuple):
            return
        first = outcome(lambda found=found: whole.add_all(found))
        second = outcome(lambda rows=expected: [slow.add(row) for row in rows] and None)
        assert first == second
        assert whole.metadata == slow.metadata
        assert whole.end == slow.end
        assert [(name, whole.places(name)) for name in whole.names] == [
            (name, slow.places(name)) for name in slow.names
        ]
        if first is not None:
            return
        assert whole.n_rows == slow.n_rows
    assert whole.rows == slow.rows
    assert whole.n_rows == slow.n_rows


NUMBERS = st.one_of(st.integers(-1, 3), st.sampled_from([64, 128, 192, 2**62, 2**63 - 1, -(2**63)]))


@given(
    st.lists(st.lists(NUMBERS, min_size=5, max_size=5), min_size=1, max_size=3),
    st.integers(0, 3),
    st.none() | st.lists(st.sampled_from([-2, -1, 0, 5, 2**62 + 1]), min_size=1, max_size=3),
)
def test_few_rows_are_read_or_refused_as_many_are(rows, n_bytes, grown):
    table, after = np.array(rows, "<i8"), None if grown is None else np.array(grown, "<i8")

    def read(few):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(_index_rows, "_FEW", few)
            found = outcome(lambda: unpack_rows(table, b"a" * n_bytes, 0, 64 * 5, after))
        return found.rows() if isinstance(found, Listing) else found

    assert read(32) == read(0)


@given(
    st.lists(st.lists(NUMBERS, min_size=5, max_size=5), min_size=1, max_size=3),
    st.integers(0, 3),
    st.sampled_from([0, 32]),
)
def test_a_table_is_taken_exactly_if_all_of_it_is_right(rows, n_bytes, few):
    begin, end = 0, 64 * 5
    last, stop, right = 0, begin, rows[-1][0] == n_bytes
    for name_end, start, length, piece, pieces in rows:
        right &= last <= name_end and stop <= start and start % 64 == 0 and 0 <= length <= end
        right &= 0 <= piece < pieces
        last, stop = name_end, start + length + 32
    right &= stop <= end
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(_index_rows, "_FEW", few)
        found = outcome(lambda: unpack_rows(np.array(rows, "<i8"), b"a" * n_bytes, begin, end))
    assert right == (not isinstance(found, tuple))
    assert right or found[0] is DataFileError
