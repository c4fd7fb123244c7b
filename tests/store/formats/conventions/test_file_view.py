"""Parts are read whole only below the limits, and integers only if 63 bits hold them."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import DataFileError
from tensorwrapper.store.formats.conventions._file_view import (
    Part,
    broken,
    counted,
    integers_of,
    refused,
    whole,
)
from tensorwrapper.store.records._loss import Loss
from tensorwrapper.wire import DEFAULT_LIMITS, Limits


def part(array):
    return Part("g/x", array.shape, array.dtype, lambda: tw.as_tensor(array))


def test_a_part_is_read_below_the_limit():
    assert whole(part(np.arange(4)), Limits(decompressed_bytes=32)).tolist() == [0, 1, 2, 3]
    with pytest.raises(DataFileError, match="'g/x' needs 32 bytes"):
        whole(part(np.arange(4)), Limits(decompressed_bytes=31))
    with pytest.raises(DataFileError, match="decompressed_bytes"):
        whole(Part("x", (2**40, 2**40), np.dtype("i8"), lambda: None), DEFAULT_LIMITS)


@pytest.mark.parametrize("dtype", ["i1", ">i2", "<u4", "u8", ">u8"])
def test_integers_have_64_bits(dtype):
    found = integers_of(part(np.array([0, 7], dtype)), DEFAULT_LIMITS)
    assert (found.dtype, found.tolist()) == (np.int64, [0, 7])


def test_integers_that_have_more_are_below_0():
    for dtype in ("<u8", ">u8"):
        found = integers_of(part(np.array([2**63, 2**64 - 1, 2**63 - 1], dtype)), DEFAULT_LIMITS)
        assert (found < 0).tolist() == [True, True, False]


@pytest.mark.parametrize("value", [-1, 2**60, 1.0, True, "1", None])
def test_other_values_are_no_extents(value):
    assert counted(value, DEFAULT_LIMITS) is None
    assert counted(3, DEFAULT_LIMITS) == 3


def test_a_loss_says_what_is_broken_and_why():
    loss = broken("g", "a sparse matrix", ValueError("no data"))
    assert (loss.name, loss.code) == ("g", "convention")
    assert "no data" in loss
    inner = broken("g", "a sparse matrix", DataFileError(Loss("'x' is packed", "x", "codec", "install it")))
    assert (inner.code, inner.help) == ("codec", "install it")
    error = refused("g", "why")
    assert isinstance(error.args[0], Loss)
