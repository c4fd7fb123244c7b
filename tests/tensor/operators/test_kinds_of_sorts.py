"""The kind of a sort is one of NumPy's, of rows as of boxes."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import TensorWrapperError

ROWS = tw.jagged([[3, 1], [2]])
PLACES = {"box": tw.as_tensor([3, 1]), "rows": ROWS, "view": sel.as_view(ROWS), "dask": ROWS.to_dask()}


@pytest.mark.parametrize("function", [np.sort, np.argsort])
@pytest.mark.parametrize("place", PLACES)
def test_a_sort_is_of_a_kind_that_numpy_knows(function, place):
    for kind in ("quicksort", "stable", "heapsort", None):
        function(PLACES[place], kind=kind)
    for kind, said in (("x", "sort kind must be one of"), (3, "sort kind must be str")):
        with pytest.raises(TensorWrapperError, match=said):
            function(PLACES[place], kind=kind)
    with pytest.raises(TensorWrapperError, match="at the same time"):
        function(PLACES[place], kind="stable", stable=True)
