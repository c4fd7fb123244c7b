"""Sets of tensors in memory and in messages."""

import json

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import wire
from tensorwrapper.errors import ConversionError, DTypeError, LocalProtocolError, TensorSetError
from tensorwrapper.selection import as_view
from tensorwrapper.wirecell import TensorSet
from tests.support.wire.messages import COORDINATES

SAID = [
    {"datapath": "pc/0", "datatype": "pcdataset", "arrays": {"x": "pc/0/arrays/x"}, "user": [1, {"a": None}]},
    {"datapath": "pc/0/arrays/x", "datatype": "pcarray"},
]


def a_set():
    return TensorSet(7, [tw.no_elements(), np.arange(3.0)], SAID, {"datatype": "tensorset"})


def test_a_set_goes_through_a_message():
    back = TensorSet.from_message(wire.decode(a_set().to_frames()))
    assert (back.ident, len(back), back.metadata) == (7, 2, {"datatype": "tensorset"})
    assert list(back.tensor_metadata) == SAID
    assert back.tree.dataset()["x"].tolist() == [0, 1, 2]
    assert back.to_frames() == a_set().to_frames()


def test_the_message_of_a_set_is_that_of_wire_cell():
    label = json.loads(bytes(a_set().to_frames()[0])[8:])
    assert label["TENS"]["tensors"] == [
        {"dtype": "?", "metadata": SAID[0], "part": 0, "shape": [], "word": 0},
        {"dtype": "f", "metadata": SAID[1], "part": 1, "shape": [3], "word": 8},
    ]
    with pytest.raises(LocalProtocolError, match="strict"):
        a_set().to_frames(compat="strict")


@pytest.mark.parametrize(
    "label", ["", "null\n", '{"TENS":{"metadata":{"run":3}}}', '{"TENS":{"metadata":null}}']
)
def test_a_set_without_tensors_is_read(label):
    read = TensorSet.from_message(wire.decode([b"ZIO6TENS" + label.encode(), COORDINATES]))
    assert (len(read), list(read.tensors), len(read.tree)) == (0, [], 0)


def test_views_and_lists_are_tensors_of_a_set():
    own = TensorSet(0, [as_view(np.arange(6.0).reshape(2, 3))[:, 1], [1, 2]])
    assert [t.tolist() for t in TensorSet.from_message(wire.decode(own.to_frames())).tensors] == [
        [1.0, 4.0],
        [1, 2],
    ]
    assert list(own.tensor_metadata) == [{}, {}]


def test_what_is_no_set_is_refused():
    with pytest.raises(TensorSetError, match="2 tensors have 1 metadata"):
        TensorSet(0, [[1], [2]], [{}])
    for said in (3, [1], "x"):
        with pytest.raises(TensorSetError, match="tensor 0 is an object"):
            TensorSet(0, [[1]], [said])
    with pytest.raises(TensorSetError, match="the whole"):
        TensorSet(0, [], [], [1])
    with pytest.raises(ConversionError):
        TensorSet(1.5, [])
    with pytest.raises(DTypeError):
        TensorSet(0, [object()])
