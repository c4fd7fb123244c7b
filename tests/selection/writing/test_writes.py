"""Values that lie in the memory that is written are read first."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ExtentMismatchError


@pytest.mark.parametrize("kind", ["view", "tensor", "array", "lazy"])
def test_a_view_is_turned_in_place(kind):
    memory = np.arange(12)
    t = tw.as_tensor(memory)
    view = sel.concat([t[:7], t[7:]])
    turned = {"view": view[::-1], "tensor": t[::-1], "array": memory[::-1], "lazy": sel.as_view(t)[::-1]}[
        kind
    ]
    assert view.normal_form().node.name == "source"
    view.assign(turned)
    assert memory.tolist() == list(range(12))[::-1]


@pytest.mark.parametrize("kind", ["view", "tensor", "array"])
def test_several_parts_take_the_values_of_one_another(kind):
    memory, other = np.arange(6), np.arange(10, 14)
    t, u = tw.as_tensor(memory), tw.as_tensor(other)
    view = sel.interleave([t[2:], u])
    value = {"view": view[::-1], "tensor": tw.as_tensor(memory)[:1], "array": memory[5:]}[kind]
    wanted = np.broadcast_to(np.asarray(value), (8,)).copy()
    view.assign(value)
    assert view.compute().tolist() == wanted.tolist()


def test_a_shifted_part_is_not_smeared():
    memory = np.arange(8)
    t, u = tw.as_tensor(memory), tw.as_tensor(np.zeros(1, "i8"))
    sel.concat([t[1:], u]).assign(t)
    assert memory.tolist() == [0, 0, 1, 2, 3, 4, 5, 6]


def test_the_value_stays_as_it_was():
    value = np.arange(4.0)
    a, b = tw.as_tensor(np.zeros(2)), tw.as_tensor(np.zeros(2))
    sel.concat([a, b]).assign(value)
    a[0] = 9
    assert value.tolist() == [0.0, 1.0, 2.0, 3.0]


LAYERS = [(1, 2), (2, 1), (0, 3), (3, 0), (1, 1, 1)]
WRITTEN = [
    3.0,
    [[1.0, 2.0]] * 3,
    np.arange(12.0).reshape(2, 3, 2),
    np.arange(2.0),
    tw.as_tensor(np.arange(6.0).reshape(3, 2)),
    tw.zeros(tw.Shape.nested(tw.Shape(2, 3, 2), layers=(2, 1))),
]


@pytest.mark.parametrize("layers", LAYERS)
@pytest.mark.parametrize("value", WRITTEN, ids=lambda own: type(own).__name__)
def test_a_box_in_layers_takes_what_a_box_takes(layers, value):
    shape = tw.Shape.nested(tw.Shape(2, 3, 2), layers=layers)
    wanted = np.zeros((2, 3, 2))
    wanted[...] = value
    for through in (sel.as_view, lambda t: sel.concat([sel.as_view(t)[:1], sel.as_view(t)[1:]])):
        t = tw.zeros(shape)
        view = through(t)
        view[...] = value
        assert t.tolist() == wanted.tolist()
        with pytest.raises(ExtentMismatchError):
            view.assign(np.zeros(5))
        assert t.tolist() == wanted.tolist()
    with tw.serve({"t": tw.zeros(shape)}, writable=True) as server, tw.connect(server.address) as remote:
        remote["t"][...] = value
        assert remote["t"].compute().tolist() == wanted.tolist()
