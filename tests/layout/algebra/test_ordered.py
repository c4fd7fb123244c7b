"""Layouts from nested extents: given strides, an order of speed, or a block to fill them with."""

import itertools
import random

import numpy as np
import pytest

from tensorwrapper.errors import ConversionError, ExtentError, LayoutError
from tensorwrapper.layout import Layout, make_layout, make_ordered_layout, tile_to_shape
from tests.support.layout.layouts import ORDERS, leaves, model, offsets


def test_without_strides_there_are_no_gaps():
    for order in ORDERS:
        layout = make_layout(((2, 3), (4, ())), order=order)
        assert model(layout) == list(range(24))
        assert layout.nested_extents == ((2, 3), (4, ()))
    assert make_layout((2, 3)) == Layout.parse("(2,3):(3,1)")
    assert str(make_layout(5)) == "5:1"


def test_any_integers_and_sequences_will_do():
    layout = make_layout([np.int8(2), [3, np.uint16(4)]], [np.int64(12), (4, 1)], offset=np.int8(7))
    assert str(layout) == "(2,(3,4)):(12,(4,1))+7"
    assert all(type(n) is int for n in leaves(layout.nested_extents) + leaves(layout.nested_strides))


def random_ranks(draw, extents):
    if isinstance(extents, int) or draw.random() < 0.3:
        return draw.randint(-2, 5)
    return tuple(random_ranks(draw, part) for part in extents)


def spread(extents, ranks):
    if isinstance(ranks, int):
        return [ranks] * len(leaves(extents))
    return [rank for e, r in zip(extents, ranks, strict=True) for rank in spread(e, r)]


def test_the_lower_the_rank_the_smaller_the_strides():
    draw = random.Random(41)
    for _ in range(500):
        order = draw.choice(ORDERS)
        extents = tuple(
            draw.choice([draw.randint(1, 4), (draw.randint(1, 3), draw.randint(1, 3))]) for _ in range(3)
        )
        ranks = random_ranks(draw, extents)
        layout = make_ordered_layout(extents, ranks, order=order)
        assert sorted(model(layout)) == list(range(layout.shape.size))
        own = spread(extents, ranks)
        speed = range(len(own)) if order == "colex" else range(len(own), 0, -1)
        by_rank = sorted(zip(own, speed, leaves(layout.nested_strides), leaves(extents), strict=True))
        for (_, _, stride, extent), (_, _, after, _) in itertools.pairwise(by_rank):
            assert after == stride * extent


@pytest.mark.parametrize(
    ("extents", "ranks", "order", "expected"),
    [
        ((2, 3, 4), (2, 1, 3), "lex", "(2,3,4):(3,1,6)"),
        ((2, (2, 2), 2), (0, (2, 3), 1), "lex", "(2,(2,2),2):(1,(4,8),2)"),
        ((2, (2, 2), 2), (0, 2, 1), "lex", "(2,(2,2),2):(1,(8,4),2)"),
        ((2, (2, 2), 2), (0, 2, 1), "colex", "(2,(2,2),2):(1,(4,8),2)"),
        ((2, 3), (7, 7), "lex", "(2,3):(3,1)"),
        ((2, 3), 0, "colex", "(2,3):(1,2)"),
        (4, 0, "lex", "4:1"),
        ((), (), "lex", "():()"),
    ],
)
def test_ordered_by_example(extents, ranks, order, expected):
    assert str(make_ordered_layout(extents, ranks, order=order)) == expected


def test_ranks_are_the_inverse_of_the_order_of_a_layout():
    # Mode 1 is the fastest and has rank 0; mode 2 is the next; mode 0 the last.
    assert str(make_ordered_layout((2, 3, 4), (2, 0, 1))) == "(2,3,4):(12,1,3)"
    assert Layout(Layout.parse("(2,3,4):(12,1,3)").shape, order=(1, 2, 0)).strides == (12, 1, 3)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("ranks", [None, (0, 1), (1, 0)])
def test_blocks_fill_extents_one_after_the_other(order, ranks):
    block = make_layout((2, 3), order=order)
    filled = tile_to_shape(block, (4, 6), ranks)
    table = np.array([[filled.offset_of_ordinal((i, j)) for j in range(6)] for i in range(4)])
    assert sorted(table.ravel().tolist()) == list(range(24))
    own = np.array([[block.offset_of_ordinal((i, j)) for j in range(3)] for i in range(2)])
    firsts = table[::2, ::3]
    for p, q in np.ndindex(2, 2):
        assert (table[2 * p : 2 * p + 2, 3 * q : 3 * q + 3] == own + firsts[p, q]).all()
    row_first = order == "lex" if ranks is None else ranks == (1, 0)
    assert firsts.tolist() == ([[0, 6], [12, 18]] if row_first else [[0, 12], [6, 18]])


def test_filling_by_example():
    assert (
        str(tile_to_shape(Layout.parse("(3,2):(1,3)", order="colex"), (6, 8)))
        == "((3,2),(2,4)):((1,6),(3,12))"
    )
    assert str(tile_to_shape(Layout.parse("3:1"), (6, 2))) == "((2,3),(2,1)):((6,1),(3,0))"
    assert (
        str(tile_to_shape(Layout.parse("(2,2):(2,1)"), ((2, 2), 4), (1, 0))) == "((2,2),(2,2)):((8,2),(4,1))"
    )


def test_blocks_that_stick_out_must_be_asked_for():
    block = Layout.parse("(3,3):(3,1)")
    with pytest.raises(LayoutError, match="size 3 in mode 0, which does not divide 5"):
        tile_to_shape(block, (5, 8))
    assert tile_to_shape(block, (5, 8), outside="extend").nested_extents == ((2, 3), (3, 3))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: make_layout((2, 3), (3,)), LayoutError, "nested like"),
        (lambda: make_layout((2, 3), 1), LayoutError, "nested like"),
        (lambda: make_layout((2, -3)), ExtentError, "-3"),
        (lambda: make_layout((2, 3.0)), ConversionError, "integer"),
        (lambda: make_layout((2, True)), ConversionError, "bool"),
        (lambda: make_layout((2, 3), (3, 1.0)), ConversionError, "integer"),
        (lambda: make_layout((2, 3), offset=0.5), ConversionError, "integer"),
        (lambda: make_layout((2, 3), order="row"), ConversionError, '"lex"'),
        (lambda: make_layout(None), ConversionError, "integer"),
        (lambda: make_ordered_layout((2, 3), (0,)), LayoutError, "ranks"),
        (lambda: make_ordered_layout((2, 3), ((0, 1), 2)), LayoutError, "ranks"),
        (lambda: make_ordered_layout((2, 3), (0, "1")), ConversionError, "integer"),
        (lambda: make_ordered_layout((2, 3), (0, 1), order="F"), ConversionError, '"lex"'),
        (lambda: tile_to_shape(Layout.parse("(2,2):(2,1)"), 4), LayoutError, "2 modes does not fill 1"),
        (lambda: tile_to_shape(Layout.parse("(2,2):(2,1)"), (4, 4), (0, 1, 2)), LayoutError, "ranks"),
        (lambda: tile_to_shape(Layout.parse("(0,2):(2,1)"), (4, 4)), LayoutError, "size 0"),
        (lambda: tile_to_shape((2, 2), (4, 4)), ConversionError, "takes layouts"),
    ],
)
def test_what_is_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()


def deep(levels):
    tree = 2
    for _ in range(levels):
        tree = (tree,)
    return tree


def test_nesting_has_a_limit_and_works_up_to_it():
    layout = make_layout(deep(30))
    assert offsets(layout.nested_extents, layout.nested_strides, 0, "lex") == [0, 1]
    assert Layout.parse(str(layout)) == layout
    with pytest.raises(LayoutError, match="nested deeper"):
        make_layout(deep(33))
