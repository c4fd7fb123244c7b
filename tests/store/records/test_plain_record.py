"""Records of one plain tensor are read by a comparison, and what it takes is what the message says."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import DataFileError, RemoteProtocolError
from tensorwrapper.store.records._format import HEADER_BYTES, unpack_header
from tensorwrapper.store.records._plain_record import PlainReader
from tensorwrapper.store.records._record import RecordFacts, encode_tensor, read_facts, read_message
from tests.support.store.files import assert_same
from tests.support.store.spoilt_files import record, sealed

ARRAYS = {
    "a": np.arange(6.0).reshape(2, 3),
    "a name": np.arange(6.0).reshape(3, 2),
    "é": np.array([True, False, True]),
    "b": np.arange(70, dtype="u1"),
    "z" * 200: np.full((1,) * 32, 7, "i4"),
}


def said(raw, start, length, name):
    """Return the tensor as the header and the message of a record say it; None if they are refused."""
    try:
        header = unpack_header(raw[start : start + HEADER_BYTES])
        message = read_message(memoryview(raw)[start + HEADER_BYTES : start + HEADER_BYTES + length])
        facts = read_facts(message.label_object)
    except (DataFileError, RemoteProtocolError):
        return None
    return message.tensors[0] if (header.length, facts) == (length, RecordFacts("tensor", name)) else None


@given(
    st.lists(st.tuples(st.integers(0, 2**12), st.integers(0, 255)), max_size=3),
    st.booleans(),
    st.sampled_from([0, -64, 64, 1]),
)
def test_what_is_taken_is_what_the_message_says(changes, fit, more):
    parts = {name: record(encode_tensor(array, name)) for name, array in ARRAYS.items()}
    raw = bytearray(b"".join(parts.values()))
    for place, value in changes:
        raw[place % len(raw)] = value
    raw = sealed(raw) if fit else bytes(raw)
    reader, start = PlainReader(memoryview(raw)), 0
    for name, part in parts.items():
        length = len(part) - HEADER_BYTES + more
        # Twice, as the second time the form is known.
        for _ in range(2):
            found = reader.tensor(start, length, name)
            if found is not None:
                assert_same(found, said(raw, start, length, name))
            else:
                assert changes or more
        start += len(part)


@given(st.integers(1000, 1050), st.sampled_from([None, 0, 999]), st.sampled_from([2, 255]))
def test_bytes_that_are_no_bools_are_found_at_any_size(count, place, value):
    flags = np.ones(count, np.bool_)
    if place is not None:
        flags.view(np.uint8)[place] = value
    raw = bytearray(record(encode_tensor(np.ones(count, np.bool_), "b")))
    begin = raw.index(b"\1" * count)
    raw[begin : begin + count] = flags.tobytes()
    found = PlainReader(memoryview(raw)).tensor(0, len(raw) - HEADER_BYTES, "b")
    assert (found is None) == (place is not None)
