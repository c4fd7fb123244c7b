"""What layouts answer about themselves, for all of up to 3 modes, extents up to 4, strides -8 to 8."""

import math
import random

import numpy as np
import pytest

from tensorwrapper.errors import LayoutError, OutOfBoundsError
from tensorwrapper.layout import Layout
from tensorwrapper.shape import Shape
from tests.support.layout.layouts import small_layouts

pytestmark = pytest.mark.timeout(3000)


def strided(**options):
    """The layouts without an order of their own."""
    for layout in small_layouts(**options):
        if layout.ordinal_order == "lex":
            yield Layout(Shape(*layout.shape.extents), strides=layout.strides, offset=layout.offset)


def brute(layout):
    grids = np.indices(layout.shape.extents)
    steps = zip(grids, layout.strides, strict=True)
    return layout.offset + sum([grid * step for grid, step in steps], np.zeros(layout.shape.extents, int))


def test_questions():
    for layout in strided(least_extent=0):
        places = brute(layout)
        assert np.array_equal(layout.to_numpy(), places)
        distinct = len(np.unique(places))
        assert layout.is_injective == (distinct == places.size)
        if not places.size:
            assert (layout.bounds(), layout.span) == ((0, -1), 0)
            continue
        low, high = int(places.min()), int(places.max())
        assert (layout.bounds(), layout.span) == ((low, high), high - low + 1)
        assert layout.is_exhaustive == (distinct == places.size == high - low + 1)
        expected = np.arange(places.size) + layout.offset
        assert layout.is_contiguous == np.array_equal(places.ravel(), expected)


def test_the_way_back():
    for number, layout in enumerate(strided()):
        places = brute(layout)
        where = {}
        for index in np.ndindex(*places.shape):
            where.setdefault(int(places[index]), []).append(index)
        low, high = layout.bounds()
        wanted = low - 1 + number % (high - low + 3)
        if wanted in where:
            assert layout.indices_of(wanted) == where[wanted]
            assert layout.index_of(wanted) == where[wanted][0]
        else:
            with pytest.raises(OutOfBoundsError, match="no element"):
                layout.index_of(wanted)
        try:
            found = layout.indices_at(sorted(where))
        except LayoutError:
            continue
        assert [tuple(index) for index in found.tolist()] == [where[offset][0] for offset in sorted(where)]


def factors(draw, size):
    new = []
    while size > 1 or draw.random() < 0.2:
        part = draw.choice([d for d in range(1, size + 1) if size % d == 0])
        new.append(part)
        size //= part
    return tuple(new)


def test_reshapes_are_views_where_numpys_are():
    draw = random.Random(9)
    views = 0
    for layout in strided():
        extents, strides = layout.shape.extents, layout.strides
        low, high = layout.bounds()
        memory = np.zeros(high - low + 1)
        array = np.ndarray(extents, float, memory, 8 * (layout.offset - low), [8 * s for s in strides])
        new = factors(draw, math.prod(extents))
        reshaped = array.reshape(new)
        is_view = bool(np.shares_memory(reshaped, memory))
        assert (layout.reshape_obstacle(new) is None) == is_view
        if is_view:
            views += 1
            own = layout.reshape(new)
            assert np.array_equal(own.to_numpy(), layout.to_numpy().reshape(new))
            pairs = zip(own.strides, reshaped.strides, new, strict=True)
            assert all(8 * mine == theirs for mine, theirs, extent in pairs if extent > 1)
    assert views > 50
