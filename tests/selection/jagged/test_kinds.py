"""Every kind of leaf takes every operation, reads what its plan says, and comes back from JSON."""

import re

import pytest

from tensorwrapper import selection as sel
from tensorwrapper.errors import TensorWrapperError
from tests.support.selection.kinds import (
    KINDS,
    NONE,
    OPERATIONS,
    PAGE,
    again,
    bytes_read,
    made,
    peak,
    refusals,
    table_of,
    uses_of,
)

CELLS = [(kind, name) for kind in KINDS for name in OPERATIONS if (kind, name) not in NONE]
REFUSED = list(NONE)


def said():
    """What the page says of each operation and kind."""
    lines = [
        line.strip("| ").split(" | ")
        for line in PAGE.read_text("utf-8").splitlines()
        if line.startswith("|") and " MiB" in line
    ]
    return {
        (kind, line[0].strip("`")): text for line in lines for kind, text in zip(KINDS, line[1:], strict=True)
    }


PAGE_CELLS = said()


def test_the_page_has_every_operation_and_every_kind():
    assert set(PAGE_CELLS) == {(kind, name) for kind in KINDS for name in OPERATIONS}
    assert {pair for pair, text in PAGE_CELLS.items() if " MiB" not in text} == set(NONE)


@pytest.mark.parametrize(("kind", "name"), CELLS)
def test_a_cell_reads_what_the_page_says(kind, name):
    one, other, sources = made(kind, 1)
    view = OPERATIONS[name](one, other)
    before = sum(source.nbytes for source in sources)
    assert f"{bytes_read(view)} B" == PAGE_CELLS[kind, name].partition(",")[0]
    found = view.compute()
    if sources and name != "one for each row":
        assert sum(source.nbytes for source in sources) - before == bytes_read(view)
    here = OPERATIONS[name](*[sel.as_view(KINDS[kind](1, first)) for first in (0, 3)])
    assert found.tolist() == here.compute().tolist()
    assert found.shape == view.shape
    read = again(view)
    assert read.shape == view.shape
    assert read.compute().tolist() == found.tolist()


@pytest.mark.parametrize(("kind", "name"), REFUSED)
def test_what_has_no_meaning_is_refused(kind, name):
    one, other, _ = made(kind, 1)
    with pytest.raises((TensorWrapperError, ValueError, IndexError)):
        OPERATIONS[name](one, other).compute()


def test_the_page_says_what_else_is_done_with_views_and_what_is_refused():
    text = PAGE.read_text("utf-8")
    assert "\n".join(table_of(uses_of())) in text
    assert "\n".join(refusals()) in text


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_no_cell_takes_more_memory_than_the_page_says(kind):
    for name in OPERATIONS:
        if (kind, name) not in NONE:
            most = int(re.findall(r", (\d+) MiB", PAGE_CELLS[kind, name])[0])
            assert peak(kind, name) <= most, name
