"""Views of random numbers: drawn by index and seed, over the box and in the type that were asked for."""

import numpy as np
import pytest

from tensorwrapper import Shape
from tensorwrapper import selection as sel
from tensorwrapper.errors import ExtentMismatchError

BOX = Shape(4, 6, origin=(1, -2)).named("i", "j")
DRAWN = {
    "random": (lambda shape: sel.random(shape, seed=3, dtype=np.float32), "f4"),
    "uniform": (lambda shape: sel.uniform(shape, 2, 5, seed=3), "f8"),
    "normal": (lambda shape: sel.normal(shape, 1.0, [0.5] * 6, seed=3), "f8"),
    "integers": (lambda shape: sel.integers(shape, 0, 9, seed=3, dtype="i2"), "i2"),
    "bernoulli": (lambda shape: sel.bernoulli(shape, 0.3, seed=3), "?"),
}


@pytest.mark.parametrize(("make", "dtype"), DRAWN.values(), ids=DRAWN)
def test_a_slice_has_the_numbers_of_the_whole(make, dtype):
    view = make(BOX)
    whole = np.asarray(view)

    assert (view.shape, view.dtype) == (BOX, np.dtype(dtype))
    assert len(np.unique(whole)) > 1
    assert np.asarray(view[1:3, ::-2]).tolist() == whole[1:3, ::-2].tolist()


@pytest.mark.parametrize("make", [make for make, _ in DRAWN.values()], ids=DRAWN)
def test_rows_have_the_numbers_of_the_box_around_them(make):
    whole = make(Shape(2, 6)).compute()
    assert make(Shape.jagged([1, 6])).compute().tolist() == [whole[0, :1].tolist(), whole[1].tolist()]


def test_a_parameter_is_broadcast_or_refused():
    with pytest.raises(ExtentMismatchError, match="does not broadcast"):
        sel.uniform((2, 3), [0.0, 1.0], 5.0, seed=1)
