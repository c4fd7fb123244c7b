"""Texts and reprs of more than 1000 numbers are summarised, at no more cost than what they show."""

import re
import tracemalloc

import numpy as np
import pytest

from tensorwrapper.errors import ParseError, SizeOverflowError
from tensorwrapper.shape import Shape

HUGE = 10**12


def nest(shape, *layers):
    return Shape.nested(shape, layers=layers)


def peak_bytes(call):
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def numbers_in(text):
    return len(re.findall(r"\d+", text))


@pytest.mark.parametrize(
    "make",
    [
        lambda n: Shape.jagged(np.arange(n) % 3),
        lambda n: Shape.from_cells((n,), np.arange(2 * n).reshape(n, 2)),
        lambda n: Shape.from_cells((2, n), np.arange(2 * n).reshape(2 * n, 1)),
        lambda n: Shape.tiled(range(n), [1]),
        lambda n: Shape(*range(n), origin=range(n)),
        lambda n: Shape.smooth(range(n)),
        lambda n: nest(Shape.smooth(range(n)), *[1] * n),
        lambda n: nest(Shape.jagged(np.arange(n) % 3), 1, 1),
        lambda n: Shape.jagged([Shape(k, origin=(k,)) for k in range(n)]),
        lambda n: Shape.jagged([Shape.jagged([k, 1], origin=(k, 0)) for k in range(n)]),
    ],
)
def test_above_1000_numbers_text_is_summarised(make):
    summarised = 0
    for n in (100, 249, 251, 330, 334, 498, 500, 501, 996, 1000, 1001, 3000):
        shape = make(n)
        text, full = str(shape), format(shape, "full")
        assert ("..." in text) == (numbers_in(full) > 1000)
        assert "..." not in full
        assert Shape.parse(full) == shape
        if "..." in text:
            summarised += 1
            assert numbers_in(text) < 200
            with pytest.raises(ParseError, match=r'is a summary.*format\(shape, "full"\)'):
                Shape.parse(text)
        else:
            assert text == full
        if "..." in repr(shape):
            assert len(repr(shape)) < 1000
        else:
            assert numbers_in(repr(shape)) <= 1000
            assert eval(repr(shape), {"Shape": Shape}) == shape
    assert summarised


@pytest.mark.parametrize(
    ("shape", "text", "call"),
    [
        (
            Shape.jagged(np.arange(2000)),
            "(2000, 0|1|2|3|4|5|6|7|8|9|10|11|...)",
            "Shape.jagged([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, ...])",
        ),
        (
            Shape.from_cells((1000, 2), np.arange(2000).reshape(2000, 1))[1:],
            "(999, 2, 2|3|4|5|6|7|8|9|10|11|12|13|...)@(1, 0, 0)",
            "Shape.jagged([[2, 3], [4, 5], [6, 7], [8, 9], [10, 11], [12, 13], ...], origin=(1, 0, 0))",
        ),
        (
            nest(Shape.tiled(range(2000)), 1, 1),
            "tiled(0|1|2|3|4|5|6|7|8|9|10|11|...) layers (1, 1)",
            "Shape.nested(Shape.tiled([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, ...]), layers=(1, 1))",
        ),
        (Shape(10**700, 2), "(..., 2)", "Shape(..., 2)"),
    ],
)
def test_what_a_summary_shows(shape, text, call):
    assert (str(shape), repr(shape)) == (text, call)


def test_the_summary_of_a_deep_shape_is_short():
    shape = Shape(4, 5)
    for depth in range(6):
        shape = Shape.jagged([shape.translate_by((k, *[0] * (depth + 1))) for k in range(5)])
    assert shape.size == 4 * 5**7
    assert len(str(shape)) < 1000
    assert "..." in repr(shape)
    assert len(repr(shape)) < 10_000


def test_a_summary_reads_only_what_it_shows():
    n = 10**7
    rows = Shape.jagged(np.arange(n) % 7)
    cells = Shape.from_cells((n,), np.arange(2 * n).reshape(n, 2) % 7)
    for shape in (rows, cells, rows[5:], nest(rows, 1, 1), Shape.from_uniform(HUGE, 5)):
        assert peak_bytes(lambda s=shape: (str(s), repr(s))) < 200_000
    # Where all rows agree, that takes a look at all of them, but no memory.
    assert peak_bytes(lambda: str(Shape.jagged(np.full(n, 7)))) < 2 * 8 * n + 20_000_000
    even = Shape.jagged(np.full(n, 7))
    assert peak_bytes(lambda: str(even)) < 10_000_000


def test_a_million_rows_go_through_text():
    rng = np.random.default_rng(5)
    for shape in (
        Shape.jagged(rng.integers(0, 10, 10**6)),
        Shape.from_cells((10**5, 2), rng.integers(0, 10, (2 * 10**5, 3)), origins=(1, 2, 3)),
    ):
        assert Shape.parse(format(shape, "full")) == shape


def test_numbers_are_as_long_as_every_python_reads():
    longest = Shape(10**640 - 1, origin=(1 - 10**640,))
    assert Shape.parse(str(longest)) == longest
    for shape in (Shape(10**640), Shape(1, origin=(-(10**640),)), Shape(1 << 100_000)):
        assert "..." in str(shape)
        assert "..." in repr(shape)
        with pytest.raises(SizeOverflowError, match="640 digits"):
            format(shape, "full")
