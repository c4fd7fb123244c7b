"""What callers hand over: sequences of several values, and contiguous memory as bytes."""

import array

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import ConversionError
from tensorwrapper.wire.frames._buffers import byte_views, check_several, frame_views


@pytest.mark.parametrize("one", [b"12", "12", np.zeros(2), {"a": 1}, tw.as_tensor([1]), iter([1]), 3])
def test_one_value_is_no_sequence_of_several(one):
    with pytest.raises(ConversionError, match=r"things must be a sequence, such as \[x\]"):
        check_several(one, "things")


@pytest.mark.parametrize(
    "memory", [b"1234", bytearray(b"1234"), array.array("i", [7]), np.array([[1, 2]], dtype="i2")]
)
def test_memory_is_seen_as_bytes_and_not_copied(memory):
    (view,) = frame_views((memory,))

    assert view.format == "B"
    assert view.ndim == 1
    assert view.nbytes == memoryview(memory).nbytes
    assert np.shares_memory(np.frombuffer(view, np.uint8), np.asarray(memoryview(memory)))


def test_memory_without_bytes_is_a_frame_without_any():
    assert [bytes(view) for view in byte_views([b"", np.zeros((0, 3))], "part")] == [b"", b""]


@pytest.mark.parametrize("bad", [np.arange(6)[::2], np.array([None, 1]), "text", 4])
def test_what_is_no_memory_is_refused_with_its_place(bad):
    with pytest.raises(ConversionError, match="part 1 must be contiguous memory"):
        byte_views([b"", bad], "part")
