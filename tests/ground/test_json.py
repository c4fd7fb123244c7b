"""JSON texts of strangers: measured first, then read strictly; and shown in part."""

from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import _json
from tensorwrapper._json import dump_json, excess, has_number_over, parse_json, shown_json
from tensorwrapper.errors import ConversionError, ParseError

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('aé\\"[{,', max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("ab[", max_size=2), inner, max_size=3)
    ),
    max_leaves=12,
)


def parse(text, **limits):
    return parse_json(text, "the text", **{"depth": 9, "digits": 40} | limits)


def depth_of(value):
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return isinstance(value, dict | list) + max(map(depth_of, inner), default=0)


@given(VALUES)
def test_what_is_written_is_what_was_read(value):
    text = dump_json(value)

    assert parse(text, depth=20, digits=400) == parse(f" {text}\n".encode(), depth=20, digits=400) == value


@given(VALUES)
def test_the_depth_allowed_is_the_depth_there_is(value):
    text, deep = dump_json(value), depth_of(value)

    assert excess(text, depth=deep, items=len(text)) is None
    if deep:
        assert excess(text, depth=deep - 1, items=len(text)) == f"nests over {deep - 1} deep"


@given(VALUES, st.integers(0, 40))
def test_what_is_shown_is_the_beginning(value, most):
    text = dump_json(value)

    assert shown_json(value, most) == (text if len(text) <= most else f"{text[:most]}...")


@pytest.mark.parametrize(
    ("text", "limits", "told"),
    [
        ("", {}, "is not JSON"),
        ("[1] 2", {}, "goes on after"),
        ('{"a":1,"a":2}', {}, "the key 'a' twice"),
        ("[NaN]", {}, "NaN"),
        ("1e999", {}, "beyond any double"),
        ('"\\ud800"', {}, "half a surrogate"),
        ('"\ud800"', {}, "not UTF-8"),
        (b"\xff", {}, "not UTF-8"),
        ("[[1]]", {"depth": 1}, "nests over 1 deep"),
        ("[1,2,3]", {"items": 2}, "over 2 values"),
        ("12345", {"digits": 4}, "more than 4 digits"),
        ("12345", {"max_bytes": 4}, "has 5 bytes or more; at most 4"),
        ('"éé"', {"max_bytes": 5}, "has 6 bytes; at most 5"),
        ("[" * 10_000 + "]" * 10_000, {"depth": 10**6}, "deeper than this reader can follow"),
    ],
)
def test_other_texts_are_refused(text, limits, told):
    with pytest.raises(ParseError, match=f"the text.*{told}"):
        parse(text, **limits)


def test_only_text_is_read():
    with pytest.raises(ConversionError, match="from text or bytes, not from dict"):
        parse({})


@pytest.mark.parametrize("place", [0, 1, 7, 8, 30])
@pytest.mark.parametrize("digits", [1, 7, 8])
def test_a_long_number_is_found_wherever_it_stands(place, digits):
    text = f'["{"1" * 50}",{"1," * place}{"2" * digits}]'

    assert has_number_over(text, digits - 1)
    assert not has_number_over(text, digits)


@given(VALUES)
def test_what_is_written_in_parts_is_the_same_text(value):
    with mock.patch.object(_json, "_AT_ONCE", 2):
        assert _json.dump_in_parts(value) == dump_json(value)
