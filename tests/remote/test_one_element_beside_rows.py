"""A box of one element is one number per row of one row: beside other rows it is refused in every place."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ExtentMismatchError

ROWS = tw.jagged([[1, 9], [], [3]])
FIVE, FALSE = np.array([5]), np.array([False])
CALLS = {
    "an operator": lambda r: r + FIVE,
    "the reflected one": lambda r: FIVE + r,
    "a function": lambda r: np.minimum(r, FIVE),
    "a mask": lambda r: np.where(FALSE, r, 0),
    "a comparison": lambda r: r == FIVE,
    "a tensor": lambda r: r * tw.as_tensor(FIVE),
}
OF_VIEWS = {
    "minimum": lambda r: sel.minimum(r, FIVE),
    "maximum": lambda r: sel.maximum(FIVE, r),
    "where": lambda r: tw.where(FALSE, r, 0),
    "where in a view": lambda r: sel.where(r > 1, r, FIVE),
}


@pytest.fixture(scope="module")
def places():
    with tw.serve({"r": ROWS}) as server, tw.connect(server.address) as client:
        yield {
            "tensor": ROWS,
            "view": sel.as_view(ROWS),
            "dask": ROWS.to_dask(max_elements=2),
            "remote": client["r"],
        }


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("place", ["tensor", "view", "dask", "remote"])
def test_every_place_refuses_it(places, place, call):
    with pytest.raises(ExtentMismatchError):
        CALLS[call](places[place])


@pytest.mark.parametrize("call", OF_VIEWS)
@pytest.mark.parametrize("place", ["tensor", "view", "remote"])
def test_every_view_refuses_it(places, place, call):
    with pytest.raises(ExtentMismatchError):
        OF_VIEWS[call](places[place])
    assert sel.minimum(places[place], 5).tolist() == [[1, 5], [], [3]]
