"""The packing of triangles: a side that does not fit its elements is refused."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape, wire
from tensorwrapper.errors import RemoteProtocolError
from tensorwrapper.wire.frames._label import dump_label


def filled(shape):
    return tw.from_buffer(np.arange(1.0, shape.size + 1), shape)


@pytest.mark.parametrize("n", [-1, 2, 4, 2**36 + 1, 2**80, 3.0, None])
def test_section_5_triangles_of_another_size_are_refused(n):
    message = wire.decode(wire.encode([filled(Shape.triangular(3))]))
    label = message.label_object
    label["TENS"]["tensors"][0]["triangular"]["n"] = n
    with pytest.raises(RemoteProtocolError):
        wire.decode(wire.Message(label=dump_label(label), parts=message.parts).to_frames())
