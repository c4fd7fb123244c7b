"""Section 5: a writer dies, or the machine loses power, between any two calls of the system."""

import os
import pathlib
import shutil
import sys

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import DataFileError
from tensorwrapper.store import _file, convert
from tensorwrapper.store.system import _bytes_at

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="the writer is a child of fork"),
    pytest.mark.filterwarnings("ignore::tensorwrapper.errors.DamagedFileWarning"),
]


class Steps:
    """Counts calls of the system that change files, and ends the process at one of them."""

    def __init__(self, last, when):
        self.last, self.when, self.count = last, when, 0

    def patch(self):
        for name in ("pwrite", "fsync", "ftruncate", "open", "close", "fchmod"):
            setattr(os, name, self.counted(getattr(os, name), part=name == "pwrite"))
        os.replace = self.counted(os.replace)

    def counted(self, real, *, part=False):
        def call(*arguments, **options):
            self.count += 1
            if self.count != self.last:
                return real(*arguments, **options)
            if part and self.when == "within":
                real(arguments[0], memoryview(arguments[1])[: len(arguments[1]) // 2], *arguments[2:])
            elif self.when != "before":
                real(*arguments, **options)
            os._exit(9)

        return call


def run_until(step, when, work):
    """Do the work in a process that dies at the given step; return whether it did."""
    child = os.fork()
    if not child:
        try:
            Steps(step, when).patch()
            work()
        finally:
            # With 1 if an exception leaves the block.
            os._exit(1 if sys.exc_info()[0] else 0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, 9)
    return status == 9


OLD = {"x": np.arange(5), "rows": tw.jagged([[1], [2, 3]])}
NEW = {"x": np.arange(9.0), "y": np.arange(30_000.0)}


def contents(path):
    with tw.open(path) as f:
        return {name: tensor.tolist() for name, tensor in f.items()}


def expected(tensors):
    return {name: tw.as_tensor(tensor).tolist() for name, tensor in tensors.items()}


@pytest.mark.parametrize("when", ["before", "within", "after"])
@pytest.mark.parametrize("is_new", [False, True], ids=["over a file", "new"])
def test_crashes_a_save_that_dies_at_any_step_is_there_or_not_at_all(tmp_path, when, is_new):
    path, step, found = tmp_path / "run.tens", 0, set()
    while True:
        step += 1
        path.unlink(missing_ok=True)
        if not is_new:
            tw.save(path, OLD)
        if not run_until(step, when, lambda: tw.save(path, NEW, piece_bytes=40_000)):
            break
        if is_new and not path.exists():
            found.add("none")
            continue
        now = contents(path)
        assert now in ([expected(NEW)] if is_new else [expected(OLD), expected(NEW)])
        found.add("new" if now == expected(NEW) else "old")
        assert tw.store.verify(path).ok
    assert step > 10
    assert found == {"new", "none" if is_new else "old"}


@pytest.mark.parametrize("when", ["before", "within", "after"])
def test_crashes_an_append_that_dies_at_any_step_loses_at_most_its_record(tmp_path, when):
    path, step = tmp_path / "run.tens", 0
    start = tmp_path / "start.tens"
    tw.save(start, OLD)
    while True:
        step += 1
        shutil.copy(start, path)
        said = tmp_path / "said"
        said.write_bytes(b"")

        def work(said=said):
            with tw.open(path, "a", piece_bytes=40_000) as f, said.open("ab", buffering=0) as done:
                for name, tensor in {"z": NEW["x"], "y": NEW["y"]}.items():
                    f[name] = tensor
                    done.write(name.encode())
                    f.flush()

        died = run_until(step, when, work)
        now = contents(path)
        whole = expected({**OLD, "z": NEW["x"], "y": NEW["y"]})
        assert now == {name: whole[name] for name in now}
        assert set(now) >= {*OLD, *said.read_text()}
        # And it goes on.
        with tw.open(path, "a") as f:
            f["more"] = [1]
        assert contents(path) == {**now, "more": [1]}
        assert tw.store.verify(path).ok
        if not died:
            break
    assert step > 15


@pytest.mark.parametrize("end", [".npy", ".npz", ".safetensors"])
def test_crashes_a_conversion_that_dies_at_any_step_leaves_the_old_file(tmp_path, end):
    source, target, step = tmp_path / "a.tens", tmp_path / f"b{end}", 0
    tw.save(source, {"array": np.arange(1000.0)})
    while True:
        step += 1
        target.write_bytes(b"old")
        if not run_until(step, "before", lambda: convert(source, target, overwrite=True)):
            break
        if target.read_bytes() != b"old":
            convert(target, tmp_path / "c.tens", overwrite=True)
            assert contents(tmp_path / "c.tens")["array"][999] == 999.0
    assert step > 3


class Disk:
    """What a disk may hold after a loss of power: what was synced, and of the rest nothing or anything."""

    def __init__(self, monkeypatch):
        self.files, self.folder, self.names = {}, {}, {}
        self.log = []
        real = {name: getattr(os, name) for name in ("pwrite", "fsync", "ftruncate")}

        def note(name):
            def call(file, *arguments):
                done = real[name](file, *arguments)
                self.log.append((name, os.fstat(file).st_ino))
                return done

            return call

        for name in real:
            monkeypatch.setattr(_bytes_at.os, name, note(name))
        replace = os.replace

        def renamed(path, target):
            self.log.append(("rename", pathlib.Path(path).stat().st_ino))
            return replace(path, target)

        monkeypatch.setattr(os, "replace", renamed)
        sync = _bytes_at.sync_folder

        def synced(folder):
            sync(folder)
            self.log.append(("folder", 0))

        monkeypatch.setattr(_file, "sync_folder", synced)


def test_power_a_saved_file_is_on_the_disk_before_its_name_is(tmp_path, monkeypatch):
    disk = Disk(monkeypatch)
    tw.save(tmp_path / "run.tens", NEW)
    names = [name for name, _ in disk.log]
    at = names.index("rename")
    inode = disk.log[at][1]
    # All bytes, then they are synced, then the name, then that is synced.
    assert disk.log[at - 1] == ("fsync", inode)
    assert "pwrite" not in names[at:]
    assert names[-1] == "folder"


def test_power_flush_and_close_return_when_everything_is_on_the_disk(tmp_path, monkeypatch):
    disk = Disk(monkeypatch)
    with tw.open(tmp_path / "run.tens", "a") as f:
        for k in range(3):
            f[f"x{k}"] = np.arange(1000)
            f.flush()
            names = [name for name, _ in disk.log]
            # The records before the index that lists them, the index, and the name of the file.
            last = len(names) - 1 - names[::-1].index("pwrite")
            assert "fsync" in names[:last]
            # The index, and the folder: that is a file that is synced, too.
            assert names[last + 1 :] == ["fsync", "fsync", "folder"]
            disk.log.clear()
        f["last"] = [1]
    assert [name for name, _ in disk.log][-1] == "folder"
    assert "fsync" in [name for name, _ in disk.log]


def test_power_pages_that_never_came_are_never_taken_for_data(tmp_path):
    # What was flushed is there; of what came later any page may be missing, also within its index.
    path = tmp_path / "run.tens"
    with tw.open(path, "a") as f:
        f["a"] = np.arange(300)
        f.flush()
        flushed = path.stat().st_size
        f["b"] = np.arange(5000)
        f["c"] = np.arange(40)
    raw = path.read_bytes()
    rng = np.random.default_rng(1)
    whole = contents(path)
    for _ in range(200):
        spoilt = bytearray(raw)
        for page in range(flushed // 4096, len(raw) // 4096 + 1):
            if rng.random() < 0.5:
                begin, end = max(page * 4096, flushed), min(page * 4096 + 4096, len(raw))
                spoilt[begin:end] = bytes(max(end - begin, 0))
        path.write_bytes(spoilt[: rng.integers(flushed, len(raw) + 1)] if rng.random() < 0.3 else spoilt)
        with tw.open(path) as f:
            assert "a" in f
            assert f["a"].tolist() == whole["a"]
            for name in f:
                try:
                    found = f[name].tolist()
                except DataFileError:
                    continue
                # Elements are not read when a file is scanned, except the last record's: verify reads them.
                assert found == whole[name] or not tw.store.verify(path).ok
