"""Complements: what a layout leaves out."""

import itertools

import pytest

from tensorwrapper.errors import ConversionError, LayoutError
from tensorwrapper.layout import Layout, complement
from tests.support.layout.layouts import model, small_layouts, table


def may_be_filled(layout):
    """Whether each mode begins where the finer ones have ended, from the definition."""
    modes = sorted(
        (abs(d), n) for n, d in zip(layout.shape.extents, layout.strides, strict=True) if n > 1 and d
    )
    span, divides = 1, True
    for stride, extent in modes:
        if stride < span:
            return False, False
        divides = divides and stride % span == 0
        span = stride * extent
    return True, divides


@pytest.mark.timeout(3000)
def test_sums_are_all_different_and_fill_what_was_asked():
    filled = 0
    for number, layout in enumerate(small_layouts()):
        places = model(layout)
        size = (None, 1, 7, 24, 100)[number % 5]
        possible, divides = may_be_filled(layout)
        if min(places) or not possible:
            with pytest.raises(LayoutError):
                complement(layout, size)
            continue
        rest = complement(layout, size)
        own, more = set(places), table(rest).tolist()
        assert rest.ordinal_order == layout.ordinal_order
        assert more[0] == 0
        assert all(a < b for a, b in itertools.pairwise(more))
        assert not own & set(more[1:])
        sums = {a + c for a in own for c in more}
        assert len(sums) == len(own) * len(more)
        if divides:
            assert sums == set(range(len(sums)))
            assert len(sums) >= (max(places) + 1 if size is None else size)
        filled += 1
    assert filled > 100


@pytest.mark.parametrize(
    ("text", "size", "order", "expected"),
    [
        ("(2,2):(6,1)", 24, "lex", "(2,3):(12,2)"),
        ("4:2", 16, "colex", "(2,2):(1,8)"),
        ("(2,4):(1,6)", 20, "colex", "3:2"),
        ("3:0", 6, "lex", "6:1"),
        ("1:0", 1, "lex", "1:0"),
        ("():()", 128, "lex", "128:1"),
        ("(4,2):(1,10)", 14, "colex", "2:4"),
        ("(4):(-1)+3", 12, "lex", "3:4"),
        ("(2,4,8):(8,1,64)", 460, "colex", "(2,4):(4,16)"),
        (f"2:{2**70}", 2**72, "lex", f"(2,{2**70}):({2**71},1)"),
    ],
)
def test_by_example(text, size, order, expected):
    assert str(complement(Layout.parse(text, order=order), size)) == expected


A = Layout.parse("(2,2):(6,1)")


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: complement(Layout.parse("(4,2):(1,2)"), 8), LayoutError, "2:2 starts within the 4 offsets"),
        (lambda: complement(Layout.parse("(2,2):(1,1)"), 8), LayoutError, "starts within"),
        (lambda: complement(Layout.parse("4:-1"), 8), LayoutError, "least offset of 4:-1 is -3"),
        (lambda: complement(Layout.parse("4:1+1"), 8), LayoutError, r"least offset of 4:1\+1 is 1"),
        (lambda: complement(Layout.parse("(0,2):(2,1)"), 8), LayoutError, "without elements"),
        (lambda: complement(A, 0), LayoutError, "not 0"),
        (lambda: complement(A, -5), LayoutError, "not -5"),
        (lambda: complement(A, 24.0), ConversionError, "integer"),
        (lambda: complement(24, A), ConversionError, "takes layouts"),
        (lambda: complement(Layout.parse("S<1,0,1> o 0 o 4:1")), LayoutError, "composite"),
    ],
)
def test_what_is_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()
