"""Count what opens of the files that other libraries bring for their own tests.

    python -m pip download --no-deps -d FOLDER h5py pyarrow tables
    python -m pip download --no-deps --no-binary awkward,anndata,netCDF4 -d FOLDER awkward anndata netCDF4
    python -m tests.benchmarks.public_files FOLDER

(pip prepares the sources of netCDF4 only where it finds the netCDF and HDF5 libraries)
prints the table of the page "what opens", and below it what fails in another way than it should.
"""

import sys
import tarfile
import tempfile
import zipfile
from collections import Counter, defaultdict
from pathlib import Path

import tensorwrapper as tw
from tensorwrapper.errors import TensorWrapperError

ENDS = {
    *(".h5", ".hdf5", ".h5ad", ".nc", ".mat", ".npy", ".npz", ".zip", ".parquet", ".feather", ".arrow"),
    *(".avro", ".orc", ".pkl", ".json", ".gz", ".tar", ".safetensors", ".dat"),
}
PLACES = {"test", "tests", "samples", "data_files"}
HEAD = """\
| package | files | open | and have losses | refused |
| --- | --- | --- | --- | --- |"""


def unpacked(folder, target):
    """Unpack all packages of a folder; return the folder of each by its name and version."""
    found = defaultdict(list)
    for package in sorted(folder.iterdir()):
        place = target / package.name
        if package.suffix == ".whl":
            zipfile.ZipFile(package).extractall(place)
        elif package.name.endswith(".tar.gz"):
            with tarfile.open(package) as archive:
                archive.extractall(place, filter="data")
        else:
            continue
        name, version = package.name.removesuffix(".tar.gz").split("-")[:2]
        found[f"{name} {version}"].append(place)
    return found


def files_of(places):
    """Return the files for tests, each once: a wheel may have those of its sources."""
    found = {}
    for place in places:
        for path in sorted(place.rglob("*")):
            if path.is_file() and path.suffix in ENDS and PLACES & set(path.relative_to(place).parts[:-1]):
                found.setdefault((path.parent.name, path.name), path)
    return list(found.values())


def values(tensor):
    """Return what tells one tensor from another; NaN is like NaN."""
    own = tensor if isinstance(tensor, tw.Tensor) else tensor.compute()
    own = own.to_dense() if own.is_sparse else own
    return own.shape, own.dtype, repr(own.tolist())


def outcome(path):
    """Return what comes of a file: opens, losses or refused; raise if it is anything else."""
    try:
        f = tw.open(path)
    except TensorWrapperError as error:
        if not str(error).strip():
            raise
        return "refused"
    g = tw.open(path.read_bytes())
    assert (list(f), [(x.name, x.code) for x in f.losses]) == (list(g), [(x.name, x.code) for x in g.losses])
    is_told = bool(f.losses)
    for name in f:
        try:
            tensor = f[name]
        except TensorWrapperError:
            # It is told when it is read: rows that are null.
            is_told = True
            continue
        assert values(tensor) == values(g[name]), f"{name} is another by byte ranges"
    return "losses" if is_told else "opens"


def main():
    lines, odd = [HEAD], []
    with tempfile.TemporaryDirectory() as target:
        for package, places in unpacked(Path(sys.argv[1]), Path(target)).items():
            counts = Counter()
            for path in files_of(places):
                try:
                    counts[outcome(path)] += 1
                except Exception as error:  # noqa: BLE001 - whatever it is, it is what is sought
                    odd.append(f"{package} {path.name}: {type(error).__name__}: {error}")
            total, opens = counts.total(), counts["opens"] + counts["losses"]
            if total:
                lines.append(f"| {package} | {total} | {opens} | {counts['losses']} | {counts['refused']} |")
    sys.stdout.write("\n".join([*lines, "", *odd]) + "\n")
    return bool(odd)


if __name__ == "__main__":
    sys.exit(main())
