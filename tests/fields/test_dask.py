"""Records as a collection of Dask: one task for each run of rows, for all fields."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.errors import ConversionError
from tests.fields.test_laws import records

dask = pytest.importorskip("dask")


@given(records(), st.integers(1, 20))
def test_there_and_back_is_the_same(r, most):
    found = r.to_dask(max_elements=most).compute(scheduler="sync")

    assert found.array_equal(r)
    assert found.dtypes == r.dtypes


def test_a_part_is_one_task_for_all_fields():
    r = tw.records({f"f{k}": np.arange(10) for k in range(5)})
    parts = r.to_dask(max_elements=3)

    assert parts.n_parts == 4
    assert len(parts.graph) == 4
    assert r.to_dask().n_parts == 1
    assert r[:0].to_dask().compute(scheduler="sync").array_equal(r[:0])
    assert r.to_dask(max_elements=3).name == parts.name


def test_functions_are_called_with_the_records_of_a_part():
    r = tw.records({"t": tw.jagged([[5, 1, 7], [], [2, 9]]), "run": [10, 20, 30]})
    parts = r.to_dask(max_elements=3)

    cut = parts.map_partitions(lambda own, least: own[own["t"] > least], 4)

    assert cut.compute(scheduler="sync").array_equal(r[r["t"] > 4])
    assert cut.persist(scheduler="sync").compute(scheduler="sync").array_equal(r[r["t"] > 4])
    assert dask.compute(cut, scheduler="threads")[0].array_equal(r[r["t"] > 4])
    with pytest.raises(ConversionError, match="records"):
        parts.map_partitions(lambda own: own["t"]).compute(scheduler="sync")
    with pytest.raises(ConversionError, match="rank 0"):
        r[0, 0].to_dask()


@pytest.mark.slow
def test_workers_have_records():
    distributed = pytest.importorskip("distributed")
    r = tw.records({"t": tw.jagged([[5, 1, 7], [], [2, 9]]), "run": [10, 20, 30]})
    with distributed.Client(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
    ) as client:
        parts = r.to_dask(max_elements=3).map_partitions(lambda own: own.sort_by("t"))
        assert parts.compute(scheduler=client).array_equal(r.sort_by("t"))
    assert pickle.loads(pickle.dumps(r, protocol=5)).array_equal(r)
