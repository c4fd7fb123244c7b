"""Operations that pick positions, where other libraries mean something else."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel

X = np.arange(24).reshape(4, 6)


def x():
    return sel.as_view(tw.as_tensor(X))


def test_lists_for_several_modes_are_points_and_outer_products_have_a_name():
    assert x()[[3, 0], [5, 1]].compute().tolist() == [23, 1]
    assert x().oindex[[3, 0], [5, 1]].compute().tolist() == [[23, 19], [5, 1]]


def test_a_list_that_is_changed_later_changes_no_view():
    positions, mask = np.array([3, 0]), np.ones(4, dtype=bool)
    picked, kept = x().gather(0, positions), x()[mask]
    positions[:], mask[:] = 1, False
    assert picked.compute().tolist() == X[[3, 0]].tolist()
    assert kept.compute().tolist() == X.tolist()
    assert picked.route((0, 0)).index == (3, 0)
    assert str(picked.atoms[0]) == "gather(0, (3, 0))"


def test_an_iterator_of_positions_is_read_once_and_kept():
    view = x().permute(iter([1, 0])).rotate(iter([2, 0]))
    assert view.route((0, 0)).index == (0, 4)
    assert [str(atom) for atom in view.atoms] == ["permute((1, 0))", "rotate((2, 0))"]


@pytest.mark.parametrize("given", [(np.int64(1),), (np.array(1),), ([np.int8(1)],), (np.array([1]),)])
@pytest.mark.parametrize("name", ["reverse", "squeeze", "unsqueeze"])
def test_modes_are_integers_of_any_kind_and_printed(given, name):
    view = sel.as_view(tw.as_tensor([[1], [2]]))
    found = getattr(view, name)(*given)

    assert found.compute().tolist() == getattr(tw.as_tensor([[1], [2]]), name)(1).tolist()
    assert repr(found)
    assert str(found.atoms[0]).startswith(name)
    assert sel.from_json(sel.to_json(found), sources=sel.sources(found)).tolist() == found.tolist()
