"""The page "what opens": each line of its table is seen here, in a file that its owner wrote."""

import sys
from pathlib import Path
from unittest import mock

import pytest

import tensorwrapper as tw
from tensorwrapper.errors import TensorWrapperError
from tensorwrapper.store.fetched import _open
from tests.support.store.kinds_that_open import CASES

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "what-opens.md"
HEAD = """\
| kind | convention | a tensor is | by byte ranges | `tw.save` writes it |
| --- | --- | --- | --- | --- |"""
ENDS = {
    ".tens": ".tens",
    "npy": ".npy",
    "npz": ".npz",
    "safetensors": ".safetensors",
    "HDF5": ".h5",
    "Zarr": ".zarr",
    "kerchunk": ".json",
    "Parquet": ".parquet",
    "Feather, Arrow": ".feather",
    "zip, tar": ".zip",
}


def line_of(case, folder):
    """Return the line of the table that a file shows."""
    path = case.write(folder)
    options = {"follow": folder} if case.options else {}
    file = tw.open(path, **options)
    tensor = file[case.name]
    how = (
        "a view"
        if not isinstance(tensor, tw.Tensor)
        else "memory of the file"
        if is_mapped(tensor)
        else "read"
    )
    ranged = "-" if options else how_ranged(path, case)
    own = tensor if isinstance(tensor, tw.Tensor) else tensor.compute()
    assert whole(own).tolist() == case.values
    file.close()
    saved = "yes" if is_written(case, path, own, folder) else "no"
    return f"| {case.kind} | {case.convention} | {how} | {ranged} | {saved} |"


def whole(tensor):
    found = tensor if isinstance(tensor, tw.Tensor) else tensor.compute()
    return found.to_dense() if found.is_sparse else found


def is_mapped(tensor):
    return tensor.buffer.is_readonly and getattr(tensor.buffer, "filename", None) is not None


def how_ranged(path, case):
    """Return how much of a file is fetched for the first row of a tensor."""
    if path.is_dir():
        # Each chunk is a file.
        assert whole(tw.open(path.as_uri())[case.name]).tolist() == case.values
        return "yes"
    with mock.patch.object(_open.tempfile, "mkdtemp", wraps=_open.tempfile.mkdtemp) as made:
        file = tw.open(path.read_bytes())
        assert whole(file[case.name][:1]).tolist()
        fetched = file.ranges.bytes_fetched
        assert whole(file[case.name]).tolist() == case.values
    if made.called:
        return "the file is copied"
    return "yes" if fetched < path.stat().st_size / 2 else "each tensor"


def is_written(case, path, tensor, folder):
    target = folder / f"again{ENDS[case.kind]}"
    name = case.name if case.kind != "npy" else "array"
    try:
        tw.save(target, {name: tensor})
        if tw.store.recognise(target).kind != tw.store.recognise(path).kind:
            return False
        with tw.open(target) as file:
            return whole(file[name]).tolist() == case.values
    except TensorWrapperError:
        return False


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.kind} {case.convention}".strip())
def test_a_line_of_the_page_is_what_is_seen(case, tmp_path):
    assert line_of(case, tmp_path) in PAGE.read_text(encoding="utf-8").splitlines()


def test_the_page_has_a_line_for_each_case():
    table = PAGE.read_text(encoding="utf-8").partition("| kind ")[2].partition("\n\n")[0]
    lines = table.splitlines()
    assert len(lines) == len(CASES) + 2


if __name__ == "__main__":
    import tempfile

    found = [HEAD]
    for one in CASES:
        with tempfile.TemporaryDirectory() as name:
            found.append(line_of(one, Path(name)))
    sys.stdout.write("\n".join(found) + "\n")
