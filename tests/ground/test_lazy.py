"""What only some calls need: names that are loaded late, and libraries that are not installed."""

import subprocess
import sys
from pathlib import Path

import pytest

from tensorwrapper._lazy import naming_extras

WITHOUT = """
import sys
from pathlib import Path
for name in ("pandas", "dask", "awkward", "pyarrow", "h5py", "scipy", "sparse"):
    sys.modules[name] = None
import tensorwrapper as tw
t, s = tw.as_tensor([1.5]), tw.sparse([(0, 1)], [1.5], (2, 3))
calls = [t.to_pandas, t.to_dask, t.to_awkward, t.to_arrow, s.to_scipy, s.to_pydata]
calls += [lambda: tw.save("no.h5", {"t": t}), lambda: tw.save("no.parquet", {"t": t})]
for call in calls:
    try:
        call()
    except ModuleNotFoundError as error:
        print(error.name, "|", error)
"""


def test_a_library_that_is_not_installed_is_said_with_what_brings_it(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )

    assert done.stderr == ""
    found = [line.split(" | ") for line in done.stdout.splitlines()]
    assert [name.partition(".")[0] for name, _ in found] == [
        "pandas", "dask", "awkward", "pyarrow", "scipy", "sparse", "h5py", "pyarrow"
    ]  # fmt: skip
    extras = ["pandas", "dask", "awkward", "arrow", None, None, "hdf5", "arrow"]
    for extra, (name, text) in zip(extras, found, strict=True):
        what = name.partition(".")[0] if extra is None else f"tensorwrapper[{extra}]"
        assert text.endswith(f"python -m pip install '{what}' brings it")


def test_what_is_no_library_of_others_is_raised_as_it_is() -> None:
    with pytest.raises(ModuleNotFoundError) as caught, naming_extras():
        raise ModuleNotFoundError("no", name="of_the_user")
    assert str(caught.value) == "no"
    with pytest.raises(ModuleNotFoundError) as caught, naming_extras(), naming_extras():
        raise ModuleNotFoundError("no", name="zarr.codecs")
    assert str(caught.value) == "no: python -m pip install 'tensorwrapper[zarr]' brings it"
