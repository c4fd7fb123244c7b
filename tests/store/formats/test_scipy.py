"""Sparse matrices that SciPy saved are one sparse tensor, with SciPy as the judge."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import DataFileError
from tensorwrapper.wire import Limits

sp = pytest.importorskip("scipy.sparse")

FORMATS = ["csr", "csc", "coo", "bsr", "dia"]


def saved(folder, matrix, **options):
    path = folder / "a.npz"
    sp.save_npz(path, matrix, **options)
    return path


def random(seed, rows, columns, dtype="f8"):
    rng = np.random.default_rng(seed)
    return (rng.integers(-3, 4, (rows, columns)) * (rng.random((rows, columns)) < 0.4)).astype(dtype)


@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("make", [sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("form", FORMATS)
def test_a_matrix_is_one_sparse_tensor(tmp_path, form, make, compressed):
    dense = np.zeros((4, 3))
    dense[[0, 1, 2], [2, 0, 1]] = [5, 6, 7]
    path = saved(tmp_path, make(dense).asformat(form), compressed=compressed)
    f = tw.open(path)
    assert (list(f), f.losses, f.describe("array").packing) == (["array"], (), "sparse")
    found = f["array"]
    assert (found.is_sparse, found.nnz, found.dtype) == (True, 3, np.dtype("f8"))
    assert found.to_dense().tolist() == dense.tolist()


@pytest.mark.parametrize("dtype", ["i1", "u2", "f4", "c16", "?"])
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("extents", [(6, 4), (4, 6), (1, 1), (0, 3), (3, 0)])
def test_all_extents_and_types_are_those_of_scipy(tmp_path, form, extents, dtype):
    dense = random(7, *extents, dtype)
    path = saved(tmp_path, sp.coo_array(dense).asformat(form))
    found = tw.open(path)["array"]
    right = sp.load_npz(path).toarray()
    assert np.array_equal(found.to_dense(), right)
    assert found.dtype == right.dtype


def test_blocks_and_diagonals_of_any_size(tmp_path):
    dense = random(3, 6, 8)
    for blocks in ((2, 4), (3, 2), (6, 8), (1, 1)):
        path = saved(tmp_path, sp.bsr_array(dense, blocksize=blocks))
        assert tw.open(path)["array"].to_dense().tolist() == dense.tolist()
    for offsets, length in (([0, -5, 7], 8), ([-9, 2], 11), ([1], 3)):
        matrix = sp.dia_array(
            (np.arange(1.0, 1 + len(offsets) * length).reshape(-1, length), offsets), shape=(6, 8)
        )
        path = saved(tmp_path, matrix)
        assert tw.open(path)["array"].to_dense().tolist() == sp.load_npz(path).toarray().tolist()


@pytest.mark.parametrize("dtype", ["i1", "u1", "u8", "i8"])
def test_offsets_of_any_integers(tmp_path, dtype):
    offsets = [0, 2] if dtype[0] == "u" else [-1, 0]
    matrix = sp.dia_array((np.ones((2, 200)), offsets), shape=(300, 200))
    np.savez(tmp_path / "a.npz", **parts_of(matrix, offsets=np.array(offsets, dtype)))
    assert np.array_equal(tw.open(tmp_path / "a.npz")["array"].to_dense(), matrix.toarray())


def test_what_is_stored_twice_is_added(tmp_path):
    path = saved(tmp_path, sp.coo_array(([1.0, 2.0], ([0, 0], [0, 0])), shape=(1, 1)))
    found = tw.open(path)["array"]
    assert (found.nnz, found.to_dense().tolist()) == (1, [[3.0]])
    twice = sp.csr_array(([1, 2, 4], [2, 0, 2], [0, 3, 3]), shape=(2, 3))
    assert tw.open(saved(tmp_path, twice))["array"].to_dense().tolist() == [[2, 0, 5], [0, 0, 0]]


def test_arrays_of_one_or_three_modes(tmp_path):
    cube = np.arange(8.0).reshape(2, 2, 2)
    assert tw.open(saved(tmp_path, sp.coo_array(cube)))["array"].to_dense().tolist() == cube.tolist()
    row = np.array([0, 3, 0, 4])
    for make in (sp.coo_array, sp.csr_array):
        assert tw.open(saved(tmp_path, make(row)))["array"].to_dense().tolist() == row.tolist()


def test_raw_lists_the_members(tmp_path):
    path = saved(tmp_path, sp.csr_array(np.eye(2)))
    f = tw.open(path, raw=True)
    assert list(f) == ["indices", "indptr", "format", "shape", "data", "_is_array"]
    assert (f["format"].tolist(), f["indptr"].tolist()) == (b"csr", [0, 1, 2])


def parts_of(matrix, **changed):
    parts = {"format": np.array(matrix.format.encode()), "shape": np.array(matrix.shape), "data": matrix.data}
    own = {"coo": ("row", "col"), "dia": ("offsets",)}.get(matrix.format, ("indices", "indptr"))
    return {**parts, **{name: getattr(matrix, name) for name in own}, **changed}


ROWS = sp.csr_array(np.array([[0, 5.0], [6.0, 0]]))


def test_other_members_stay_listed(tmp_path):
    np.savez(tmp_path / "a.npz", **parts_of(ROWS, array=np.array([1]), extra=np.array([2])))
    f = tw.open(tmp_path / "a.npz")
    assert {name: own.to_dense().tolist() for name, own in f.items()} == {
        "array": [1],
        "extra": [2],
        "array~1": [[0, 5], [6, 0]],
    }
    assert [(loss.name, loss.code) for loss in f.losses] == [("array", "name")]


@pytest.mark.parametrize(
    "changed",
    [
        {"data": np.array(["a", "b"])},
        {"indices": np.array([0.5, 1.5])},
        {"shape": np.array([2.0, 2.0])},
        {"format": np.array(3)},
    ],
)
def test_members_of_other_types_are_no_matrix(tmp_path, changed):
    parts = parts_of(ROWS, **changed)
    np.savez(tmp_path / "a.npz", **parts)
    f = tw.open(tmp_path / "a.npz")
    assert list(f) == list(parts)
    assert [(loss.name, loss.code) for loss in f.losses] == [("array", "convention")]


def test_names_alone_make_no_matrix(tmp_path):
    np.savez(tmp_path / "a.npz", format=[1], shape=[2], x=[3])
    f = tw.open(tmp_path / "a.npz")
    assert (list(f), f.losses) == (["format", "shape", "x"], ())


@pytest.mark.parametrize(
    ("matrix", "changed", "text"),
    [
        (ROWS, {"indptr": np.array([0, 2, 1])}, "ascend"),
        (ROWS, {"indptr": np.array([0, 1, 3])}, "ascend"),
        (ROWS, {"indptr": np.array([1, 1, 2])}, "ascend"),
        (ROWS, {"indptr": np.array([0, 2])}, "2 rows"),
        (ROWS, {"indices": np.array([0, 2])}, "from 0 to 2"),
        (ROWS, {"indices": np.array([-1, 1])}, "from -1"),
        (ROWS, {"indices": np.array([2**64 - 1, 1], "u8")}, "to 1844"),
        (ROWS, {"indices": np.array([0])}, "one index"),
        (ROWS, {"data": np.ones((2, 2))}, "must be 1-d"),
        (ROWS, {"shape": np.array([2, -2])}, "extents"),
        (ROWS, {"shape": np.array([2, 2, 2])}, "2 modes"),
        (ROWS, {"shape": np.array([2**62, 2])}, "extents"),
        (ROWS, {"format": np.array(b"lil")}, "format"),
        (sp.csc_array(ROWS), {"shape": np.array([1, 2])}, "from 0 to 1"),
        (sp.coo_matrix(ROWS), {"row": np.array([0, 5])}, "mode 0"),
        (sp.coo_matrix(ROWS), {"row": np.array([[0], [1]])}, "one index"),
        (sp.bsr_array(ROWS, blocksize=(2, 2)), {"data": np.ones((1, 2, 3))}, "blocks"),
        (sp.bsr_array(ROWS, blocksize=(2, 2)), {"data": np.ones((1, 0, 2))}, "blocks"),
        (sp.dia_array(ROWS), {"offsets": np.array([1, 1])}, "one diagonal per offset"),
        (sp.dia_array(ROWS), {"offsets": np.array([1])}, "one diagonal per offset"),
    ],
)
def test_counts_that_do_not_fit_are_refused(tmp_path, matrix, changed, text):
    np.savez(tmp_path / "a.npz", **parts_of(matrix, **changed))
    f = tw.open(tmp_path / "a.npz")
    with pytest.raises(DataFileError, match=text) as caught:
        f["array"]
    assert (caught.value.args[0].code, caught.value.args[0].help) == (
        "convention",
        "raw=True lists the members",
    )


def test_what_takes_too_much_memory_is_refused(tmp_path):
    path = saved(tmp_path, sp.coo_array(np.ones((40, 50))))
    f = tw.open(path, limits=Limits(decompressed_bytes=20_000))
    with pytest.raises(DataFileError, match="decompressed_bytes"):
        f["array"]


def test_a_matrix_is_converted_as_one_tensor(tmp_path):
    dense = random(1, 5, 7)
    path = saved(tmp_path, sp.csc_array(dense))
    assert tw.store.convert(path, tmp_path / "a.tens").names == ("array",)
    with tw.open(tmp_path / "a.tens") as f:
        assert f["array"].is_sparse
        assert f["array"].to_dense().tolist() == dense.tolist()


@pytest.mark.parametrize("stray", [("indptr", "indices"), ("offsets",), ("row", "col")])
@pytest.mark.parametrize("form", FORMATS)
def test_the_format_says_which_members_are_those_of_the_matrix(tmp_path, form, stray):
    dense = random(5, 4, 6)
    parts = parts_of(sp.coo_matrix(dense).asformat(form))
    added = {name: np.array([0.5]) for name in stray if name not in parts}
    np.savez(tmp_path / "a.npz", **parts, **added)
    f = tw.open(tmp_path / "a.npz")
    assert (sorted(f), f.losses) == (sorted(["array", *added]), ())
    assert f["array"].to_dense().tolist() == dense.tolist()
