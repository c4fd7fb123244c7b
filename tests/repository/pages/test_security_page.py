"""The page on security says the limits as they are."""

import re
from pathlib import Path

import attrs
import pytest

from tensorwrapper.selection import SchemaLimits
from tensorwrapper.wire import Limits

PAGE = (Path(__file__).parents[3] / "docs" / "security.md").read_text(encoding="utf-8")
OF_THE_MACHINE = {"decompressed_bytes", "received_bytes"}


def table_after(words):
    table = PAGE[PAGE.index(words) :].split("\n\n")[1]
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \| .+ \|$", table, re.MULTILINE)
    return dict(rows)


@pytest.mark.parametrize(
    ("words", "limits"), [("`wire.Limits` bounds", Limits), ("SchemaLimits` bounds", SchemaLimits)]
)
def test_the_page_has_every_limit_with_its_default(words, limits):
    said = table_after(words)

    assert list(said) == [field.name for field in attrs.fields(limits)]
    for name, text in said.items():
        if name in OF_THE_MACHINE:
            assert 2**28 <= getattr(limits(), name) <= 2**36
            assert not text.isdigit()
        else:
            assert getattr(limits(), name) == int(text)
