"""Tilers as text: what is written is read, and what is none is refused."""

import pytest

from tensorwrapper.errors import LayoutError
from tensorwrapper.layout import parse_tiler, tiler_text


@pytest.mark.parametrize("text", ["[4:1;2:2]", "[_]", "[]", "4:1", "_", "[[(2,2):(4,1);_];[2:1]]"])
def test_tilers_are_read_and_written_back(text):
    assert tiler_text(parse_tiler(text)) == text


def test_an_integer_in_a_tiler_is_written_as_a_layout():
    assert tiler_text((4, None, (2,))) == "[4:1;_;[2:1]]"


@pytest.mark.parametrize("text", ["[4:1", "[4:1]]", "[[4:1]", "[4:1;]", "[;4:1]", "[" * 40 + "]" * 40])
def test_other_tilers_are_refused(text):
    with pytest.raises(LayoutError):
        parse_tiler(text)
