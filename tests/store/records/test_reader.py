"""Files are read as far as they are used, by many at once, also while one writes."""

import os
import resource
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.buffer import count_copies
from tensorwrapper.errors import DataFileError

pytestmark = pytest.mark.slow


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.tens"


def run(code, *arguments):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_tensor_is_a_view_of_the_file(path):
    x = np.arange(10_000.0).reshape(100, 100)
    tw.save(path, {"x": x})
    with tw.open(path) as f, count_copies() as count:
        part = np.asarray(f["x"][10:20, ::3])

    assert count.nbytes == 0
    assert np.array_equal(part, x[10:20, ::3])
    assert not part.flags.owndata


def test_a_slice_within_one_piece_is_a_view_of_it(path):
    x = np.arange(10_000.0).reshape(100, 100)
    tw.save(path, {"x": x}, piece_bytes=30 * 800)
    with tw.open(path) as f:
        with count_copies() as within:
            assert np.array_equal(f["x"][31:59], x[31:59])
        with count_copies() as across:
            assert np.array_equal(f["x"][20:80], x[20:80])
        assert np.array_equal(f["x"], x)
        assert np.array_equal(f["x"][::7, 5], x[::7, 5])

    assert (within.nbytes, across.nbytes) == (0, 60 * 800)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads what Linux says of a process")
def test_opening_and_slicing_touch_little_of_a_large_file(path):
    x = np.ones((64, 2**18))  # 128 MiB
    tw.save(path, {f"x{k}": x[k : k + 8] for k in range(0, 64, 8)})
    tw.save(path.with_suffix(".cut"), {"x": x}, piece_bytes=2**24)
    # Memory of the process, and pages of files that it has mapped in.
    code = """
        import sys
        import numpy as np
        import tensorwrapper as tw

        def used():
            lines = dict(line.split(":") for line in open("/proc/self/status"))
            return np.array([int(lines[key].split()[0]) for key in ("RssAnon", "RssFile")])

        with tw.open(sys.argv[2]) as f:
            float(np.asarray(f["x"][0:1, :8]).sum())
        before = used()
        with tw.open(sys.argv[1]) as f:
            names = sorted(f)
            opened = used() - before
            total = sum(float(np.asarray(f[name][2:3, :1000]).sum()) for name in names)
            sliced = used() - before
        with tw.open(sys.argv[2]) as f:
            total += float(np.asarray(f["x"][10:40:10, :1000]).sum())
            joined = used() - before
        print(*opened, *sliced, *joined, total)
    """
    done = run(code, path, path.with_suffix(".cut"))
    *memory, total = [float(text) for text in done.stdout.split()]

    assert total == 11_000
    # In KiB. The system maps up to 2 MiB around a page that is touched; the files have 128 MiB each.
    assert memory[0] + memory[1] < 1024
    assert memory[2] < 1024
    assert memory[3] < 8 * 4096
    assert memory[4] < 2048
    assert memory[5] < 16 * 4096


def test_readers_see_what_was_there_when_they_opened(path):
    with tw.open(path, "a") as writer:
        writer["a"] = [1]
        with tw.open(path) as first:
            writer["b"] = [2]
            writer.flush()
            with tw.open(path) as second:
                writer["c"] = [3]
                assert (list(first), list(second), list(writer)) == (["a"], ["a", "b"], ["a", "b", "c"])
                assert [f["a"].tolist() for f in (first, second, writer)] == [[1]] * 3
                assert writer["c"].tolist() == [3]
    with tw.open(path) as third:
        assert list(third) == ["a", "b", "c"]


def test_many_read_while_one_writes(path):
    code = """
        import sys
        import numpy as np
        import tensorwrapper as tw

        last = 0
        while last < 300:
            with tw.open(sys.argv[1]) as f:
                assert len(f) >= last, (len(f), last)
                last = len(f)
                for k in range(max(last - 5, 0), last):
                    assert f[f"x{k}"].tolist() == [k] * (k % 50), k
    """
    with tw.open(path, "a"):
        pass
    done = []
    readers = [threading.Thread(target=lambda: done.append(run(code, path))) for _ in range(2)]
    for reader in readers:
        reader.start()
    with tw.open(path, "a", piece_bytes=100) as f:
        for k in range(300):
            f[f"x{k}"] = np.full(k % 50, k)
            if k % 11 == 0:
                f.flush()
    for reader in readers:
        reader.join()

    assert [d.stderr for d in done] == ["", ""]
    assert [d.returncode for d in done] == [0, 0]


def test_threads_share_one_file(path):
    tensors = {f"x{k}": np.full(100, k) for k in range(50)}
    tw.save(path, tensors)
    wrong = []
    with tw.open(path) as f:

        def read():
            wrong.extend(k for k in range(50) if f[f"x{k}"].tolist() != [k] * 100)

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert wrong == []


def test_a_file_that_shrinks_under_a_reader_is_an_error(path):
    tw.save(path, {"a": np.arange(3), "b": np.arange(100_000)})
    with tw.open(path) as f:
        assert f["a"].tolist() == [0, 1, 2]
        os.truncate(path, f.describe("b").start + 4096)
        with pytest.raises(DataFileError, match="has shrunk to"):
            f["b"]
        assert f["a"].tolist() == [0, 1, 2]
        os.truncate(path, 0)
        with pytest.raises(DataFileError, match="has shrunk to 0 bytes"):
            f["a"]


def test_many_files_leave_nothing_open(path):
    tw.save(path, {"x": [1]})
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    kept = []
    for _ in range(min(limit, 1000) + 24):
        with tw.open(path) as f:
            kept = [f["x"]]

    assert kept[0].tolist() == [1]
