"""Names in text and JSON, of strangers too."""

import pytest

from tensorwrapper.errors import ParseError
from tensorwrapper.shape import Shape


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("(2, 3) names (atom, _)", Shape(2, 3).named("atom", None)),
        ("(2,) names (atom,)", Shape(2).named("atom")),
        ("(2,)names(atom)", Shape(2).named("atom")),
        ("(2, 3)@(1, 0) names ( atom ,shell )", Shape(2, 3, origin=(1, 0)).named("atom", "shell")),
        ("(2; 3) names (_, _)", Shape.nested(Shape(2, 3), layers=(1, 1))),
        ("(2, 3) layers (2,) names (i, j)", Shape.nested(Shape(2, 3), layers=(2,)).named("i", "j")),
        ("() names ()", Shape()),
        ("triangular(5, lower) names (i, j)", Shape.triangular(5).named("i", "j")),
    ],
)
def test_text(text, shape):
    assert Shape.parse(text) == shape


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("(2, 3) names (a)", "1 name for a shape of rank 2"),
        ("(2, 3) names (a, a)", "both have the name 'a'"),
        ("(2, 3) names (a, 1)", "identifier"),
        ("(2, 3) names (a; b)", "','"),
        ("(2, 3) names (a, )", "rank 2"),
        ("(2, 3) names (a, b", r"'\)'"),
        ("(2, 3) names (a, b) layers (2,)", "the end"),
        ("(2, 3) name (a, b)", "'names \\('"),
    ],
)
def test_text_that_is_refused(text, allowed):
    with pytest.raises(ParseError, match=allowed):
        Shape.parse(text)


def test_json():
    assert Shape(2, 3).named("atom", None).to_json() == (
        '{"extents":[2,3],"kind":"smooth","names":["atom",null],"origin":[0,0]}'
    )
    assert "names" not in Shape(2, 3).to_json()


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ("null", "names must be a list"),
        ('"ab"', "names must be a list"),
        ('["a"]', "names .* 1 name for a shape of rank 2"),
        ('["a",1]', r"names\[1\] must be a name or null, not 1"),
        ('["a","a"]', "both have the name 'a'"),
        ('["a","b c"]', "identifier"),
    ],
)
def test_json_that_is_refused(names, text):
    with pytest.raises(ParseError, match=text):
        Shape.from_json(f'{{"extents":[2,3],"kind":"smooth","names":{names},"origin":[0,0]}}')


def test_only_the_outermost_object_has_names():
    inner = '{"extents":[2,3],"kind":"smooth","names":["a","b"],"origin":[0,0]}'
    with pytest.raises(ParseError, match="unknown key 'names'"):
        Shape.from_json(f'{{"kind":"nested","layers":[1,1],"shape":{inner}}}')


def test_a_summary_has_the_names_too():
    rows = Shape.jagged([3, 1] * 1000).named("row", "column")
    assert str(rows).endswith("...) names (row, column)")
    assert repr(rows).endswith(", ...]).named('row', 'column')")
