"""The page of measures tells what the sources say."""

import ast
import re

import house
import measures
import pytest

pytestmark = pytest.mark.slow

NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")


def numbers(text):
    return [int(word) for word in NUMBER.findall(text)]


def is_near(said, seen):
    return abs(said - seen) <= 0.05 * seen


def test_the_page_is_not_stale():
    """Lines come and go with each change, so large numbers may be a little off, and small ones may not."""
    said, seen = house.PAGE.read_text(encoding="utf-8"), house.page()

    for old, new in zip(said.splitlines(), seen.splitlines(), strict=True):
        assert NUMBER.sub("N", old) == NUMBER.sub("N", new), "python docs/house.py writes the page anew"
        assert all(map(is_near, numbers(old), numbers(new))), f"{old}, but now {new}: run docs/house.py"


def test_small_numbers_are_exact_and_large_ones_nearly():
    assert [is_near(19, 20), is_near(20, 19), is_near(96, 100), is_near(94, 100)] == [
        True,
        False,
        True,
        False,
    ]
    assert numbers("| `s[1:2]` | 9 | 10 |") == [1, 2, 9, 10]


def test_questions_are_found_in_every_form():
    text = """
isinstance(x, Strided)
type(x) is Strided
match x:
    case Strided(): pass
hasattr(x, "strides")
x.kind == "jagged"
x.dtype.kind == "f"
x.is_box or x.has_layers
match x.dtype.kind:
    case "f": pass
match x.kind:
    case "nested": pass
getattr(x, "__dlpack__")
"""
    nodes = list(ast.walk(ast.parse(text)))

    assert sum(measures.asked(node) == {"Strided"} for node in nodes) == 3
    assert sum(map(measures.asks_name, nodes)) == 1
    assert sum(map(measures.asks_kind, nodes)) == 2
    assert sum(map(measures.asks_box, nodes)) == 2


def test_the_families_are_found():
    families = measures.families()

    assert families["layouts"]["Strided"] == "layout/boxes/"
    assert families["buffers"]["Dense"] == "buffer/"
    assert families["nodes"]
