"""A writer may die at any byte: at most the record that it was writing is lost."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import DamagedFileWarning, DataFileError

pytestmark = pytest.mark.slow


def written_in_steps(path):
    """Return the bytes of a file, and for each tensor where its last record ends."""
    ends = {}
    with tw.open(path, "a", metadata={"run": 3}, piece_bytes=16) as f:
        for name, tensor in {
            "a": np.arange(2.0),
            "cut": np.arange(4.0),
            "rows": tw.jagged([[1], [2, 3]]),
            "b": np.array(True),
        }.items():
            f[name] = tensor
            ends[name] = path.stat().st_size
            if name == "cut":
                f.flush()
    return path.read_bytes(), ends


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.tens"


def test_a_file_cut_off_at_any_byte_has_all_records_before_it(path):
    raw, ends = written_in_steps(path)
    with tw.open(path) as f:
        whole = {name: tensor.tolist() for name, tensor in f.items()}
    read = None
    for size in range(1, len(raw) + 1):  # without a byte it is no such file
        path.write_bytes(raw[:size])
        kept = [name for name, end in ends.items() if end <= size]
        with tw.open(path) as f:
            assert list(f) == kept
            if kept != read:
                assert {name: f[name].tolist() for name in f} == {name: whole[name] for name in kept}
                read = kept


def test_a_file_cut_off_at_any_byte_is_appended_to(path):
    raw, ends = written_in_steps(path)
    # Each residue of the alignment, at every part of the file.
    for size in range(0, len(raw) + 1, 29):
        path.write_bytes(raw[:size])
        kept = [name for name, end in ends.items() if end <= size]
        with tw.open(path, "a", piece_bytes=16) as f:
            f["new"] = [7]
            if "cut" not in f:
                f["cut"] = np.arange(4.0)
        with tw.open(path) as f:
            assert set(f) == {*kept, "cut", "new"}
            assert f["new"].tolist() == [7]
            assert f["cut"].tolist() == [0.0, 1.0, 2.0, 3.0]
            assert f._directory.torn is None
        assert tw.store.verify(path).ok


def test_bytes_that_never_came_are_no_record(path):
    # After a power failure a file may have its length and not its bytes.
    raw, ends = written_in_steps(path)
    end = ends["rows"]
    for start in range(ends["cut"], end, 64):
        path.write_bytes(raw[:start] + bytes(end - start))
        with tw.open(path) as f:
            assert list(f) == ["a", "cut"]
        with tw.open(path, "a") as f:
            f["rows"] = [1]
        with tw.open(path) as f:
            assert list(f) == ["a", "cut", "rows"]


def test_a_damaged_record_in_the_middle_is_not_cut_off(path):
    raw, ends = written_in_steps(path)
    spoilt = bytearray(raw[: ends["b"]])
    spoilt[ends["a"] + 3] ^= 1
    path.write_bytes(spoilt)
    with pytest.warns(DamagedFileWarning, match="what follows"), tw.open(path) as f:
        assert list(f) == ["a"]
    with pytest.raises(DataFileError, match="others seem to follow"):
        tw.open(path, "a")

    assert path.read_bytes() == spoilt


WRITER = """
    import sys
    import numpy as np
    import tensorwrapper as tw

    with tw.open(sys.argv[1], "a", piece_bytes=3000) as f:
        k = len(f)
        while True:
            f[f"x{k}"] = np.full(k % 1000, k)
            k += 1
            if k % 37 == 0:
                f.flush()
            print(k, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_writer_that_is_killed_loses_at_most_the_unfinished_record(path):
    said = 0
    for round_ in range(4):
        process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(WRITER), str(path)], stdout=subprocess.PIPE, text=True
        )
        with process:
            for _ in range(40 + 91 * round_):
                said = int(process.stdout.readline())
            time.sleep(0.003 * round_)
            process.send_signal(signal.SIGKILL)
            rest = process.stdout.read().splitlines()
        said = int(rest[-1]) if rest and rest[-1].isdigit() else said
        with tw.open(path) as f:
            # What the writer said it had written is there, and perhaps one more.
            assert len(f) >= said - (1 if rest else 0)
            for k in range(len(f)):
                assert f[f"x{k}"].tolist() == [k] * (k % 1000)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_save_that_is_killed_leaves_the_old_file(path):
    tw.save(path, {"x": [1]})
    code = """
        import os, signal, sys
        import numpy as np
        import tensorwrapper as tw

        with tw.open(sys.argv[1], "w") as f:
            f["y"] = np.zeros(10)
            os.kill(os.getpid(), signal.SIGKILL)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code), str(path)], check=False, timeout=60)
    with tw.open(path) as f:
        assert list(f) == ["x"]


@pytest.mark.skipif(not hasattr(os, "mkfifo") or sys.platform == "darwin", reason="needs a file size limit")
def test_a_full_disk_leaves_what_was_there(path):
    # A limit on the size of files is refused like a full disk.
    code = """
        import resource, signal, sys
        import numpy as np
        import tensorwrapper as tw

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        with tw.open(sys.argv[1], "a", piece_bytes=4096) as f:
            f["x"] = np.arange(100)
            resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
            for size in (10_000, 100_000):
                try:
                    f["y"] = np.zeros(size)
                except tw.errors.DataFileError as error:
                    print(error)
            f["z"] = np.arange(3)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.count("could not write") == 2
    with tw.open(path) as f:
        assert list(f) == ["x", "z"]
    assert tw.store.verify(path).ok
