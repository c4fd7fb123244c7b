"""What users give for an order of modes, and for a tiling: read, or refused with what is allowed."""

import numpy as np
import pytest

from tensorwrapper import Tiling
from tensorwrapper.errors import ConversionError, TensorWrapperError
from tensorwrapper.layout.boxes._orders import fastest_first, is_default, to_tiling


@pytest.mark.parametrize("order", ["C", "F", (1, 0, 2), [2, 0, 1], np.array([0, 1, 2])], ids=str)
def test_an_order_is_read_from_the_fastest_mode_to_the_slowest(order):
    wanted = {"C": (2, 1, 0), "F": (0, 1, 2)}[order] if isinstance(order, str) else tuple(order)

    assert fastest_first(order, 3) == wanted
    assert is_default(order) is (wanted == (2, 1, 0))


def test_a_scalar_has_an_order_of_no_modes():
    assert [fastest_first(order, 0) for order in ("C", "F", ())] == [(), (), ()]


@pytest.mark.parametrize("order", ["c", "A", "", (0, 1), (0, 0, 1), (0, 1, 3), (0, 1, 2.0)], ids=str)
def test_other_orders_are_refused(order):
    with pytest.raises(TensorWrapperError):
        fastest_first(order, 3)


def test_a_word_that_is_no_order_is_told_what_is_one():
    with pytest.raises(ConversionError, match='order must be "C", "F" or a permutation, not \'K\''):
        fastest_first("K", 2)


def test_a_tiling_is_taken_and_nothing_else():
    tiling = Tiling([1, 2], [3])

    assert to_tiling(tiling, "tiles") is tiling
    with pytest.raises(
        ConversionError, match=r"tiles needs a Tiling, such as Tiling\(\*sizes\), not \[1, 2\]"
    ):
        to_tiling([1, 2], "tiles")
