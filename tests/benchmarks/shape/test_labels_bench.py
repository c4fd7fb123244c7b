"""Shapes of labelled products: small boxes, and a million rows; the peers do the least work by hand."""

import numpy as np
import pytest

from tensorwrapper import Shape, einsum_shape

LEFT, RIGHT = Shape(4, 5, 6, 7), Shape(6, 7, 8, 9)
RESULT = "i,j,m,n"
LENGTHS = np.random.default_rng(7).poisson(20, 1_000_000)
ROWS = Shape.jagged(LENGTHS)
SAME = Shape.jagged(LENGTHS.copy())
TILES = Shape.tiled(LENGTHS[:1000] + 1, LENGTHS[1000:2000] + 1)


def labelled():
    return (LEFT("i,j,k,l") * RIGHT("k,l,m,n")).shape(RESULT)


def einsum():
    return einsum_shape("ijkl,klmn->ijmn", LEFT, RIGHT)


def by_hand():
    """What a program without labels does: text split, extents compared, a tuple of extents."""
    known = {}
    for extents, labels in ((LEFT.extents, "i,j,k,l"), (RIGHT.extents, "k,l,m,n")):
        for label, extent in zip(labels.split(","), extents, strict=True):
            if known.setdefault(label, extent) != extent:
                raise ValueError(label)
    return tuple(known[label] for label in RESULT.split(","))


@pytest.mark.parametrize("function", [labelled, einsum, by_hand], ids=lambda f: f.__name__)
def test_product_of_two_shapes_of_rank_4(benchmark, function):
    benchmark.group = "labels: product of two shapes of rank 4"
    benchmark.pedantic(function, rounds=200, iterations=500, warmup_rounds=5)


def outer_rows():
    return (ROWS("i,j") * ROWS("i,k")).shape("i,j,k")


def same_rows():
    return (ROWS("i,j") + SAME("i,j")).shape("i,j")


def outer_rows_by_hand():
    """The table of extents, and whether all of its rows are alike, which is to be known anyway."""
    table = np.stack([LENGTHS, LENGTHS], axis=1)
    return table, (table == table[0]).all()


def product_of_tiles():
    return (TILES("a,b,i,j") * TILES("a,c,i,k")).shape("b,c,j,k")


@pytest.mark.parametrize(
    "function", [outer_rows, outer_rows_by_hand, same_rows, product_of_tiles], ids=lambda f: f.__name__
)
def test_product_of_a_million_rows_or_tiles(benchmark, function):
    benchmark.group = "labels: a million rows or tiles"
    benchmark.pedantic(function, rounds=7, warmup_rounds=1)
