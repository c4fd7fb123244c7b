"""The algebra of layouts; the peer is tensor-layouts, Meta's implementation in Python, if it is there."""

from functools import partial

import numpy as np
import pytest

from tensorwrapper.layout import (
    Layout,
    coalesce,
    complement,
    compose,
    left_inverse,
    logical_divide,
    logical_product,
    right_inverse,
)


def ours(text):
    return Layout.parse(text, order="colex")


FLAT, PERMUTED = ours("(2,4,6):(1,2,8)"), ours("(2,4,6):(24,1,4)")
OUTER, INNER = ours("(4,3):(3,1)"), ours("6:2")
MANY = ours("(2,2,2,2,2,2):(1,2,4,8,16,32)")
GAPS = ours("(2,2,4):(1,4,32)")
CUBE, TILER = ours("(8,8,8):(64,8,1)"), (ours("4:1"), ours("2:4"), ours("4:2"))
CASES = {
    "coalesce, flat": partial(coalesce, FLAT),
    "compose, one mode": partial(compose, OUTER, INNER),
    "compose, six modes": partial(compose, ours("(8,8):(8,1)"), MANY),
    "complement": partial(complement, GAPS, 256),
    "right inverse": partial(right_inverse, PERMUTED),
    "left inverse": partial(left_inverse, PERMUTED),
    "logical divide, three modes": partial(logical_divide, CUBE, TILER),
    "logical product": partial(logical_product, FLAT, INNER),
}


def theirs():
    """The same calls of the peer."""
    peer = pytest.importorskip("tensor_layouts")
    layout = peer.Layout
    flat, permuted = layout((2, 4, 6), (1, 2, 8)), layout((2, 4, 6), (24, 1, 4))
    outer, inner = layout((4, 3), (3, 1)), layout(6, 2)
    many = layout((2,) * 6, (1, 2, 4, 8, 16, 32))
    cube, tiler = layout((8, 8, 8), (64, 8, 1)), (layout(4, 1), layout(2, 4), layout(4, 2))
    return {
        "coalesce, flat": partial(peer.coalesce, flat),
        "compose, one mode": partial(peer.compose, outer, inner),
        "compose, six modes": partial(peer.compose, layout((8, 8), (8, 1)), many),
        "complement": partial(peer.complement, layout((2, 2, 4), (1, 4, 32)), 256),
        "right inverse": partial(peer.right_inverse, permuted),
        "left inverse": partial(peer.left_inverse, permuted),
        "logical divide, three modes": partial(peer.logical_divide, cube, tiler),
        "logical product": partial(peer.logical_product, flat, inner),
    }


@pytest.mark.parametrize("group", CASES)
@pytest.mark.parametrize("who", ["tensorwrapper", "tensor-layouts"])
def test_algebra_of_small_layouts(benchmark, who, group):
    case = CASES[group] if who == "tensorwrapper" else theirs()[group]
    benchmark.group = f"layout algebra: {group}"
    benchmark.pedantic(case, rounds=200, iterations=100, warmup_rounds=5)


LARGE = ours("((100,10),(10,1000)):((1,100000),(100,1000))")


def test_offsets_of_ten_million_elements(benchmark):
    benchmark.group = "offsets in bulk"
    benchmark.pedantic(LARGE.offsets_of_ordinals, rounds=5)


def test_offsets_of_ten_thousand_elements_one_by_one(benchmark):
    benchmark.group = "offsets one by one"
    benchmark.pedantic(lambda: [LARGE.offset_of_ordinal(k) for k in range(10_000)], rounds=5)


def test_offsets_of_a_composite(benchmark):
    composite = compose(LARGE, ours("1000000:7"))
    assert composite.is_composite
    assert len(np.unique(composite.to_numpy())) == 1_000_000
    benchmark.group = "offsets of a composite"
    benchmark.pedantic(composite.to_numpy, rounds=5)
