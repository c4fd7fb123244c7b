"""Laws of two layouts, with every small layout once as the outer one, the divided one and the block."""

import random

import pytest

from tensorwrapper.errors import LayoutError
from tensorwrapper.layout import (
    Layout,
    blocked_product,
    complement,
    compose,
    flatten,
    logical_divide,
    logical_product,
    make_layout,
    make_ordered_layout,
    raked_product,
    tile_to_shape,
    zipped_divide,
)
from tests.support.layout.layouts import extended, model, random_layout, small_layouts, table

SAMPLE = 1500
pytestmark = pytest.mark.timeout(3000)


def raised(layout):
    """The layout with its least offset at 0."""
    low = layout.bounds()[0]
    return make_layout(
        layout.nested_extents, layout.nested_strides, offset=layout.offset - low, order=layout.ordinal_order
    )


def test_composition():
    draw, made = random.Random(1), 0
    for outer in small_layouts(sample=SAMPLE):
        inner = random_layout(draw, outer.ordinal_order, steps=range(-3, 4), lift=True)
        places, ordinals = model(outer), model(inner)
        # Without modes there is none that could count on.
        if outer.shape.rank:
            assert (
                table(compose(outer, inner, outside="extend")).tolist() == extended(outer, ordinals).tolist()
            )
        if max(ordinals) < len(places):
            made += 1
            assert table(compose(outer, inner)).tolist() == [places[k] for k in ordinals]
            continue
        with pytest.raises(LayoutError, match="outside"):
            compose(outer, inner)
    assert made > SAMPLE // 5


def test_every_layout_composed_inside():
    draw = random.Random(2)
    for layout in small_layouts(sample=SAMPLE):
        inner = raised(layout)
        ordinals = model(inner)
        outer = make_layout(
            (max(ordinals) // 3 + 1, 3),
            (draw.randint(-8, 8), draw.randint(-8, 8)),
            order=layout.ordinal_order,
        )
        places = model(outer)
        assert table(compose(outer, inner)).tolist() == [places[k] for k in ordinals]


def test_neutral_layouts_and_associativity():
    for layout in small_layouts(sample=SAMPLE // 2):
        places = model(layout)
        size, order = len(places), layout.ordinal_order
        assert table(compose(layout, make_layout(size, order=order))).tolist() == places
        inner = raised(layout)
        span = max(model(inner)) + 1
        assert table(compose(make_layout(span, order=order), inner)).tolist() == model(inner)
        outer = make_layout((span, 2), (3, -1), offset=2, order=order)
        back = make_layout(size, -1, offset=size - 1, order=order)
        left = compose(compose(outer, inner), back)
        right = compose(outer, compose(inner, back))
        assert table(left).tolist() == table(right).tolist()


def test_division():
    draw, made = random.Random(3), 0
    for layout in small_layouts(sample=SAMPLE):
        places = model(layout)
        divisors = [d for d in range(1, len(places) + 1) if len(places) % d == 0]
        tile = draw.choice(divisors)
        step = draw.choice([d for d in divisors if (len(places) // tile) % d == 0])
        tiler = make_layout(tile, step, order=layout.ordinal_order)
        rest = complement(tiler, len(places))
        divided = logical_divide(layout, tiler)
        counted = [[b + c for c in model(rest)] for b in model(tiler)]
        assert sorted(k for row in counted for k in row) == list(range(len(places)))
        assert [
            [divided.offset_of_ordinal((i, j)) for j in range(len(row))] for i, row in enumerate(counted)
        ] == [[places[k] for k in row] for row in counted]
        assert sorted(table(zipped_divide(layout, tiler)).tolist()) == sorted(places)
        made += 1
    assert made


def test_products():
    draw, made = random.Random(4), 0
    for layout in small_layouts(sample=SAMPLE):
        block = raised(layout)
        tiler = random_layout(draw, block.ordinal_order, rank=2, most=3, steps=range(4), lift=True)
        places, counts = model(block), model(tiler)
        try:
            where = model(complement(block, (max(counts) + 1) * 64))
        except LayoutError:
            with pytest.raises(LayoutError):
                logical_product(block, tiler)
            continue
        made += 1
        product = logical_product(block, tiler)
        expected = [[place + where[count] for count in counts] for place in places]
        found = [[product.offset_of_ordinal((i, j)) for j in range(len(counts))] for i in range(len(places))]
        assert found == expected
        for form in (blocked_product, raked_product):
            assert sorted(table(form(block, tiler)).tolist()) == sorted(p for row in expected for p in row)
    assert made > SAMPLE // 20


def test_flattening_and_filling():
    draw = random.Random(5)
    for layout in small_layouts(sample=SAMPLE):
        assert table(flatten(layout)).tolist() == model(layout)
        assert flatten(layout).shape == layout.shape
        extents = layout.shape.extents
        if not extents:
            continue
        ranks = draw.sample(range(len(extents)), len(extents))
        dense = make_ordered_layout(extents, ranks, order=layout.ordinal_order)
        assert sorted(model(dense)) == list(range(layout.shape.size))
        counts = [draw.randint(1, 2) for _ in extents]
        filled = tile_to_shape(dense, [n * c for n, c in zip(extents, counts, strict=True)])
        assert sorted(table(filled).tolist()) == list(range(filled.shape.size))
        assert isinstance(filled, Layout)
