"""The mappings of C++'s mdspan: which of them a layout is, what they say of themselves, and the way back."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import Layout, Shape
from tensorwrapper.errors import ConversionError, ExtentError, LayoutError, RankError, SizeOverflowError
from tests.support.layout.layouts import small_layouts


@pytest.mark.parametrize(
    ("layout", "kind", "strides", "padding", "span", "exhaustive"),
    [
        (Layout(Shape()), "right", (), None, 1, True),
        (Layout(Shape(5)), "right", (1,), None, 5, True),
        (Layout(Shape(2, 3, 4)), "right", (12, 4, 1), None, 24, True),
        (Layout(Shape(2, 3, 4), order="F"), "left", (1, 2, 6), None, 24, True),
        (Layout(Shape(2, 3, 4), order=(2, 0, 1)), "stride", (4, 8, 1), None, 24, True),
        (Layout(Shape(2, 3, 4), order=(1, 2, 0)), "stride", (12, 1, 3), None, 24, True),
        (Layout.aligned(Shape(2, 3, 5), 8), "right_padded", (24, 8, 1), 8, 45, False),
        (Layout.aligned(Shape(5, 3, 2), 8, order="F"), "left_padded", (1, 8, 24), 8, 45, False),
        (Layout.aligned(Shape(3, 8), 8), "right", (8, 1), None, 24, True),
        (Layout(Shape(4, 6))[:, :5], "right_padded", (6, 1), 6, 23, False),
        (Layout(Shape(4, 6))[::2], "right_padded", (12, 1), 12, 18, False),
        (Layout(Shape(4, 6))[:, ::2], "stride", (6, 2), None, 23, False),
        (Layout(Shape(6))[::2], "stride", (2,), None, 5, False),
        # Modes of extent 1 do not count, and what is empty is exhaustive.
        (Layout(Shape(2, 1, 3), strides=(3, 99, 1)), "right", (3, 3, 1), None, 6, True),
        (Layout(Shape(2, 1, 3), strides=(1, -99, 2)), "left", (1, 2, 2), None, 6, True),
        (Layout(Shape(1, 1), strides=(-1, 0)), "right", (1, 1), None, 1, True),
        (Layout(Shape(1, 3), strides=(5, 2)), "left_padded", (1, 2), 2, 5, False),
        (Layout(Shape(4, 1, 3), strides=(12, 2, 1)), "right_padded", (12, 12, 1), 12, 39, False),
        (Layout(Shape(3, 1, 4), strides=(1, 2, 12)), "left_padded", (1, 12, 12), 12, 39, False),
        (Layout(Shape(2, 0, 3), strides=(7, -7, 0)), "right", (0, 3, 1), None, 0, True),
    ],
)
def test_the_facts_of_mappings(layout, kind, strides, padding, span, exhaustive):
    found = layout.to_mdspan()
    assert (found.kind, found.extents, found.strides) == (kind, layout.shape.extents, strides)
    assert (found.padding, found.required_span_size, found.is_exhaustive) == (padding, span, exhaustive)
    assert found.is_unique
    assert found.is_strided
    assert (layout.span, layout.is_exhaustive) == (span, exhaustive)


def test_the_offset_stands_apart_as_that_of_submdspan_does():
    part = Layout(Shape(4, 6, 6))[1, 2:5, 0:5:2].to_mdspan()
    assert (part.kind, part.extents, part.strides, part.offset) == ("stride", (3, 3), (6, 2), 48)


@pytest.mark.timeout(3000)
def test_small_layouts_are_mappings_or_are_refused():
    kinds = set()
    for layout in small_layouts(least_extent=0):
        extents, steps = layout.shape.extents, layout.strides
        moved = sorted((step, n) for n, step in zip(extents, steps, strict=True) if n > 1)
        # What the constructor of layout_stride demands, of the modes that are stepped along.
        chain = all(wide >= fine * n for (fine, n), (wide, _) in itertools.pairwise(moved))
        if 0 not in extents and not (chain and all(step > 0 for step, _ in moved)):
            with pytest.raises(LayoutError, match="mdspan cannot say"):
                layout.to_mdspan()
            continue
        found = layout.to_mdspan()
        kinds.add(found.kind)
        places = np.array(
            [sum(map(math.prod, zip(index, found.strides, strict=True))) for index in np.ndindex(*extents)],
            dtype=int,
        )
        assert np.array_equal(places + found.offset, layout.to_numpy().ravel())
        span = int(places.max()) + 1 if places.size else 0
        assert found.required_span_size == layout.span == span
        assert found.is_exhaustive == layout.is_exhaustive == (span == places.size)
        assert len(set(places.tolist())) == places.size
        assert found.is_unique == layout.is_injective
        strides = found.strides if found.kind == "stride" else None
        back = Layout.from_mdspan(
            extents, found.kind, strides=strides, padding=found.padding, offset=found.offset
        )
        assert back.strides == found.strides
        assert np.array_equal(back.to_numpy().ravel(), layout.to_numpy().ravel())
    assert kinds == {"right", "left", "right_padded", "left_padded", "stride"}


@pytest.mark.parametrize("layout", [Layout(Shape(4, 2), strides=(2, 3)), Layout(Shape(3, 5))[:, ::2]])
def test_what_cpp_forbids_is_no_mapping_though_no_place_is_shared(layout):
    assert layout.is_injective
    with pytest.raises(LayoutError, match="interleaving"):
        layout.to_mdspan()


@pytest.mark.parametrize(("order", "kind"), [("C", "right_padded"), ("F", "left_padded")])
@given(extents=st.lists(st.integers(1, 6), min_size=1, max_size=4), multiple=st.integers(1, 9))
def test_aligned_rows_are_the_padded_mappings(order, kind, extents, multiple):
    layout = Layout.aligned(Shape(*extents), multiple, order=order)
    assert layout == Layout.from_mdspan(extents, kind, padding=multiple)
    found = layout.to_mdspan()
    # 1 in the middle may make another kind say the same.
    assert found.lost.is_exact or 1 in extents
    if found.kind == kind:
        assert found.padding == -(-extents[-1 if order == "C" else 0] // multiple) * multiple


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: Layout(Shape(2)).reverse().to_mdspan(), LayoutError, "negative_strides"),
        (lambda: Layout(Shape(2)).broadcast((3, 2)).to_mdspan(), LayoutError, "zero_strides"),
        (lambda: Layout(Shape(2, 2), strides=(1, 1)).to_mdspan(), LayoutError, "interleaving"),
        (lambda: Layout(Shape(3), strides=(2**62,)).to_mdspan(), SizeOverflowError, "64 bits"),
        (lambda: Layout.from_mdspan((2,), "stride"), LayoutError, "strides are given for"),
        (lambda: Layout.from_mdspan((2,), "left", strides=(1,)), LayoutError, "strides are given for"),
        (lambda: Layout.from_mdspan((2,), "left", padding=4), LayoutError, "padding is given for"),
        (lambda: Layout.from_mdspan((2,), "left_padded"), LayoutError, "padding is given for"),
        (lambda: Layout.from_mdspan((2,), "left_padded", padding=0), LayoutError, "positive"),
        (lambda: Layout.from_mdspan((2,), "blocked"), ConversionError, "one of right, left"),
        (lambda: Layout.from_mdspan((2, 2), "stride", strides=(1,)), RankError, "1 strides"),
        (lambda: Layout.from_mdspan((2,), "stride", strides=(0,)), LayoutError, "mode 0 is 0"),
        (lambda: Layout.from_mdspan((2,), "stride", strides=(-1,)), LayoutError, "mode 0 is -1"),
        (lambda: Layout.from_mdspan((4, 2), "stride", strides=(2, 3)), LayoutError, "steps over all"),
        (lambda: Layout.from_mdspan((-1,)), ExtentError, "negative"),
        (lambda: Layout.from_mdspan((2**32, 2**32)), SizeOverflowError, "64 bits"),
        (lambda: Layout.aligned(Shape(2, 2), 0), LayoutError, "positive"),
        (lambda: Layout.aligned(Shape.jagged([1, 2]), 2), LayoutError, "jagged"),
        (lambda: Layout.aligned(Shape(2, 2), 2, order=(0, 0)), RankError, "permutation"),
        (lambda: Layout.aligned(Shape(2, 2), 2.0), ConversionError, "integer"),
    ],
)
def test_what_is_no_mapping_is_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()
