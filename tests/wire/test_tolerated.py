"""What only looks odd is read: other forms, default and novel keys, orders, shared parts, any metadata."""

import json
import tracemalloc

import numpy as np
import pytest

from tensorwrapper.wire import decode
from tests.support.wire.messages import GOOD, described, message, reason_of, tensor


def test_brackets_in_strings_do_not_count_as_depth():
    label = {"a": "[" * 500 + '\\"]{' * 500, '\\"[[': "\\\\"}
    assert decode(message(label)).label_object == label


@pytest.mark.parametrize(
    "label",
    [b"", b" ", b"\r\n\t", b"null", b" null\n", b"{}", b'{"tens":{}}', b'{"TENS":null}', b'{"a":[1,{}]}'],
)
@pytest.mark.parametrize("form", ["TENS", "FLOW", "TEXT", "JSON", ""])
def test_a_message_without_tens_has_no_tensors(label, form):
    read = decode(message(label, b"part", form=form))
    assert (read.tensors, dict(read.metadata), read.tensor_metadata) == ((), {}, ())
    assert read.label_object == (json.loads(label) if label.strip() else None)
    assert [bytes(part) for part in read.parts] == [b"part"]


@pytest.mark.parametrize("label", ["Extra spicy", "[not JSON", "'quoted'", "NaN", "[" * 100_000])
def test_the_label_of_another_form_is_free_text(label):
    read = decode(message(label, form="TEXT"))
    assert (read.label, read.label_object, read.tensors) == (label, None, ())


@pytest.mark.parametrize(
    "same",
    [
        tensor(part=...),
        tensor(pointer=None),
        tensor(pointer=0),
        tensor(packing="dense"),
        tensor(packing=None),
        tensor(order=[1, 0]),
        tensor(ascend=[True, True]),
        tensor(origin=None),
        tensor(origin=[0, 0]),
        tensor(novel={"key": [1, None]}),
        [bytearray(frame) for frame in tensor()],
        [memoryview(frame) for frame in tensor()],
        [np.frombuffer(frame, np.uint8) for frame in tensor()],
        tuple(tensor()),
        [tensor()[0] + b" \n", *tensor()[1:]],
        [*tensor(), b"a part that no tensor names"],
    ],
)
def test_what_says_the_same_is_read_the_same(same):
    (read,) = decode(same).tensors
    assert (read.shape, read.dtype) == (decode(tensor()).tensors[0].shape, np.dtype("<f4"))
    assert read.tolist() == [[0, 1, 2], [3, 4, 5]]


ORDERS = [
    # The table of Boost's storage orders: extents, order, ascend, strides, offset.
    ([2, 3, 4], [2, 1, 0], None, (12, 4, 1), 0),
    ([2, 3, 4], [0, 1, 2], None, (1, 2, 6), 0),
    ([2, 3, 4], [2, 0, 1], None, (4, 8, 1), 0),
    ([2, 3, 4], [1, 2, 0], None, (12, 1, 3), 0),
    ([2, 3, 4], None, [True, False, True], (12, -4, 1), 8),
    ([2, 3, 4], [2, 0, 1], [False, True, False], (-4, 8, -1), 7),
    ([2, 3], [1, 0], [False, True], (-3, 1), 3),
]


@pytest.mark.parametrize(("extents", "order", "ascend", "strides", "offset"), ORDERS)
def test_storage_orders(extents, order, ascend, strides, offset):
    values = np.arange(np.prod(extents), dtype="<i8")
    keys = {key: value for key, value in (("order", order), ("ascend", ascend)) if value is not None}
    label = described({"dtype": "i", "word": 8, "shape": extents, **keys})
    (read,) = decode(message(label, values.tobytes())).tensors
    assert (read.layout.strides, read.layout.offset) == (strides, offset)
    for index in read.shape.indices():
        place = offset + sum(i * s for i, s in zip(index, strides, strict=True))
        assert read[index].item() == values[place]


@pytest.mark.parametrize(
    "beside", [None, {}, [], [1, "two"], 5, "x", {"deep": [{"er": None}]}, True, 0.5, {"é": "日本"}]
)
def test_any_metadata_of_a_tensor_is_kept(beside):
    read = decode(tensor(metadata=beside))
    assert read.tensor_metadata == (beside,)
    assert read.label_object == described({**GOOD, "metadata": beside})


@pytest.mark.parametrize("beside", [{}, {"a": [1, 2.5, None, {"b": "x"}]}, {"n": 2**64, "m": -(2**63) - 1}])
def test_any_object_of_metadata_is_kept(beside):
    assert decode(message(described(metadata=beside))).metadata == beside


def test_large_numbers_in_metadata_stay_integers():
    number = 10**999
    assert decode(tensor(metadata={"n": number})).tensor_metadata == ({"n": number},)
    assert reason_of(tensor(metadata={"n": 10 * number})) == "limit"
    assert reason_of(tensor(shape=[number])) == "limit"
    assert reason_of(tensor(part=number)) == "layout"
    assert reason_of(tensor(word=number)) == "unsupported"
    assert reason_of(tensor(pointer=number)) == "unsupported"
    assert reason_of(tensor(order=[number, 0])) == "layout"
    assert reason_of(tensor(origin=[number, 0])) == "limit"


def test_zero_extents_go_with_any_others():
    for extents in ([0], [0, 2**36], [0, 2**19, 2**19], [0] * 64):
        (read,) = decode(message(described({**GOOD, "shape": extents}), b"")).tensors
        assert (read.shape.extents, read.size) == (tuple(extents), 0)


def test_a_shared_part_is_legal_and_is_checked_and_copied_once():
    bools = np.ones(2**20, dtype=np.bool_)
    one = {"dtype": "b", "word": 1, "shape": [2**20], "part": 0}
    other = {**one, "dtype": "u", "shape": [2**10, 2**10]}
    numbers = {**one, "dtype": "f", "word": 4, "shape": [2**18], "part": 1}
    unaligned = memoryview(bytes(2**20 + 1))[1:]
    frames = message(described(*[one, other, numbers] * 1000), bools.data.cast("B"), unaligned)
    tracemalloc.start()
    try:
        read = decode(frames)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(read.tensors) == 3000
    assert peak < 16 * 2**20
    assert np.shares_memory(np.asarray(read.tensors[0]), np.asarray(read.tensors[-2]))
