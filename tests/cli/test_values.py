"""The first elements of tensors of every kind, and elements as JSON has them."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.cli._values import first_of, plain


@pytest.mark.parametrize(
    ("tensor", "first"),
    [
        (tw.as_tensor(np.float64(2)), 2.0),
        (tw.as_tensor(np.arange(100)), list(range(12))),
        (tw.as_tensor(np.arange(100).reshape(10, 10)), [[10 * a + b for b in range(6)] for a in range(6)]),
        (tw.jagged([[1, 2], [], [3] * 9]), [[1, 2], [], [3] * 6]),
        (tw.strings(["a", "b"]), ["a", "b"]),
        (tw.sparse([[0, 1], [900, 0]], [1.5, 2.5], tw.Shape(1000, 2)), [[0.0, 1.5], *[[0.0, 0.0]] * 5]),
        (tw.as_tensor(np.zeros((0, 3))), []),
    ],
)
def test_the_first_elements_whatever_the_kind(tensor, first):
    assert first_of(tensor).tolist() == first
    with tw.serve({"x": tensor}) as server, tw.connect(server.address) as remote:
        assert first_of(remote["x"]).tolist() == first


def test_of_many_modes_few_elements_are_first():
    assert first_of(tw.as_tensor(np.zeros([4] * 6))).shape == tw.Shape(1, 1, 3, 3, 3, 3)
    assert first_of(tw.zeros([1] * 28 + [4] * 4)).shape.size == 81


def test_of_what_is_served_little_travels():
    with tw.serve({"x": np.zeros((1000, 1000))}) as server, tw.connect(server.address) as remote:
        first_of(remote["x"])

        assert remote.counters.bytes_received_on_wire < 5000


def test_numbers_that_json_lacks_are_texts():
    assert plain([1, 2.5, float("nan"), True, "a", 1 + 2j]) == [1, 2.5, "nan", True, "a", [1.0, 2.0]]
    assert plain(np.array(["2026-01-01"], "M8[D]").tolist()) == ["2026-01-01"]
