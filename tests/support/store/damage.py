"""Files that are damaged by chance: bits that flip, and ends that are missing.

``python -m tests.support.store.damage KIND FIRST LAST`` tries some of one kind, and says each number before:
whoever started it sees at which the process ended.
"""

import contextlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import h5py
import numpy as np
import zarr

import tensorwrapper as tw
from tensorwrapper.errors import TensorWrapperError
from tensorwrapper.selection import as_view
from tests.support.store.kinds_that_open import CASES, Case

AT_ADDRESS = "at an address"


def _stored_views(folder):
    tw.save(folder / "a.tens", {"x": np.arange(60.0).reshape(6, 10), "rows": tw.jagged([[1, 2], [], [3]])})
    with tw.open(folder / "a.tens") as f:
        views = {"v": tw.concat([as_view(f["x"])[::2], f["x"]]), "r": as_view(f["rows"])[1:]}
        tw.save(folder / "v.tens", views, keep_views=True)
    return folder / "v.tens"


def _consolidated(folder):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        zarr.create_group(folder / "a.zarr").create_array("x", data=np.arange(60), chunks=(20,))
        zarr.consolidate_metadata(folder / "a.zarr")
    return folder / "a.zarr"


def _packed(folder):
    with h5py.File(folder / "a.h5", "w") as file:
        data = np.arange(6000) % 50
        file.create_dataset("x", data=data, chunks=(500,), compression="gzip", shuffle=True)
    return folder / "a.h5"


MORE = [
    Case(".tens", "stored views", _stored_views, "v", None, True, {}),
    Case("Zarr", AT_ADDRESS, _consolidated, "x", None, True, {}),
    Case("HDF5", "packed chunks", _packed, "x", None, True, {}),
]
KINDS = {f"{case.kind} {case.convention}".strip(): case for case in (*CASES, *MORE)}
SECONDS = 2.0
MEMORY = 200 * 2**20
_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


def damaged(raw, rng, places):
    """Return bytes of which some bits were flipped, at `places` if they are given, or that were cut."""
    if rng.random() < 0.25:
        return raw[: rng.randrange(len(raw))]
    found = bytearray(raw)
    for _ in range(rng.choice((1, 1, 1, 2, 8))):
        start, stop = rng.choice(places)
        found[rng.randrange(start, stop)] ^= 1 << rng.randrange(8)
    return bytes(found)


def places_of_elements(path):
    """Return where the elements of an HDF5 file lie, which HDF5 itself makes no sense of."""
    found = []

    def note(_name, own):
        if isinstance(own, h5py.Dataset):
            if own.chunks is not None:
                spans = [own.id.get_chunk_info(k) for k in range(own.id.get_num_chunks())]
                found.extend((one.byte_offset, one.byte_offset + one.size) for one in spans)
            elif own.id.get_offset() is not None and own.dtype.kind in "biufc":
                found.append((own.id.get_offset(), own.id.get_offset() + own.nbytes))

    with h5py.File(path) as file:
        file.visititems(note)
    return found


def use(source, **options):
    """Read all that a file has; raise nothing but errors of the package."""
    with contextlib.suppress(TensorWrapperError):
        f = tw.open(source, **options)
        tuple(map(repr, f.losses))
        for name in f:
            with contextlib.suppress(TensorWrapperError):
                tensor = f[name]
                repr(tensor if isinstance(tensor, tw.Tensor) else tensor.compute())
                f.describe(name)
        f.close()


def _memory(key):
    line = next(own for own in _STATUS.read_text().splitlines() if own.startswith(key))
    return int(line.split()[1]) * 1024


class Trials:
    """Damages files of one kind, each in a way that its number says, and reads them."""

    def __init__(self, kind, *, anywhere=False):
        self.case = KINDS[kind]
        self.folder = Path(tempfile.mkdtemp(prefix="damage-"))
        self.path = self.case.write(self.folder)
        is_careful = self.case.kind == "HDF5" and not anywhere
        files = [own for own in self.folder.rglob("*") if own.is_file()]
        self.files = {own: own.read_bytes() for own in files}
        self.places = {
            own: places_of_elements(own) if is_careful else [(0, len(raw))]
            for own, raw in self.files.items()
            if raw
        }
        self.options = {"follow": self.folder} if self.case.options else {}
        self.source = self.path.as_uri() if self.case.convention == AT_ADDRESS else self.path
        use(self.source, **self.options)

    def attempt(self, number):
        """Try one damage; raise if what comes is not ours, or takes too long or too much memory."""
        rng = random.Random(f"{self.case.kind} {self.case.convention} {number}")
        file = rng.choice(sorted(self.places))
        raw = damaged(self.files[file], rng, self.places[file] or [(0, 1)])
        if not self.places[file] and len(raw) == len(self.files[file]):
            return
        file.write_bytes(raw)
        try:
            # By its path, and by byte ranges.
            is_fetched = number % 2 and file == self.path and not self.options
            if _CLEAR.exists():
                _CLEAR.write_text("5")
            before, started = (_memory("VmRSS") if _STATUS.exists() else 0), time.process_time()
            use(raw if is_fetched else self.source, **self.options)
            seconds = time.process_time() - started
            more = (_memory("VmHWM") if _STATUS.exists() else 0) - before
        finally:
            file.write_bytes(self.files[file])
        assert seconds < SECONDS, f"{self.case}: number {number} took {seconds:.1f} s"
        assert more < MEMORY, f"{self.case}: number {number} took {more >> 20} MB"

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def in_children(kind, count):
    """Try damages anywhere in processes of their own; return the numbers at which a signal ended one."""
    ended, first = [], 0
    while first < count:
        words = [sys.executable, "-m", "tests.support.store.damage", kind, str(first), str(count)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        last = int((done.stdout.split() or ["-1"])[-1])
        if done.returncode > 0 or last < first:
            raise AssertionError(done.stderr[-3000:])
        if done.returncode < 0:
            ended.append(last)
        first = last + 1
    return ended


def _main():
    kind, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    trials = Trials(kind, anywhere=True)
    resource.setrlimit(resource.RLIMIT_AS, (4 * 2**30, 4 * 2**30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        for number in range(first, last):
            sys.stdout.write(f"{number}\n")
            sys.stdout.flush()
            signal.setitimer(signal.ITIMER_PROF, 2 * SECONDS)
            trials.attempt(number)
    finally:
        trials.close()


if __name__ == "__main__":
    _main()
