"""Files of strangers: read, or refused with errors of ours, within the memory that their bytes cost."""

import contextlib
import random
import tracemalloc
import zlib

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import DataFileError, TensorWrapperError
from tensorwrapper.store.records._directory import Directory
from tensorwrapper.store.records._index_rows import Place
from tensorwrapper.store.records._record import encode_tensor
from tests.support.long_runs import IS_LONG
from tests.support.store.spoilt_files import (
    PLACE,
    record,
    sample,
    sealed,
    with_index,
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::tensorwrapper.errors.DamagedFileWarning"),
]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.tens"


TRIES = 10_000 if IS_LONG else 120  # for each seed
NUMBERS = [0, 1, -1, 2, 5, 63, 64, 65, 2**31, 2**32 - 1, 2**40, 2**62, 2**63 - 1, -(2**63)]


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
        with pytest.raises(DataFileError, match=r"not a \.(tens|npy|npz) file"):
            tw.open(path, mode)

    assert path.read_bytes() == content


def test_a_later_version_is_not_guessed(path):
    raw = bytearray(sample(path))
    raw[16] = 3
    raw[28:32] = zlib.crc32(raw[:28]).to_bytes(4, "little")
    path.write_bytes(raw)
    found = tw.store.verify(path)

    assert "the record at 0 has version 3; supported: 2" in found.problems


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (("y", PLACE, 0, 1, None), "has the facts"),
        (("x", Place(0, PLACE.length - 64), 0, 1, None), "the index says"),
    ],
)
def test_an_index_that_lies_is_found_when_the_tensor_is_opened(path, row, said):
    path.write_bytes(with_index([row]))
    with tw.open(path) as f, pytest.raises(DataFileError, match=said):
        f[row[0]]
    assert any("the index lists" in problem for problem in tw.store.verify(path).problems)


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
        (tw.as_tensor(np.arange(8.0).reshape(4, 2)).window(tw.Shape(2, 2, origin=(2, 0))), "do not match"),
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
    assert not directory.names
