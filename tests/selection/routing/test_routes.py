"""Where each element of a view comes from."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Layout, Shape, Tiling
from tensorwrapper import selection as sel
from tensorwrapper.errors import SizeOverflowError
from tests.support.selection.checks import all_indices

X = tw.as_tensor(np.arange(24).reshape(4, 6))
Y = tw.as_tensor(np.arange(100, 124).reshape(4, 6))


def x():
    return sel.as_view(X)


# One operation each: the view, an index, and the index in the tensor.
STEPS = {
    "nothing": (x, (2, 3), (2, 3)),
    "permute": (lambda: x().permute([1, 0]), (5, 2), (2, 5)),
    "reverse": (lambda: x().reverse(1), (2, 0), (2, 5)),
    "slice": (lambda: x()[1:, 5:0:-2], (1, 2), (2, 1)),
    "chip": (lambda: x()[-1], (4,), (3, 4)),
    "new mode": (lambda: x()[:, None], (3, 0, 4), (3, 4)),
    "all of them": (lambda: x()[None, 1, ..., ::2], (0, 2), (1, 4)),
    "squeeze": (x()[2:3].squeeze, (4,), (2, 4)),
    "unsqueeze": (lambda: x().unsqueeze(-1), (1, 2, 0), (1, 2)),
    "rotate": (lambda: x().rotate([1, -2]), (0, 5), (3, 1)),
    "repeat": (lambda: x().repeat([2, 3]), (5, 17), (1, 5)),
    "repeat each": (lambda: x().repeat_each(0, 3), (8, 1), (2, 1)),
    "gather": (lambda: x().gather(1, [4, -1, 4]), (0, 1), (0, 5)),
    "mask": (lambda: x()[:, np.arange(6) % 3 == 1], (0, 1), (0, 4)),
    "points": (lambda: x().vindex[[3, 0], [1, 5]], (1,), (0, 5)),
    "mask of both modes": (lambda: x()[np.asarray(X) % 7 == 1], (2,), (2, 3)),
    "broadcast": (lambda: x()[1:2].broadcast((5, 3, 6)), (4, 2, 1), (1, 1)),
    "diagonal": (lambda: x().diagonal(), (3,), (3, 3)),
    "sliding window": (lambda: x().sliding_window(1, 3), (2, 3, 2), (2, 5)),
    "reshape": (lambda: x().reshape((8, 3)), (5, 1), (2, 4)),
    "reshape of what is reversed": (lambda: x().reverse(0).reshape((24,)), (0,), (3, 0)),
    "split mode": (lambda: x().split_mode(1, (2, 3)), (1, 1, 2), (1, 5)),
    "merge modes": (lambda: x().merge_modes(0, 1), (13,), (2, 1)),
    "window": (lambda: x().window(Shape(2, 3, origin=(1, 2))), (2, 4), (2, 4)),
    "window, then slice": (lambda: x().window(Shape(2, 3, origin=(1, 2)))[1:], (0, 0), (2, 2)),
    "edge": (lambda: x().pad([(1, 1), (0, 2)], boundary="edge"), (-1, 7), (0, 5)),
    "wrap": (lambda: x().pad([(1, 1), (0, 2)], boundary="wrap"), (-1, 7), (3, 1)),
    "reflect": (lambda: x().pad([(2, 1), (0, 2)], boundary="reflect"), (-2, 7), (2, 3)),
    "symmetric": (lambda: x().pad([(2, 1), (0, 2)], boundary="symmetric"), (-2, 7), (1, 4)),
    "constant pad, inside": (lambda: sel.pad(X, [(1, 1), (2, 2)]), (0, 3), (0, 3)),
    "concat": (lambda: sel.concat([Y, X]), (6, 1), (2, 1)),
    "interleave": (lambda: sel.interleave([Y, X], mode=1), (2, 5), (2, 2)),
    "stack": (lambda: sel.stack([Y, X], mode=-1), (2, 5, 1), (2, 5)),
    "optimized": (lambda: sel.concat([Y, X]).rotate([1, 0]).optimize()[::2], (3, 4), (1, 4)),
    "optimized twice": (
        lambda: sel.concat([Y, X]).optimize()[1:].optimize().reverse(0),
        (0, 4),
        (3, 4),
    ),
}


@pytest.mark.parametrize("row", STEPS.values(), ids=STEPS)
def test_the_index_in_the_tensor_that_was_given(row):
    make, index, expected = row
    view = make()
    route = view.route(index)
    assert route.source is X
    assert route.index == expected
    assert route.casts == ()
    place = tuple(i - o for i, o in zip(index, view.shape.origin, strict=True))
    assert view.compute()[place].item() == X[expected].item()


def test_a_tensor_with_an_origin_is_named_by_its_own_indices():
    shifted = X.window(Shape(2, 3, origin=(1, 2)))
    route = sel.as_view(shifted)[::-1].route((0, 0))
    assert route.source is shifted
    assert route.index == (2, 2)


def test_two_tensors_over_one_buffer_keep_their_names():
    parts = [X[0::2], X[1::2]]
    turns = sel.interleave(parts)
    for row in range(4):
        route = turns.route((row, 3))
        assert route.source is parts[row % 2]
        assert route.index == (row // 2, 3)


def test_types_are_named_in_the_order_of_casts():
    view = x().astype("f4").astype("i2")
    assert view.route((1, 2)).casts == (np.dtype("f4"), np.dtype("i2"))
    (group,) = view.route_many(all_indices(view.shape))
    assert group.read().dtype == np.dtype("i2")


def test_the_fill_of_a_pad_has_no_index():
    route = sel.pad(X, [(1, 0), (0, 0)], fill_value=7).route((-1, 3))
    assert route.source.name == "full"
    assert route.source.value == 7
    assert route.index == ()


def test_a_generator_is_named_with_its_absolute_coordinates():
    view = sel.iota(Shape(4, origin=(10,)))[::-1]
    route = view.route((0,))
    assert route.source.name == "iota"
    assert route.index == (13,)


@pytest.mark.parametrize("flag", [True, False])
def test_a_choice_looks_at_its_mask(flag):
    mask = np.zeros((4, 6), dtype=bool)
    mask[1, 2] = flag
    route = sel.where(mask, X, Y).route((1, 2))
    assert route.source is (X if flag else Y)
    assert route.index == (1, 2)


def test_what_is_not_a_number_wins():
    a, b = tw.as_tensor([1.0, np.nan]), tw.as_tensor([2.0, 3.0])
    assert sel.minimum(b, a).route((1,)).source is a
    assert sel.maximum(a, b).route((1,)).source is a


def test_a_random_number_with_operands_is_named_by_its_field():
    field = sel.normal((4, 6), x().astype("f8"), 1.0, seed=1)[1]
    route = field.route((2,))
    assert route.source.name == "random"
    assert route.index == (1, 2)
    (group,) = field.route_many(all_indices(field.shape))
    np.testing.assert_array_equal(group.read(), np.asarray(field.compute()))


def test_tile_major_storage_does_not_matter():
    tiled = X.to_layout(Layout.tiled(Tiling([2, 2], [4, 2])))
    assert sel.as_view(tiled)[::-1, 1:].route((0, 4)).index == (3, 5)
    assert sel.concat([tiled, X]).rotate([0, 1])[2:, ::2].route((0, 1)).index == (2, 1)


def test_rows_of_a_jagged_tensor():
    rows = tw.jagged([[1, 2, 3], [], [4, 5]])
    view = sel.as_view(rows)
    assert view.route((2, 1)).index == (2, 1)
    assert view[1:].route((1, 0)).index == (2, 0)
    row = view[2][::-1]
    assert row.route((0,)).source is rows
    assert row.route((0,)).index == (2, 1)
    assert sel.concat([row, [7]]).route((1,)).index == (2, 0)


def test_a_tensor_that_repeats_its_places():
    wide = X[:1].broadcast((3, 6))
    assert sel.as_view(wide)[::-1].route((0, 5)).index == (2, 5)


def test_a_view_without_modes():
    route = x()[1, 2].route(())
    assert route.index == (1, 2)


def test_a_box_that_no_rank_can_count_has_routes_where_none_is_needed():
    view = sel.zeros((2**40, 2**40), dtype="i1")
    assert view[:, 5:].route((2**39, 3)).index == (2**39, 8)
    with pytest.raises(SizeOverflowError):
        view.merge_modes(0, 1).route((2**70,))
