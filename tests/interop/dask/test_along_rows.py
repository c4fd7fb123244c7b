"""NumPy's functions along the rows of a collection give what they give of a tensor."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import ConversionError, ExtentError
from tensorwrapper.tensor.lowlevel import ROW_FUNCTIONS

T = tw.jagged([[5.0, 1.0, 7.0], [2.0], [2.0, np.nan, 9.0, 9.0], [4.0, 4.0]])
D = T.to_dask(max_elements=4)
MORE = {"quantile": (0.3,), "nanquantile": (0.3,), "percentile": (30,), "nanpercentile": (30,)}


@pytest.mark.parametrize("name", sorted(ROW_FUNCTIONS - {"diff"}))
def test_a_collection_gives_what_a_tensor_gives(name):
    function, more = getattr(np, name), MORE.get(name, ())
    wanted = function(T, *more, axis=-1)
    found = function(D, *more, axis=-1)
    computed = found.compute()
    assert found.dtype == wanted.dtype == computed.dtype
    np.testing.assert_array_equal(
        computed.elements() if isinstance(computed, tw.Tensor) else computed, wanted.elements()
    )


def test_deeper_rows_and_all_elements():
    deep = tw.jagged([[[3, 1, 2], []], [], [[9], [4, 4]]])
    found = np.sort(deep.to_dask(max_elements=2), axis=-1)
    assert found.compute().tolist() == [[[1, 2, 3], []], [], [[9], [4, 4]]]
    assert np.sum(deep.to_dask(max_elements=2), axis=(1, 2)).compute().tolist() == [6, 0, 17]
    assert np.sum(deep.to_dask(max_elements=2)).compute() == 23


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (np.mean, ConversionError, "axis=-1"),
        (lambda d: np.sort(d, axis=0), ConversionError, "axis=-1"),
        (np.diff, ConversionError, "map_rows"),
        (lambda d: np.mean(d, axis=-1, where=T > 1), ConversionError, "where="),
        (lambda d: np.mean(d, axis=-1, out=np.zeros(4)), ConversionError, "out="),
        (lambda d: np.argmax(d, axis=-1), ExtentError, r"row \(2,\) is empty; reduce_rows"),
        (np.unique, ConversionError, "map_rows"),
    ],
)
def test_what_a_collection_refuses(call, error, words):
    rows = tw.jagged([[1, 2], [3], [], [4]]).to_dask(max_elements=2)
    with pytest.raises(error, match=words):
        call(rows)


def test_nulls_alone_have_no_greatest_element():
    nulls = tw.nullable(tw.jagged([[1], [2, 3]]), tw.jagged([[False], [False, False]]))
    found = nulls.to_dask(max_elements=2)
    with pytest.raises(ExtentError, match=r"all elements are nulls .* initial="):
        np.max(found).compute()
    assert found.reduce(np.maximum, initial=7).compute() == 7
    assert np.sum(found).compute() == 0


def test_the_advice_of_an_empty_row_works():
    rows = tw.jagged([[1, 2], [3], [], [4]]).to_dask(max_elements=2)
    best = rows.reduce_rows(lambda row: int(np.argmax(row.elements())) if row.size else -1)
    assert best.compute().tolist() == [1, 0, -1, 0]


@pytest.mark.parametrize("call", [np.mean, np.argmax, np.count_nonzero, np.median, np.std, np.ptp, np.nansum])
@pytest.mark.parametrize("axis", [(0, 1), (-2, -1), None])
def test_all_modes_are_no_rows(call, axis):
    rows = tw.jagged([[1, 2], [5], [], [7, 9]]).to_dask(max_elements=2)
    with pytest.raises(ConversionError, match="goes along rows"):
        call(rows, axis=axis)
