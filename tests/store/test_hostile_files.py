"""Files of strangers: read, or refused with errors of ours, within the memory that their bytes cost."""

import contextlib
import os
import random
import tracemalloc
import zipfile
import zlib

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import wire
from tensorwrapper.errors import DataFileError, TensorWrapperError
from tensorwrapper.store._checksum import checksum_of, choose
from tensorwrapper.store._directory import Directory, Place, pack_rows
from tensorwrapper.store._format import pack_body, pack_header
from tensorwrapper.store._record import encode_index, encode_tensor

pytestmark = pytest.mark.slow

TRIES = 10_000 if os.environ.get("HYPOTHESIS_PROFILE") == "nightly" else 120  # for each seed
NUMBERS = [0, 1, -1, 2, 5, 63, 64, 65, 2**31, 2**32 - 1, 2**40, 2**62, 2**63 - 1, -(2**63)]


def sample(path):
    with tw.open(path, "a", metadata={"run": 3}, piece_bytes=64) as f:
        f["a"] = np.arange(6, dtype="f4").reshape(2, 3)
        f["rows"] = tw.jagged([[1, 2, 3], [], [4]])
        f.flush()
        f["cut"] = np.arange(20).reshape(10, 2)
        f["t"] = tw.as_tensor(np.arange(12.0).reshape(3, 4)).tiled(tw.Tiling([1, 2], [4]))
    return path.read_bytes()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.tens"


def header_of(message):
    algorithm = choose(len(message))
    return pack_header(len(message), algorithm, checksum_of([message], algorithm))


def record(body):
    """The bytes of a record with checksums that fit."""
    joined = b"".join(bytes(piece) for piece in body)
    return header_of(joined) + joined


def sealed(raw):
    """The same bytes, all checksums of records made to fit: what a hostile writer does."""
    spoilt, place = bytearray(raw), 0
    while place + 32 <= len(spoilt):
        length = int.from_bytes(spoilt[place + 8 : place + 16], "little")
        if place + 32 + length > len(spoilt):
            break
        body = bytes(spoilt[place + 32 : place + 32 + length])
        spoilt[place : place + 32] = header_of(body)
        place += 32 + length
    return bytes(spoilt)


def use(path):
    with tw.open(path) as f:
        assert isinstance(f.metadata, dict)
        for name in f:
            tensor = f[name]
            assert len(tensor.elements()) == tensor.size
            repr(tensor)
            f.describe(name)
            f.tensor_metadata(name)


def spoil(raw, rng):
    spoilt = bytearray(raw)
    choice = rng.randrange(6)
    place = rng.randrange(len(spoilt))
    if choice == 0:
        spoilt[place] = rng.randrange(256)
    elif choice == 1:
        word = place // 8 * 8
        spoilt[word : word + 8] = rng.choice(NUMBERS).to_bytes(8, "little", signed=True)
    elif choice == 2:
        del spoilt[place:]
    elif choice == 3:
        del spoilt[place // 64 * 64 : place // 64 * 64 + 64]
    elif choice == 4:
        other = rng.randrange(len(spoilt)) // 64 * 64
        spoilt[place // 64 * 64 : place // 64 * 64 + 64] = spoilt[other : other + 64]
    else:
        digits = [k for k, byte in enumerate(spoilt) if 48 <= byte < 58]
        spoilt[rng.choice(digits)] = rng.randrange(48, 58)
    return bytes(spoilt)


@pytest.mark.parametrize("seed", range(4))
def test_spoilt_files_are_read_or_refused(path, seed):
    raw, rng = sample(path), random.Random(seed)
    accepted = 0
    for _ in range(TRIES):
        spoilt = raw
        for _ in range(rng.choice((1, 1, 2, 3))):
            spoilt = spoil(spoilt, rng) or raw
        path.write_bytes(sealed(spoilt) if rng.random() < 0.6 else spoilt)
        with contextlib.suppress(TensorWrapperError):
            use(path)
            accepted += 1
        with contextlib.suppress(TensorWrapperError):
            tw.store.verify(path)
        with contextlib.suppress(TensorWrapperError), tw.open(path, "a") as f:
            f["new"] = [1]
            assert f["new"].tolist() == [1]
    assert 0 < accepted < TRIES


def test_refusing_takes_little_memory(path):
    raw, rng = sample(path), random.Random(99)
    tracemalloc.start()
    try:
        for _ in range(200):
            path.write_bytes(sealed(spoil(raw, rng)))
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            with contextlib.suppress(TensorWrapperError):
                use(path)
            assert tracemalloc.get_traced_memory()[1] - before < 2**21
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "content", [b"\x93NUMPY\x01\x00", b"PK\x03\x04", b"ZIO0TENS{}", b"\x89PNG\r\n\x1a\n", b"\x00" * 100, b" "]
)
def test_other_files_are_none_of_ours(path, content):
    path.write_bytes(content)
    for mode in ("r", "a"):
        with pytest.raises(DataFileError, match=r"is no \.tens file"):
            tw.open(path, mode)

    assert path.read_bytes() == content


@pytest.mark.parametrize("length", [2**63, 2**64 - 1, 2**40, 65, 31, 0])
def test_a_length_beyond_the_file_or_off_the_grid_is_no_record(path, length):
    path.write_bytes(pack_header(length, 0, 0) + bytes(32 + 64 * 3))
    with tw.open(path) as f:
        assert len(f) == 0
        assert f._directory.torn.startswith("the record at 0 ")


def test_a_later_version_is_not_guessed(path):
    raw = bytearray(sample(path))
    raw[16] = 3
    raw[28:32] = zlib.crc32(raw[:28]).to_bytes(4, "little")
    path.write_bytes(raw)
    found = tw.store.verify(path)

    assert "the record at 0 has version 3; this reader knows 2" in found.problems


BODY = encode_tensor(np.arange(3), "x")
PLACE = Place(0, sum(map(len, BODY)))
AFTER = PLACE.stop


def with_index(rows, *, previous=None, table=None, names=None):
    packed, bytes_, grown = pack_rows(rows)
    index = encode_index(
        packed if table is None else table, bytes_ if names is None else names, previous, AFTER, grown=grown
    )
    return record(BODY) + record(index)


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
        (rows_of(start=AFTER), "overlap, or reach"),
        (rows_of(length=2**62), "outside"),
        (rows_of(length=-1), "outside"),
        (rows_of(length=AFTER), "overlap, or reach"),
        (np.concatenate([rows_of(), rows_of()]), "overlap"),
        (rows_of(end=2), "do not add up"),
        (rows_of(end=-1), "do not add up"),
        (rows_of(piece=1), "beyond their number"),
        (rows_of(piece=-1), "beyond their number"),
        (rows_of(pieces=0), "beyond their number"),
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


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (("y", PLACE, 0, 1, None), "says of itself"),
        (("x", Place(0, PLACE.length - 64), 0, 1, None), "the index says"),
    ],
)
def test_an_index_that_lies_is_found_when_the_tensor_is_opened(path, row, said):
    path.write_bytes(with_index([row]))
    with tw.open(path) as f, pytest.raises(DataFileError, match=said):
        f[row[0]]
    assert any("the index lists" in problem for problem in tw.store.verify(path).problems)


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


def test_a_record_with_a_bad_label_is_passed_over(path):
    frames = wire.encode([np.arange(3)], label={"record": {"kind": "tensor", "name": "../x"}})
    path.write_bytes(record(pack_body([*frames[:2], b"", frames[2]])) + record(BODY))
    with tw.open(path) as f:
        assert list(f) == ["x"]
        with pytest.raises(KeyError, match="1 damaged records were passed over"):
            f["y"]
    assert "has a name that is none" in tw.store.verify(path).problems[0]


def test_messages_of_others_are_passed_over(path):
    frames = wire.encode([np.arange(3)], label={"record": {"kind": "of tomorrow"}})
    path.write_bytes(record(pack_body([*frames[:2], b"", frames[2]])) + record(BODY))
    with tw.open(path) as f:
        assert list(f) == ["x"]
    assert tw.store.verify(path).ok


def test_pieces_that_do_not_fit_are_refused(path):
    def pieces(*arrays):
        raw = b"".join(record(encode_tensor(a, "x", k, len(arrays))) for k, a in enumerate(arrays))
        path.write_bytes(raw)

    rows = tw.as_tensor(np.arange(12).reshape(6, 2))
    pieces(rows.window(tw.Shape(2, 2)), rows.window(tw.Shape(4, 2, origin=(2, 0))))
    with tw.open(path) as f:
        assert f["x"].array_equal(rows)
    for second, said in [
        (rows.window(tw.Shape(3, 2, origin=(3, 0))), "begins at row 3 instead of 2"),
        (rows.window(tw.Shape(4, 1, origin=(2, 0))), "after one of"),
        (tw.as_tensor(np.array(1)), "without rows"),
        (tw.as_tensor(np.arange(8.0).reshape(4, 2)).window(tw.Shape(2, 2, origin=(2, 0))), "do not fit"),
        (tw.jagged([[1], [2], [3]]).window(tw.Shape.jagged([1, 1, 1])[2:]), "after one of"),
    ]:
        pieces(rows.window(tw.Shape(2, 2)), second)
        with tw.open(path) as f, pytest.raises(DataFileError, match=said):
            f["x"]


def test_a_piece_that_is_missing_leaves_the_tensor_out():
    directory = Directory()
    with pytest.raises(DataFileError, match="after 0 pieces"):
        directory.add(("x", PLACE, 1, 3, None))
    directory.add(("x", PLACE, 0, 3, None))
    assert directory.entries == {}


def test_fuzz_a_tensor_of_an_unknown_packing_is_refused_as_the_record_of_its_file(path):
    tw.save(path, {"s": tw.strings(["a", "b"])})
    raw = path.read_bytes()
    assert raw.count(b'"string"') >= 1
    path.write_bytes(sealed(raw.replace(b'"string"', b'"strinG"')))
    with tw.open(path) as f:
        for read in (f.__getitem__, f.describe):
            with pytest.raises(DataFileError, match=r"the record at .* is refused: .*packing 'strinG'"):
                read("s")


def npy(header, data=b"", *, major=1):
    wide = 2 if major == 1 else 4
    return b"\x93NUMPY" + bytes([major, 0]) + len(header).to_bytes(wide, "little") + header + data


def test_fuzz_a_header_of_npy_is_read_in_linear_time(tmp_path, monkeypatch):
    def slow(_text):
        raise AssertionError("NumPy's filter, of which time grows with the third power")

    monkeypatch.setattr(np.lib._format_impl, "_filter_header", slow)
    source, target = tmp_path / "a.npy", tmp_path / "a.tens"
    for header in (
        b"{'descr': '<f8',, 'shape': (2,}3)," + b" " * 9000,
        b'"' * 9000,
        b"(" * 9000,
        b"-" * 9000,
        b"{" * 60,
    ):
        source.write_bytes(npy(header, bytes(48)))
        with pytest.raises(DataFileError):
            tw.store.convert(source, target)
    source.write_bytes(npy(b"{'descr': '<f8', 'fortran_order': False, 'shape': (2L, 3L), }", bytes(48)))
    tw.store.convert(source, target)
    with tw.open(target) as f:
        assert f["array"].shape == tw.Shape(2, 3)


def test_fuzz_a_long_header_of_npy_is_not_unpacked(tmp_path):
    # A megabyte of zeros takes a kilobyte of an archive.
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", npy(bytes(2**26), major=2))
    tracemalloc.start()
    with pytest.raises(DataFileError, match="67108864 bytes; 10000 are allowed"):
        tw.store.convert(tmp_path / "a.npz", tmp_path / "a.tens")
    assert tracemalloc.get_traced_memory()[1] < 2**22
    tracemalloc.stop()


def test_fuzz_an_index_of_elements_that_nobody_knows_is_refused(path):
    raw = with_index([], table=rows_of(), names=np.frombuffer(b"x", np.uint8))
    path.write_bytes(sealed(raw.replace(b'"word":8', b'"word":7')))
    for mode in ("r", "a"):
        with pytest.raises(DataFileError, match=r"index that is refused: .*elements 'i' of 7 bytes"):
            tw.open(path, mode)
