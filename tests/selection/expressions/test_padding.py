"""Constants around a view: two that differ stay two, and a part of a pad stays a pad."""

import numpy as np

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper import selection as sel

X = np.arange(24).reshape(4, 6)


def x():
    return sel.as_view(tw.as_tensor(X))


def test_remainders_of_what_is_before_the_origin_round_down():
    shifted = x().window(Shape(2, 3, origin=(1, 2)))
    wrapped = shifted.pad([(3, 0), (4, 0)], boundary="wrap")
    assert wrapped.shape.origin == (-2, -2)
    np.testing.assert_array_equal(wrapped.compute(), np.pad(X[1:3, 2:5], [(3, 0), (4, 0)], mode="wrap"))
    assert wrapped.route((-2, -2)).index == (2, 4)
    assert sel.iota(Shape(4, origin=(-7,)), step=3).compute().tolist() == [-21, -18, -15, -12]


def test_pads_of_two_constants_stay_two():
    twice = sel.pad(sel.pad([5], [(1, 1)], fill_value=1), [(1, 1)], fill_value=2)
    assert twice.compute().tolist() == [2, 1, 5, 1, 2]


def test_a_pad_of_a_part_of_a_pad_keeps_the_part():
    part = sel.pad(sel.pad([5, 6], [(2, 2)], fill_value=1)[1:5], [(1, 1)], fill_value=1)
    assert part.compute().tolist() == [1, 1, 5, 6, 1, 1]
    cut = sel.pad(sel.pad([5, 6], [(2, 2)], fill_value=1)[3:], [(1, 1)], fill_value=1)
    assert cut.compute().tolist() == [1, 6, 1, 1, 1]


def test_a_number_is_padded_to_itself():
    for make in (tw.as_tensor, sel.as_view):
        assert make(2.0).pad([]).tolist() == 2.0
