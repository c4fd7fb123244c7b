"""Trees of point clouds as jagged tensors, both ways, against a reader and a writer of nodes one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import wire
from tensorwrapper.errors import TensorNameError, TensorSetError
from tensorwrapper.selection import View, as_view
from tensorwrapper.wirecell import PointTree, TensorSet

TYPES = {"x": "f8", "n": "i4", "xyz": "f4"}


def points_of(name, count, start):
    inner = (3,) if name == "xyz" else ()
    return (start + np.arange(count * int(np.prod(inner)))).reshape(count, *inner).astype(TYPES[name])


@st.composite
def forests(draw):
    """Nodes in depth-first order: the parent of each, and for each cloud the arrays of its points."""
    n = draw(st.integers(1, 8))
    parents = [
        k if draw(st.booleans()) and k else min(k, draw(st.integers(0, max(k - 1, 0)))) for k in range(n)
    ]
    clouds = draw(
        st.dictionaries(
            st.sampled_from(["3d", "2d", "ctpc"]),
            st.sets(st.sampled_from(sorted(TYPES)), min_size=1).map(sorted),
            max_size=3,
        )
    )
    counts = {name: [draw(st.integers(0, 3)) for _ in range(n)] for name in clouds}
    nodes = [
        {
            name: {key: points_of(key, counts[name][k], 10 * k) for key in keys}
            for name, keys in clouds.items()
        }
        for k in range(n)
    ]
    return parents, clouds, nodes


def written_by_nodes(parents, clouds, nodes):
    """Write a tree as Wire-Cell's own writer goes along: node by node, cloud by cloud."""
    tensors, said = [np.array(parents, "i4")], [{"datapath": "t/0", "datatype": "pctree"}]
    said[0] |= {
        "pointclouds": "t/0/pointclouds" if clouds else "",
        "lpcmaps": "t/0/lpcmaps" if clouds else "",
    }

    def dataset(path, arrays):
        tensors.append(tw.no_elements())
        said.append({"datapath": path, "datatype": "pcdataset", "arrays": {}})
        top = said[-1]
        for key, array in arrays.items():
            top["arrays"][key] = f"{path}/arrays/{key}"
            tensors.append(array)
            said.append({"datapath": f"{path}/arrays/{key}", "datatype": "pcarray"})

    if clouds:
        store = "t/0/pointclouds/namedpcs"
        tensors.append(tw.no_elements())
        items = {name: f"{store}/{name}" for name in clouds}
        said.append({"datapath": "t/0/pointclouds", "datatype": "pcnamedset", "items": items})
        for name, keys in clouds.items():
            empty = {key: points_of(key, 0, 0) for key in keys}
            joined = {key: np.concatenate([empty[key], *[node[name][key] for node in nodes]]) for key in keys}
            dataset(f"{store}/{name}", joined)
        dataset(
            "t/0/lpcmaps",
            {
                name: np.array([len(node[name][keys[0]]) for node in nodes], "i4")
                for name, keys in clouds.items()
            },
        )
    return TensorSet(5, tensors, said)


@given(forests(), st.booleans())
def test_points_of_nodes_are_rows(forest, lazy):
    parents, clouds, nodes = forest
    whole = written_by_nodes(*forest)
    if lazy:
        whole = TensorSet(5, [t if not t.size else as_view(t) for t in whole.tensors], whole.tensor_metadata)
    tree = whole.point_tree("t/0")
    assert len(tree) == len(parents)
    assert tree.parents.tolist() == parents
    assert {name: list(cloud) for name, cloud in tree.clouds.items()} == clouds
    for k, node in enumerate(nodes):
        for name, cloud in tree.clouds.items():
            for key, rows in cloud.items():
                assert rows[k].tolist() == node[name][key].tolist()


@given(forests())
def test_trees_are_written_as_wire_cell_does(forest):
    whole = written_by_nodes(*forest)
    again = TensorSet.from_point_trees(5, {"t/0": whole.point_tree()})
    assert again.to_frames() == whole.to_frames()


@given(forests())
def test_children_and_roots(forest):
    parents = forest[0]
    tree = PointTree(np.array(parents, "i8"), {})
    n = len(parents)
    assert tree.children().tolist() == [[c for c in range(n) if parents[c] == k != c] for k in range(n)]
    assert tree.roots().tolist() == [k for k in range(n) if parents[k] == k]


def test_points_are_not_copied():
    points = np.arange(6.0)
    own = written_by_nodes([0, 0], {"3d": ["x"]}, [{"3d": {"x": points[:2]}}, {"3d": {"x": points[2:]}}])
    whole = own.tree.dataset("t/0/pointclouds/namedpcs/3d")["x"].to_numpy()
    rows = own.point_tree().clouds["3d"]["x"]
    assert np.shares_memory(rows.elements(), whole)
    again = TensorSet.from_point_trees(0, {"t": PointTree([0, 0], {"3d": {"x": rows}})})
    assert np.shares_memory(again.tree.dataset("t/pointclouds/namedpcs/3d")["x"].to_numpy(), whole)


def test_several_trees_and_what_is_said_of_them():
    x = tw.jagged([[1.0, 2.0]])
    one = PointTree([0], {"a": {"x": x}}, {"run": 3}, {"a": {"gain": [2]}})
    two = PointTree([0], {})
    whole = TensorSet.from_point_trees(1, {"t/0": one, "t/1": two}, {"datatype": "tensorset"})
    back = TensorSet.from_message(wire.decode(whole.to_frames()))
    assert back.metadata == {"datatype": "tensorset"}
    tree = back.point_tree("t/0")
    assert (tree.metadata, tree.cloud_metadata) == ({"run": 3}, {"a": {"gain": [2]}})
    assert (len(back.point_tree("t/1")), dict(back.point_tree("t/1").clouds)) == (1, {})
    assert repr(tree) == "PointTree(1 nodes, 'a')"
    with pytest.raises(KeyError):
        tree.clouds["b"]


def test_a_tree_without_nodes_is_one():
    whole = TensorSet.from_point_trees(
        0, {"t": PointTree(np.zeros(0, int), {"a": {"x": tw.as_tensor([]).unflatten([])}})}
    )
    tree = whole.point_tree()
    assert (len(tree), tree.children().tolist(), tree.roots().tolist()) == (0, [], [])
    assert tree.clouds["a"]["x"].tolist() == []


def test_rows_that_are_a_box_are_written():
    tree = PointTree([0, 0], {"a": {"x": np.arange(4.0).reshape(2, 2), "xyz": np.zeros((2, 2, 3))}})
    back = TensorSet.from_point_trees(0, {"t": tree}).point_tree("t")
    assert back.clouds["a"]["x"].tolist() == [[0, 1], [2, 3]]
    assert back.clouds["a"]["xyz"][1].shape == tw.Shape(2, 3)


def test_older_files_have_no_sizes_of_the_last_nodes():
    own = written_by_nodes([0, 0, 0], {"a": ["x"]}, [{"a": {"x": points_of("x", k, 0)}} for k in (2, 1, 0)])
    tensors = [*own.tensors]
    tensors[-1] = tensors[-1][:2]
    rows = TensorSet(0, tensors, own.tensor_metadata).point_tree().clouds["a"]["x"]
    assert rows.tolist() == [[0, 1], [0], []]


def _changed(number, tensor=None, **said):
    own = written_by_nodes([0, 0], {"a": ["x"]}, [{"a": {"x": points_of("x", k, 0)}} for k in (2, 1)])
    tensors, metadata = [*own.tensors], [*own.tensor_metadata]
    tensors[number] = tensors[number] if tensor is None else tensor
    metadata[number] = {**metadata[number], **said}
    tree = TensorSet(0, tensors, metadata).point_tree()
    return [points.tolist() for cloud in tree.clouds.values() for points in cloud.values()]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda: _changed(0, [1, 0]), "node 0 has 1"),
        (lambda: _changed(0, [0, -1]), "node 1 has -1"),
        (lambda: _changed(0, [0.0, 0.0]), "float64"),
        (lambda: _changed(0, [[0, 0]]), "integers"),
        (lambda: _changed(0, pointclouds=3), "pointclouds"),
        (lambda: _changed(0, lpcmaps={"lpcmaps": "t/0/lpcmaps"}), "one path"),
        (lambda: _changed(0, lpcmaps=""), "to which nodes"),
        (lambda: _changed(5, [2, 2]), "have 4 points"),
        (lambda: _changed(5, [3]), None),
        (lambda: _changed(5, [1]), "have 1 points"),
        (lambda: _changed(5, [4, -1]), "go from -1"),
        (lambda: _changed(5, [2**40, 1]), "go from 1"),
        (lambda: _changed(5, [2, 1, 0]), "2 nodes"),
        (lambda: _changed(5, [2.0, 1.0]), "float64"),
        (lambda: _changed(3, 1.5), "have 3 points"),
        (lambda: _changed(2, arrays=[3]), "path is text"),
        (lambda: _changed(2, datatype="pcgraph"), None),
    ],
)
def test_trees_that_break_the_model_are_refused(change, named):
    if named is None:
        assert change()
        return
    with pytest.raises(TensorSetError, match=named):
        change()


def test_what_is_missing_is_said():
    with pytest.raises(TensorNameError, match="no pctree"):
        TensorSet(0, []).point_tree()
    with pytest.raises(TensorNameError, match="gone"):
        _changed(1, items={"a": "gone"})
    with pytest.raises(TensorSetError, match="not a 'pctree'"):
        written_by_nodes([0], {"a": ["x"]}, [{"a": {"x": points_of("x", 1, 0)}}]).point_tree("t/0/lpcmaps")


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: PointTree([0, 0], {"a": {"x": tw.jagged([[1]])}}), "each of 2 nodes"),
        (lambda: PointTree([0, 0], {"a": {"x": [1, 2]}}), "each of 2 nodes"),
        (lambda: PointTree([1, 0], {}), "node 0"),
        (lambda: _written(x=tw.jagged([[1]]), y=tw.jagged([[1, 2]])), "'y'"),
        (lambda: _written(x=tw.jagged([[[1], [2, 3]]])), "as many numbers"),
        (
            lambda: _written(parents=[0, 0], x=tw.jagged([np.zeros((1, 2)), np.zeros((1, 3))])),
            "as many numbers",
        ),
    ],
)
def test_what_is_no_tree_is_refused(make, named):
    with pytest.raises(TensorSetError, match=named):
        make()


def _written(parents=(0,), **arrays):
    return TensorSet.from_point_trees(0, {"t": PointTree(parents, {"a": arrays})})


def test_a_set_that_names_one_array_a_million_times_costs_nothing_until_it_is_asked():
    own = written_by_nodes([0], {"a": ["x"]}, [{"a": {"x": points_of("x", 3, 0)}}])
    said = [*own.tensor_metadata]
    path = said[1]["items"]["a"]
    said[1] = {**said[1], "items": {str(k): path for k in range(10_000)}}
    tree = TensorSet(0, own.tensors, said).point_tree()
    assert len(tree.clouds) == 10_000
    assert not isinstance(tree.parents, View)
