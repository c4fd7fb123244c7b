"""Texts of strangers, token by token: nothing is lost, and what is wrong is shown where it stands."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper._tokenizer import Tokenizer, excerpt, quoted, refuse_at
from tensorwrapper.errors import ParseError

TOKENS = re.compile(r"\s*+([a-z]++|[0-9]++|[(),])", re.ASCII)
words = st.lists(st.sampled_from(["ab", "c", "12", "(", ")", ","]), max_size=8)


@given(words, st.sampled_from([" ", "\n ", "  "]))
def test_tokens_come_one_by_one_up_to_the_end(tokens, space):
    scanner = Tokenizer(space.join(tokens), TOKENS, "a list")
    assert [scanner.advance() for _ in tokens] == tokens
    assert scanner.token == scanner.advance() == ""
    scanner.finish()


def test_what_is_expected_is_taken_and_nothing_else_is():
    scanner = Tokenizer("(a, 12)", TOKENS, "a list")
    assert not scanner.takes(")")
    scanner.expect("(")
    assert (scanner.token, scanner.takes("a"), scanner.takes(","), scanner.advance()) == (
        "a",
        True,
        True,
        "12",
    )
    with pytest.raises(ParseError, match=r"'\(a, 12\)' is not the text of a list at position 6: found '\)'"):
        scanner.expect(",")


def test_what_is_left_is_refused():
    scanner = Tokenizer("a b", TOKENS, "a name")
    scanner.expect("a")
    with pytest.raises(ParseError, match="at position 2: found 'b', expected the end"):
        scanner.finish()


@pytest.mark.parametrize(
    ("text", "message"), [("", "at position 0: found nothing"), (" #", "at position 1: found '#'")]
)
def test_what_is_no_token_is_refused(text, message):
    with pytest.raises(ParseError, match=message):
        Tokenizer(text, TOKENS, "a name").expect("a")


def test_errors_stay_short_whatever_the_text():
    text = "x" * 10**6
    assert len(quoted(text)) < 70
    assert quoted("abc") == "'abc'"
    assert excerpt(text, 500) == f"...'{'x' * 48}'..."
    with pytest.raises(ParseError) as caught:
        refuse_at(text, 10, "a shape", "a number", text)
    assert len(str(caught.value)) < 200
