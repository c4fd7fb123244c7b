"""Affine maps as text: sums of inputs, in any order and under any names."""

import pytest

from tensorwrapper.errors import ParseError
from tensorwrapper.sharding import IndexMap

M = IndexMap([[1, 0], [0, 2], [1, 2]], (4, 5, 6))


@pytest.mark.parametrize(
    ("text", "m"),
    [
        ("(i0, i1) -> (i0 + 4, 2*i1 + 5, i0 + 2*i1 + 6)", M),
        ("() -> ()", IndexMap([], input_rank=0)),
        ("(i0, i1) -> ()", IndexMap([], input_rank=2)),
        ("() -> (7)", IndexMap([[]], (7,))),
        ("(i0) -> (-i0, 0, -3)", IndexMap([[-1], [0], [0]], (0, 0, -3))),
        ("(i0, i1) -> (i0 - 2*i1 - 1)", IndexMap([[1, -2]], (-1,))),
    ],
)
def test_a_map_is_written_as_sums(text, m):
    assert str(m) == text
    assert IndexMap.parse(text) == m


@pytest.mark.parametrize(
    "text",
    [
        "(m,n)->(m+4,2*n+5,m+2*n+6)",
        " ( m , n ) -> ( 4+m , n+n+5 , 3*n - -m - n + 6 ) ",
        "(m, n,) -> (m+4, 2*n+5, m + 2*n + 6,)",
    ],
)
def test_inputs_may_have_any_names_and_terms_any_order(text):
    assert IndexMap.parse(text) == M


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("", "at position 0: found nothing, expected '\\('"),
        ("(i", "expected ','"),
        ("(i) -> (j)", "expected one of the inputs i"),
        ("(i, i) -> (i)", "another name"),
        ("(i) -> (i * 2)", "expected ','"),
        ("(i) -> (2i)", "expected ','"),
        ("(i) -> (i) x", "expected the end"),
        ("(i) -> (i,,i)", "one of the inputs"),
        ("() -> (i)", "there are no inputs"),
        ("(1) -> ()", "a name"),
        ("(i) > (i)", "'->'"),
        ("(i) -> (" + "1" * 641 + ")", "one of the inputs|a number of at most 640"),
        ("(é) -> ()", "a name"),
        ("(i) -> (i + )", "one of the inputs"),
    ],
)
def test_a_text_that_is_no_map_is_refused_where_it_goes_wrong(text, at):
    with pytest.raises(ParseError, match=at):
        IndexMap.parse(text)
