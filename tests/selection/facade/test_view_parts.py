"""A view optimized is made of its normal form, and what was written stays beside it."""

import numpy as np

from tensorwrapper import selection as sel

X = np.arange(24).reshape(4, 6)


def padded():
    return sel.pad(sel.concat([X, X + 100]).rotate([3, 0]), [(1, 1), (0, 2)], fill_value=-1)


def test_an_optimized_view_is_made_of_its_normal_form():
    view = padded()[2:6, ::2]
    found = view.optimize()
    assert found.shape == view.shape
    assert found.dtype == view.dtype
    assert found._expression == view.normal_form()
    assert found.normal_form() == view.normal_form()
    assert found.atoms == ()


def test_what_was_written_stays_beside_it():
    view = padded()[2:6, ::2]
    found = view.optimize()
    again = found.as_written()
    assert [str(atom) for atom in again.atoms] == [str(atom) for atom in view.atoms]
    assert again._expression == view._expression
    assert view.as_written() is view
