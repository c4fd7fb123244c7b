"""Generators keep their coordinates, and constants that differ stay apart."""

import numpy as np
import pytest

from tensorwrapper import Shape
from tensorwrapper import selection as sel
from tests.support.selection.brute import elements_of
from tests.support.selection.normal_forms import t


# Values that depend on the place where they are computed must not move with the selection.
@pytest.mark.parametrize(
    "make",
    [
        lambda box: sel.random(box, seed=1),
        lambda box: sel.iota(box, 1, start=2, step=3),
        lambda box: sel.compute(box, lambda i, j: 100 * i + j, dtype="i8"),
        lambda box: sel.normal(box, t()[0].astype("f8"), 2.0, seed=5),
    ],
)
def test_generators_keep_their_coordinates(make):
    view = make(Shape(4, 5, origin=(7, -2)))
    whole = elements_of(view._expression)
    for key in [(slice(1, 3), slice(None, None, -2)), (2,), (slice(None), [3, 0, 3]), ([1, 2], [0, 4])]:
        np.testing.assert_array_equal(elements_of(view[key].normal_form()), whole[key])


def test_constants_of_two_signs_stay_two():
    view = sel.concat([sel.full((2,), -0.0), sel.full((2,), 0.0)])
    assert np.signbit(elements_of(view.normal_form())).tolist() == [True, True, False, False]
    chosen = sel.where([True, False], sel.full((2,), -0.0), sel.full((2,), 0.0))
    assert np.signbit(chosen.compute()).tolist() == [True, False]


def test_what_is_not_a_number_is_one_constant():
    view = sel.concat([sel.full((2,), np.nan), sel.full((3,), np.nan)])
    assert view.normal_form() == sel.full((5,), np.nan).normal_form()


@pytest.mark.parametrize("join", [sel.concat, sel.interleave, sel.stack])
@pytest.mark.parametrize("dtype", ["f8", "i1", "?"])
def test_one_constant_that_is_given_modes_is_cast_with_them(join, dtype):
    one = sel.full((), 1)
    for parts in (
        [one[None], one[None]],
        [one[None], sel.as_view(np.arange(1))],
        [one.reshape((1,)).repeat((3,))] * 2,
    ):
        view = join(parts)
        for found in (view.astype(dtype), view.astype(dtype)[::-1], view[::-1].astype(dtype)):
            assert found.compute().dtype == dtype
        assert view.astype(dtype).tolist() == np.array(view.tolist()).astype(dtype).tolist()
