"""Targets that read Wire-Cell's tensor sets."""

import contextlib
import itertools

import numpy as np

import tensorwrapper as tw
from tensorwrapper import wire
from tensorwrapper.errors import RemoteProtocolError, TensorSetError, TensorWrapperError
from tensorwrapper.wirecell import PointTree, TensorSet
from tests.fuzz.messages import LIMITS, use_tensor
from tests.fuzz.mutate import mutate_frames, pack, unpack
from tests.fuzz.target import Target

MOST = 20
"""Items of one set that are used: a million of one name would all be the same."""


def sets() -> list[TensorSet]:
    points = {"x": tw.jagged([[1.5, 2.5], [], [3.5]]), "n": tw.jagged([[1, 2], [], [3]])}
    corners = {"xyz": tw.jagged([np.zeros((1, 3)), np.ones((2, 3)), np.zeros((0, 3))])}
    tree = PointTree([0, 0, 1], {"3d": points, "corners": corners}, {"run": 3})
    frame = {"datapath": "f/0", "datatype": "frame", "traces": ["f/0/t"], "time": 1.5, "masks": {"a": [1]}}
    trace = {"datapath": "f/0/t", "datatype": "trace", "tbin": 3}
    return [
        TensorSet.from_point_trees(5, {"t/0": tree, "t/1": PointTree([0], {})}, {"datatype": "tensorset"}),
        TensorSet(0, [tw.no_elements(), np.arange(6, dtype="i2").reshape(2, 3)], [frame, trace]),
        TensorSet(1, [], metadata={"empty": True}),
    ]


def use_set(given: TensorSet) -> None:
    """Do what readers of sets do: follow paths, take trees apart, and write all of it again."""
    for number in range(min(len(given), MOST)):
        with contextlib.suppress(TensorWrapperError):
            use_tensor(given.tensors[number])
    with contextlib.suppress(TensorWrapperError):
        TensorSet.from_message(wire.decode(given.to_frames()))
    tree = given.tree
    str(tree)
    tree.children()
    for item in itertools.islice(tree.values(), MOST):
        for key in itertools.islice(item.metadata, MOST):
            with contextlib.suppress(TensorWrapperError):
                repr(item.follow(key))
        with contextlib.suppress(TensorWrapperError):
            tree.dataset(item.path)
        with contextlib.suppress(TensorWrapperError):
            _use_points(given.point_tree(item.path))


def _use_points(tree: PointTree) -> None:
    assert len(tree.children()) == len(tree)
    for cloud in itertools.islice(tree.clouds.values(), MOST):
        for points in itertools.islice(cloud.values(), MOST):
            assert points.shape.extent(0) == len(tree)
            use_tensor(points)
    if len(tree.clouds) < MOST:
        TensorSet.from_point_trees(0, {"again": tree})


TARGETS = [
    Target(
        "set-message",
        lambda data: TensorSet.from_message(wire.decode(unpack(data), limits=LIMITS)),
        lambda: [pack([bytes(frame) for frame in own.to_frames()]) for own in sets()],
        ("wirecell.TensorSet.from_message",),
        use_set,
        (RemoteProtocolError, TensorSetError),
        mutate_frames,
    ),
]
