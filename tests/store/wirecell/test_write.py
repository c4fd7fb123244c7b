"""Tensor files are written, for readers of Wire-Cell's: Python's and NumPy's own read them here."""

import tracemalloc

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import store
from tensorwrapper.errors import ConversionError, DataFileError, TensorNameError, TensorSetError
from tensorwrapper.selection import as_view
from tensorwrapper.wirecell import PointTree, TensorSet
from tests.support.store.tensor_files import ENDS, members, read_sets

X = np.arange(6, dtype="i2").reshape(2, 3)
SAID = {"datapath": "a/b", "masks": {"bad": [[1, 2], None]}, "time": 1.5}


def two_sets():
    return [
        TensorSet(7, [tw.no_elements(), X, as_view(X)[:, ::2]], [SAID, {}, {"é": True}], {"run": 3}),
        TensorSet(0, [], metadata={}),
    ]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("prefix", ["", "apa-"])
def test_sets_are_read_by_an_independent_reader(tmp_path, end, prefix):
    path = tmp_path / f"a{end}"
    store.save_sets(path, iter(two_sets()), prefix=prefix)
    found = read_sets(path, prefix)
    assert list(found) == [7, 0]
    assert found[0] == {"said": {}, "tensors": {}}
    assert found[7]["said"] == {"run": 3}
    (a, none), (b, x), (c, part) = found[7]["tensors"].values()
    assert (a, none, b, c) == (SAID, None, {}, {"é": True})
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(part, X[:, ::2])
    assert x.dtype == part.dtype == np.int16
    # The order of the archive is that of the sink.
    assert [name for name, _ in members(path)][:3] == [
        f"{prefix}tensorset_7_metadata.json",
        f"{prefix}tensor_7_0_metadata.json",
        f"{prefix}tensor_7_1_metadata.json",
    ]


@pytest.mark.parametrize("end", ENDS)
def test_the_same_sets_make_the_same_bytes(tmp_path, end):
    path = tmp_path / f"a{end}"
    store.save_sets(path, two_sets())
    first = path.read_bytes()
    path.unlink()
    store.save_sets(path, two_sets())
    assert path.read_bytes() == first


@pytest.mark.parametrize("end", ENDS)
def test_files_are_converted_there_and_back(tmp_path, end):
    path = tmp_path / f"a{end}"
    store.save_sets(path, two_sets())
    done = store.convert(path, tmp_path / "b.tens")
    assert (done.names, done.lost) == (("tensor_7_0", "tensor_7_1", "tensor_7_2"), ())
    with tw.open(tmp_path / "b.tens") as file:
        assert file.metadata == {"tensorset_7": {"run": 3}, "tensorset_0": {}}
        assert file.tensor_metadata("tensor_7_0") == SAID
    store.convert(tmp_path / "b.tens", tmp_path / f"c{end}")
    assert [*members(tmp_path / f"c{end}")] == [*members(path)]
    for other in (".tar", ".zip", ".npz", ".tgz"):
        store.convert(path, tmp_path / f"d{other}")
        assert read_sets(tmp_path / f"d{other}").keys() == {7, 0}


def test_tensors_of_other_names_are_set_zero(tmp_path):
    tw.save(
        tmp_path / "a.tens", {"hits": X, "tensor_0_2": X[:1]}, metadata={"run": 3, "tensorset_4": {"x": 1}}
    )
    done = store.convert(tmp_path / "a.tens", tmp_path / "a.tar")
    assert set(done.names) == {"tensor_0_2", "tensor_0_3"}
    found = read_sets(tmp_path / "a.tar")
    assert (found[0]["said"], found[4]["said"]) == ({"run": 3}, {"x": 1})
    assert [said for said, _ in found[0]["tensors"].values()] == [{}, {"datapath": "hits"}]
    assert tw.open(tmp_path / "a.tar").sets()[0].tree["hits"].tensor.tolist() == X.tolist()
    tw.save(tmp_path / "b.zip", {"x": X})
    assert tw.open(tmp_path / "b.zip").sets()[0].tree["x"].tensor.tolist() == X.tolist()


def test_npz_of_other_names_are_numpys(tmp_path):
    tw.save(tmp_path / "a.npz", {"hits": X, "tensor_0_0": X})
    assert sorted(np.load(tmp_path / "a.npz")) == ["hits", "tensor_0_0"]


def test_trees_of_points_go_through_files(tmp_path):
    points = {
        "x": tw.jagged([[], [1.5, 2.5], [3.5]]),
        "xyz": tw.jagged([np.zeros((n, 3)) for n in (0, 2, 1)]),
    }
    tree = PointTree([0, 0, 0], {"3d": points}, {"run": 1})
    for end in ENDS:
        path = tmp_path / f"a{end}"
        store.save_sets(path, [TensorSet.from_point_trees(0, {"pointtrees/0": tree})])
        back = tw.open(path).sets()[0].point_tree("pointtrees/0")
        assert (back.metadata, back.clouds["3d"]["x"].tolist()) == ({"run": 1}, [[], [1.5, 2.5], [3.5]])
        assert back.clouds["3d"]["xyz"][1].shape == tw.Shape(2, 3)


@pytest.mark.parametrize(
    ("tensor", "named"),
    [
        (tw.jagged([[1], [2, 3]]), "dense boxes"),
        (tw.as_tensor(X).translate_to((1, 1)), "dense boxes"),
        (tw.as_tensor(2.5), "rank 0"),
        (tw.strings(["a"]), "does not support"),
        (tw.sparse([(1, 1)], [1], (3, 3)), "sparse"),
    ],
)
def test_what_files_cannot_hold_is_refused(tmp_path, tensor, named):
    with pytest.raises(ConversionError, match=named):
        store.save_sets(tmp_path / "a.tar", [TensorSet(0, [tensor])])
    assert list(tmp_path.iterdir()) == []


def test_what_files_cannot_say_is_lost_or_refused(tmp_path):
    tw.save(tmp_path / "a.tens", {"x": tw.as_tensor(X).named("i", "j")})
    assert store.convert(tmp_path / "a.tens", tmp_path / "a.tar").lost == (
        "the names of the modes of 'tensor_0_0'",
        "the name 'x', written as the path of 'tensor_0_0'",
    )
    for said in ({"a": object()}, {1: 2}, {"a": float("nan")}, {"a": "\ud800"}):
        with pytest.raises(ConversionError, match="tensor_0_0"):
            store.save_sets(tmp_path / "b.tar", [TensorSet(0, [X], [said])])
    with pytest.raises(TensorSetError, match="number 0"):
        store.save_sets(tmp_path / "b.tar", [TensorSet(0, []), TensorSet(0, [])])
    with pytest.raises(ConversionError, match=r"\.tar\.gz"):
        store.save_sets(tmp_path / "b.tens", [])
    for prefix in ("a/", "..\\", "\n"):
        with pytest.raises(TensorNameError, match="begin with"):
            store.save_sets(tmp_path / "b.tar", [], prefix=prefix)
    with pytest.raises(ConversionError, match="chunks"):
        tw.save(tmp_path / "b.tar", {"x": X}, chunks=(1, 1))
    with pytest.raises(ConversionError, match="support the codec"):
        tw.save(tmp_path / "b.tar", {"x": X}, compress="zlib")
    assert not (tmp_path / "b.tar").exists()


def test_a_set_that_fails_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.tar.gz"
    store.save_sets(path, two_sets())
    before = path.read_bytes()

    def failing():
        yield two_sets()[0]
        raise DataFileError("gone")

    with pytest.raises(DataFileError, match="gone"):
        store.save_sets(path, failing())
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["a.tar.gz"]


@pytest.mark.parametrize("end", [".tar", ".tar.gz", ".npz"])
def test_large_tensors_are_written_a_run_at_a_time(tmp_path, end):
    array = np.zeros((2**13, 2**10))  # 64 MiB
    tracemalloc.start()
    store.save_sets(tmp_path / f"a{end}", [TensorSet(0, [array, as_view(array)[:, ::-1]])])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**26


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_a_tensor_that_is_refused_is_called_by_its_own_name(tmp_path, kind):
    tiles = tw.as_tensor(np.eye(2)).tiled(tw.Tiling([2], [1, 1]))
    with pytest.raises(ConversionError, match="'t' has the shape"):
        tw.save(tmp_path / f"a.{kind}", {"x": np.eye(2), "t": tiles})
