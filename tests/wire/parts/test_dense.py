"""Dense elements leave in the order in which they lie."""

import itertools

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.buffer import count_copies
from tensorwrapper.wire import Message, decode, encode
from tests.support.wire.labels import described

KEPT = [
    # Boost's table: how an array of that order is made, and what is said of it.
    ((2, 1, 0), (), None, None),
    ((0, 1, 2), (), [0, 1, 2], None),
    ((2, 0, 1), (), [2, 0, 1], None),
    ((1, 2, 0), (), [1, 2, 0], None),
    ((2, 1, 0), (1,), None, [True, False, True]),
    ((2, 0, 1), (0, 2), [2, 0, 1], [False, True, False]),
]


def stored(order, down, extents=(2, 3, 4)):
    """An array whose modes lie in memory in an order (the fastest first), some of them backwards."""
    slowest_first = order[::-1]
    flat = np.arange(float(np.prod(extents)))
    array = flat.reshape([extents[mode] for mode in slowest_first]).transpose(np.argsort(slowest_first))
    return np.flip(array, down)


@pytest.mark.parametrize(("order", "down", "said", "ascend"), KEPT)
def test_orders_are_kept_as_boost_says_them(order, down, said, ascend):
    array = stored(order, down)
    with count_copies() as count:
        frames = encode([array], layout="keep")
        (read,) = decode(frames).tensors
    assert count.copies == 0
    label = described(frames)
    assert (label.get("order"), label.get("ascend")) == (said, ascend)
    assert read.layout.strides == tuple(s // 8 for s in array.strides)
    assert np.array_equal(np.asarray(read), array)
    assert np.shares_memory(np.frombuffer(frames[2], "<f8"), array)
    assert np.frombuffer(frames[2], "<f8").tolist() == [*range(24)]


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
@pytest.mark.parametrize("down", [c for r in range(4) for c in itertools.combinations(range(3), r)])
def test_every_permuted_and_reversed_view_leaves_without_a_copy(order, down):
    array = stored(order, down)
    view = tw.as_tensor(array)
    with count_copies() as count:
        (read,) = decode(encode([view], layout="keep")).tensors
    assert count.copies == 0
    assert np.array_equal(np.asarray(read), array)
    built = Message().append(view, layout="keep")
    assert built.tensors[0].tolist() == array.tolist()
