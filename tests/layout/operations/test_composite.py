"""Composite layouts: one after the other, and every question answered through both."""

import copy
import pickle
import random

import numpy as np
import pytest

from tensorwrapper.errors import LayoutError, OutOfBoundsError
from tensorwrapper.layout import Layout, Swizzle, compose, make_layout
from tests.support.layout.layouts import ORDERS, random_layout, table


def composites(count):
    draw = random.Random(7)
    while count:
        order = draw.choice(ORDERS)
        inner = random_layout(draw, order, lift=True)
        most = inner.bounds()[1]
        outer = make_layout((most // 3 + 1, 3), (draw.randint(-5, 5), draw.randint(-5, 5)), order=order)
        functions = [outer, Swizzle(1, 0, 1), Swizzle(2, 1, -2)]
        layout = compose(draw.choice(functions), inner)
        if layout.is_composite:
            count -= 1
            yield layout


def test_questions_of_composites_are_those_of_their_offsets():
    for layout in composites(150):
        places = layout.to_numpy()
        flat = [layout.offset_of_ordinal(k) for k in range(places.size)]
        assert table(layout).tolist() == flat
        assert places.ravel("F" if layout.ordinal_order == "colex" else "C").tolist() == flat
        assert layout.bounds() == (min(flat), max(flat))
        assert layout.offset == flat[0]
        assert layout.is_injective == (len(set(flat)) == len(flat))
        first = layout.offset
        assert layout.is_contiguous == (places.ravel().tolist() == list(range(first, first + places.size)))
        indices = layout.shape.indices().to_numpy()
        assert layout.offsets_of(indices).tolist() == places.ravel().tolist()
        for place in set(flat):
            at = layout.index_of(place)
            assert at == tuple(np.argwhere(places == place)[0].tolist())
            assert layout.offset_of(at) == place
        with pytest.raises(OutOfBoundsError, match="no element"):
            layout.index_of(max(flat) + 1)
        assert pickle.loads(pickle.dumps(layout)) == copy.deepcopy(layout) == layout


def test_composites_have_extents_and_no_strides():
    layout = Layout.parse("S<1,0,1> o 0 o ((2,2),3):((6,3),1)")
    assert layout.nested_extents == ((2, 2), 3)
    assert layout.is_composite
    assert layout.is_hierarchical
    for ask in ("strides", "nested_strides"):
        with pytest.raises(LayoutError, match="strided"):
            getattr(layout, ask)
