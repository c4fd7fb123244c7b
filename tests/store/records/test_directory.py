"""The directory: which records a name has, and what is lost or unsound in them."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.errors import DataFileError
from tensorwrapper.store import verify
from tensorwrapper.store.records._directory import Directory
from tensorwrapper.store.records._index_rows import Listing
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


@st.composite
def listings(draw):
    """Records in one message each, some of which extend another: mostly in order."""
    count = draw(st.integers(1, 8))
    names = draw(st.lists(st.sampled_from(["", "a", "b", "c"]), min_size=count, max_size=count))
    afters = np.array(draw(st.lists(st.integers(-1, 6), min_size=count, max_size=count)), np.int64)
    if draw(st.booleans()):
        # As a writer has it: each name begins a tensor, and goes on with more rows.
        counts = Counter()
        for number, name in enumerate(names):
            afters[number] = counts[name] - 1 if counts[name] and name else -1
            counts[name] += 2
    afters[[not name for name in names]] = -1
    starts = 64 * np.arange(count, dtype=np.int64)
    return Listing(names, starts, np.full(count, 16, np.int64), afters if (afters >= 0).any() else None)


def directory_of(found, later, *, at_once):
    """What a directory has of a listing, and of rows that were added later; or why it refuses them."""
    directory = Directory()
    try:
        for part in (found, later):
            if at_once:
                directory.add_all(part)
            else:
                for row in part.rows():
                    directory.add(row)
    except DataFileError as error:
        return str(error)
    return (
        {name: directory.places(name) for name in directory.names},
        {name: list(rows) for name, rows in directory.extensions.items()},
        {name: (rows[-1], rows[0], rows[:1], len(rows)) for name, rows in directory.extensions.items()},
        {name: [own.tolist() for own in rows.columns] for name, rows in directory.extensions.items()},
        [directory.newest(name) for name in "abc"],
        [directory.tip(name) for name in "abc"],
        directory.rows,
        directory.n_rows,
        directory.metadata,
        directory.end,
    )


@given(listings(), listings())
def test_listed_extensions_are_those_that_were_added_one_by_one(found, later):
    later = Listing(later.names, later.starts + 2**10, later.lengths, later.afters)
    one_by_one = directory_of(found, later, at_once=False)
    assert directory_of(found, later, at_once=True) == one_by_one
    if not isinstance(one_by_one, str):
        for name, table in one_by_one[3].items():
            rows = [row for row in one_by_one[6] if row[0] == name and row[4] is not None]
            assert table == [[row[1].start, row[1].length, row[3], row[4]] for row in rows]
