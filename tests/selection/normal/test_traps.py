"""Meanings that other libraries give otherwise, or that are easily got wrong."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper import selection as sel
from tensorwrapper.errors import ExtentError, LayoutError
from tests.support.selection_brute import elements_of

X = np.arange(24).reshape(4, 6)


def x():
    return sel.as_view(tw.as_tensor(X))


def test_a_reshape_never_drops_elements():
    with pytest.raises(ExtentError):
        x().reshape((4, 5))
    with pytest.raises(ExtentError):
        sel.concat([X, X]).reshape((47,))


def test_lists_for_several_modes_are_points_and_outer_products_have_a_name():
    assert x()[[3, 0], [5, 1]].compute().tolist() == [23, 1]
    assert x().oindex[[3, 0], [5, 1]].compute().tolist() == [[23, 19], [5, 1]]


def test_a_broadcast_does_not_repeat():
    pair = sel.as_view([1, 2])
    with pytest.raises(LayoutError, match="broadcast"):
        pair.broadcast((4,))
    assert pair.repeat((2,)).compute().tolist() == [1, 2, 1, 2]


@pytest.mark.parametrize("shift", [-7, -1, 0, 2, 13])
def test_elements_rotate_towards_higher_indices(shift):
    np.testing.assert_array_equal(x().rotate([0, shift]).compute(), np.roll(X, shift, 1))


def test_remainders_of_what_is_before_the_origin_round_down():
    shifted = x().window(Shape(2, 3, origin=(1, 2)))
    wrapped = shifted.pad([(3, 0), (4, 0)], boundary="wrap")
    assert wrapped.shape.origin == (-2, -2)
    np.testing.assert_array_equal(wrapped.compute(), np.pad(X[1:3, 2:5], [(3, 0), (4, 0)], mode="wrap"))
    assert wrapped.route((-2, -2)).index == (2, 4)
    assert sel.iota(Shape(4, origin=(-7,)), step=3).compute().tolist() == [-21, -18, -15, -12]


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


def test_elements_are_those_at_the_time_of_computing():
    array = np.arange(3)
    view = sel.concat([array, [7]])
    array[0] = 100
    assert view.compute().tolist() == [100, 1, 2, 7]


def test_a_view_of_what_repeats_says_its_places_as_often():
    wide = tw.as_tensor(X)[:, :1].broadcast((4, 3))
    assert (
        elements_of(sel.concat([wide, wide]).normal_form()).tolist() == np.repeat(X[:, :1], 3, 1).tolist() * 2
    )


def test_turns_of_a_part_are_not_the_whole():
    parts = [tw.as_tensor(np.arange(9))[k:7:3] for k in range(3)]
    assert sel.interleave(parts).compute().tolist() == [0, 1, 2, 3, 4, 5, 6]


def test_pads_of_two_constants_stay_two():
    twice = sel.pad(sel.pad([5], [(1, 1)], fill_value=1), [(1, 1)], fill_value=2)
    assert twice.compute().tolist() == [2, 1, 5, 1, 2]


def test_a_pad_of_a_part_of_a_pad_keeps_the_part():
    part = sel.pad(sel.pad([5, 6], [(2, 2)], fill_value=1)[1:5], [(1, 1)], fill_value=1)
    assert part.compute().tolist() == [1, 1, 5, 6, 1, 1]
    cut = sel.pad(sel.pad([5, 6], [(2, 2)], fill_value=1)[3:], [(1, 1)], fill_value=1)
    assert cut.compute().tolist() == [1, 6, 1, 1, 1]


def test_a_size_of_one_is_not_a_broadcast():
    rows = [tw.as_tensor(X)[k : k + 1] for k in (0, 2, 3)]
    joined = sel.concat(rows)
    assert joined.compute().tolist() == X[[0, 2, 3]].tolist()


def test_an_empty_view_keeps_its_type_and_extents():
    empty = sel.concat([tw.as_tensor(X.astype("f4"))[:0], tw.as_tensor(X.astype("f4"))[4:]])
    assert empty.compute().shape == Shape(0, 6)
    assert empty.compute().dtype == np.dtype("f4")
