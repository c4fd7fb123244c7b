"""Pictures of shapes and layouts: ten million rows, and a matrix of ten million by ten million."""

import numpy as np
import pytest

from tensorwrapper import Layout, Shape, Tiling

ROWS = np.random.default_rng(1).poisson(20, 10_000_000)
SIZES = np.random.default_rng(2).integers(1, 9, 316)
VALUES = {
    "10 rows": Shape.jagged(ROWS[:10]),
    "10 000 000 rows": Shape.jagged(ROWS),
    "10 000 000 rows with origins": Shape.from_cells(
        (len(ROWS),), ROWS[:, np.newaxis], origins=(np.arange(len(ROWS)) // 1000)[:, np.newaxis]
    ),
    "316 x 316 tiles": Tiling(SIZES, SIZES),
}


# A slice, made anew: what a shape has worked out once would otherwise be remembered.


def drawn_anew(value):
    return value[:].to_svg()


def shown_anew(value):
    return value[:]._repr_html_()


@pytest.mark.parametrize("name", VALUES)
def test_picture(benchmark, name):
    benchmark.group = "pictures"
    svg = benchmark(drawn_anew, VALUES[name])

    assert len(svg) < 100_000


def test_what_a_notebook_shows_of_ten_million_rows(benchmark):
    benchmark.group = "pictures"
    benchmark(shown_anew, VALUES["10 000 000 rows"])


@pytest.mark.parametrize("order", ["C", "F"])
def test_picture_of_the_indices_of_ten_million_rows(benchmark, order):
    benchmark.group = "pictures"
    indices = VALUES["10 000 000 rows"].indices(order=order)
    svg = benchmark(indices.to_svg)

    assert len(svg) < 100_000


@pytest.mark.parametrize("extents", [(4, 6), (10**7, 10**7)], ids=str)
def test_picture_of_a_layout(benchmark, extents):
    benchmark.group = "pictures"
    svg = benchmark(lambda: Layout(Shape(*extents)).to_svg())

    assert len(svg) < 100_000
