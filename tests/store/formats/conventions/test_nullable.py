"""AnnData's nullable columns have nulls; pandas and anndata say what is right."""

import numpy as np
import pytest

import tensorwrapper as tw
from tests.support.store.groups import KINDS, changed, write_groups

MASK = np.array([False, True, False])
WORDS = ["a", "", "ü"]


def column(name, values, mask=MASK):
    said = {"encoding-type": f"nullable-{name}", "encoding-version": "0.1.0"}
    return {"obs/c": (said, {"values": values, "mask": mask})}


def words(kind):
    return np.array(WORDS, object if kind == "h5" else np.dtypes.StringDType())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["integer", "boolean", "string-array"])
def test_a_column_has_nulls(tmp_path, kind, name):
    values = {"integer": np.array([3, 1, 5], "u2"), "boolean": np.array([True, False, False])}
    array = values.get(name, words(kind))
    path = write_groups(tmp_path, kind, column(name, array))
    file = tw.open(path)
    assert (list(file), file.losses) == (["obs/c"], ())
    assert file["obs/c"].tolist() == [array[0], None, array[2]]
    assert (file["obs/c"].null_count, list(tw.open(path, raw=True))) == (1, ["obs/c/mask", "obs/c/values"])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["integer", "string-array"])
def test_a_column_may_have_no_nulls(tmp_path, kind, name):
    array = words(kind) if name == "string-array" else np.arange(3)
    found = tw.open(write_groups(tmp_path, kind, column(name, array, np.zeros(3, bool))))["obs/c"]
    assert (found.null_count, found.tolist()) == (0, array.tolist())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "odd",
    [
        {"mask": np.array([False, True])},
        {"mask": np.array([0, 1, 0])},
        {"values": np.array([0.5, 1, 2])},
        {"without": ["mask"]},
        {"without": ["values"]},
    ],
)
def test_a_column_whose_arrays_do_not_fit_is_told(tmp_path, kind, odd):
    groups = changed(column("integer", np.arange(3)), "obs/c", **odd)
    file = tw.open(write_groups(tmp_path, kind, groups))
    assert [(loss.name, loss.code) for loss in file.losses] == [("obs/c", "convention")]
    assert set(file) == {f"obs/c/{own}" for own in groups["obs/c"][1]}


@pytest.mark.filterwarnings("ignore")
def test_columns_that_anndata_writes_are_read(tmp_path):
    ad = pytest.importorskip("anndata", minversion="0.12")
    pd = pytest.importorskip("pandas")
    obs = {"n": pd.array([1, None, 3], dtype="Int64"), "b": pd.array([True, None, False], dtype="boolean")}
    with ad.settings.override(allow_write_nullable_strings=True):
        data = ad.AnnData(np.eye(3), obs=pd.DataFrame(obs, index=pd.Index(list("xyz"), dtype="string")))
        data.write_h5ad(tmp_path / "a.h5ad")
        data.write_zarr(tmp_path / "b.zarr")
    for name in ("a.h5ad", "b.zarr"):
        file = tw.open(tmp_path / name)
        assert (file["obs/n"].tolist(), file["obs/b"].tolist()) == ([1, None, 3], [True, None, False])
        assert file["obs/_index"].tolist() == list("xyz")
