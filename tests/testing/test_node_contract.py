"""Every node of the library keeps the contract of nodes."""

from typing import final

import attrs
import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import DTypeError, ExtentMismatchError
from tensorwrapper.selection import Expression, Node
from tensorwrapper.selection.expressions import (
    _elementwise,
    _generators,
    _joining,
    _ordinals,
    _padding,
    _routing,
    _source_node,
)
from tensorwrapper.testing import NodeContract

X = np.arange(12, dtype="i8").reshape(3, 4)
Y = X * 10 + 1.5


def _of(view):
    return view.expression.node


def _normal(view):
    return view.normal_form().node


NODES = {
    "a tensor": (lambda: _of(sel.as_view(X.reshape(-1))), X.reshape(-1)),
    "concat": (lambda: _of(sel.concat([X, X[:1], X[::-1]])), np.concatenate([X, X[:1], X[::-1]])),
    "interleave": (
        lambda: _of(sel.interleave([X, -X[:, :3]], mode=1)),
        np.stack([X[:, 0], -X[:, 0], X[:, 1], -X[:, 1], X[:, 2], -X[:, 2], X[:, 3]], axis=1),
    ),
    "stack": (lambda: _of(sel.stack([X, X + 1], mode=1)), np.stack([X, X + 1], 1)),
    "pad": (
        lambda: _of(sel.pad(X, [(1, 0), (0, 2)], fill_value=7)),
        np.pad(X, [(1, 0), (0, 2)], constant_values=7),
    ),
    "where": (lambda: _of(sel.where(X % 2 == 0, Y, -Y)), np.where(X % 2 == 0, Y, -Y)),
    "minimum": (lambda: _of(sel.minimum(X, 11 - X)), np.minimum(X, 11 - X)),
    "maximum": (lambda: _of(sel.maximum(X, 11 - X, 5)), np.maximum(np.maximum(X, 11 - X), 5)),
    "cast": (lambda: _of(sel.as_view(Y).astype("i2")), Y.astype("i2")),
    "whole": (lambda: _of(sel.as_view(X[:, 1:3].T).reshape((6,))), X[:, 1:3].T),
    "once": (lambda: _ordinals.Once(sel.as_view(X[:, 1:3].T).expression), X[:, 1:3].T),
    "full": (lambda: _of(sel.full((2, 3), 7)), np.full((2, 3), 7)),
    "iota": (lambda: _of(sel.iota(tw.Shape(2, 3, origin=(1, 5)), 1)), np.array([[5, 6, 7], [5, 6, 7]])),
    "linspace": (lambda: _of(sel.linspace(0, 1, 5)), np.linspace(0, 1, 5)),
    "eye": (lambda: _of(sel.eye(2, 3, diagonal=1)), np.eye(2, 3, 1)),
    "compute": (
        lambda: _of(sel.compute((2, 3), _ten, dtype="i8")),
        np.add.outer(10 * np.arange(2), np.arange(3)),
    ),
    "random": (
        lambda: _of(sel.random((3, 4), seed=5)),
        np.asarray(sel.random((3, 4), seed=5).compute()),
    ),
    "random numbers of views": (
        lambda: _of(sel.normal((3, 4), X, 2.0, seed=5)),
        np.asarray(sel.normal((3, 4), X, 2.0, seed=5).compute()),
    ),
    "route": (lambda: _normal(sel.concat([X, 2 * X])), np.concatenate([X, 2 * X])),
    "route in turns": (
        lambda: _normal(sel.interleave([X[:, 0], X[:, 1], 5 * X[:, 2]])),
        np.stack([X[:, 0], X[:, 1], 5 * X[:, 2]], axis=1).reshape(-1),
    ),
    "some random numbers": (
        lambda: _normal(sel.normal((3, 4), X, 2.0, seed=5)[1:]),
        np.asarray(sel.normal((3, 4), X, 2.0, seed=5).compute())[1:],
    ),
    "nothing": (lambda: _of(sel.concat([X[:0], X[:0]])), X[:0]),
}


def _ten(i, j):
    return 10 * i + j


class TestNodes(NodeContract):
    """Each law, on each node."""

    @pytest.fixture(autouse=True, params=NODES)
    def _case(self, request):
        self.make, self.elements = NODES[request.param]

    def node(self):
        return self.make()

    def expected(self):
        return self.elements


@final
@attrs.frozen
class Halved(Node):
    """Half of each element of its operand, with what is wrong about it."""

    operands: tuple[Expression, ...]
    fault: str

    name, dtype = "halved", np.dtype("f4")

    @property
    def extents(self):
        return self.operands[0].extents

    def with_operands(self, operands):
        return Halved(operands, self.fault)

    def values(self, places, given=()):  # noqa: ARG002
        found = (given[0] / 2).astype("f8" if self.fault == "dtype" else "f4")
        return found[1:] if self.fault == "extents" else found


class HalvedContract(NodeContract):
    fault = "none"

    def node(self):
        return Halved((_all(X),), self.fault)

    def expected(self):
        return (X / 2).astype("f4")


def _all(array):
    return sel.as_view(array).expression


@pytest.mark.parametrize(
    ("fault", "error"), [("none", None), ("dtype", DTypeError), ("extents", ExtentMismatchError)]
)
def test_values_that_are_not_what_was_declared_are_found_out(fault, error):
    contract = HalvedContract()
    contract.fault = fault
    view = contract.view()
    indices = np.argwhere(X >= 0)
    asked = [view.compute, view.route_many(indices)[0].read, view.gather(1, [3, 0, 0]).compute]
    if error is None:
        contract.test_values_are_of_its_type_and_fill_the_places()
        contract.test_the_whole_is_computed()
        return
    with pytest.raises(AssertionError):
        contract.test_values_are_of_its_type_and_fill_the_places()
    for ask in asked:
        with pytest.raises(error, match="`values` of 'halved' gave"):
            ask()


def test_no_node_is_forgotten():
    rooms = (_elementwise, _generators, _joining, _padding, _source_node, _routing, _ordinals)
    known = {
        own
        for room in rooms
        for own in vars(room).values()
        if isinstance(own, type) and issubclass(own, Node) and not own.__abstractmethods__
    }
    assert known - {type(make()) for make, _ in NODES.values()} == set()
