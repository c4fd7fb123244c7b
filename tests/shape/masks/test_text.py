"""Masks as text and JSON: what is written, what is refused, and at what cost."""

import contextlib
import json
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import Mask, Shape
from tensorwrapper.errors import ConversionError, ParseError, SizeOverflowError
from tests.support.shape.masks import masks

BOX = Shape(4, 6)


@pytest.mark.parametrize(
    ("mask", "text", "call"),
    [
        (Mask(BOX), "(4, 6)[:, :]", "Mask(Shape(4, 6), slice(None))"),
        (Mask(BOX, 2), "(4, 6)[2, :]", "Mask(Shape(4, 6), 2)"),
        (Mask(BOX, ..., 2), "(4, 6)[:, 2]", "Mask(Shape(4, 6), slice(None), 2)"),
        (
            Mask(BOX, slice(None, None, -2), [1, 4, 5]),
            "(4, 6)[3:0:-2, 1|4|5]",
            "Mask(Shape(4, 6), range(3, 0, -2), [1, 4, 5])",
        ),
        (Mask(BOX, [], [3]), "(4, 6)[0:0, 3:4]", "Mask(Shape(4, 6), range(0, 0), range(3, 4))"),
        (Mask(Shape()), "()[]", "Mask(Shape())"),
        (
            Mask(Shape.jagged([3, 1, 2]), [2, 0]),
            "(3, 3|1|2)[2:-1:-2]",
            "Mask(Shape.jagged([3, 1, 2]), range(2, -1, -2))",
        ),
        (
            Mask.of_points(BOX, [(0, 1), (3, 0), (1, 1)]),
            "(4, 6)[ordinals 1|18|7]",
            "Mask.of_ordinals(Shape(4, 6), [1, 18, 7])",
        ),
        (Mask.of_ordinals(BOX, 7), "(4, 6)[ordinals 7]", "Mask.of_ordinals(Shape(4, 6), 7)"),
    ],
)
def test_masks_are_written_as_they_are_made(mask, text, call):
    assert (str(mask), repr(mask)) == (text, call)


@pytest.mark.parametrize("text", ["(4,6)[ 0:3:2 ,1|4|5 ]", "( 4, 6 ) [0:4:+2,1|4|5]  "])
def test_white_space_is_free(text):
    assert Mask.parse(text) == Mask(BOX, [0, 2], [1, 4, 5])


def test_long_masks_are_summarised():
    mask = Mask(Shape(10**6), np.arange(1500) ** 2 // 3 + np.arange(1500))

    assert str(mask).endswith("|...]")
    assert len(str(mask)) < 100
    assert len(repr(mask)) < 100
    assert Mask.parse(format(mask, "full")) == mask
    with pytest.raises(ParseError, match="is a summary"):
        Mask.parse(str(mask))
    with pytest.raises(ConversionError, match="full"):
        format(mask, ">9")


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "not the text of a mask"),
        ("(4, 6)", "not the text of a mask"),
        ("(4, 6)[0", "not the text of a mask"),
        ("(4, 6)[0] 1", "not the text of a mask"),
        ("(4, 6[0]", r"'\)'"),
        ("(4, 6)[0|]", r"'0\|'"),
        ("(4, 6)[0 1]", "'0 1'"),
        ("(4, 6)[,]", "''"),
        ("(4, 6)[0x1]", "'0x1'"),
        ("(4, 6)[007]", "'007'"),
        ("(4, 6)[0:]", "'0:'"),
        ("(4, 6)[0:4:0]", "step of 0"),
        ("(4, 6)[0:9:4]", "index 8 is outside"),
        ("(4, 6)[1|1]", "comes twice"),
        ("(4, 6)[1, 2, 3]", "3 items are too many"),
        ("(4, 6)[ordinals]", "'ordinals'"),
        ("(4, 6)[ordinals ]", "in one item"),
        ("(4, 6)[ordinals 1, 2]", "in one item"),
        ("(4, 6)[ordinals :]", "':'|mask"),
        ("(4, 6)[1|99999999999999999999]", "64 bits"),
        (f"(4, 6)[{'1' * 641}]", "640 digits"),
        ("(3, 3|1|2)[0|2|1, 0]", "rows"),
        ("(4, 6)[\u0663]", "not what a mask picks"),
    ],
)
def test_texts_that_are_none_of_a_mask_are_refused(text, match):
    with pytest.raises(ParseError, match=match):
        Mask.parse(text)


GOOD = {"picks": [2, {"start": 0, "step": 2, "stop": 5}], "shape": json.loads(BOX.to_json()), "way": "modes"}


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"picks": None}, "picks must be a list"),
        ({"picks": [2]}, "picks has 1 entry, but 2"),
        ({"picks": [2, True]}, r"picks\[1\] must be an integer"),
        ({"picks": [2, [0, True]]}, r"picks\[1\]\[1\] must be an integer, not true"),
        ({"picks": [2, [0, 1.0]]}, r"picks\[1\]\[1\] must be an integer, not 1.0"),
        ({"picks": [2, {"start": 0}]}, r"picks\[1\] lacks the key 'step', lacks the key 'stop'"),
        ({"picks": [2, {"start": 0, "step": True, "stop": 5}]}, r"picks\[1\]\.step must be an integer"),
        ({"picks": [2, {"start": 0, "step": 0, "stop": 5}]}, "step of 0"),
        ({"picks": [9, [0]]}, "index 9 is outside"),
        ({"picks": [[2**64, 1], [0]]}, "64 bits"),
        ({"way": "rows"}, '"modes" or "points"'),
        ({"way": 3}, "way must be"),
        ({"way": "points"}, "picks has 2 entries, but 1"),
        ({"shape": {"kind": "smooth", "extents": [-1], "origin": [0]}}, "0 or more"),
        ({"shape": None}, "object"),
        ({"more": 1}, "unknown key 'more'; known are picks, shape, way"),
    ],
)
def test_json_that_is_none_of_a_mask_is_refused(change, match):
    assert Mask.from_json(json.dumps(GOOD)) == Mask(BOX, 2, slice(0, 5, 2))
    with pytest.raises(ParseError, match=match):
        Mask.from_json(json.dumps(GOOD | change))


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{",
        b"\xff",
        '{"way":"modes","way":"modes"}',
        "[" * 100_000,
        json.dumps(GOOD).replace("5}", "1" * 700 + "}"),
        json.dumps(GOOD).replace("2,", "NaN,"),
    ],
)
def test_hostile_json_is_refused(text):
    with pytest.raises(ParseError):
        Mask.from_json(text)


def test_a_short_text_takes_no_large_memory():
    tracemalloc.start()
    mask = Mask.parse("(1000000000000, 1000000000000)[0:1000000000000:3, :]")
    again = Mask.from_json(mask.to_json())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert again == mask
    assert peak < 10**6


def test_only_text_is_read():
    with pytest.raises(ConversionError, match="not from int"):
        Mask.parse(3)
    with pytest.raises(ConversionError, match="not from int"):
        Mask.from_json(3)


def test_numbers_that_no_reader_takes_are_not_written():
    mask = Mask(Shape(10**700), 10**650)
    with pytest.raises(SizeOverflowError, match="640 digits"):
        mask.to_json()
    with pytest.raises(SizeOverflowError, match="640 digits"):
        format(mask, "full")
    assert str(mask) == "(...,)[...]"


@given(masks, st.data())
def test_no_mutation_of_a_text_raises_anything_but_a_parse_error(given_, data):
    text = list(str(given_[0]))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(text) - 1))
        text[place] = data.draw(st.sampled_from([*"0193[](),|:-+ @;x", "", "ordinals "]))
    with contextlib.suppress(ParseError):
        Mask.parse("".join(text))
