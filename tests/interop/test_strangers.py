"""Objects that are seldom met: read for what they are, or refused by the call that works."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, DTypeError

pd = pytest.importorskip("pandas")
da = pytest.importorskip("dask.array")
xr = pytest.importorskip("xarray")
sparse = pytest.importorskip("sparse")


def test_masks_of_dask_are_not_dropped():
    masked = da.ma.masked_equal(da.arange(4, chunks=2), 1)

    assert tw.as_tensor(masked).tolist() == [0, None, 2, 3]
    assert sel.as_view(masked)[::-1].compute().tolist() == [3, 2, None, 0]
    assert tw.as_tensor(da.ma.filled(masked, 9)).tolist() == [0, 9, 2, 3]


def test_sparse_arrays_in_dask_and_xarray_are_sparse_tensors():
    eye = sparse.COO(np.eye(3))

    for given in (da.from_array(eye, asarray=False), xr.DataArray(eye, dims=("a", "b"))):
        found = tw.as_tensor(given)
        assert found.is_sparse
        assert found.tolist() == np.eye(3).tolist()
        with pytest.raises(ConversionError, match=r"as_tensor\(\) of it"):
            sel.as_view(given).compute()
    assert found.shape.names == ("a", "b")


@pytest.mark.parametrize(("name", "there"), [("a b", None), ("_", None), (5, None), ("wire", "wire")])
def test_names_of_pandas_that_no_mode_can_have_are_dropped(name, there):
    assert tw.as_tensor(pd.Series([1], index=pd.RangeIndex(1, name=name))).shape.names == (there,)
    index = pd.RangeIndex(2, name=name)
    assert tw.as_tensor(pd.DataFrame(np.eye(2), index, index)).shape.names == (None, None)


@pytest.mark.parametrize(
    "columns",
    [
        {"a": [2**53 + 1], "b": [1.5]},
        {"a": [-(2**53) - 1], "b": [1.5]},
        {"a": np.array([2**63 + 1], "u8"), "b": [-1]},
        {"a": [2**60 + 1], "b": [1j]},
    ],
)
def test_integers_are_not_rounded_beside_floats(columns):
    frame = pd.DataFrame(columns)
    with pytest.raises(ConversionError, match="column 0 has integers") as refused:
        tw.as_tensor(frame)
    call = str(refused.value).rpartition("frame.astype(")[2].split(")")[0].strip("'")
    assert tw.as_tensor(frame.astype(call)).dtype == call


def test_integers_that_floats_hold_are_exact():
    frame = pd.DataFrame({"a": [2**53, -(2**53)], "b": [0.5, 1.5], "c": np.array([1, 2], "i4")})
    assert tw.as_tensor(frame).tolist() == [[2.0**53, 0.5, 1.0], [-(2.0**53), 1.5, 2.0]]


@pytest.mark.parametrize("fill", [1.0, np.nan])
def test_sparse_columns_that_are_full_of_something_else_are_refused(fill):
    frame = pd.DataFrame({"a": pd.arrays.SparseArray([fill, 0.0], fill_value=fill)})
    with pytest.raises(ConversionError, match="to_dense"):
        tw.as_tensor(frame)
    np.testing.assert_array_equal(np.asarray(tw.as_tensor(frame.sparse.to_dense())), [[fill], [0.0]])


def test_text_of_xarray_is_read_by_the_call_that_the_refusal_names():
    given = xr.DataArray(np.array([["a", "é"]]))
    with pytest.raises(DTypeError, match=r"tw.strings\(...\)"):
        tw.as_tensor(given)
    assert tw.strings(given).tolist() == [["a", "é"]]


def test_rows_of_rows_are_put_together():
    first, second = tw.jagged([[1], [2, 3]]), tw.jagged([[4]])
    joined = tw.jagged([first, second, first[::-1]])

    assert joined.shape == tw.Shape.jagged([[1, 2], [1], [2, 1]])
    assert joined.tolist() == [[[1], [2, 3]], [[4]], [[2, 3], [1]]]
    assert tw.jagged([first.translate_to((5, 0)), second], dtype="f4").tolist() == [[[1], [2, 3]], [[4]]]
    assert tw.jagged([[first], [second, second]]).shape.rank == 4
    assert tw.jagged([first, np.ones((2, 2), int)]).tolist() == [[[1], [2, 3]], [[1, 1], [1, 1]]]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_rare_tensors_of_pytorch_are_refused_by_the_call_that_works():
    torch = pytest.importorskip("torch")
    for given, words in (
        (torch.nested.nested_tensor([]), "rank"),
        (torch.ones(2).untyped_storage(), "no extents"),
        (torch.ones(2).to_mkldnn(), "to_dense"),
        (torch.sparse_coo_tensor([[0, 1]], torch.ones(2, 3), (2, 3)), "to_dense"),
    ):
        with pytest.raises(ConversionError, match=words):
            tw.as_tensor(given)


@pytest.mark.parametrize("lazy", [False, True])
def test_arrays_of_xarray_stand_beside_no_tensor(lazy):
    t, x = tw.as_tensor([1, 2, 3]), xr.DataArray([10, 20, 30], dims="x")
    given = sel.as_view(t) if lazy else t
    for call in (
        lambda: given + x,
        lambda: given == x,
        lambda: np.add(given, x),
        lambda: np.add(x, given),
        lambda: tw.jagged([[1], [2]]) * x,
        lambda: given.__iadd__(x),
    ):
        with pytest.raises(ConversionError, match=r"`t\.to_xarray\(\) \+ t"):
            call()
    assert (t.named("x").to_xarray() + x).values.tolist() == [11, 22, 33]
    assert (t + x.values).tolist() == [11, 22, 33]
