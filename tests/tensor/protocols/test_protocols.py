"""What foreign values are, told without their libraries and without ours."""

import subprocess
import sys

import numpy as np
import pytest

from tensorwrapper.buffer import StringData
from tensorwrapper.tensor.protocols._protocols import is_arrow, is_sparse_array

CODE = """
import sys
import tensorwrapper
print(tensorwrapper.as_tensor([[1, 2]]).tolist(), *sys.modules)
"""


class _Coordinates:
    coords, data, fill_value, shape = np.zeros((1, 0)), np.zeros(0), 0, (3,)


class _Scipy:
    def tocoo(self):
        raise AssertionError


class _Stream:
    def __arrow_c_stream__(self, requested_schema=None):
        raise AssertionError


@pytest.mark.parametrize(
    ("value", "arrow", "sparse"),
    [
        (_Coordinates(), False, True),
        (_Scipy(), False, True),
        (_Stream(), True, False),
        (StringData.from_list(["a"]), True, False),
        (np.zeros(3), False, False),
        ([1, 2], False, False),
    ],
)
def test_values_are_known_by_what_they_can_do(value, arrow, sparse):
    assert (is_arrow(value), is_sparse_array(value)) == (arrow, sparse)


def test_an_array_of_numbers_loads_neither_strings_nor_sparse_nor_arrow():
    run = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert run.stdout.startswith("[[1, 2]]")
    for room in ("buffer.strings._data", "buffer.arrow", "buffer._sparse ", "shape.interchange"):
        assert f"tensorwrapper.{room}" not in run.stdout
