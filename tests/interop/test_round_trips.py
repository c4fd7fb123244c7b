"""Any tensor to every library and back: the same elements, type and modes, or a refusal that names a call."""

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper.errors import TensorWrapperError
from tensorwrapper.testing import jagged_shapes, smooth_shapes

pa = pytest.importorskip("pyarrow")
pytestmark = pytest.mark.filterwarnings("ignore")

DTYPES = ["i1", "u2", "i4", "u8", "f4", "f8", "?", "c16", "f2", "M8[us]"]


def _dask(tensor):
    return tw.as_tensor(tensor.to_dask(max_elements=3).compute(scheduler="sync"))


def _libraries():
    """The libraries that give back what they were given, by a call each way."""
    found = {
        "awkward": ("awkward", lambda t: tw.as_tensor(t.to_awkward())),
        "arrow": ("pyarrow", lambda t: tw.as_tensor(t.to_arrow())),
        "arrow, asked for": ("pyarrow", lambda t: tw.as_tensor(pa.array(t))),
        "pandas": ("pandas", lambda t: tw.as_tensor(t.to_pandas())),
        "xarray": ("xarray", lambda t: tw.as_tensor(t.to_xarray())),
        "dask": ("dask", _dask),
        "torch": ("torch", lambda t: tw.as_tensor(t.to_torch())),
    }
    return [pytest.param(call, id=name) for name, (_, call) in found.items()]


def numbers(shape, dtype):
    return tw.from_buffer((np.arange(shape.size) % 100).astype("i8").astype(dtype), shape)


def check(call, tensor):
    """Assert that a round trip changes nothing but origins, or is refused by what works instead."""
    try:
        back = call(tensor)
    except TensorWrapperError as error:
        if not any(word in str(error) for word in ("(", "=", ".tens", "has no", "no place", "cannot")):
            raise AssertionError("a refusal says what is wrong, or what works") from error
        return False
    assert back.shape.rank == tensor.shape.rank
    assert back.dtype == tensor.dtype
    assert back.tolist() == tensor.tolist()
    return True


@pytest.mark.parametrize("call", _libraries())
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(shape=st.one_of(jagged_shapes(), smooth_shapes()), dtype=st.sampled_from(DTYPES))
def test_numbers_come_back(call, shape, dtype):
    assume(shape.rank)
    try:
        check(call, numbers(shape, dtype))
    except ModuleNotFoundError as error:
        pytest.skip(str(error))


ENDS = [".h5", ".parquet", ".feather", ".zarr", ".npz", ".safetensors", ".tens"]
FILES = itertools.count()


@pytest.mark.parametrize("end", ENDS)
@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(shape=st.one_of(jagged_shapes(), smooth_shapes()), dtype=st.sampled_from(DTYPES))
def test_numbers_come_back_from_files(tmp_path, end, shape, dtype):
    path = tmp_path / f"{next(FILES)}{end}"

    def through(tensor):
        tw.save(path, {"x": tensor})
        return tw.as_tensor(tw.open(path)["x"])

    check(through, numbers(shape, dtype))


def texts():
    return st.lists(st.one_of(st.none(), st.text(max_size=4)), max_size=5)


@pytest.mark.parametrize("name", ["awkward", "arrow", "pandas"])
@given(rows=st.lists(texts(), max_size=4))
def test_strings_and_their_nulls_come_back(name, rows):
    flat = list(itertools.chain.from_iterable(rows))
    for tensor in (
        tw.strings(flat),
        tw.strings(flat, shape=Shape.jagged([len(row) for row in rows])) if rows else tw.strings([]),
    ):
        assert check(lambda t: tw.as_tensor(getattr(t, f"to_{name}")()), tensor)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), unique=True, max_size=6),
    st.sampled_from(["i4", "f8", "c16"]),
)
def test_sparse_elements_come_back(coords, dtype):
    tensor = tw.sparse(
        np.array(coords, "i8").reshape(-1, 2), np.arange(1, len(coords) + 1).astype(dtype), Shape(4, 5)
    )
    for back in (tw.as_tensor(tensor.to_scipy()), tw.as_tensor(tensor.to_pydata())):
        assert back.is_sparse
        assert back.dtype == tensor.dtype
        assert back.tolist() == tensor.tolist()


@given(jagged_shapes())
def test_what_is_handed_over_is_the_same_memory_or_new_as_it_is_said(shape):
    tensor = numbers(shape, "f8")
    elements = tensor.elements()
    back = tw.as_tensor(tensor.to_arrow())
    assert not elements.size or np.shares_memory(back.elements(), elements)
    back = tw.as_tensor(tensor.to_awkward())
    assert not elements.size or np.shares_memory(back.elements(), elements)


@given(jagged_shapes(), st.sampled_from(ENDS))
@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
def test_what_is_written_later_changes_no_file(tmp_path_factory, shape, end):
    tensor = numbers(shape, "f8").copy()
    path = tmp_path_factory.getbasetemp() / f"alias{next(FILES)}{end}"
    try:
        tw.save(path, {"x": tensor})
    except TensorWrapperError:
        return
    before = tensor.tolist()
    tensor.elements()[...] = -1.0
    found = tw.as_tensor(tw.open(path)["x"])
    assert found.tolist() == before
    assert not np.shares_memory(found.elements(), tensor.elements())
