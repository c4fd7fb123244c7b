"""Records of strangers: what a label says is compared with what is there."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import wire
from tensorwrapper.errors import DataFileError, LocalProtocolError, RemoteProtocolError
from tensorwrapper.store.records._format import pack_body, pack_header
from tensorwrapper.store.records._plain_record import PlainReader
from tensorwrapper.store.records._record import (
    RecordFacts,
    encode_index,
    encode_tensor,
    read_facts,
    read_index,
    read_message,
)
from tensorwrapper.wire.lowlevel import WriteOptions
from tests.support.store.files import assert_same
from tests.support.store.spoilt_files import BODY, record, sealed

LIMITS = ["label_bytes", "label_items", "depth", "digits", "rank", "extent", "empty_elements"]
"""Limits of what a label says."""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.tens"


@pytest.mark.parametrize("length", [2**63, 2**64 - 1, 2**40, 65, 31, 0])
def test_a_length_beyond_the_file_or_off_the_grid_is_no_record(path, length):
    path.write_bytes(pack_header(length, 0, 0) + bytes(32 + 64 * 3))
    with tw.open(path) as f:
        assert len(f) == 0
        assert f._directory.torn.startswith("the record at 0 ")


def test_a_record_with_a_bad_label_is_passed_over(path):
    frames = wire.encode([np.arange(3)], label={"record": {"kind": "tensor", "name": "../x"}})
    path.write_bytes(record(pack_body([*frames[:2], b"", frames[2]])) + record(BODY))
    with tw.open(path) as f:
        assert list(f) == ["x"]
        with pytest.raises(KeyError, match="1 damaged record was passed over"):
            f["y"]
    assert "has an invalid name" in tw.store.verify(path).problems[0]


def test_messages_of_others_are_passed_over(path):
    frames = wire.encode([np.arange(3)], label={"record": {"kind": "of tomorrow"}})
    path.write_bytes(record(pack_body([*frames[:2], b"", frames[2]])) + record(BODY))
    with tw.open(path) as f:
        assert list(f) == ["x"]
    assert tw.store.verify(path).ok


def test_fuzz_a_tensor_of_an_unknown_packing_is_refused_as_the_record_of_its_file(path):
    tw.save(path, {"s": tw.strings(["a", "b"])})
    raw = path.read_bytes()
    assert raw.count(b'"string"') >= 1
    path.write_bytes(sealed(raw.replace(b'"string"', b'"strinG"')))
    with tw.open(path) as f:
        for read in (f.__getitem__, f.describe):
            with pytest.raises(DataFileError, match=r"the record at .* is invalid: .*packing 'strinG'"):
                read("s")


def test_a_large_tensor_is_cut_along_its_first_mode_and_is_one_again(path):
    x = np.arange(7 * 5 * 3, dtype="i4").reshape(7, 5, 3)
    tw.save(path, {"x": x}, piece_bytes=2 * 5 * 3 * 4)
    with tw.open(path) as f:
        assert f.describe("x").pieces == 4
        assert np.array_equal(np.asarray(f["x"]), x)
        assert f["x"][5:, ::2, 1].tolist() == x[5:, ::2, 1].tolist()


def test_jagged_rows_are_cut_between_rows(path):
    rows = tw.jagged([list(range(k)) for k in (3, 0, 9, 1, 1, 5)])
    tw.save(path, {"rows": rows}, piece_bytes=4 * 8)
    with tw.open(path) as f:
        # A row that is larger than a piece is one by itself.
        assert f.describe("rows").pieces == 4
        assert_same(f["rows"], rows)


@given(
    st.sampled_from(["a", "b", "é", 'q"', "x" * 255]),
    st.sampled_from(["a", "b", "é", 'q"']),
    st.sampled_from([None, {"gain": 2.5}]),
    st.sampled_from([np.arange(6.0).reshape(2, 3), np.array(1), np.zeros((0, 2)), np.array([True])]),
    st.sampled_from([None, 0, 3]),
)
def test_what_is_read_by_its_text_is_what_the_label_says(name, wanted, said, array, extends):
    whole = record(encode_tensor(array, name, extends=extends, metadata=said))
    body = memoryview(whole)[32:]
    found = PlainReader(memoryview(whole)).tensor(0, len(body), wanted)
    if found is not None:
        message = read_message(body)
        assert read_facts(message.label_object) == RecordFacts("tensor", wanted)
        assert np.array_equal(np.asarray(found), np.asarray(message.tensors[0]))
    else:
        plain = name.isascii() and array.size and array.dtype.kind != "b"
        assert name != wanted or said or extends is not None or not plain


def nested(depth, digits):
    return {"a": nested(depth - 1, digits) if depth > 1 else 10 ** (digits - 1)}


def written(array, name, said, limits):
    options = WriteOptions(limits=limits, metadata_depth=99)
    return memoryview(b"".join(encode_tensor(array, name, metadata=said, options=options)))


EXTENTS = st.lists(st.sampled_from([1, 2, 3]), max_size=3) | st.lists(st.just(1), max_size=64)
EMPTY = st.lists(st.sampled_from([0, 1, 2**20, 2**36 + 1]), max_size=2).map(lambda extents: [0, *extents])


@given(
    EXTENTS | EMPTY,
    st.sampled_from(["a", "[{,", "," * 90, "1234567890", "\N{LATIN SMALL LETTER E WITH ACUTE}" * 100]),
    st.none() | st.builds(nested, st.integers(1, 70), st.sampled_from([1, 9, 10, 1000, 1001])),
    st.just({}) | st.dictionaries(st.sampled_from(LIMITS), st.integers(0, 200), max_size=1),
)
def test_what_is_written_under_limits_is_read_under_them_and_nothing_else_is(extents, name, said, limits):
    own = wire.Limits(**limits) if limits else wire.DEFAULT_LIMITS
    array = np.zeros(extents, "u1")
    try:
        body = written(array, name, said, own)
    except LocalProtocolError:
        body = written(array, name, said, wire.Limits(**dict.fromkeys([*LIMITS, "total_bytes"], 2**62)))
        with pytest.raises(RemoteProtocolError):
            read_message(body, own).tensors[0]
    else:
        assert read_message(body, own).tensors[0].shape.extents == tuple(extents)


@given(st.sampled_from([None, 0, 64, 2**40]), st.integers(0, 2), st.booleans())
def test_an_index_is_read_by_its_text_as_by_its_label(previous, rows, grown):
    table, names = np.ones((rows, 5), "<i8"), np.ones(rows, "u1")
    more = np.ones(rows, "<i8") if grown else None
    body = b"".join(encode_index(table, names, previous, 64, hashes=names, grown=more))
    tables, facts = read_index(body)
    message = read_message(memoryview(body))
    assert facts.previous == previous
    assert facts == read_facts(message.label_object)
    assert [t.tolist() for t in tables] == [t.tolist() for t in message.tensors]
    assert read_index(b"".join(encode_tensor(table + 1, "a"))) is None
