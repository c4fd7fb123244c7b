"""The index of a file: what is right is taken, what lies is found, what is damaged is done without."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import DamagedFileWarning, DataFileError
from tensorwrapper.store.records._format import pack_body
from tensorwrapper.store.records._index_rows import Place, pack_rows
from tensorwrapper.store.records._record import encode_index
from tensorwrapper.wire.lowlevel import WriteOptions, Writer
from tests.support.store.spoilt_files import (
    AFTER,
    BODY,
    PLACE,
    record,
    sample,
    sealed,
    with_index,
)

pytestmark = pytest.mark.slow


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.tens"


def rows_of(**changed):
    whole = {"end": 1, "start": 0, "length": PLACE.length, "piece": 0, "pieces": 1} | changed
    return np.array([list(whole.values())], dtype="<i8")


def test_the_index_that_is_right_is_taken(path):
    path.write_bytes(with_index([("x", PLACE, 0, 1, None)]))
    with tw.open(path) as f:
        assert f["x"].tolist() == [0, 1, 2]
        assert f._directory.chain == [(AFTER, 0)]


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (rows_of(start=-64), "outside"),
        (rows_of(start=32), "multiple of 64"),
        (rows_of(start=2**62), "too large"),
        (rows_of(start=AFTER), "overlap, or exceed"),
        (rows_of(length=2**62), "outside"),
        (rows_of(length=-1), "outside"),
        (rows_of(length=AFTER), "overlap, or exceed"),
        (np.concatenate([rows_of(), rows_of()]), "overlap"),
        (rows_of(end=2), "do not add up"),
        (rows_of(end=-1), "do not add up"),
        (rows_of(piece=1), "that exceed the number"),
        (rows_of(piece=-1), "that exceed the number"),
        (rows_of(pieces=0), "that exceed the number"),
        (rows_of(piece=1, pieces=2), "after 0 pieces"),
        (rows_of()[:, :4], "tables of"),
        (rows_of().reshape(-1), "tables of"),
        (rows_of().astype("f8"), "without its two tables"),
    ],
)
def test_an_index_with_a_checksum_and_without_sense_is_refused(path, table, said):
    path.write_bytes(with_index([], table=np.ascontiguousarray(table), names=np.frombuffer(b"x", np.uint8)))
    with pytest.raises(DataFileError, match=said):
        tw.open(path)


@pytest.mark.parametrize("name", [b"/", b"\xff", b"\x00"])
def test_an_index_with_names_that_are_none_is_refused(path, name):
    path.write_bytes(with_index([], table=rows_of(), names=np.frombuffer(name, np.uint8)))
    with pytest.raises(DataFileError, match="name"):
        tw.open(path)


def test_an_index_that_repeats_a_name_is_refused(path):
    twice = record(BODY) + record(BODY)
    rows = [("x", PLACE, 0, 1, None), ("x", Place(AFTER, PLACE.length), 0, 1, None)]
    path.write_bytes(twice + record(encode_index(*pack_rows(rows)[:2], None, len(twice))))
    with pytest.raises(DataFileError, match="repeats the name 'x'"):
        tw.open(path)
    path.write_bytes(twice)
    assert "the record at 256 repeats the name 'x'" in tw.store.verify(path).problems[0]


@pytest.mark.parametrize("previous", [AFTER, AFTER + 64, 64, 0])
def test_a_chain_that_leads_nowhere_is_left_and_the_records_are_scanned(path, previous):
    path.write_bytes(with_index([], previous=previous))
    with tw.open(path) as f:
        assert f["x"].tolist() == [0, 1, 2]
        assert f._directory.chain == []


def test_a_damaged_index_is_left_and_the_records_are_scanned(path):
    raw = bytearray(sample(path))
    with tw.open(path) as f:
        names, start = list(f), f._directory.chain[-1][0]
    for place in range(start, len(raw)):
        raw[place] ^= 0x55
        path.write_bytes(raw)
        with tw.open(path) as f:
            assert list(f) == names
        raw[place] ^= 0x55


def test_fuzz_an_index_of_elements_that_nobody_knows_is_refused(path):
    raw = with_index([], table=rows_of(), names=np.frombuffer(b"x", np.uint8))
    path.write_bytes(sealed(raw.replace(b'"word":8', b'"word":7')))
    for mode in ("r", "a"):
        with pytest.raises(DataFileError, match=r"invalid index: .*elements 'i' of 7 bytes"):
            tw.open(path, mode)


@pytest.mark.parametrize(
    ("table", "options"),
    [
        (tw.sparse([(0, 0)], np.array([1]), (4000, 5)), WriteOptions()),
        (np.zeros((4000, 5), np.int64), WriteOptions(compress="zlib")),
    ],
    ids=["sparse", "compressed"],
)
def test_an_index_whose_tables_would_be_larger_than_it_is_is_refused_unread(path, table, options):
    """800 bytes of a stranger were gigabytes in memory, or all that there is."""
    writer = Writer(2, options, apart=True, for_all=True)
    writer.add(tw.as_tensor(table), 1, None)
    writer.add(tw.as_tensor(np.frombuffer(b"x", np.uint8)), 3, None)
    frames = writer.frames({"record": {"kind": "index", "previous": None}})
    path.write_bytes(record(BODY) + record(pack_body(frames, tail_of=AFTER)))
    for mode in ("r", "a"):
        with pytest.raises(DataFileError, match="whose tables would have more"):
            tw.open(path, mode)


@pytest.mark.parametrize("record", [1, 2])
def test_a_reader_of_a_file_that_is_damaged_in_its_middle_is_warned(tmp_path, record):
    path = tmp_path / "a.tens"
    tw.save(path, {"a": np.arange(4), "b": np.ones(2)})
    with tw.open(path, "a") as file:
        file.extend("a", np.arange(3))
    whole = path.read_bytes()
    starts = [place for place in range(0, len(whole), 64) if whole[place : place + 5] == whole[:5]]
    # A record of elements, and the first index: what follows either is there.
    for start in starts[record:-1]:
        path.write_bytes(whole[:start] + b"\0" + whole[start + 1 :])
        if b'"kind":"tensor"' in whole[start : start + 500].split(b"\x89TENS")[1]:
            continue  # The last index vouches for it: it is read, and found damaged, when it is asked for.
        with pytest.warns(DamagedFileWarning, match=f"record at {start}"), tw.open(path) as file:
            assert "a" in file
    # What is only cut off is no damage: a writer may have died, or still be writing.
    path.write_bytes(whole[: starts[-1] + 40])
    with tw.open(path) as file:
        assert file["a"].tolist() == [0, 1, 2, 3, 0, 1, 2]
