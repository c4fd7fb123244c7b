"""The types of tensors can be written with their elements alone, or with their rank as well."""

from typing import get_args, get_origin

import numpy as np

from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import Rank2


def test_a_tensor_has_a_type_with_and_without_its_rank():
    assert get_origin(Tensor[np.float64]) is Tensor
    assert get_args(Tensor[np.float64]) == (np.float64,)
    assert get_args(Tensor[np.float64, Rank2]) == (np.float64, Rank2)


def test_nothing_of_it_is_there_at_run_time_but_the_brackets():
    base = Tensor.__mro__[1]

    assert base.__name__ == "TensorRanks"
    assert {name for name, value in vars(base).items() if callable(value)} <= {"__class_getitem__"}
