"""Foreign parts: what a label says of them is compared with what is there before anything is made."""

import numpy as np
import pytest

from tensorwrapper.errors import RemoteProtocolError
from tensorwrapper.wire import Limits
from tensorwrapper.wire.lowlevel import Field, PartReader, refuse
from tensorwrapper.wire.parts._part_reader import check_splits

PARTS = [memoryview(np.arange(3, dtype="<i8").tobytes()), memoryview(b"\x01\x00\x02")]


def reason(ask):
    with pytest.raises(RemoteProtocolError) as caught:
        ask()
    return caught.value.reason


def part(number):
    return Field(number, "x.part", lambda path, why, text: refuse(why, f"{path} {text}"))


def test_numbers_and_elements_are_views_that_nobody_writes_to():
    reader = PartReader(PARTS, Limits())

    assert reader.indices(part(0)).tolist() == [0, 1, 2]
    assert reader.elements(part(1), 3, np.dtype("u1")).tolist() == [1, 0, 2]
    assert not reader.elements(part(1), 3, np.dtype("u1")).flags.writeable
    assert reader.elements(part(1), 3, np.dtype("u1")) is reader.elements(part(1), 3, np.dtype("u1"))


def test_what_does_not_fit_is_refused():
    reader = PartReader(PARTS, Limits())

    assert reason(lambda: reader.indices(part(2))) == reason(lambda: reader.indices(part(-1))) == "layout"
    assert reason(lambda: reader.indices(part("0"))) == "schema"
    assert reason(lambda: reader.indices(part(1))) == "size"
    assert reason(lambda: reader.elements(part(1), 2, np.dtype("u1"))) == "size"
    assert reason(lambda: reader.elements(part(1), 3, np.dtype(bool))) == "integrity"


def test_what_is_claimed_adds_up():
    reader = PartReader(PARTS, Limits(decompressed_bytes=10))
    reader.claim(4, "x")
    reader.claim(6, "x")

    assert reason(lambda: reader.claim(1, "x")) == "limit"


@pytest.mark.parametrize(
    ("splits", "why"), [([], "layout"), ([1], "layout"), ([0, 2, 1], "layout"), ([0, 2], "size")]
)
def test_row_splits_start_at_zero_and_never_descend(splits, why):
    assert reason(lambda: check_splits(np.array(splits, dtype=np.int64), "x", 3)) == why
    assert check_splits(np.array([0, 0, 3]), "x", 3) == 3
