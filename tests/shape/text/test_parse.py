"""What `Shape.parse` refuses: where, what stands there, and at what cost."""

import contextlib
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import ConversionError, ParseError
from tensorwrapper.shape import Shape
from tensorwrapper.testing import shapes


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", r"position 0: found nothing"),
        ("garbage", r"position 0: found 'g'.*'\('"),
        ("Shape(2, 3)", r"position 0: found 'S'"),
        ("[2, 3]", r"position 0: found '\['"),
        ("(2, 3", r"position 5: found nothing.*'\)'"),
        ("(3)", r"position 2: found '\)'.*'\(3,\)'"),
        ("(3, 4,)", r"position 6: found '\)'.*a number"),
        ("(3,, 4)", r"position 3: found ','.*a number"),
        ("(,)", "position 1"),
        ("(3 4)", r"position 3: found '4'"),
        ("((3, 4))", r"position 1: found '\('"),
        ("(3, 4) 5", r"position 7: found '5'.*'@\('.*'layers \('"),
        ("(3, -4)", r"position 4: found '-'"),
        ("(3, +4)", r"position 4: found '\+'"),
        ("(3.0, 4)", r"position 2: found '\.'"),
        ("(1_000, 4)", r"position 2: found '_'"),
        ("(0x10, 0b1, 4)", "position"),
        ("(007, 1)", r"position 2: found '0'"),
        ("(\u0663,)", "position 1: found '\u0663'"),
        ("(3\u00a0, 1)", "position 2"),
        ("(\u00b2,)", "position 1"),
        ("(3, ...)", "is a summary"),
        ("(3, 1|2|...)", "is a summary"),
        (f"({'1' * 641},)", "at most 640 digits"),
        # Lists.
        ("(3, 3|1)", "position 4, there are 2 extents of mode 1, but 3 prefixes"),
        ("(2, 1|2, 3|4)", "position 9, there are 2 extents of mode 2, but 3 prefixes"),
        ("(2, 1|2, 3|4, 1|1|1)", "position 9.*mode 2, but 3"),
        ("(3, 3||1)", r"position 6: found '\|'.*a number"),
        ("(3, |1|2)", "position 5: found '1'"),
        ("(3, 3|1|)", r"position 8: found '\)'.*a number"),
        ("(3, 3|1|y)", "position 8: found 'y'"),
        ("(3|1, 2)", "position 1: found '3'.*mode 0"),
        ("(3|, 2)", "position 1: found '3'.*mode 0"),
        ("(5|6,)", "position 1.*mode 0"),
        ("(2, 0, 7, |)", "position 7, no prefix leads to mode 2"),
        (f"(2, 1|{2**63})", "position 4.*64 bits"),
        (f"(2, {2**62}|{2**62 + 1})", "position 4.*64 bits"),
        (f"({2**63}, 1|)", "position 1.*64 bits"),
        (f"(2, {2**63}|)", "position 4.*64 bits"),
        # Cells.
        ("(10x20,)", "position 1.*mode 0"),
        ("(2, 1x2|3)", r"position 7: found '\|'.*cells of rank 2"),
        ("(3, 1x2|3x4x5|6)", "position 11: found 'x'.*cells of rank 2"),
        ("(2, 1x|3x4)", r"position 5: found 'x'"),
        ("(2, 1x2|3x4, 5)", "position 4.*cells stand last"),
        ("(2, 1x2)@(0, 0)", "position 10, a shape of rank 3 has 3 origins, not 2"),
        # Origins.
        ("(3, 4)@(1,)", "position 8, the origin has 1 entry for 2"),
        ("(3, 4)@(1|2, 4)", "position 8: found '1'.*one number"),
        ("(3, 4)@(1x2, 4)", "position 9: found 'x'"),
        ("(2, 4|4)@(0, |x)", "position 14: found 'x'"),
        ("(3, 3|1|2)@(0|1, 0)", "mode 0 has one origin"),
        ("(3, 3|1|2)@(0, 1|2)", "position 12, there are 2 origins of mode 1, but 3 prefixes"),
        (f"(3, 3|1|2)@(0, {2**63 - 2})", "64 bits"),
        (f"(3, 3|1|2)@(0, 0|0|{2**63 - 2})", "64 bits"),
        (f"(3, 3|1|2)@({-(2**63)}, 0)", "64 bits"),
        ("(3, 4)@(1; 2)", "position 9: found ';'"),
        # Closed forms.
        ("tiled()", "position 6.*the sizes of tiles"),
        ("tiled(5; 5)", "position 7: found ';'"),
        ("tiled(5, 1x2)", "position 9.*without 'x'"),
        ("tiled(5, 5)@(0, 0, 0, 0)", "4 entries for 2"),
        (f"tiled({2**63})", "position 6.*64 bits"),
        (f"tiled({2**62}|{2**62})", "64 bits"),
        (f"tiled(1|1)@({2**63 - 2},)", "64 bits"),
        ("triangular(5)", "a side and a half"),
        ("triangular(5, left)", "position 14: found 'l'.*'strictly upper'"),
        ("triangular(5, strictlyupper)", "position 14"),
        ("triangular(5|6, upper)", "position 11"),
        (f"triangular({2**63}, upper)", "64 bits"),
        ("triangular(5, upper)@(1, 1)", "position 20.*starts at 0"),
        # Layers.
        ("(3, 4) layers (1,)", r"position 15, the layers \(1,\)"),
        ("(3, 4) layers (2)", "position 16"),
        ("(3, 4) layers (3, -1)", "position 18: found '-'"),
        ("(3; 4) layers (1, 1)", "position 15.*semicolons"),
        ("(3; 4,)", "position 6"),
        ("(3; , 4)", "position 4"),
    ],
)
def test_what_is_no_text_of_a_shape(text, match):
    with pytest.raises(ParseError, match=match) as caught:
        Shape.parse(text)
    assert isinstance(caught.value, ValueError)
    # What was given is shown, at least the part around the place.
    assert repr(text[:3])[1:-1] in str(caught.value)
    assert len(str(caught.value)) < 400
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize("thing", [None, 3, b"(2, 3)", (2, 3), Shape(2, 3)])
def test_only_text_is_parsed(thing):
    with pytest.raises(ConversionError, match=type(thing).__name__):
        Shape.parse(thing)


def test_an_error_in_a_long_text_shows_its_surroundings():
    text = f"(1000, {'1|' * 600}oops|{'1|' * 398}1)"
    with pytest.raises(ParseError, match="position 1207: found 'o'") as caught:
        Shape.parse(text)
    assert "1|1|oops|1|1|1" in str(caught.value)
    assert len(str(caught.value)) < 300


@given(shapes(), st.data())
def test_a_damaged_text_is_refused_or_is_another_shape(shape, data):
    text = str(shape)
    place = data.draw(st.integers(0, len(text)))
    removed = data.draw(st.integers(0, 3))
    inserted = data.draw(st.text(st.sampled_from("0123456789(),;|x@-+ .tiledlayers\u0663_"), max_size=4))
    damaged = text[:place] + inserted + text[place + removed :]
    try:
        again = Shape.parse(damaged)
    except ParseError:
        return
    assert Shape.parse(format(again, "full")) == again


@given(st.text(st.sampled_from("0123(),;|x@-. \n"), max_size=20))
def test_garbage_is_refused_by_one_error(text):
    with contextlib.suppress(ParseError):
        Shape.parse(text)
