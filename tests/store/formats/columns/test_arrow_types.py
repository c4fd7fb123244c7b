"""What a file holds does not depend on which library was imported before."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.feather as pf
import pyarrow.parquet as pq
import pytest

import tensorwrapper as tw
from tensorwrapper.store.formats.columns._arrow_types import (
    empty_array,
    has_null_rows,
    plain_array,
    plain_type,
)


class Own(pa.ExtensionType):
    """A type that some library adds."""

    def __init__(self, storage):
        super().__init__(storage, "tests.own")

    def __arrow_ext_serialize__(self):
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage, _serialized):
        return cls(storage)


def wrapped(array):
    return pa.ExtensionArray.from_storage(Own(array.type), array)


def test_storage_is_told_at_every_depth_over_the_same_memory():
    inner = wrapped(pa.array([1, 2, 3]))
    for array, want in (
        (inner, [1, 2, 3]),
        (pa.LargeListArray.from_arrays(pa.array([0, 2, 3], pa.int64()), inner), [[1, 2], [3]]),
        (wrapped(pa.ListArray.from_arrays(pa.array([0, 2, 3], pa.int32()), inner)), [[1, 2], [3]]),
        (pa.FixedSizeListArray.from_arrays(inner, 3), [[1, 2, 3]]),
    ):
        plain = plain_array(array)
        assert "extension" not in str(plain.type)
        assert plain.to_pylist() == want
        assert plain.buffers()[-1].address == inner.storage.buffers()[-1].address
        assert len(empty_array(plain_type(array.type))) == 0
    assert plain_array(pa.array([1])).type == pa.int64()


def test_null_rows_are_found_at_every_depth():
    assert not has_null_rows(pa.array([[1], []]))
    assert has_null_rows(pa.array([[1], None]))
    assert not has_null_rows(pa.array([[1, None]]))
    assert has_null_rows(pa.array([[[1], None]]))
    assert not has_null_rows(wrapped(pa.array([None, 1])))
    assert has_null_rows(wrapped(pa.array([None, [1]])))


@pytest.mark.parametrize("end", ["feather", "parquet"])
def test_types_that_others_add_are_what_they_store(tmp_path, end):
    table = pa.table({"x": wrapped(pa.array([[1, 2], []])), "y": [1, 2]})
    pa.register_extension_type(Own(pa.list_(pa.int64())))
    try:
        (pf.write_feather if end == "feather" else pq.write_table)(table, tmp_path / f"a.{end}")
        known = tw.open(tmp_path / f"a.{end}")
        assert {name: known[name].tolist() for name in known} == {"x": [[1, 2], []], "y": [1, 2]}
    finally:
        pa.unregister_extension_type("tests.own")
    unknown = tw.open(tmp_path / f"a.{end}")
    assert {name: unknown[name].tolist() for name in unknown} == {"x": [[1, 2], []], "y": [1, 2]}


@pytest.mark.parametrize("first", ["", "import awkward"])
def test_files_of_awkward_are_the_same_before_and_after_it_is_imported(tmp_path, first):
    import awkward as ak

    ak.to_feather(ak.Array({"x": [[1, 2], []], "y": [1, 2]}), tmp_path / "a.feather")
    code = (
        f"{first}\nimport sys, tensorwrapper as tw\nf = tw.open(sys.argv[1])\nprint(list(f), f['x'].tolist())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "a.feather"], capture_output=True, text=True, check=True
    )
    assert done.stdout == "['x', 'y'] [[1, 2], []]\n"


@pytest.mark.parametrize("end", ["feather", "parquet"])
def test_tensors_of_arrow_have_their_extents_order_and_names(tmp_path, end):
    plain = pa.FixedShapeTensorArray.from_numpy_ndarray(np.arange(24).reshape(4, 2, 3))
    lists = pa.array([[1, 2, 3, 4], [5, 6, 7, 8]] * 2, pa.list_(pa.int16(), 4))
    turned = pa.fixed_shape_tensor(pa.int16(), [2, 2], dim_names=["a", "b"], permutation=[1, 0])
    table = pa.table({"t": plain, "p": pa.ExtensionArray.from_storage(turned, lists)})
    (pf.write_feather if end == "feather" else pq.write_table)(table, tmp_path / f"a.{end}")
    f = tw.open(tmp_path / f"a.{end}")
    assert np.asarray(f["t"]).tolist() == np.arange(24).reshape(4, 2, 3).tolist()
    assert f["p"][:2].tolist() == [[[1, 3], [2, 4]], [[5, 7], [6, 8]]]
    assert f["p"].shape.names == (None, "b", "a")
