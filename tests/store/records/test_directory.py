"""The directory: which records a name has, and what is lost or unsound in them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.errors import DataFileError, TensorWrapperError
from tensorwrapper.store import verify
from tensorwrapper.store.records import _directory
from tensorwrapper.store.records._directory import unpack_rows
from tensorwrapper.store.records._record import encode_tensor
from tests.support.store.grown_files import TWO, crafted, grown_in_steps, record, whole


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.tens"


def test_an_extension_that_lacks_pieces_is_told_as_lost(path):
    _, ends = grown_in_steps(path)
    raw = path.read_bytes()[: ends["cut"][1] - 64]
    path.write_bytes(raw)
    with tw.open(path) as f:
        assert f["cut"].tolist() == whole("cut", 1)
        assert any("'cut'" in text and "lost" in text for text in f.losses)


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


NAMES = st.lists(
    st.one_of(
        st.text("ab./\\\x00\x7fé", max_size=3),
        st.sampled_from(["", ".", "..", "x" * 255, "x" * 256, "e\u0301", "plain", "two words"]),
    ),
    min_size=1,
    max_size=4,
)


def outcome(run):
    try:
        return run()
    except TensorWrapperError as error:
        return type(error), str(error)


@given(NAMES, st.sampled_from([1, 1, 2]), st.booleans())
def test_rows_that_are_read_at_once_are_those_that_are_read_one_by_one(names, total, known):
    encoded = [name.encode() for name in names]
    table = np.array([[0, 64 * k, 8, 0, total] for k in range(len(names))], dtype="<i8")
    table[:, 0] = np.cumsum([len(name) for name in encoded])
    blob = b"".join(encoded)

    def rows():
        return unpack_rows(table, blob, 0, 64 * len(names))

    def one_by_one(monkeypatch):
        with monkeypatch.context() as patched:
            patched.setattr(_directory, "_plain_names", lambda *_: None)
            return outcome(rows)

    assert outcome(rows) == one_by_one(pytest.MonkeyPatch())
    found = outcome(rows)
    if isinstance(found, list):
        whole, slow = _directory.Directory(), _directory.Directory()
        for directory in (whole, slow):
            if known:
                directory.add(("plain", _directory.Place(0, 8), 0, 1, None))
        first = outcome(lambda: whole.add_all(found))
        second = outcome(lambda: [slow.add(row) for row in found] and None)
        assert first == second
        assert (whole.entries, whole.metadata, whole.end) == (slow.entries, slow.metadata, slow.end)
        assert first or whole.rows == slow.rows
