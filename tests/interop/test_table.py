"""The page on every library and every kind says what is so; libraries that are not installed are left out."""

import itertools

import pytest

from tests.support.library_table import (
    BLOCKS,
    BLOCKS_TITLE,
    IN,
    KINDS,
    OUT,
    PAGE,
    TABLES,
    blocks_row,
    is_there,
    read_page,
)

pytestmark = pytest.mark.filterwarnings("ignore")
SAID = read_page(PAGE.read_text(encoding="utf-8"))


@pytest.mark.parametrize(("title", "name"), [(title, name) for title, calls, _ in TABLES for name in calls])
def test_a_row_of_the_page_says_what_becomes_of_each_kind(title, name):
    library = (OUT if title == "Out" else IN)[name][0]
    if not is_there(library):
        pytest.skip(f"{library} is not installed")
    row_of = next(row_of for other, _, row_of in TABLES if other == title)

    assert dict(zip(KINDS, SAID[title, name], strict=True)) == dict(zip(KINDS, row_of(name), strict=True)), (
        "python -m tests.support.library_table writes the page"
    )


@pytest.mark.parametrize("name", BLOCKS)
def test_a_row_of_the_page_says_whether_tiles_are_copied(name):
    if not is_there(BLOCKS[name][0]):
        pytest.skip(f"{BLOCKS[name][0]} is not installed")
    assert SAID[BLOCKS_TITLE, name] == blocks_row(name)


def test_the_page_has_no_other_rows():
    known = {(title, name) for title, calls, _ in TABLES for name in calls}
    blocks = {(BLOCKS_TITLE, name) for name in BLOCKS}

    assert {key for key in SAID if not key[0].startswith("What")} == known | blocks
    assert set(itertools.chain.from_iterable(SAID[key] for key in known)) >= {"zero-copy", "copy", "lazy"}
