"""Tensors of metadata alone: no elements, no bytes."""

import json
import pickle

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import LocalProtocolError, RemoteProtocolError
from tensorwrapper.wire import Message, decode, encode, no_elements
from tensorwrapper.wire.lowlevel import is_metadata_alone
from tests.support.wire.messages import GOOD, PAYLOAD, described, message

DEEP = {"datatype": "pcdataset", "datapath": "a/b", "arrays": {"x": "p/x"}}


FRAME = {"dtype": "?", "word": 0, "shape": [], "part": 1, "metadata": DEEP}


def label_of(frames):
    return json.loads(bytes(frames[0])[8:])


def test_section_6_a_tensor_of_metadata_alone_is_read_and_written():
    read = decode(message(described(GOOD, FRAME, {**GOOD, "part": 2}), PAYLOAD, b"", PAYLOAD), strict=True)
    alone = read.tensors[1]
    assert (alone.size, alone.shape, alone.tolist()) == (0, tw.Shape(0), [])
    assert read.tensor_metadata == (None, DEEP, None)
    assert read.tensors[2].tolist() == [[0, 1, 2], [3, 4, 5]]
    frames = encode([*read.tensors], tensor_metadata=read.tensor_metadata, metadata_depth=2)
    assert label_of(frames)["TENS"]["tensors"] == [
        GOOD,
        FRAME,
        {**GOOD, "part": 2},
    ]
    assert bytes(frames[3]) == b""


def test_section_6_a_tensor_of_metadata_alone_is_made(tmp_path):
    for alone in (no_elements(), pickle.loads(pickle.dumps(no_elements())), no_elements()[:]):
        frames = encode([alone], tensor_metadata=[{"datatype": "frame"}])
        assert label_of(frames)["TENS"]["tensors"] == [
            {"dtype": "?", "metadata": {"datatype": "frame"}, "part": 0, "shape": [], "word": 0}
        ]
        assert encode(decode(frames).tensors, tensor_metadata=[{"datatype": "frame"}]) == frames
    message = Message().append(no_elements(), DEEP, metadata_depth=2)
    assert message.tensor_metadata == (DEEP,)
    with tw.open(tmp_path / "x.tens", "w") as file:
        file.append("frame", no_elements(), metadata={"datatype": "frame"})
    with tw.open(tmp_path / "x.tens") as file:
        assert (file["frame"].size, file.tensor_metadata("frame")) == (0, {"datatype": "frame"})
    # What it is there to say goes with it.
    told = tw.no_elements({"datatype": "frame"})
    for alone in (told, pickle.loads(pickle.dumps(told)), told[:], told.copy()):
        assert encode([alone]) == frames
    assert decode(encode([told], tensor_metadata=[{"a": 1}])).tensor_metadata == ({"a": 1},)
    deep = tw.no_elements(DEEP)
    with pytest.raises(LocalProtocolError, match="must be a number"):
        encode([deep])
    assert Message().append(deep, metadata_depth=2).tensor_metadata == (DEEP,)
    with pytest.raises(LocalProtocolError):
        tw.no_elements({"a": object()})
    # An empty array is something else.
    assert label_of(encode([np.zeros(0, bool)]))["TENS"]["tensors"][0]["dtype"] == "b"


def test_what_is_metadata_alone_is_told_from_what_is_empty():
    assert is_metadata_alone(no_elements({"a": 1}))
    assert is_metadata_alone(decode(encode([no_elements()])).tensors[0])
    for other in (tw.as_tensor(np.zeros(0, bool)), np.zeros(0), None):
        assert not is_metadata_alone(other)


def test_section_6_a_tensor_of_metadata_alone_has_no_bytes():
    with pytest.raises(RemoteProtocolError, match="0 bytes"):
        decode(message(described({**FRAME, "part": 0}), b"x"))
    with pytest.raises(LocalProtocolError):
        encode([no_elements()], compat="strict")
