"""Tests of pictures of plans: a bar for each source, as long as what is read of it."""

import numpy as np

from tensorwrapper import selection as sel
from tests.support.pictures import Picture, near


def test_bars_are_as_long_as_what_is_read():
    found = Picture(sel.concat([np.arange(300.0), np.arange(100.0)]).plan().to_svg())
    long, short = found.boxes("bar")

    assert long.width / short.width == near(3.0)
    assert found.label == "3.2 kB read of 2 sources"


def test_of_many_sources_the_first_are_drawn():
    found = Picture(sel.concat([np.arange(1.0) + k for k in range(40)]).plan().to_svg())

    assert len(found.boxes("bar")) == 24
    assert "and 16 more sources" in found.texts


def test_a_plan_that_reads_nothing_says_so():
    assert "nothing is read" in Picture(sel.zeros((2, 3)).plan().to_svg()).texts
