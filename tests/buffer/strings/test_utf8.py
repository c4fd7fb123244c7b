"""Text is UTF-8: as Python decodes it, across the batches that are looked at."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.buffer import StringData
from tensorwrapper.errors import (
    StringDataError,
)

NOT_UTF8 = {
    "a byte that is never text": (b"a\xffb", [0, 1, 3], 1, "invalid start byte"),
    "a character cut by the end": (b"ab\xc3", [0, 1, 3], 1, "unexpected end of data"),
    "a character cut by an offset": ("aé".encode(), [0, 2, 3], 0, "unexpected end of data"),
    "a character shared by two": ("é".encode(), [0, 1, 2], 0, "unexpected end of data"),
    "a character cut by an empty element": ("é".encode(), [0, 1, 1, 2], 0, "unexpected end of data"),
    "a start within a character": ("éa".encode(), [1, 2, 3], 0, "invalid start byte"),
    "an end within a character": ("aé".encode(), [0, 1, 2], 1, "unexpected end of data"),
    "a surrogate": (b"a\xed\xa0\x80", [0, 1, 4], 1, "invalid continuation byte"),
    "more bytes than needed": (b"\xc0\x80", [0, 2], 0, "invalid start byte"),
    "beyond the last character": (b"\xf4\x90\x80\x80", [0, 4], 0, "invalid continuation byte"),
    "the first of two": (b"\xc3" + b"a\xff", [0, 1, 3], 0, "unexpected end of data"),
}


@pytest.mark.parametrize("name", NOT_UTF8)
def test_text_that_is_not_utf8(name):
    data, offsets, element, reason = NOT_UTF8[name]

    with pytest.raises(StringDataError, match=f"element {element} is not UTF-8: {reason}"):
        StringData.from_offsets(offsets, data, "utf8")
    with pytest.raises(StringDataError, match=f"element {element} is not UTF-8"):
        StringData.from_ranges(offsets[:-1], offsets[1:], data, "utf8")
    as_bytes = StringData.from_offsets(offsets, data, "binary")
    with pytest.raises(StringDataError, match=f"element {element} is not UTF-8"):
        as_bytes.as_utf8()


def test_what_lies_between_elements_and_under_nulls_need_not_be_text():
    data = b"\xffa\xc3\xff" + "é".encode()

    assert StringData.from_ranges([1, 4], [2, 6], data, "utf8").to_list() == ["a", "é"]
    marked = StringData.from_offsets([0, 1, 2, 4, 6], data, "utf8", validity=b"\x0a")
    assert marked.to_list() == [None, "a", None, "é"]
    assert marked.lengths().tolist() == [0, 1, 0, 2]


def test_an_empty_element_may_lie_within_a_character():
    assert StringData.from_ranges([0, 1, 0], [2, 1, 2], "é".encode(), "utf8").to_list() == ["é", "", "é"]


CHUNK = 2**18


@pytest.mark.parametrize("shift", range(4))
@pytest.mark.parametrize("character", ["é", "日", "😀"])
def test_characters_across_the_batches_that_are_checked(character, shift):
    text = "a" * shift + character * (CHUNK // 2)
    data = text.encode()
    strings = StringData.from_offsets([0, len(data)], data, "utf8")

    assert strings.item(0) == text
    assert strings.take([0, 0]).to_list() == [text, text]
    with pytest.raises(StringDataError, match=f"element 0 is not UTF-8: .* at byte {len(data) - shift} of"):
        StringData.from_ranges([shift], [len(data) + 1], data + b"\xff", "utf8")


@given(st.lists(st.binary(max_size=4), max_size=8))
def test_text_is_what_python_decodes(items):
    strings = StringData.from_list(items, kind="binary")
    try:
        expected = [item.decode() for item in items]
    except UnicodeDecodeError:
        first = next(k for k, item in enumerate(items) if item.decode(errors="replace").encode() != item)
        for order in (strings, strings.take(range(len(items)))):
            with pytest.raises(StringDataError, match=f"element {first} "):
                order.as_utf8()
    else:
        assert strings.as_utf8().to_list() == expected
