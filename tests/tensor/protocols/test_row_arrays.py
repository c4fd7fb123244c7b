"""Many arrays are the rows of one tensor, joined all at once."""

import numpy as np
import pytest

from tensorwrapper.buffer import count_copies
from tensorwrapper.errors import ConversionError, RankError
from tensorwrapper.tensor import jagged


@pytest.mark.parametrize("rank", [1, 2])
@pytest.mark.parametrize("step", [1, -1, 2])
def test_many_arrays_are_joined_at_once(rank, step):
    cells = [
        np.arange(float((2 * k % 7) * 2 ** (rank - 1))).reshape(-1, *[2] * (rank - 1)) for k in range(50)
    ]
    cells = [cell[::step] for cell in cells]
    with count_copies() as count:
        t = jagged(cells)
    assert (count.nbytes, count.copies) == (t.nbytes, 1)
    assert t.tolist() == [cell.tolist() for cell in cells]


@pytest.mark.parametrize(
    ("first", "others", "dtype"),
    [("i1", "i1", "i1"), ("i1", "u1", "i2"), ("f8", "f4", "f8"), (">i4", ">i4", ">i4"), ("?", "i8", "i8")],
)
def test_many_arrays_have_the_common_type(first, others, dtype):
    t = jagged([np.ones(2, first), *[np.ones(k % 3, others) for k in range(30)]])
    assert t.dtype == np.dtype(dtype)
    assert t.size == 2 + 30
    # Arrays without an element do not count.
    assert jagged([np.ones(0, "f8"), *[np.ones(1, "i1")] * 30]).dtype == np.int8


def test_many_arrays_of_different_ranks_are_refused():
    with pytest.raises(RankError):
        jagged([*[np.ones(2)] * 30, np.ones((2, 2))])
    with pytest.raises(ConversionError, match="at least one mode"):
        jagged([np.array(1.0)] * 30)
