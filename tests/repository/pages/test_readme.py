"""What the README says of other libraries, tried with them; and that its programs stay short."""

import re
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[3]
RAGGED = [[1], [2, 3]]


def section(title):
    return (ROOT / "README.md").read_text(encoding="utf-8").partition(f"## {title}\n")[2].split("\n## ")[0]


def test_each_program_has_few_lines():
    programs = re.findall(r"```python\n(.*?)```", section("Three programs"), re.DOTALL)
    lines = [[line for line in text.splitlines() if line.startswith((">>>", "..."))] for text in programs]
    imports = [[line for line in own if " import " not in line.removeprefix(">>>")[:8]] for own in lines]

    assert len(programs) == 3
    assert max(len(own) for own in imports) <= 7


def test_what_the_readme_links_to_is_there():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#]+)\)", text)

    assert len(targets) > 10
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_the_table_has_a_cell_for_each_library():
    rows = [line for line in section("Beside other libraries").splitlines() if line.startswith("|")]

    assert {row.count("|") for row in rows} == {8}


def test_awkward_array_has_more_than_rows_and_makes_combinations():
    ak = pytest.importorskip("awkward")
    array = ak.Array([{"x": 1, "y": [1.5]}, {"x": None, "y": []}])

    assert array.y.tolist() == [[1.5], []]
    assert array.x.tolist() == [1, None]
    assert ak.combinations(ak.Array([[1, 2, 3]]), 2).tolist() == [[(1, 2), (1, 3), (2, 3)]]
    assert callable(ak.to_parquet)
    assert callable(ak.to_feather)


def test_dask_has_no_rows_but_chunks_of_any_sizes_and_computes_later():
    da = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match="inhomogeneous"):
        da.from_array(RAGGED, chunks=1).compute()
    array = da.ones((6, 6), chunks=((2, 1, 3), (6,)))

    assert array.chunks == ((2, 1, 3), (6,))
    assert (array.T @ array)[2:4].sum().compute() == 72


def test_zarr_has_no_rows_and_each_selection_reads():
    zarr = pytest.importorskip("zarr")
    with pytest.raises(ValueError, match="inhomogeneous"):
        zarr.array(RAGGED)

    assert type(zarr.array(np.arange(10))[2:4]) is np.ndarray


def test_tensorstore_has_origins_lazy_selections_and_transactions():
    ts = pytest.importorskip("tensorstore")
    with pytest.raises(ValueError, match="inhomogeneous"):
        ts.array(RAGGED)
    moved = ts.array(np.arange(10))[ts.d[0].translate_to[5]][7:9]
    assert (moved.domain.inclusive_min, moved.read().result().tolist()) == ((7,), [2, 3])
    spec = {"driver": "zarr", "kvstore": {"driver": "memory"}}
    store = ts.open(spec, dtype=ts.float64, shape=[4], create=True).result()
    with ts.Transaction() as transaction:
        store.with_transaction(transaction)[0] = 5
    assert store[0].read().result() == 5


def test_xarray_has_no_rows_but_labels_and_groups():
    xr = pytest.importorskip("xarray")
    with pytest.raises(ValueError, match="inhomogeneous"):
        xr.DataArray(RAGGED)
    array = xr.DataArray([1, 2, 3], dims="day", coords={"day": [10, 20, 20]})

    assert array.sel(day=10).item() == 1
    assert array.groupby("day").sum().values.tolist() == [1, 5]
