"""The directory: which records a name has, and what is lost or unsound in them."""

import pytest

import tensorwrapper as tw
from tensorwrapper.errors import DataFileError
from tensorwrapper.store import verify
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
        ([(TWO, 0)], "extends 'x', which does not exist"),
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
    with pytest.raises(DataFileError, match="extensions that do not match its records"):
        tw.open(path)
