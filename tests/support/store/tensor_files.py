"""A reader and a writer of Wire-Cell's tensor files made of Python's and NumPy's own parts alone.

The reader does what the tools of its users do: keys are names without their ends, sets are gathered by the
numbers in them. The writer does what the C++ sink does: what is said of the set first, then of each tensor
what is said and the array, if there is one.
"""

import io
import json
import tarfile
import zipfile

import numpy as np

TARS = {".tar": "", ".tar.gz": "gz", ".tgz": "gz", ".tar.bz2": "bz2", ".tbz2": "bz2"}
ENDS = [*TARS, ".zip", ".npz"]


def members(path):
    """Yield name and bytes of each file in an archive."""
    if str(path).endswith((".zip", ".npz")):
        with zipfile.ZipFile(path) as archive:
            yield from [(info.filename, archive.read(info)) for info in archive.infolist()]
        return
    with tarfile.open(path) as archive:
        for info in archive.getmembers():
            if info.isfile():
                yield info.name, archive.extractfile(info).read()


def read_sets(path, prefix=""):
    """Return by number each set: what is said of it, and by number its tensors, (metadata, array or None)."""
    sets = {}
    for name, data in members(path):
        key, end = name.rsplit(".", 1)
        if not key.startswith((f"{prefix}tensorset_", f"{prefix}tensor_")):
            continue
        value = json.loads(data) if end == "json" else np.load(io.BytesIO(data))
        steps = key[len(prefix) :].split("_")
        own = sets.setdefault(int(steps[1]), {"said": None, "tensors": {}})
        if steps[0] == "tensorset":
            own["said"] = value
        else:
            pair = own["tensors"].setdefault(int(steps[2]), [None, None])
            pair[steps[3] == "array"] = value
    return sets


def archive_of(files, end, *, deflated=False, form=tarfile.GNU_FORMAT):
    """Return the bytes of an archive of these names and bytes, in their order."""
    out = io.BytesIO()
    if end in TARS:
        with tarfile.open(fileobj=out, mode=f"w:{TARS[end]}", format=form) as archive:
            for name, data in files:
                info = tarfile.TarInfo(name)
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
    else:
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED if deflated else zipfile.ZIP_STORED) as archive:
            for name, data in files:
                archive.writestr(zipfile.ZipInfo(name), data, archive.compression)
    return out.getvalue()


def npy(array):
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def files_of(sets, prefix=""):
    """Return names and bytes as the sink writes them: sets are (number, said, [(said, array or None)])."""
    found = []
    for ident, said, tensors in sets:
        # As jsoncpp has it: indented by tabs, and a line's end after it.
        found.append(
            (f"{prefix}tensorset_{ident}_metadata.json", json.dumps(said, indent="\t").encode() + b"\n")
        )
        for k, (own, array) in enumerate(tensors):
            name = f"{prefix}tensor_{ident}_{k}"
            found.append((f"{name}_metadata.json", json.dumps(own, indent="\t").encode() + b"\n"))
            if array is not None:
                found.append((f"{name}_array.npy", npy(array)))
    return found
