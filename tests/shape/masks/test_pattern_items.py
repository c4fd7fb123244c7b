"""How patterns are written and read, and which texts and names are refused."""

import copy
import pickle
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import ConversionError, ExtentError, ModeNameError, ParseError, TensorWrapperError
from tensorwrapper.shape import ShapePattern


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "[...]",
        "[*batch, shape=[height, width], channels]",
        "[a, b=[x, y=[j, +k]], c]",
        "[*batch, hwc[i]=[shape=[height, width], channels[i]], features[i]]",
        "[0, n=3, ?, m=?, k=n2, l=n2]",
        "[none=[], also=[none2=[]]]",
        "[+some[i]]",
        "[*batch[i], n[i]=7, m[i]=?]",
    ],
)
def test_a_canonical_text_is_written_as_it_was_read(text):
    pattern = ShapePattern.parse(text)
    assert str(pattern) == text
    assert eval(repr(pattern)) == pattern
    assert hash(ShapePattern.parse(str(pattern))) == hash(pattern)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("[*batch, shape=[height, width], $.channels]", "[*batch, shape=[height, width], channels]"),
        (
            "[$batch..., $hwc[$i]=($shape=($height, $width), $channels[$i]), $features[$i]]",
            "[*batch, hwc[i]=[shape=[height, width], channels[i]], features[i]]",
        ),
        (" [\n n ,m = n\t] ", "[n, m=n]"),
        ("[+$some, $.n = 3]", "[+some, n=3]"),
        ("[batch..., s=(n)]", "[*batch, s=[n]]"),
    ],
)
def test_both_notations_are_read_as_one(text, canonical):
    assert str(ShapePattern.parse(text)) == canonical


def test_a_pattern_is_built_of_items():
    items = ShapePattern(2, None, "n", "m=n", "k=?", ..., "group=[a, b=4]")
    assert items == ShapePattern.parse("[2, ?, n, m=n, k=?, ..., group=[a, b=4]]")
    assert items.names == ("n", "m", "k", "group", "a", "b")
    assert items.unknowns == ("n", "a")
    assert (items.min_rank, items.max_rank) == (7, None)
    assert (ShapePattern("+n", "k").min_rank, ShapePattern("n", 3).max_rank) == (2, 2)
    assert ShapePattern.parse("[a[i], b[j], c[i]]").subscripts == ("i", "j")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"position 0: found nothing, expected '\['"),
        ("n", r"position 0: found 'n', expected '\['"),
        ("(n)", r"position 0: found '\('"),
        ("[n", r"position 2: found nothing, expected ',' or '\]'"),
        ("[n,]", r"position 3: found '\]', expected a mode, a run or a group"),
        ("[,n]", "position 1: found ','"),
        ("[n m]", "position 3: found 'm', expected ',' or"),
        ("[n]]", "position 3: found ']', expected the end"),
        ("[s=(n]]", r"position 5: found '\]', expected ',' or '\)'"),
        ("[n=]", "position 3: found ']', expected an extent or a group"),
        ("[=3]", "position 1: found '='"),
        ("[*]", "position 2: found ']', expected a name"),
        ("[*3]", "position 2: found '3'"),
        ("[-3]", "position 1: found '-'"),
        ("[3.5]", "position 2: found '.'"),
        ("[03]", "position 1: found '03', expected a number of at most 100 digits"),
        ("[" + "9" * 101 + "]", "a number of at most 100 digits"),
        ("[$]", r"position 1: found '\$'"),
        ("[$$n]", r"position 1: found '\$'"),
        ("[n[3]]", "position 3: found '3', expected a name"),
        ("[n[i]", "nothing"),
        ("[_n]", "position 1: found '_'"),
        ("[n\N{CYRILLIC SMALL LETTER ER}]", "position 2"),
        ("[\N{ARABIC-INDIC DIGIT THREE}]", "position 1"),
        ("[n\0]", "position 2"),
        ("[[n]]", r"position 1: found '\['"),
    ],
)
def test_what_is_no_pattern_is_shown_where(text, message):
    with pytest.raises(ParseError, match=message):
        ShapePattern.parse(text)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("[*batch, shape=[height, +width], channels, *extra]", ParseError, r"not \*batch, \+width, \*extra"),
        ("[..., n, ...]", ParseError, r"at most one run"),
        (
            "[*batch, shape=[height, width], channels, batch, width]",
            ModeNameError,
            "but batch, width have more",
        ),
        ("[n, n]", ModeNameError, "but n has more; for a mode that is as long as another, write other=n"),
        ("[n, g=[n]]", ModeNameError, "but n has more"),
        ("[g=[g]]", ModeNameError, "but g has more"),
        ("[i, n[i]]", ModeNameError, "i is a subscript and cannot name a mode"),
        ("[*run, n=run]", ModeNameError, "n=run asks for the extent run"),
        ("[g=[k], n=g]", ModeNameError, "n=g asks for the extent g"),
        ("[n=3, m=n]", ModeNameError, r"give both modes the same unknown, as in \[a=n, b=n\]"),
        ("[n=k, m=n]", ModeNameError, "m=n asks for the extent n"),
        (f"[{'n' * 101}]", ModeNameError, "at most 100 letters"),
        (f"[{', '.join(['?'] * 1001)}]", ParseError, "at most 1000"),
        (f"[g=[{', '.join(['?'] * 600)}], h=[{', '.join(['?'] * 600)}]]", ParseError, "at most 1000"),
        ("[" + "g=[" * 33 + "]" * 34, ParseError, "nest at most 32 deep"),
    ],
)
def test_a_pattern_that_breaks_a_rule_is_refused(text, error, message):
    with pytest.raises(error, match=message):
        ShapePattern.parse(text)


@pytest.mark.parametrize(
    ("item", "error"),
    [
        (True, ConversionError),
        (2.0, ConversionError),
        (-1, ExtentError),
        (10**100, ExtentError),
        ("", ParseError),
        ("n, m", ParseError),
        ("[n]", ParseError),
        (b"n", ConversionError),
        (("n",), ConversionError),
    ],
)
def test_what_is_no_item_is_refused(item, error):
    with pytest.raises(error):
        ShapePattern(item)
    with pytest.raises(ConversionError, match="from text, not from int"):
        ShapePattern.parse(3)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 2**20,
        "[n=" * (2**18),
        "[" + " " * (2**20 - 1),
        "[" + "n" * (2**20 - 1),
        "[" + "9" * (2**20 - 1),
        "[" + "$" * (2**20 - 1),
        "[" + "?," * (2**19 - 1),
        "[" + "." * (2**20 - 1),
        "[n" + "[i]" * 2**18,
        "x" * 2**21,
    ],
)
def test_hostile_text_costs_no_more_than_its_length(text):
    tracemalloc.start()
    try:
        with pytest.raises(TensorWrapperError):
            ShapePattern.parse(text)
        assert tracemalloc.get_traced_memory()[1] < 8 * len(text)
    finally:
        tracemalloc.stop()


def test_the_deepest_and_the_longest_pattern_come_back():
    deep = "[" + ", ".join(["g" * (k + 1) + "=[" for k in range(32)]).replace(", ", "") + "]" * 33
    name = "x" * 90
    wide = f"[{', '.join([f'{name}{k}={10**100 - 1}' for k in range(1000)])}]"
    for text in (deep, wide):
        assert str(ShapePattern.parse(text)) == text
        assert ShapePattern.parse(str(ShapePattern.parse(text))) == ShapePattern.parse(text)


def test_a_pattern_pickles_and_copies():
    pattern = ShapePattern("*batch", "n[i]", "g=[3, ?]")
    for back in (pickle.loads(pickle.dumps(pattern)), copy.copy(pattern), copy.deepcopy(pattern)):
        assert back == pattern
        assert back.unknowns == pattern.unknowns


@given(st.text(alphabet="[]()=,*+?$. ni3", max_size=30))
def test_any_text_is_read_or_refused(text):
    try:
        pattern = ShapePattern.parse(text)
    except (ParseError, ModeNameError):
        return
    assert ShapePattern.parse(str(pattern)) == pattern
