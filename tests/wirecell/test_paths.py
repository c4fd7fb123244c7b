"""Tensors by their paths, and what they name."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import TensorNameError, TensorSetError
from tensorwrapper.wirecell import TensorSet

FRAME = {
    "datapath": "frames/0",
    "datatype": "frame",
    "traces": ["frames/0/traces/0", "frames/0/traces/1"],
    "tracedata": "frames/0/tracedata",
    "none": "",
    "time": 3,
    "odd": [1],
}


def tree_of(*said, tensors=None):
    return TensorSet(0, tensors or [[k] for k in range(len(said))], list(said)).tree


def whole():
    return tree_of(
        FRAME,
        {"datapath": "/frames/0//traces/0/", "datatype": "trace"},
        {"datapath": "frames/0/traces/1", "datatype": "trace"},
        {"datapath": "frames/0/tracedata"},
        {"no": "path"},
    )


def test_tensors_stand_at_their_paths():
    tree = whole()
    assert list(tree) == ["frames/0", "frames/0/traces/0", "frames/0/traces/1", "frames/0/tracedata"]
    assert tree["/frames/0/traces/0"].tensor.tolist() == [1]
    assert "frames/0/" in tree
    assert "frames" not in tree
    assert 3 not in tree
    assert [item.number for item in tree.of_type("trace")] == [1, 2]
    assert (tree.children(), tree.children("frames/0")) == (("frames",), ("traces", "tracedata"))
    assert str(tree).splitlines()[0] == "frames/0            frame"
    with pytest.raises(TensorNameError, match="frames/1"):
        tree["frames/1"]


def test_paths_are_followed():
    top = whole()["frames/0"]
    assert {k: item.tensor.tolist() for k, item in top.follow("traces").items()} == {"0": [1], "1": [2]}
    assert top.follow("tracedata")["tracedata"].datatype == ""
    assert top.follow("none") == {}
    for key in ("time", "missing", "odd"):
        with pytest.raises(TensorSetError, match=key):
            top.follow(key)
    with pytest.raises(TensorNameError):
        tree_of({"datapath": "a", "traces": ["gone"]})["a"].follow("traces")


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ([{"datapath": "a"}, {"datapath": "/a"}], "0 and 1 are both at 'a'"),
        ([{"datapath": 3}], "tensor 0"),
        ([{"datapath": ["x" * 1000]}], "tensor 0"),
    ],
)
def test_paths_that_are_none_are_refused(said, named):
    with pytest.raises(TensorSetError, match=named) as caught:
        tree_of(*said)
    assert len(str(caught.value)) < 200


def test_point_clouds_are_arrays_by_name():
    said = [
        {"datapath": "a", "datatype": "pcdataset", "arrays": {"x": "a/x", "y": "a/y"}},
        {"datapath": "a/x"},
        {"datapath": "a/y"},
    ]
    tree = tree_of(*said, tensors=[[], np.arange(3), np.zeros((3, 2))])
    assert {name: own.shape.extent(0) for name, own in tree.dataset("a").items()} == {"x": 3, "y": 3}
    with pytest.raises(TensorSetError, match="2, 3"):
        tree_of(*said, tensors=[[], np.arange(3), np.arange(2)]).dataset()
    with pytest.raises(TensorSetError, match="no mode"):
        tree_of(*said, tensors=[[], np.arange(3), np.array(2)]).dataset()
    with pytest.raises(TensorSetError, match="not a 'pcdataset'"):
        tree.dataset("a/x")
    with pytest.raises(TensorNameError, match="no pcdataset"):
        tree_of().dataset()


STEP = st.sampled_from("abc")


@given(
    st.lists(st.lists(STEP, min_size=1, max_size=4).map("/".join), unique=True), st.lists(STEP, max_size=3)
)
def test_children_are_the_steps_below(paths, below):
    tree = tree_of(*[{"datapath": path} for path in paths])
    expected = {
        tuple(p.split("/"))[len(below)]
        for p in paths
        if p.split("/")[: len(below)] == below and len(p.split("/")) > len(below)
    }
    assert set(tree.children("/".join(below))) == expected
