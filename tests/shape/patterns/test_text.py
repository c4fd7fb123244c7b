"""Block patterns as text and JSON: what is written, what is refused, and at what cost."""

import contextlib
import json
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import BlockPattern, Tiling
from tensorwrapper.errors import ConversionError, ParseError
from tests.shape.patterns.test_pattern_laws import masked

T = Tiling([1, 2, 3], [2, 4])
P = BlockPattern(T, [(0, 0), (1, 1), (2, 0), (2, 1)])


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (P, "tiles 0|3|4|5 of (1|2|3, 2|4)"),
        (P.translate_to((-1, 7)), "tiles 0|3|4|5 of (1|2|3, 2|4)@(-1, 7)"),
        (BlockPattern(T, []), "tiles | of (1|2|3, 2|4)"),
        (BlockPattern(Tiling([5])), "tiles 0 of (5)"),
        (BlockPattern(Tiling([1, 0])), "tiles 0|1 of (1|0)"),
        (BlockPattern(Tiling([], [2])), "tiles | of (|, 2)"),
        (BlockPattern(Tiling()), "tiles 0 of ()"),
        (BlockPattern(Tiling(), []), "tiles | of ()"),
    ],
)
def test_patterns_are_written_in_one_way(pattern, text):
    assert str(pattern) == format(pattern) == format(pattern, "full") == text
    assert BlockPattern.parse(text) == pattern


@given(masked())
def test_what_is_written_is_read_back(case):  # law 2
    p = BlockPattern.from_mask(*case)
    for twin in (BlockPattern.parse(str(p)), BlockPattern.from_json(p.to_json())):
        assert twin == p
        assert hash(twin) == hash(p)
    assert BlockPattern.from_json(p.to_json().encode()).to_json() == p.to_json()


def test_white_space_and_order_are_free():
    assert BlockPattern.parse("  tiles  5 | 0|4 |3 of( 1|2 | 3 ,2|4 ) ") == P
    assert BlockPattern.from_json(json.dumps(json.loads(P.to_json()) | {"tiles": [5, 4, 3, 0]})) == P


def test_long_patterns_are_summarised():
    p = BlockPattern(Tiling([1] * 2000))
    assert len(str(p)) < 200
    assert str(p).count("...") == 2
    assert BlockPattern.parse(format(p, "full")) == p
    with pytest.raises(ParseError, match="is a summary"):
        BlockPattern.parse(str(p))
    with pytest.raises(ConversionError, match="full"):
        format(p, ">9")


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "'tiles'"),
        ("(1, 2)", "'tiles'"),
        ("tiles0 of (1)", "'tiles'"),
        ("tiles of (1)", "ordinals of tiles"),
        ("tiles 0|| of (1)", r"'\|' and an ordinal, or 'of \('"),
        ("tiles 0| of (1)", "position 7"),
        ("tiles 0 1 of (1|2)", "position 8"),
        ("tiles 0", "nothing"),
        ("tiles 0 of", "'of"),
        ("tiles 0 of tiled(1)", "'of"),
        ("tiles -1 of (1)", "ordinals of tiles"),
        ("tiles 007 of (1)", "position 7"),
        ("tiles \u0663 of (1)", "ordinals of tiles"),
        ("tiles 6 of (1|2|3, 2|4)", r"tile 6 is outside \[0, 6\)"),
        ("tiles 3|3 of (1|2|3, 2|4)", r"\(1, 1\) comes twice"),
        ("tiles 0 of (|)", "outside"),
        ("tiles 99999999999999999999 of (1)", "64 bits"),
        (f"tiles {'1' * 641} of (1)", "640 digits"),
        ("tiles 0 of (1", "cannot read the tiling"),
        ("tiles 0 of (1) 2", "cannot read the tiling"),
        ("tiles 0 of (-1)", "cannot read the tiling"),
        ("tiles 0 of (1x2)", "cannot read the tiling"),
        ("tiles 0 of (9223372036854775807|9223372036854775807)", "cannot read the tiling"),
        ("tiles 0 of (1)@(0, 0)", "cannot read the tiling"),
        ("tiles 0 of (9)@(9223372036854775807,)", "cannot read the tiling"),
        ("tiles 0 of (1) layers (1, 1)", "layers"),
        ("tiles 0 of (1) names (x, y)", "names"),
        ("tiles 0 of ()@(1)", "cannot read the tiling"),
    ],
)
def test_texts_that_are_none_of_a_pattern_are_refused(text, match):
    with pytest.raises(ParseError, match=match):
        BlockPattern.parse(text)


GOOD = {"tiles": [0, 3, 4, 5], "tiling": {"origin": [0, 0], "sizes": [[1, 2, 3], [2, 4]]}}


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"tiles": None}, "tiles must be a list"),
        ({"tiles": [0, True]}, r"tiles\[1\] must be an integer, not true"),
        ({"tiles": [0, 1.0]}, r"tiles\[1\] must be an integer, not 1.0"),
        ({"tiles": [[0]]}, r"tiles\[0\] must be an integer"),
        ({"tiles": [0, 0]}, "comes twice"),
        ({"tiles": [6]}, "outside"),
        ({"tiles": [-1]}, "outside"),
        ({"tiles": [2**64]}, "64 bits"),
        ({"tiling": None}, "JSON of a tiling"),
        ({"tiling": {"origin": [0], "sizes": [[1, 2, 3], [2, 4]]}}, "origin must be a list of 2"),
        ({"tiling": {"origin": [0, 0], "sizes": [[1, -2, 3], [2, 4]]}}, "describe a tiling"),
        ({"tiling": {"origin": [0, 0], "sizes": [[2**63 - 1, 2], [2, 4]]}}, "describe a tiling"),
        ({"tiling": {"sizes": []}}, "lacks the key 'origin'"),
        ({"more": 1}, "unknown key 'more'; known are tiles, tiling"),
    ],
)
def test_json_that_is_none_of_a_pattern_is_refused(change, match):
    assert BlockPattern.from_json(json.dumps(GOOD)) == P
    with pytest.raises(ParseError, match=match):
        BlockPattern.from_json(json.dumps(GOOD | change))


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{",
        b"\xff",
        '{"tiles":[],"tiles":[]}',
        "[" * 100_000,
        json.dumps(GOOD).replace("5]", "1" * 700 + "]"),
        json.dumps(GOOD).replace("5]", "NaN]"),
        json.dumps(GOOD).replace("5]", "1e400]"),
        json.dumps(GOOD) + "x",
        json.dumps({"tiles": [], "tiling": {"origin": [0] * 65, "sizes": [[1, 1]] * 65}}),
    ],
)
def test_hostile_json_is_refused(text):
    with pytest.raises(ParseError):
        BlockPattern.from_json(text)


def test_only_text_is_read():
    for read in (BlockPattern.parse, BlockPattern.from_json):
        with pytest.raises(ConversionError, match="not from int"):
            read(3)


def test_a_short_text_takes_no_large_memory():
    sizes = "|".join(["1"] * 1000)
    tracemalloc.start()
    p = BlockPattern.parse(f"tiles 0|{10**18 - 1} of ({', '.join([sizes] * 6)})")
    again = BlockPattern.from_json(p.to_json())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (again, list(p)[1]) == (p, (999,) * 6)
    assert peak < 2 * 10**6


@given(masked(), st.data())
def test_no_mutation_of_a_text_raises_anything_but_a_parse_error(case, data):
    p = BlockPattern.from_mask(*case)
    for read, text in ((BlockPattern.parse, str(p)), (BlockPattern.from_json, p.to_json())):
        at = data.draw(st.integers(0, len(text) - 1))
        letter = data.draw(st.sampled_from('0179|,x()[]{}":@-. \u0663ao'))
        with contextlib.suppress(ParseError):
            found = read(text[:at] + letter + text[at + 1 :])
            assert np.array_equal(BlockPattern.parse(str(found)).mask(), found.mask())
