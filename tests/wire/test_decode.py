"""What others may send: each kind of bad message is refused, for its reason."""

import numpy as np
import pytest

from tensorwrapper.wire import decode, encode
from tests.support.wire.messages import COORDINATES, GOOD, PAYLOAD, described, message, reason_of, tensor


def test_the_message_that_the_tables_spoil_is_good():
    assert decode(tensor()).tensors[0].tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize(
    "frames",
    [
        [],
        [b"ZIO0TENS"],
        [b"", COORDINATES],
        [b"ZIO0TEN", COORDINATES],
        [b"zio0TENS", COORDINATES],
        [b"ZIP0TENS", COORDINATES],
        [b"\0\0\0\0\0\0\0\0", COORDINATES],
        [b"ZIO9TENS", COORDINATES],
        [b"ZIO-TENS", COORDINATES],
        [b"ZIO TENS", COORDINATES],
        [b"ZIO\x00TENS", COORDINATES],
        [b"ZIO\xb2TENS", COORDINATES],
        [b"ZIOaTENS", COORDINATES],
        [b"ZIO0\xff\xfe\xfd\xfc", COORDINATES],
        [b"ZIO0TE\xc3\xa9", COORDINATES],
        *[[b"ZIO0TENS", bytes(n)] for n in (0, 12, 23, 25, 48)],
        [COORDINATES, b"ZIO0TENS"],
    ],
)
def test_frames_that_are_no_message(frames):
    assert reason_of(frames) == "frame"


@pytest.mark.parametrize("wrong", [0, 4, 23, 25, 48, 2**16])
def test_parts_of_the_wrong_size(wrong):
    assert reason_of([*tensor()[:2], bytes(wrong)]) == "size"
    scalar = {"dtype": "f", "word": 4, "shape": []}
    assert reason_of(message(described(scalar), bytes(wrong if wrong != 4 else 8))) == "size"
    empty = {"dtype": "f", "word": 4, "shape": [0, 3]}
    assert reason_of(message(described(empty), bytes(wrong or 1))) == "size"


def test_tensors_without_a_part():
    assert reason_of(message(described(GOOD))) == "layout"
    second = {key: value for key, value in GOOD.items() if key != "part"}
    assert reason_of(message(described(GOOD, second), PAYLOAD)) == "layout"


@pytest.mark.parametrize("extra", [{"order": [0]}, {"ascend": [True]}])
def test_a_scalar_has_no_order(extra):
    assert (
        reason_of(message(described({"dtype": "f", "word": 4, "shape": [], **extra}), bytes(4))) == "layout"
    )


@pytest.mark.parametrize("byte", [2, 127, 128, 255])
def test_bools_are_0_or_1(byte):
    frames = message(described({"dtype": "b", "word": 1, "shape": [3]}), bytes([0, byte, 1]))
    assert reason_of(frames) == "integrity"


def test_a_message_of_ours_is_refused_after_any_cut():
    frames = encode([np.arange(6.0), np.ones(3, np.uint8)], metadata={"a": 1})
    prefix = bytes(frames[0])
    for end in range(8, len(prefix)):
        read = [prefix[:end], *frames[1:]]
        if end == 8:
            assert decode(read).tensors == ()
        else:
            assert reason_of(read) == "header"
