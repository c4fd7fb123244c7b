"""Views that grow in a loop: what is appended to again and again stays one node."""

import numpy as np
import pytest

from tensorwrapper import selection as sel


@pytest.mark.slow
def test_appending_many_times_gives_one_concat():
    view = sel.as_view([0])
    for number in range(1, 2000):
        view = sel.concat([view, [number]])

    assert np.array_equal(view, np.arange(2000))
    assert len(sel.sources(view)) == 2000


def test_a_joined_part_that_was_selected_from_keeps_its_steps():
    inner = sel.concat([[1, 2], [3]])

    assert sel.concat([inner[::-1], inner]).compute().tolist() == [3, 2, 1, 1, 2, 3]
    assert sel.concat([sel.stack([inner, inner]), [[4, 5, 6]]]).compute().tolist()[2] == [4, 5, 6]
