"""Sources of stored views that are in files of other kinds, or at servers."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import DataFileError, TensorNameError, VersionChangedError
from tensorwrapper.store import StoredSource
from tensorwrapper.store.views._open_sources import is_named_by

BOX = np.arange(24.0).reshape(6, 4)


def as_npy(folder):
    np.save(folder / "a.npy", BOX)
    return "a.npy", "array"


def as_npy_in_columns(folder):
    np.save(folder / "a.npy", np.asfortranarray(BOX))
    return "a.npy", "array"


def as_npz(folder):
    np.savez(folder / "a.npz", x=BOX)
    return "a.npz", "x"


def as_deflated(folder):
    np.savez_compressed(folder / "a.npz", x=BOX)
    return "a.npz", "x"


def as_safetensors(folder):
    pytest.importorskip("safetensors.numpy").save_file({"x": BOX}, folder / "a.safetensors")
    return "a.safetensors", "x"


def as_hdf5(folder):
    with pytest.importorskip("h5py").File(folder / "a.h5", "w") as f:
        f["g/x"] = BOX
    return "a.h5", "g/x"


def as_chunks(folder):
    with pytest.importorskip("h5py").File(folder / "a.h5", "w") as f:
        f.create_dataset("x", data=BOX, chunks=(2, 2), compression="gzip")
    return "a.h5", "x"


def as_zarr(folder):
    pytest.importorskip("zarr").create_group(folder / "a.zarr").create_array("x", data=BOX, chunks=(2, 4))
    return "a.zarr", "x"


def as_parquet(folder):
    pytest.importorskip("pyarrow")
    tw.save(folder / "a.parquet", {"x": BOX})
    return "a.parquet", "x"


MAKERS = [
    as_npy,
    as_npy_in_columns,
    as_npz,
    as_deflated,
    as_safetensors,
    as_hdf5,
    as_chunks,
    as_zarr,
    as_parquet,
]


@pytest.mark.parametrize("make", MAKERS)
def test_files_of_other_kinds_are_sources(tmp_path, make):
    name, key = make(tmp_path)
    with tw.open(tmp_path / name) as f:
        whole = sel.as_view(f[key])
        views = {"v": whole[1:4, ::-1], "w": tw.concat([whole, f[key]])[::5], "all": whole}
        tw.save(tmp_path / "v.tens", views, keep_views=True)
    del whole, views, f
    with tw.open(tmp_path / "v.tens") as g:
        assert np.array_equal(np.asarray(g["v"]), BOX[1:4, ::-1])
        assert np.array_equal(np.asarray(g["w"]), np.concatenate([BOX, BOX])[::5])
        assert np.array_equal(np.asarray(g["all"]), BOX)
        (source,) = g.sources("v")
        assert (source.path, source.name) == (name, key)
        tw.save(tmp_path / "w.tens", {own: g[own] for own in g}, keep_views=True)
        view = g["v"]
    assert (tmp_path / "v.tens").read_bytes() == (tmp_path / "w.tens").read_bytes()
    del view


def test_a_file_of_another_kind_that_changed_is_refused(tmp_path):
    name, key = as_npz(tmp_path)
    with tw.open(tmp_path / name) as f:
        tw.save(tmp_path / "v.tens", {"v": sel.as_view(f[key])[1:]}, keep_views=True)
    np.savez(tmp_path / "a.npz", x=BOX + 1)
    with tw.open(tmp_path / "v.tens") as g, pytest.raises(VersionChangedError, match=r"a\.npz"):
        g["v"].compute()
    (tmp_path / "a.npz").write_bytes(b"nothing of that")
    with tw.open(tmp_path / "v.tens") as g, pytest.raises(DataFileError):
        g["v"].compute()


def test_tensors_that_are_put_together_of_several_arrays_are_one_source(tmp_path):
    h5py, sparse = pytest.importorskip("h5py"), pytest.importorskip("scipy.sparse")
    matrix = sparse.csr_array(BOX * (BOX % 5 == 0))
    with h5py.File(tmp_path / "a.h5", "w") as f:
        group = f.create_group("X")
        group.attrs["encoding-type"] = "csr_matrix"
        group.attrs["shape"] = matrix.shape
        for part in ("data", "indices", "indptr"):
            group[part] = getattr(matrix, part)
    with tw.open(tmp_path / "a.h5", raw=True) as f:
        names = list(f)
        tw.save(tmp_path / "v.tens", {"v": sel.as_view(f["X/data"])[::-1]}, keep_views=True)
    assert "X/data" in names
    with tw.open(tmp_path / "v.tens") as g:
        assert np.array_equal(np.asarray(g["v"]), matrix.data[::-1])


def test_servers_are_read_where_follow_names_them(tmp_path):
    x, rows = tw.as_tensor(BOX), tw.jagged([[1, 2], [], [3]])
    with tw.serve({"x": x, "rows": rows}) as server, tw.connect(server.address) as remote:
        views = {"v": sel.as_view(remote["x"])[::2], "rows": sel.as_view(remote["rows"])[::-1]}
        tw.save(tmp_path / "v.tens", views, keep_views=True)
        with tw.open(tmp_path / "v.tens", follow=server.address) as f:
            assert np.array_equal(np.asarray(f["v"]), BOX[::2])
            assert f["rows"].tolist() == [[3], [], [1, 2]]
            assert f.sources("v") == (StoredSource(server.address, "x", remote["x"].version),)
            assert [own.state for own in f.check_sources("v")] == ["found"]
        for follow in (None, tmp_path, server.address[:-1]):
            refused = pytest.raises(DataFileError, match="follow=")
            with tw.open(tmp_path / "v.tens", follow=follow) as f, refused:
                f["v"].compute()
        server.replace("x", BOX + 1)
        with tw.open(tmp_path / "v.tens", follow=server.address) as f, pytest.raises(VersionChangedError):
            f["v"].compute()


def test_a_file_without_a_path_tells_of_its_views(tmp_path):
    name, key = as_npy(tmp_path)
    with tw.open(tmp_path / name) as f:
        tw.save(tmp_path / "v.tens", {"y": [1, 2], "v": sel.as_view(f[key])[1:]}, keep_views=True)
    with tw.open((tmp_path / "v.tens").read_bytes()) as f:
        assert list(f) == ["y"]
        assert [(loss.name, loss.code) for loss in f.losses] == [("v", "link")]
        with pytest.raises(TensorNameError, match="sources are found from the path"):
            f["v"]


def test_rows_of_a_stored_view_are_taken_and_served(tmp_path):
    name, key = as_npy(tmp_path)
    with tw.open(tmp_path / name) as f:
        tw.save(tmp_path / "v.tens", {"v": sel.as_view(f[key])[1:]}, keep_views=True)
    with tw.open(tmp_path / "v.tens") as f:
        assert np.array_equal(np.asarray(f.take("v", [-1, 0])), BOX[1:][[-1, 0]])
        with tw.serve(f) as server, tw.connect(server.address) as remote:
            assert np.array_equal(np.asarray(remote["v"][2:4]), BOX[3:5])


def test_what_is_known_of_tensors_goes_with_them(tmp_path):
    import gc

    from tensorwrapper.store.records import _origin

    name, key = as_chunks(tmp_path)
    gc.collect()
    before = len(_origin._KNOWN)
    tw.save(tmp_path / "a.tens", {"x": BOX, "words": tw.strings(["a"])})
    with tw.open(tmp_path / name) as f, tw.open(tmp_path / "a.tens") as g:
        found = [f[key], g["x"], g["words"]]
        assert len(_origin._KNOWN) == before + 3
    del found, f, g
    gc.collect()
    assert len(_origin._KNOWN) == before


@pytest.mark.parametrize(
    ("address", "follow", "is_named"),
    [
        ("tcp://127.0.0.1:5555", "tcp://127.0.0.1:5555", True),
        ("tcp://127.0.0.1:5555", "tcp://127.0.0.1", True),
        ("tcp://127.0.0.1:5555", "tcp://127.0.0.1:", True),
        ("tcp://127.0.0.1:5555", "tcp://", True),
        ("tcp://[::1]:5555", "tcp://[::1]", True),
        ("ipc:///run/tw/x", "ipc:///run/tw", True),
        ("ipc:///run/tw/x", "ipc:///run/tw/", True),
        ("ipc:///run/tw/x", "ipc:///run/t", False),
        ("ipc:///run/tw/../x", "ipc:///run/tw", False),
        ("tcp://127.0.0.1:5555", "tcp://127.0.0.1:555", False),
        ("tcp://127.0.0.2:0;127.0.0.1:5555", "tcp://127.0.0.2", False),
        ("tcp://127.0.0.2:0;127.0.0.1:5555", "tcp://", False),
        ("tcp://127.0.0.2:80@127.0.0.1:5555", "tcp://127.0.0.2", False),
        ("tcp://127.0.0.2:80:5555", "tcp://127.0.0.2", False),
        ("tcp://127.0.0.2:80/x:5555", "tcp://127.0.0.2", False),
        ("tcp://127.0.0.2/:5555", "tcp://127.0.0.2", False),
        ("tcp://127.0.0.2", "tcp://127.0.0.2", False),
        ("tcp://[::1]:5555", "tcp://[:", False),
        ("tcp://127.0.0.1:5555", "tcp:/", False),
        ("tcp://127.0.0.1:5555", None, False),
    ],
)
def test_a_server_is_named_by_its_host_and_port_and_nothing_else(address, follow, is_named):
    assert is_named_by(address, follow) is is_named
