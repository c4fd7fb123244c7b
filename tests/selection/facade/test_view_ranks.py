"""The types of views can be written with their elements alone, or with their rank as well."""

from typing import get_args, get_origin

import numpy as np

from tensorwrapper.selection import View
from tensorwrapper.typing import Rank2


def test_a_view_has_a_type_with_and_without_its_rank():
    assert get_origin(View[np.float64]) is View
    assert get_args(View[np.float64]) == (np.float64,)
    assert get_args(View[np.float64, Rank2]) == (np.float64, Rank2)
