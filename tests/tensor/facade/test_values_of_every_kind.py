"""Tensors of every kind written into boxes: each path writes them, or none does."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper import selection as sel
from tensorwrapper.errors import TensorWrapperError

WINDOW = Shape(4, 4)[1:3, 1:3]
NESTED = Shape.nested(Shape(2, 2), layers=(1, 1))
BOXES = {
    "a box": lambda: tw.zeros((2, 2)),
    "a window": lambda: tw.zeros((4, 4)).window(WINDOW),
    "turned round": lambda: tw.zeros((2, 2)).rotate((1, 0)),
    "in layers": lambda: tw.from_buffer(np.zeros(4), NESTED),
    "sparse": lambda: tw.sparse([(0, 0)], [2.0], Shape(2, 2)),
}
SPARSE = tw.sparse([(0, 1)], [5.0], Shape(2, 2), fill_value=1.0)
SQUARE = tw.as_tensor([[1.0, 2.0], [3.0, 4.0]])
VALUES = {
    "a sparse tensor": SPARSE,
    "sparse rows": tw.from_buffer(SPARSE.buffer, Shape.jagged([2, 2])),
    "rows of one length": tw.jagged([[1.0, 2.0], [3.0, 4.0]]),
    "rows": tw.jagged([[1.0, 2.0], [3.0]]),
    "one row of one": tw.jagged([[9.0]]),
    "tiles": SQUARE.tiled(tw.Tiling([2], [1, 1])),
    "a box in layers": tw.from_buffer(np.arange(4.0), NESTED),
    "a window": tw.as_tensor(np.arange(16.0).reshape(4, 4)).window(WINDOW),
    "a sparse number": SPARSE[0, 1],
    "a box": SQUARE,
    "a row": tw.as_tensor([7.0, 8.0]),
    "an array with a mode more": np.arange(4.0).reshape(1, 2, 2),
    "a list": [[1, 2], [3, 4]],
    "text": tw.strings([["a", "b"], ["c", "d"]]),
}
REFUSED = {"sparse rows", "rows of one length", "rows", "one row of one", "tiles", "text"}
PLACES = ([[0, 0], [1, 1]], [[0, 1], [0, 1]])


def _set(target, key, value):
    target[key] = value


WAYS = {
    "all": lambda t, value: _set(t, ..., value),
    "assign": lambda t, value: t.assign(value),
    "a list": lambda t, value: _set(t, [0, 1], value),
    "a mask": lambda t, value: _set(t, np.array([True, True]), value),
    "points": lambda t, value: _set(t.vindex, PLACES, value),
    "an outer product": lambda t, value: _set(t.oindex, ([0, 1],), value),
    "a view": lambda t, value: _set(sel.as_view(t), ..., value),
    "a list of a view": lambda t, value: _set(sel.as_view(t), [0, 1], value),
    "parts of a view": lambda t, value: _set(tw.concat([t[:1], t[1:]]), ..., value),
}


@pytest.fixture(scope="module")
def served():
    with (
        tw.serve({"t": tw.zeros((2, 2))}, writable=True) as server,
        tw.connect(server.address) as remote,
    ):

        def put(tensor):
            server.replace("t", tensor)
            return remote["t"]

        yield put


def _expected(box, name):
    """Return the elements that a write leaves, None where it is refused."""
    if name in REFUSED or (name == "a sparse tensor" and not box.is_sparse):
        return None
    value = VALUES[name]
    given = value.to_dense() if name.startswith("a sparse") else value
    given = given.elements().reshape(given.shape.flatten().extents) if isinstance(given, tw.Tensor) else given
    target = np.zeros((2, 2))
    target[...] = given
    return target.reshape(-1).tolist()


def _found(target, write, value):
    try:
        write(target, value)
    except TensorWrapperError:
        return None
    return tw.as_tensor(target).elements().tolist()


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("make", BOXES.values(), ids=BOXES)
def test_a_value_is_written_by_every_path_or_by_none(make, name, served):
    value, expected = VALUES[name], _expected(make(), name)
    given = [value] if isinstance(value, list) else [value, sel.as_view(value)]
    for own in given:
        for way, write in WAYS.items():
            target = make()
            before = target.elements().tolist()
            assert _found(target, write, own) == expected, way
            assert expected is not None or target.elements().tolist() == before, way
        for write in (WAYS["all"], lambda t, own_value: _set(t, [0, 1], own_value)):
            assert _found(served(make()), write, own) == expected
