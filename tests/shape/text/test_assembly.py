"""Numbers of strangers made a shape: they take no memory before they are believed."""

import tracemalloc

import numpy as np
import pytest

from tensorwrapper.errors import ParseError
from tensorwrapper.shape import Shape


def peak_bytes(call):
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "text",
    [
        "(1000000000, 5|5)",
        "(1000000000, 2, 5x5)",
        "(1000, 1000, 1000, 1000, 1x1|2x2)",
        "(1000000, " + "1, " * 1000 + "1|2)",
        "(9223372036854775807, 5|)",
        "(1000000000, 5|)@(0, 1|2)",
    ],
)
def test_numbers_of_strangers_take_no_memory(text):
    def refuse():
        with pytest.raises(ParseError):
            Shape.parse(text)

    assert peak_bytes(refuse) < 20_000_000


def test_one_number_may_stand_for_many_rows_but_not_for_all():
    # As many as single numbers may stand for are written as such, and others in full.
    for count in (2**20, 2**20 + 1):
        shape = Shape.from_cells((count, 2), np.ones((2 * count, 2), dtype=np.int64))
        full = format(shape, "full")
        assert (len(full) < 100) == (count == 2**20)
        assert Shape.parse(full) == shape
