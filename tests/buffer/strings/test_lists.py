"""Python's strings and bytes in and out: nulls, NULs, surrogates, mixtures."""

import numpy as np
import pytest

from tensorwrapper.buffer import StringData
from tensorwrapper.errors import ConversionError, StringDataError

LISTS = {
    "ascii": ["a", "", "bcd"],
    "other text": ["é", "", "日本", "😀", "a"],
    "bytes": [b"a", b"", b"\xff\x00"],
    "embedded NULs": ["a\0b", "\0", "a\0", "\0\0"],
    "text with nulls": ["é", None, "", None],
    "bytes with nulls": [None, b"a", b""],
    "no elements": [],
    "nothing but nulls": [None, None],
    "nothing but empty": ["", ""],
    "the last character": ["\U0010ffff", "\ue000", "\ud7ff"],
}


@pytest.mark.parametrize("name", LISTS)
def test_lists_come_back(name):
    strings = StringData.from_list(LISTS[name])

    assert strings.to_list() == LISTS[name]
    assert strings.kind == ("binary" if "bytes" in name else "utf8")
    assert strings.offsets[0] == 0


@pytest.mark.parametrize("make", [list, tuple, iter, lambda items: (item for item in items)])
def test_any_iterable_of_items(make):
    assert StringData.from_list(make(["a", "b"])).to_list() == ["a", "b"]


def test_subclasses_of_str_and_bytes():
    class Name(str):
        __slots__ = ()

    back = StringData.from_list([np.str_("é"), Name("b"), "c"]).to_list()

    assert back == ["é", "b", "c"]
    assert {type(item) for item in back} == {str}
    assert StringData.from_list([np.bytes_(b"a\0b")]).to_list() == [b"a\0b"]


@pytest.mark.parametrize("kind", ["utf8", "binary"])
def test_the_kind_of_what_has_no_elements(kind):
    assert StringData.from_list([], kind=kind).kind == kind
    assert StringData.from_list([None], kind=kind).kind == kind


@pytest.mark.parametrize(("items", "kind"), [(["a"], "binary"), ([b"a", None], "utf8")])
def test_a_kind_that_is_not_that_of_the_items(items, kind):
    with pytest.raises(ConversionError, match="as_binary"):
        StringData.from_list(items, kind=kind)


@pytest.mark.parametrize(
    ("items", "message"),
    [
        (["a", b"b"], "element 0 is str and element 1 is bytes"),
        ([None, b"b", "a"], "element 2 is str and element 1 is bytes"),
        (["a", 3], r"element 1 is 3 \(int\)"),
        ([None, 1.5], r"element 1 is 1.5 \(float\)"),
        ([["a"]], r"element 0 is \['a'\] \(list\)"),
        ([bytearray(b"a")], "bytearray"),
        ("abc", "not the str 'abc'"),
        (b"abc", "not the bytes"),
    ],
)
def test_items_that_are_no_strings(items, message):
    with pytest.raises(ConversionError, match=message):
        StringData.from_list(items)


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\udc80c"])
def test_a_lone_surrogate_is_refused_and_named(text):
    with pytest.raises(StringDataError, match=r"element 1 is .* surrogate"):
        StringData.from_list(["é", text, "c"])


def test_a_few_elements_of_much_data():
    strings = StringData.from_list(["x" * 100_000, "é", "y" * 100_000, ""])

    assert strings.take([3, 1]).to_list() == ["", "é"]
    assert strings.take([1, 3]).as_binary().to_list() == ["é".encode(), b""]


@pytest.mark.parametrize("also", ["", "é"])
def test_elements_that_have_every_character_there_is(also):
    items = [chr(k) * 2 for k in range(128)] + ["", also]

    assert StringData.from_list(items).to_list() == items
    assert StringData.from_list([*items, None]).to_list() == [*items, None]
    assert StringData.from_list(items).as_binary().to_list() == [item.encode() for item in items]


@pytest.mark.parametrize("separator", ["\x1f", "\x1e", "\0"])
def test_elements_that_look_like_separators(separator):
    items = [separator, "", separator * 3, "a", "é" + separator]

    assert StringData.from_list(items).to_list() == items


def test_an_empty_element_may_lie_anywhere():
    strings = StringData.from_ranges([0, 5, 9, 9], [0, 7, 9, 10], b"0123456789", "utf8")

    assert strings.to_list() == ["", "56", "", "9"]
    assert strings.fill_null("?") is strings


def test_filling_with_the_wrong_kind():
    with pytest.raises(ConversionError, match="binary"):
        StringData.from_list(["a", None]).fill_null(b"?")
    with pytest.raises(ConversionError, match="element 0"):
        StringData.from_list(["a", None]).fill_null(3)
    with pytest.raises(ConversionError, match="null"):
        StringData.from_list(["a", None]).fill_null(None)
