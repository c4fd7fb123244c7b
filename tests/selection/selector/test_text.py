"""The text of selectors: what is read, how it is written, and what is refused."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import (
    ConversionError,
    ExtentError,
    ParseError,
    RankError,
    SizeOverflowError,
    StepError,
)
from tensorwrapper.selection import NewMode, Selector


@pytest.mark.parametrize(
    ("text", "atom"),
    [
        ("...", ...),
        ("+", NewMode()),
        ("+1", NewMode(1)),
        ("+100", NewMode(100)),
        ("1", 1),
        ("-1", -1),
        (":", slice(None)),
        ("::", slice(None)),
        ("::1", slice(None)),
        ("::-2", slice(None, None, -2)),
        (":2", slice(None, 2)),
        ("3:", slice(3, None)),
        ("1:2", slice(1, 2)),
        ("1:2:1", slice(1, 2)),
        ("-4:-1:2", slice(-4, -1, 2)),
        (":-4:-1", slice(None, -4, -1)),
        (" 1 : 2 : -3 ", slice(1, 2, -3)),
    ],
)
def test_one_atom(text, atom):
    assert Selector.parse(text).atoms == (atom,)
    assert Selector.parse(f"[{text}]") == Selector(atom)


def test_the_text_that_is_written():
    text = "1, +100, +1, +, ..., :, 3:, :5, ::-2"
    selector = Selector.parse(text)
    assert str(selector) == "[1, +100, +, +, ..., :, 3:, :5, ::-2]"
    assert repr(selector) == "Selector.parse('[1, +100, +, +, ..., :, 3:, :5, ::-2]')"
    assert eval(repr(selector)) == selector


@pytest.mark.parametrize("text", ["", "  ", "[]", " [ ] "])
def test_nothing_selects_everything(text):
    assert Selector.parse(text) == Selector()
    assert str(Selector()) == "[]"


numbers = st.one_of(st.integers(-5, 5), st.integers(-(10**30), 10**30))
slices = st.builds(
    slice, st.none() | numbers, st.none() | numbers, st.none() | numbers.filter(lambda step: step != 0)
)
plain_items = st.one_of(numbers, slices, st.none(), st.builds(NewMode, st.integers(1, 10**30)))


@st.composite
def selectors(draw):
    items = draw(st.lists(plain_items, max_size=6))
    if draw(st.booleans()):
        items.insert(draw(st.integers(0, len(items))), ...)
    return Selector(*items)


@given(selectors())
def test_reading_gives_back_what_was_written(selector):
    text = str(selector)
    assert Selector.parse(text) == selector
    assert Selector.parse(text[1:-1].replace(" ", "")) == selector
    assert hash(Selector.parse(text)) == hash(selector)
    assert eval(repr(selector)) == selector


@given(selectors(), selectors())
def test_selectors_are_equal_as_their_texts_are(one, other):
    assert (one == other) == (str(one) == str(other))


@pytest.mark.parametrize(
    ("text", "position", "found"),
    [
        ("abc", 0, "'abc'"),
        ("1, x", 3, "'x'"),
        ("1,,2", 2, "nothing"),
        ("1,", 2, "nothing"),
        (",", 0, "nothing"),
        ("1 2", 0, "'1 2'"),
        ("[1], 2", 0, "'[1]'"),
        ("[1", 0, "'[1'"),
        ("1]", 0, "'1]'"),
        ("[[1]]", 1, "'[1]'"),
        ("1:2:3:4", 0, "'1:2:3:4'"),
        ("+-1", 0, "'+-1'"),
        ("+ 3", 0, "'+ 3'"),
        ("- 3", 0, "'- 3'"),
        ("--3", 0, "'--3'"),
        ("1.5", 0, "'1.5'"),
        ("1e3", 0, "'1e3'"),
        ("0x10", 0, "'0x10'"),
        ("1_000", 0, "'1_000'"),
        ("\u0663", 0, "'\u0663'"),
        ("....", 0, "'....'"),
        ("..", 0, "'..'"),
        ("None", 0, "'None'"),
        ("+3:", 0, "'+3:'"),
        ("1:+3", 0, "'1:+3'"),
        ("__import__('os')", 0, "\"__import__('os')\""),
    ],
)
def test_other_text_is_refused_where_it_stands(text, position, found):
    with pytest.raises(ParseError, match=f"at position {position}: found {re.escape(found)},"):
        Selector.parse(text)


@pytest.mark.parametrize("items", [("...", "..."), ("1", "...", ":", "...")])
def test_one_ellipsis_only(items):
    with pytest.raises(RankError, match=r"one ellipsis only: .\[.*\.\.\., .*\.\.\.\]"):
        Selector.parse(", ".join(items))


@pytest.mark.parametrize("text", ["::0", "1:2:0", "::-0", "::000"])
def test_a_step_of_zero(text):
    with pytest.raises(StepError, match=r"slice step cannot be zero: .*:0"):
        Selector.parse(text)


@pytest.mark.parametrize("extent", [0, -1])
def test_a_new_mode_has_an_extent(extent):
    with pytest.raises(ExtentError, match=f"must be at least 1, but is {extent}"):
        NewMode(extent)


def test_a_new_mode_of_extent_zero_in_text():
    with pytest.raises(ExtentError, match="must be at least 1, but is 0"):
        Selector.parse("+0")


# Text of strangers.


@pytest.mark.parametrize(
    "text", ["9" * 101, "+" + "9" * 101, "::-" + "9" * 101, "0" * 10**6, "-" + "1" * 10**6]
)
def test_long_numbers_are_refused_before_they_are_read(text):
    with pytest.raises(ParseError, match="at most 100 digits"):
        Selector.parse(text)


def test_errors_quote_little_of_long_text():
    with pytest.raises(RankError) as caught:
        Selector.parse(",".join(["..."] * 10**5))
    assert len(str(caught.value)) < 300


def test_numbers_of_a_hundred_digits_are_read():
    assert Selector.parse("-" + "9" * 100).atoms == (-(10**100) + 1,)
    for item in (10**100, slice(None, -(10**100)), slice(10**5000)):
        with pytest.raises(SizeOverflowError, match="may have 100 digits"):
            Selector(item)
    with pytest.raises(SizeOverflowError, match="may have 100 digits"):
        NewMode(10**100)


def test_long_text_is_refused():
    with pytest.raises(ParseError, match="1048576 characters, but has 1048577"):
        Selector.parse(":" * (2**20 + 1))


@pytest.mark.parametrize(
    "text", [" " * 10**6 + "x", "1:" + " " * 10**6 + "x", "1" + " " * 10**6 + ":", ":" * 10**6]
)
def test_hostile_text_takes_no_more_than_linear_time(text):
    # With an expression that goes back: an hour.
    if text.endswith("x") or text.count(":") > 2:
        with pytest.raises(ParseError) as caught:
            Selector.parse(text)
        assert len(str(caught.value)) < 300
    else:
        assert Selector.parse(text) == Selector(slice(1, None))


@pytest.mark.parametrize("value", [None, b"1", 1, ["1"]])
def test_only_text_is_parsed(value):
    with pytest.raises(ConversionError, match="parsed from text"):
        Selector.parse(value)


@given(st.text("0123456789+-:.,[] x", max_size=20))
def test_any_text_is_read_or_refused(text):
    try:
        selector = Selector.parse(text)
    except (ParseError, RankError, StepError, ExtentError):
        return
    assert Selector.parse(str(selector)) == selector
