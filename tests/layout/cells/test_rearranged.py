"""Modes of layouts over jagged shapes permuted, reversed and gathered, against nested lists."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import Layout, Shape
from tensorwrapper.errors import JaggedModeError, LayoutError, OutOfBoundsError, RankError
from tensorwrapper.layout._layout import wrap_layout
from tests.support.layout.cells import absolute, cell_layouts
from tests.support.layout.trees import assert_extents, check_layout, places_in, tree_of


def orders(draw, shape):
    """Any order in which each mode follows what it depends on."""
    left, order = list(range(shape.rank)), []
    while left:
        ready = [m for m in left if set(shape.dependencies(m)) <= set(order)]
        order.append(draw(st.sampled_from(ready)))
        left.remove(order[-1])
    return tuple(order)


@given(cell_layouts(), st.data())
def test_a_permutation_moves_every_element_to_its_permuted_index(held, data):
    layout = wrap_layout(held)
    for _ in range(2):
        order = orders(data.draw, layout.shape)
        before = absolute(layout)
        try:
            moved = layout.permute(order)
        except LayoutError:
            # Modes of the cells would lead to cells.
            assert order[-1] < layout.shape.outer_rank or order[layout.shape.outer_rank :] != order
            return
        # What is stored behind empty modes does not show in a layout.
        assert moved.shape.is_congruent(layout.shape.permute(order))
        expected = {tuple(index[m] for m in order): place for index, place in before.items()}
        check_layout(moved, dict(sorted(expected.items())))
        layout = moved


def turned(tree, modes, depth=0):
    """The tree with the order under every prefix reversed."""
    if isinstance(tree, list):
        children = [turned(child, modes, depth + 1) for child in tree]
        return children[::-1] if depth in modes else children
    return np.flip(tree, [m - depth for m in modes if m >= depth])


@given(cell_layouts(), st.data())
def test_a_reversal_turns_every_row_round_by_itself(held, data):
    layout = wrap_layout(held)
    modes = data.draw(st.sets(st.integers(0, layout.shape.rank - 1)))
    reversed_ = layout.reverse(*modes) if modes else layout
    chosen = modes
    if not modes and data.draw(st.booleans()):
        reversed_, chosen = layout.reverse(), set(range(layout.shape.rank))
    expected = turned(tree_of(layout), chosen)
    zero = reversed_[...]
    assert_extents(expected, zero.shape)
    check_layout(zero, places_in(expected))
    assert reversed_.shape.extent_at(()) == layout.shape.extent_at(())
    if all(mode >= layout.shape.outer_rank for mode in chosen):
        assert reversed_.shape == layout.shape
    assert absolute(reversed_.reverse(*chosen) if chosen else reversed_) == absolute(layout)


@given(cell_layouts(), st.data())
def test_a_gather_of_rows_takes_their_places_along(held, data):
    layout = wrap_layout(held)
    mode = data.draw(st.integers(0, layout.shape.outer_rank - 1))
    least, _ = layout.shape.extent_bounds(mode)
    positions = data.draw(st.lists(st.integers(-least, max(least - 1, -least)), max_size=4 if least else 0))

    def take(tree, depth=0):
        if depth == mode:
            return [tree[k] for k in positions]
        return [take(child, depth + 1) for child in tree]

    made = layout.gather(mode, positions)
    expected = take(tree_of(layout))
    assert_extents(expected, made[...].shape)
    check_layout(made[...], places_in(expected))
    if made.shape.size:
        assert made.shape.as_smooth().origin[mode] == 0


@given(cell_layouts(), st.data())
def test_a_gather_within_cells_is_a_view_where_positions_are_one_step_apart(held, data):
    layout = wrap_layout(held)
    outer = layout.shape.outer_rank
    mode = data.draw(st.integers(outer, layout.shape.rank - 1))
    counts = [cell.extents[mode - outer] for _, cell in layout.shape.cells()]
    least = min(counts, default=3)
    positions = data.draw(st.lists(st.integers(-least, max(least - 1, -least)), max_size=4 if least else 0))

    def take(tree):
        if isinstance(tree, list):
            return [take(child) for child in tree]
        return np.take(tree, positions, axis=mode - outer)

    try:
        made = layout.gather(mode, positions)
    except LayoutError:
        signs = {k < 0 for k in positions}
        assert len(signs) == 2 or len(set(np.diff(positions).tolist())) > 1
        return
    expected = take(tree_of(layout))
    assert_extents(expected, made[...].shape)
    check_layout(made[...], places_in(expected))
    if made.shape.size:
        assert made.shape.as_smooth().origin[mode] == 0


ROWS = Layout(Shape.jagged([Shape(2, 3), Shape(1, 4)]))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: ROWS.permute((1, 0, 2)), JaggedModeError, "mode 1"),
        (lambda: Layout(Shape(2, 3, 4).as_jagged()).permute((1, 0, 2)), LayoutError, "puts modes of cells"),
        (lambda: ROWS.permute((0, 1)), RankError, "permutation"),
        (lambda: ROWS.reverse(3), RankError, "mode 3"),
        (lambda: ROWS.gather(0, [2]), OutOfBoundsError, "position 2 .*mode 0, which has extent 2"),
        (lambda: ROWS.gather(1, [1]), OutOfBoundsError, r"position 1 .*mode 1 .*prefix \(1,\).* extent 1"),
        (lambda: ROWS.gather(2, [0, 2, 1]), LayoutError, "mode 2.*one step apart"),
        (lambda: ROWS.gather(2, [-1, 0]), LayoutError, "one step apart"),
        (lambda: ROWS.gather(0, [[0]]), RankError, "one axis"),
        (lambda: ROWS.gather(0, np.array([2**64 - 1], dtype=np.uint64)), OutOfBoundsError, "int64"),
    ],
)
def test_refusals_say_what_is_allowed(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_the_mode_of_a_gather_starts_at_zero_and_the_others_stay():
    layout = Layout(Shape.from_cells((2,), [(2, 3), (1, 3)], origins=[(4, 5), (6, 5)]))
    inside, rows = layout.gather(2, [0, 2]), layout.gather(0, [1])
    assert inside.shape == Shape.from_cells((2,), [(2, 2), (1, 2)], origins=[(4, 0), (6, 0)])
    assert rows.shape == Shape.from_cells((1,), [(1, 3)], origins=[(6, 5)])
    assert layout.reverse(0).shape == Shape.from_cells((2,), [(1, 3), (2, 3)], origins=[(6, 5), (4, 5)])


def test_a_permutation_of_cells_moves_no_data_and_no_place():
    turned_ = ROWS.permute((0, 2, 1))
    assert turned_.shape == Shape.jagged([Shape(3, 2), Shape(4, 1)])
    assert turned_[0].strides == (1, 3)
    assert turned_.permute((0, 2, 1)) == ROWS
