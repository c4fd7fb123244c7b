"""Messages as Wire-Cell makes them: empty sets, tensors of metadata alone, metadata that nests."""

import json

import numpy as np
import pytest

from tensorwrapper.errors import LocalProtocolError, RemoteProtocolError
from tensorwrapper.wire import decode, encode
from tests.support.wire.messages import GOOD, PAYLOAD, described, message

DEEP = {"datatype": "pcdataset", "datapath": "a/b", "arrays": {"x": "p/x"}}


def label_of(frames):
    return json.loads(bytes(frames[0])[8:])


def test_section_6_a_set_without_tensors_has_none():
    read = decode(message({"TENS": {"metadata": {"run": 3}}}))
    assert (read.tensors, read.tensor_metadata, read.metadata) == ((), (), {"run": 3})
    assert encode(read) == read.to_frames()
    grown = read.append(np.arange(2))
    assert (grown.tensors[0].tolist(), grown.metadata) == ([0, 1], {"run": 3})


@pytest.mark.parametrize("spoilt", [{"dtype": "?"}, {"dtype": "O"}, {"word": 3}, {"dtype": "?", "word": 0}])
def test_section_6_an_unknown_type_spoils_its_own_tensor(spoilt):
    read = decode(message(described(GOOD, {**GOOD, **spoilt}, GOOD), PAYLOAD))
    assert read.tensors[0].tolist() == read.tensors[2].tolist() == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(RemoteProtocolError) as caught:
        read.tensors[1]
    assert caught.value.reason == "unsupported"


def test_section_6_metadata_nests_as_deep_as_asked():
    for depth in (2, 3, 60):
        frames = encode([np.zeros(1)], tensor_metadata=[DEEP], metadata_depth=depth)
        assert decode(frames).tensor_metadata == (DEEP,)
    with pytest.raises(LocalProtocolError, match="must be a number"):
        encode([np.zeros(1)], tensor_metadata=[DEEP])
    with pytest.raises(LocalProtocolError, match="metadata_depth"):
        encode([np.zeros(1)], tensor_metadata=[{"a": {"b": [1]}}], metadata_depth=2)
    endless = {}
    endless["a"] = endless
    with pytest.raises(LocalProtocolError, match="holds itself"):
        encode([np.zeros(1)], tensor_metadata=[endless], metadata_depth=5)


def test_section_6_tensors_are_compressed_one_by_one():
    a = np.zeros(5000)
    frames = encode([a, a, a], compress=[None, "zlib", None])
    packings = [entry.get("packing") for entry in label_of(frames)["TENS"]["tensors"]]
    assert packings == [None, "zlib", None]
    assert frames[2:3] == encode([a])[2:]
    assert [t.tolist() for t in decode(frames).tensors] == [a.tolist()] * 3
    assert encode([a, a], compress=[None, None]) == encode([a, a])
    assert encode([a, a], compress=["zlib", "zlib"]) == encode([a, a], compress="zlib")
    with pytest.raises(LocalProtocolError, match="2 codecs do not fit 1 tensors"):
        encode([a], compress=["zlib", None])
    with pytest.raises(LocalProtocolError, match="must be one of"):
        encode([a], compress=["gzip"])


def test_section_5_novel_keys_of_tens_are_written():
    frames = encode([np.zeros(2)], tens={"novel": {"a": [1]}})
    assert label_of(frames)["TENS"]["novel"] == {"a": [1]}
    read = decode(frames)
    again = encode(read, tens={"other": 1}, metadata={"m": 1})
    assert label_of(again)["TENS"].keys() == {"metadata", "novel", "other", "tensors"}
    for taken in ("tensors", "metadata", "checksums"):
        with pytest.raises(LocalProtocolError, match=taken):
            encode([], tens={taken: 1})
