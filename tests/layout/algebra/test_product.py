"""Products: a layout repeated as another one says."""

import random

import numpy as np
import pytest

from tensorwrapper.errors import ConversionError, LayoutError
from tensorwrapper.layout import (
    Layout,
    blocked_product,
    complement,
    flat_product,
    logical_product,
    make_layout,
    raked_product,
    tiled_product,
    zipped_product,
)
from tests.support.layout.layouts import ORDERS, model, random_layout, table
from tests.support.long_runs import IS_LONG

PAIRS = 100_000 if IS_LONG else 2_000


def pairs(count, seed):
    draw = random.Random(seed)
    for _ in range(count):
        order = draw.choice(ORDERS)
        block = random_layout(draw, order, rank=2, lift=draw.random() < 0.9)
        yield block, random_layout(draw, order, rank=2, lift=draw.random() < 0.9)


@pytest.mark.timeout(3000)
def test_copies_lie_where_the_tiler_counts_them():
    made = composites = 0
    for block, tiler in pairs(PAIRS, seed=31):
        places, counts = model(block), model(tiler)
        moved = make_layout(
            block.nested_extents,
            block.nested_strides,
            offset=block.offset - min(places),
            order=block.ordinal_order,
        )
        try:
            # Enough copies for every count; the first of them are the same whatever the size.
            where = model(complement(moved, (max(counts) + 1) * 32))
        except LayoutError:
            with pytest.raises(LayoutError):
                logical_product(block, tiler)
            continue
        if min(counts) < 0:
            with pytest.raises(LayoutError, match="counts copies from 0"):
                logical_product(block, tiler)
            continue
        made += 1
        product = logical_product(block, tiler)
        composites += product.is_composite
        for j, count in enumerate(counts):
            found = [product.offset_of_ordinal((i, j)) for i in range(len(places))]
            assert found == [place + where[count] for place in places]
        if len(set(places)) == len(places) and len(set(counts)) == len(counts):
            assert product.is_injective
    assert made > PAIRS // 4
    assert composites > 10


@pytest.mark.timeout(3000)
def test_all_forms_have_the_same_elements():
    for block, tiler in pairs(PAIRS // 4, seed=32):
        try:
            expected = sorted(table(logical_product(block, tiler)).tolist())
        except LayoutError:
            continue
        for product in (zipped_product, tiled_product, flat_product, blocked_product, raked_product):
            assert sorted(table(product(block, tiler)).tolist()) == expected


def modes(layout):
    extents = layout.nested_extents
    return (extents,) if isinstance(extents, int) else extents


def size(extents):
    return int(np.prod(make_layout(extents).shape.extents, dtype=int))


@pytest.mark.timeout(3000)
def test_blocks_lie_side_by_side_and_rakes_in_turn():
    for block, tiler in pairs(PAIRS // 4, seed=33):
        try:
            product = logical_product(block, tiler)
        except LayoutError:
            continue
        blocked, raked = blocked_product(block, tiler), raked_product(block, tiler)
        rank = max(len(modes(block)), len(modes(tiler)))
        inner = [size(n) for n in modes(block)] + [1] * (rank - len(modes(block)))
        outer = [size(n) for n in modes(tiler)] + [1] * (rank - len(modes(tiler)))
        assert [size(n) for n in modes(blocked)] == [n * m for n, m in zip(inner, outer, strict=True)]
        draw = random.Random(str(product))
        for _ in range(5):
            b = [draw.randrange(n) for n in inner]
            t = [draw.randrange(n) for n in outer]
            copy = t[0] if isinstance(tiler.nested_extents, int) else tuple(t[: len(modes(tiler))])
            place = b[0] if isinstance(block.nested_extents, int) else tuple(b[: len(modes(block))])
            expected = product.offset_of_ordinal((place, copy))
            side_by_side = tuple(j * n + i for i, j, n in zip(b, t, inner, strict=True))
            in_turn = tuple(i * m + j for i, j, m in zip(b, t, outer, strict=True))
            assert blocked.offset_of_ordinal(side_by_side) == expected
            assert raked.offset_of_ordinal(in_turn) == expected


@pytest.mark.parametrize(
    ("product", "block", "tiler", "order", "expected"),
    [
        (logical_product, "(2,2):(4,1)", "6:1", "colex", "((2,2),(2,3)):((4,1),(2,8))"),
        (logical_product, "(2,2):(4,1)", "6:1", "lex", "((2,2),(3,2)):((4,1),(8,2))"),
        (logical_product, "3:2", "4:1", "colex", "(3,(2,2)):(2,(1,6))"),
        (logical_product, "3:0", "4:1", "lex", "(3,4):(0,1)"),
        (logical_product, "5:8", "6:3", "colex", "(5,(3,2)):(8,(3,41))"),
        (logical_product, "(4):(-1)+3", "2:1", "lex", "((4),2):((-1),4)+3"),
        (logical_product, "3:1", "2:1+4", "lex", "(3,2):(1,3)+12"),
        (logical_product, "3:-1+9", "2:1", "lex", "(3,2):(-1,3)+9"),
        (logical_product, "3:1", "(0,2):(2,1)", "lex", "(3,(0,2)):(1,(0,0))"),
        (tiled_product, "(3,4):(4,1)", "(2,5):(1,2)", "colex", "((3,4),2,5):((4,1),12,24)"),
        (tiled_product, "(2,2):(4,1)", "6:1", "lex", "((2,2),(3,2)):((4,1),(8,2))"),
        (flat_product, "(3,4):(4,1)", "(2,5):(1,2)", "colex", "(3,4,2,5):(4,1,12,24)"),
        (blocked_product, "(3,4):(4,1)", "(2,5):(1,2)", "colex", "((3,2),(4,5)):((4,12),(1,24))"),
        (blocked_product, "(3,4):(4,1)", "(2,5):(1,2)", "lex", "((2,3),(5,4)):((12,4),(24,1))"),
        (raked_product, "(3,4):(4,1)", "(2,5):(1,2)", "colex", "((2,3),(5,4)):((12,4),(24,1))"),
        (raked_product, "128:1", "(4,4):(1,4)", "colex", "((4,128),(4,1)):((128,1),(512,0))"),
    ],
)
def test_by_example(product, block, tiler, order, expected):
    made = product(Layout.parse(block, order=order), Layout.parse(tiler, order=order))
    assert str(made) == expected


def test_an_integer_is_that_many_neighbours():
    block = Layout.parse("(2,2):(4,1)")
    assert logical_product(block, 6) == logical_product(block, Layout.parse("6:1"))
    assert logical_product(block, np.int8(6)) == logical_product(block, 6)
    assert str(logical_product(Layout.parse("6:1"), 3)) == "(6,3):(1,6)"


def test_a_product_that_carries_is_a_composite_over_the_same_modes():
    block, tiler = Layout.parse("2:16"), Layout.parse("(4,5):(5,1)")
    made = blocked_product(block, tiler)
    assert made.is_composite
    assert made.nested_extents == ((4, 2), (5, 1))
    with pytest.raises(LayoutError, match="carry"):
        blocked_product(block, tiler, exact="raise")


def test_a_composite_is_repeated_inside():
    block = Layout.parse("S<1,0,1> o 0 o 4:1")
    assert str(logical_product(block, 3)) == "S<1,0,1> o 0 o (4,3):(1,4)"
    with pytest.raises(LayoutError, match="outside the ordinals"):
        logical_product(Layout.parse("6:2 o 0 o 4:1"), 3)


A = Layout.parse("(2,2):(4,1)")


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: logical_product(Layout.parse("(2,2):(1,1)"), 2), LayoutError, "starts within"),
        (lambda: logical_product(Layout.parse("(0,2):(2,1)"), 2), LayoutError, "without elements"),
        (lambda: logical_product(A, Layout.parse("2:-1")), LayoutError, "begins at -1"),
        (lambda: logical_product(A, -1), LayoutError, "-1 copies"),
        (lambda: logical_product(A, 2.0), ConversionError, "integer"),
        (lambda: logical_product(A, None), ConversionError, "integer"),
        (lambda: logical_product(A, (2, 2)), ConversionError, "blocked_product"),
        (lambda: logical_product(A, Layout.parse("2:1", order="colex")), LayoutError, "the other in"),
        (lambda: logical_product(A, Layout.parse("S<1,0,1> o 0 o 4:1")), LayoutError, "composite"),
        (lambda: logical_product(4, A), ConversionError, "takes layouts"),
        (lambda: logical_product(A, A, exact=""), ConversionError, "exact must be"),
    ],
)
def test_what_is_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()
