"""Work on files in a process of its own, in which something real is missing: room, memory, descriptors."""

import json
import subprocess
import sys
import textwrap

__all__ = ["run_with_faults"]

_COMMON = '''
import json, os, random, resource, signal, sys
import numpy as np
import tensorwrapper as tw
from tensorwrapper.errors import TensorWrapperError
from tensorwrapper.store import convert, verify

folder = sys.argv[1]
path, other = folder + "/run.tens", folder + "/other.tens"
OLD = {"x": np.arange(2000.0), "rows": tw.jagged([[1], [2, 3]])}
NEW = {"x": np.arange(8_000.0), "y": np.arange(5_000)}


def contents(file):
    with tw.open(file) as f:
        return {name: tensor.tolist() for name, tensor in f.items()}


def plain(tensors):
    return {name: tw.as_tensor(tensor).tolist() for name, tensor in tensors.items()}


OLDS, NEWS = plain(OLD), plain(NEW)
tw.save(other, {"array": np.arange(5_000.0)})
ARRAY = contents(other)
ENDS = ("npy", "npz", "safetensors")


def begin():
    """Put the files into the state in which each work finds them."""
    for name in os.listdir(folder):
        if name != "other.tens":
            os.unlink(folder + "/" + name)
    tw.save(path, OLD)
    for end in ENDS:
        convert(other, f"{folder}/b.{end}")
    convert(f"{folder}/b.npz", f"{folder}/c.tens")


def save():
    tw.save(path, NEW, piece_bytes=20_000)


def append():
    with tw.open(path, "a", piece_bytes=20_000) as f:
        f["a"] = np.arange(6_000)
        f.flush()
        f["b"] = np.arange(9)


def read():
    assert contents(path) == OLDS
    assert verify(path).ok


def to_others():
    for end in ENDS:
        convert(other, f"{folder}/b.{end}", overwrite=True)


def from_others():
    for end in ENDS:
        convert(f"{folder}/b.{end}", f"{folder}/c.tens", overwrite=True)


WORKS = [save, append, read, to_others, from_others]
APPENDED = {"a": list(range(6_000)), "b": list(range(9))}


def check(work):
    """Raise unless every file is whole, nothing is lost that was there, and nothing lies about."""
    now = contents(path)
    if work is append:
        assert OLDS.items() <= now.items() <= {**OLDS, **APPENDED}.items()
    else:
        assert now in ((OLDS, NEWS) if work is save else (OLDS,)), work.__name__
    assert verify(path).ok
    with tw.open(path, "a") as f:
        f["again"] = [1]
    assert contents(path) == {**now, "again": [1]}
    for end in ENDS if work is to_others else ():
        convert(f"{folder}/b.{end}", f"{folder}/d.tens", overwrite=True)
        assert contents(f"{folder}/d.tens") == ARRAY
    if work is from_others:
        assert contents(f"{folder}/c.tens") == ARRAY


def tidy():
    assert [name for name in os.listdir(folder) if name.endswith(".tmp")] == []


def descriptors():
    return sorted(map(int, os.listdir("/proc/self/fd")))


said = {}


def note(work, error):
    said.setdefault(work.__name__, {}).setdefault(type(error).__name__ if error else "done", 0)
    said[work.__name__][type(error).__name__ if error else "done"] += 1


def hungry(work, keep, more):
    """Do the work in a child that has used up its memory, but for pieces of small size, and `more` bytes."""
    begin()
    child = os.fork()
    if child:
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        name = {0: "done", 3: "MemoryError", 4: "ours"}.get(code, f"code {code}")
        said.setdefault(work.__name__, {}).setdefault(name, 0)
        said[work.__name__][name] += 1
        return
    hog, code, kept = None, 5, [bytes(450) for _ in range(keep)]
    pages = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (pages + more, resource.RLIM_INFINITY))
    for size in (10_000, 4000, 1000, 400, 200, 100, 60) if keep else ():
        try:
            while True:
                hog = (hog, bytearray(size - 57))
        except MemoryError:
            pass
    kept = None
    try:
        work()
        code = 0
    except MemoryError:
        code = 3
    except TensorWrapperError:
        code = 4
    finally:
        os._exit(code)


def with_fault(work, kind, limit, *more):
    """Do the work while a resource is limited, then look at what is left."""
    begin()
    held = descriptors()
    soft, hard = resource.getrlimit(kind)
    error = None
    resource.setrlimit(kind, (limit, hard))
    try:
        work()
    except (TensorWrapperError, *more) as refused:
        error = refused
    finally:
        resource.setrlimit(kind, (soft, hard))
    note(work, error)
    error = None
    assert descriptors() == held, (descriptors(), held)
    tidy()
    check(work)
    return said
'''


def run_with_faults(code: str, *arguments: object) -> dict[str, dict[str, int]]:
    """Run code after the common part, and return how often each work ended how."""
    whole = f"{_COMMON}\n{textwrap.dedent(code)}\nprint(json.dumps(said))"
    done = subprocess.run(
        [sys.executable, "-c", whole, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    found: dict[str, dict[str, int]] = json.loads(done.stdout.splitlines()[-1])
    return found
