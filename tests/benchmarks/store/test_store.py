"""Files of many tensors, beside the raw bytes, safetensors, npz, Arrow and HDF5 in one run.

200 tensors of float32, together 256 MiB unless TENSORWRAPPER_BENCH_MIB says otherwise. The files lie in the
page cache. What is written is made durable, by all of them, as `save` makes it.
"""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pytest
import safetensors
import safetensors.numpy

import tensorwrapper as tw

MIB = int(os.environ.get("TENSORWRAPPER_BENCH_MIB", "256"))
N_TENSORS, N_COLUMNS = 200, 1024
N_ROWS = MIB * 2**20 // (N_TENSORS * N_COLUMNS * 4)


def tensors():
    rows = np.random.default_rng(0).random((N_ROWS, N_COLUMNS), np.float32)
    return {f"layer {k:03}": rows + np.float32(k) for k in range(N_TENSORS)}


@pytest.fixture(scope="module")
def arrays():
    return tensors()


def durable(path):
    file = os.open(path, os.O_RDWR)
    os.fsync(file)
    os.close(file)


def save_raw(path, arrays):
    with path.open("wb", buffering=0) as stream:
        for array in arrays.values():
            stream.write(array)


def save_safetensors(path, arrays):
    safetensors.numpy.save_file(arrays, path)


def save_npz(path, arrays):
    np.savez(path, **arrays)


def save_arrow(path, arrays):
    with pa.OSFile(str(path), "wb") as stream:
        for array in arrays.values():
            pa.ipc.write_tensor(pa.Tensor.from_numpy(array), stream)


def save_hdf5(path, arrays):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        for name, array in arrays.items():
            file[name] = array


def save_tens(path, arrays):
    tw.save(path, arrays)


SAVE = {
    "raw bytes": save_raw,
    "tens": save_tens,
    "safetensors": save_safetensors,
    "npz": save_npz,
    "arrow": save_arrow,
    "hdf5": save_hdf5,
}


@pytest.mark.parametrize("kind", SAVE)
def test_save(benchmark, arrays, tmp_path, kind):
    path = tmp_path / f"a.{kind}.npz"

    def fresh():
        # What an earlier round wrote is not overwritten, and its pages do not wait to be written back.
        if path.exists():
            path.unlink()
        os.sync()

    def run():
        SAVE[kind](path, arrays)
        durable(path)

    benchmark.group = f"save {MIB} MiB in {N_TENSORS} tensors"
    benchmark.pedantic(run, setup=fresh, rounds=5)


@pytest.fixture(scope="module")
def folder(arrays, tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    for kind in ("tens", "safetensors", "npz", "hdf5"):
        if kind != "hdf5" or "h5py" in sys.modules:
            SAVE[kind](folder / f"a.{kind}", arrays)
    return folder


def rows_of_tens(path):
    with tw.open(path) as f:
        return np.asarray(f["layer 100"][100:200]).sum()


def rows_of_safetensors(path):
    with safetensors.safe_open(path, "np") as f:
        return f.get_slice("layer 100")[100:200].sum()


def rows_of_npz(path):
    with np.load(path) as archive:
        return archive["layer 100"][100:200].sum()


def rows_of_hdf5(path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path) as file:
        return file["layer 100"][100:200].sum()


ROWS = {"tens": rows_of_tens, "safetensors": rows_of_safetensors, "npz": rows_of_npz, "hdf5": rows_of_hdf5}


@pytest.mark.parametrize("kind", ROWS)
def test_open_and_read_100_rows(benchmark, arrays, folder, kind):
    benchmark.group = "open, and 100 rows of one tensor"

    assert benchmark(ROWS[kind], folder / f"a.{kind}") == arrays["layer 100"][100:200].sum()


def test_open(benchmark, folder):
    def opened():
        with tw.open(folder / "a.tens") as f:
            return len(f)

    benchmark.group = "open"

    assert benchmark(opened) == N_TENSORS


def test_open_every_tensor(benchmark, folder):
    def opened():
        with tw.open(folder / "a.tens") as f:
            return [tensor.size for tensor in f.values()]

    benchmark.group = "open"

    assert benchmark(opened) == [N_ROWS * N_COLUMNS] * N_TENSORS


def test_a_slice_of_an_open_tensor(benchmark, folder):
    with tw.open(folder / "a.tens") as f:
        tensor = f["layer 100"]
        benchmark.group = "100 rows of an open tensor"
        benchmark(lambda: np.array(tensor[100:200]))


def test_memory_of_opening_and_slicing(folder):
    code = """
        import sys
        import numpy as np
        import tensorwrapper as tw

        def used():
            lines = dict(line.split(":") for line in open("/proc/self/status"))
            return int(lines["RssAnon"].split()[0])

        with tw.open(sys.argv[1]) as f:
            np.asarray(f["layer 000"][:1])
        before = used()
        f = tw.open(sys.argv[1])
        opened = used() - before
        np.array(f["layer 100"][100:200])
        print(opened, used() - before)
        f.close()
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(folder / "a.tens")],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    opened, sliced = [int(text) for text in done.stdout.split()]
    print(f"opening takes {opened} KiB, 100 rows of 4 KiB {sliced} KiB")  # noqa: T201 - shown with -s

    assert opened < 5 * 1024
    assert sliced < 5 * 1024


@pytest.mark.parametrize("n", [10_000, 100_000])
def test_append_small_records(benchmark, tmp_path, n):
    x = np.arange(4.0)
    rounds = iter(range(100))

    def append():
        with tw.open(tmp_path / f"{next(rounds)}.tens", "a") as f:
            for k in range(n):
                f.append(str(k), x)

    benchmark.group = f"append {n} records of 32 bytes"
    benchmark.pedantic(append, rounds=2)


@pytest.mark.parametrize("n", [10_000, 100_000])
def test_open_a_file_of_small_records(benchmark, tmp_path, n):
    x = np.arange(4.0)
    with tw.open(tmp_path / "a.tens", "a") as f:
        for k in range(n):
            f.append(str(k), x)

    def opened():
        with tw.open(tmp_path / "a.tens") as f:
            return len(f)

    benchmark.group = f"open a file of {n} records"

    assert benchmark.pedantic(opened, rounds=3) == n
