"""The directory: which records a name has, and what is lost or unsound in them."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import DataFileError
from tensorwrapper.store import verify
from tensorwrapper.store._checksum import checksum_of, choose
from tensorwrapper.store._directory import Place, pack_rows
from tensorwrapper.store._format import pack_header
from tensorwrapper.store._record import encode_index, encode_tensor
from tensorwrapper.store._tail import hashes_of

PARTS = {
    "x": [[0, 1], [2], [3, 4, 5]],
    "rows": [tw.jagged([[1], [2, 3]]), tw.jagged([[4]]), tw.jagged([[], [5]])],
    "words": [tw.strings(["a"]), tw.strings(["b", None])],
    "cut": [np.arange(8).reshape(4, 2), np.arange(8, 16).reshape(4, 2)],
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.tens"


def grown_in_steps(path):
    """Return the bytes of a file, and where each record of each name ends."""
    ends = {name: [] for name in PARTS}
    with tw.open(path, "a", piece_bytes=32) as f:
        for step in range(3):
            for name, parts in PARTS.items():
                if step < len(parts):
                    f.extend(name, parts[step])
                    ends[name].append(path.stat().st_size)
            if step == 1:
                f.flush()
    return path.read_bytes(), ends


def whole(name, count):
    return [row for part in PARTS[name][:count] for row in tw.as_tensor(part).tolist()]


def test_an_extension_that_lacks_pieces_is_told_as_lost(path):
    _, ends = grown_in_steps(path)
    raw = path.read_bytes()[: ends["cut"][1] - 64]
    path.write_bytes(raw)
    with tw.open(path) as f:
        assert f["cut"].tolist() == whole("cut", 1)
        assert any("'cut'" in text and "lost" in text for text in f.losses)


def record(body):
    joined = b"".join(bytes(piece) for piece in body)
    algorithm = choose(len(joined))
    return pack_header(len(joined), algorithm, checksum_of([joined], algorithm)) + joined


def crafted(path, tensors, claims=None):
    """Write a file of records: tensor, rows before it, piece, pieces; `claims` is what an index says."""
    raw, rows = b"", []
    for tensor, after, *pieces in tensors:
        piece, many = pieces or (0, 1)
        new = record(encode_tensor(tensor, "x", piece, many, extends=after))
        rows.append(("x", Place(len(raw), len(new) - 32), piece, many, after))
        raw += new
    if claims is not None:
        rows = [(*row[:4], claim) for row, claim in zip(rows, claims, strict=True)]
        table, names, grown = pack_rows(rows)
        raw += record(encode_index(table, names, None, len(raw), hashes=hashes_of(rows), grown=grown))
    path.write_bytes(raw)


TWO = np.arange(2)


@pytest.mark.parametrize(
    ("tensors", "said"),
    [
        ([(TWO, 0)], "extends 'x', which is not there"),
        ([(TWO, None), (TWO, 4), (TWO, 2)], "extends 'x' at row 2, after one at 4"),
        ([(TWO, None), (TWO, 2, 1, 2)], "is piece 1 of an extension of 'x', after 0 pieces"),
        ([(TWO, None), (TWO, 2), (TWO, None)], "repeats the name 'x'"),
    ],
)
def test_extensions_of_nothing_are_passed_over_by_a_scan_and_refused_in_an_index(path, tensors, said):
    crafted(path, tensors)
    with tw.open(path) as f:
        assert f.losses
    assert any(said in problem for problem in verify(path).problems)
    crafted(path, tensors, [after for _, after, *_ in tensors])
    with pytest.raises(DataFileError, match=said):
        tw.open(path)


@pytest.mark.parametrize("after", [-1, 2**62 + 1, 2**63, 1.5, "2", True])
def test_a_label_that_does_not_count_its_rows_is_passed_over(path, after):
    good = record(encode_tensor(TWO, "x"))
    bad = record(encode_tensor(TWO, "x", extends=after))
    path.write_bytes(good + bad + record(encode_tensor(TWO, "y")))
    with tw.open(path) as f:
        assert f["x"].tolist() == [0, 1]
        assert any("extends tensors after" in text for text in f.losses)


@pytest.mark.parametrize("claims", [[-2, 2], [None, 2**63 - 1]])
def test_an_index_that_does_not_count_rows_is_refused(path, claims):
    crafted(path, [(TWO, None), (TWO, 2)], claims)
    with pytest.raises(DataFileError, match="extensions that do not go with its records"):
        tw.open(path)
