"""AnnData's sparse matrices are sparse tensors; SciPy and anndata say what is right."""

import numpy as np
import pytest
import scipy.sparse as sp

import tensorwrapper as tw
from tensorwrapper.errors import DataFileError
from tensorwrapper.wire import Limits
from tests.support.store.groups import KINDS, changed, write_groups

M = np.array([[0, 0, 5.0], [6, 0, 0], [0, 7, 0], [0, 0, 0]])


def matrix(array, name="X"):
    """Return a sparse array of SciPy as anndata writes it."""
    said = {"encoding-type": f"{array.format}_matrix", "encoding-version": "0.1.0"}
    parts = {"data": array.data, "indices": array.indices, "indptr": array.indptr}
    return {name: (said | {"shape": list(array.shape)}, parts)}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", ["csr_array", "csc_array"])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i2", "?", "c16"])
def test_a_matrix_is_one_sparse_tensor(tmp_path, kind, form, dtype):
    array = getattr(sp, form)(M.astype(dtype))
    file = tw.open(write_groups(tmp_path, kind, matrix(array, "layers/k")))
    assert (list(file), file.losses) == (["layers/k"], ())
    found = file["layers/k"]
    assert (found.is_sparse, found.nnz, found.dtype, found.shape) == (True, 3, array.dtype, tw.Shape(4, 3))
    np.testing.assert_array_equal(found.to_dense(), array.toarray())
    assert file.describe("layers/k").packing == form[:3]


@pytest.mark.parametrize("kind", KINDS)
def test_elements_that_are_stored_twice_are_added_up(tmp_path, kind):
    array = sp.csr_array((np.array([1.0, 2.0, 0.0]), np.array([1, 1, 0]), np.array([0, 2, 3])), (2, 2))
    found = tw.open(write_groups(tmp_path, kind, matrix(array)))["X"]
    assert found.to_dense().tolist() == array.toarray().tolist() == [[0, 3], [0, 0]]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_a_matrix_may_be_empty(tmp_path, kind, shape):
    found = tw.open(write_groups(tmp_path, kind, matrix(sp.csr_array(shape))))["X"]
    assert (found.shape, found.nnz) == (tw.Shape(*shape), 0)


@pytest.mark.parametrize("kind", KINDS)
def test_the_parts_are_listed_when_they_are_wanted(tmp_path, kind):
    array = sp.csr_array(M)
    groups = changed(matrix(array), "X", other=np.arange(2))
    path = write_groups(tmp_path, kind, groups)
    assert sorted(tw.open(path)) == ["X", "X/other"]
    file = tw.open(path, raw=True)
    assert list(file) == ["X/data", "X/indices", "X/indptr", "X/other"]
    assert file["X/indices"].tolist() == array.indices.tolist()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "odd",
    [
        {"indptr": np.array([0, 1, 2, 3])},
        {"indptr": np.array([0.0, 1, 2, 3, 3])},
        {"indices": np.array([2, 0])},
        {"data": np.zeros((3, 1))},
        {"without": ["indices"]},
    ],
)
def test_arrays_that_do_not_fit_are_listed_one_by_one(tmp_path, kind, odd):
    groups = changed(matrix(sp.csr_array(M)), "X", **odd)
    path = write_groups(tmp_path, kind, groups | matrix(sp.csr_array(M), "Y"))
    file = tw.open(path)
    assert [(loss.name, loss.code) for loss in file.losses] == [("X", "convention")]
    assert set(file) == {"Y", *[f"X/{own}" for own in groups["X"][1]]}
    assert file["Y"].nnz == 3


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [None, [4], [4, 3, 1], [-4, 3], [4, 2**60], "4"])
def test_extents_that_are_none_are_told(tmp_path, kind, shape):
    groups = matrix(sp.csr_array(M))
    del groups["X"][0]["shape"]
    if shape is not None:
        groups["X"][0]["shape"] = shape
    file = tw.open(write_groups(tmp_path, kind, groups))
    assert [(loss.name, loss.code) for loss in file.losses] == [("X", "convention")]
    assert len(file) == 3


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "odd",
    [
        {"indptr": np.array([0, 2, 1, 3, 3])},
        {"indptr": np.array([1, 1, 2, 3, 3])},
        {"indptr": np.array([0, 1, 2, 3, 4])},
        {"indptr": np.array([0, 2**62, 2, 3, 3])},
        {"indices": np.array([2, 0, 3])},
        {"indices": np.array([2, 0, -1])},
        {"indices": np.array([2, 0, 2**64 - 1], "u8")},
    ],
)
def test_elements_that_break_the_convention_are_refused_with_the_way_out(tmp_path, kind, odd):
    path = write_groups(tmp_path, kind, changed(matrix(sp.csr_array(M)), "X", **odd))
    with pytest.raises(DataFileError, match=r"raw=True\) lists its arrays"):
        tw.open(path)["X"]
    assert len(tw.open(path, raw=True)) == 3


@pytest.mark.parametrize("kind", KINDS)
def test_memory_is_limited_before_it_is_taken(tmp_path, kind):
    path = write_groups(tmp_path, kind, matrix(sp.csr_array(np.ones((100, 100)))))
    with pytest.raises(DataFileError, match="decompressed_bytes"):
        tw.open(path, limits=Limits(decompressed_bytes=10_000))["X"]


@pytest.mark.filterwarnings("ignore")
def test_files_of_anndata_open(tmp_path):
    ad = pytest.importorskip("anndata")
    ak, pd = pytest.importorskip("awkward"), pytest.importorskip("pandas")
    obs = pd.DataFrame({"n": [9, 8, 7, 6]}, index=pd.Index(list("abcd"), dtype=object))
    data = ad.AnnData(X=sp.csr_matrix(M), obs=obs)
    data.var.index = pd.Index(list("xyz"), dtype=object)
    data.layers["k"] = sp.csc_matrix(M)
    data.obsm["w"] = ak.Array([[1.5], [], [2.5, 3.5], []])
    data.obs.index, data.var.index = data.obs.index.astype(object), data.var.index.astype(object)
    data.write_h5ad(tmp_path / "a.h5ad")
    data.write_zarr(tmp_path / "b.zarr")
    for name in ("a.h5ad", "b.zarr"):
        file = tw.open(tmp_path / name)
        assert {"X", "layers/k", "obs/n", "obs/_index", "obsm/w"} <= set(file)
        assert {loss.code for loss in file.losses} <= {"empty"}
        assert file["X"].to_dense().tolist() == file["layers/k"].to_dense().tolist() == M.tolist()
        assert (file["layers/k"].nnz, file["obsm/w"].tolist()) == (3, data.obsm["w"].to_list())
        assert (file["obs/n"].tolist(), file["obs/_index"].tolist()) == ([9, 8, 7, 6], list("abcd"))
