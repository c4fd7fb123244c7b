"""Places taken apart into positions of modes, and put together: laws, against all positions one by one."""

import random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import Layout, Shape
from tensorwrapper.errors import LayoutError
from tensorwrapper.selection.transforms._transform import put_together, take_apart, through
from tests.support.selection.trees.steps import STEPS, StepError

# Steps that act on each mode by itself, or join the movements of several.
BY_MODE = [
    "permute", "key", "reverse", "rotate", "repeat", "repeat_each", "gather", "broadcast", "squeeze",
    "unsqueeze", "diagonal", "sliding_window", "window",
]  # fmt: skip
REGROUPING = ["split_mode", "merge_modes"]


@st.composite
def selections(draw, names):
    """The extents of a box, a layout of some of its row-major places, and these places by NumPy."""
    extents = tuple(draw(st.lists(st.integers(1, 5), max_size=4)))
    layout = Layout(Shape(*extents))
    places = np.arange(layout.shape.size).reshape(extents)
    for _ in range(draw(st.integers(0, 4))):
        # A seed for each step keeps what is drawn small.
        step = STEPS[draw(st.sampled_from(names))]
        try:
            after, found = step(random.Random(draw(st.integers(0, 1000))), layout, places)
        except (StepError, LayoutError):
            continue
        if 0 < found.size <= 600 and found.ndim <= 5:
            layout, places = after, np.asarray(found)
    return extents, layout, places


def positions_by(transform):
    """The position in each mode of the box, at each index of the view."""
    found = []
    for coordinate in transform.coordinates:
        total = np.full(transform.extents, coordinate.constant)
        for mode, move in coordinate.feeds:
            own = [move.at(j) for j in range(move.extent)]
            total += np.array(own).reshape((-1,) + (1,) * (len(transform.extents) - mode - 1))
        found.append(total)
    return found


@given(selections(BY_MODE))
def test_steps_on_single_modes_are_taken_apart(case):
    extents, layout, places = case
    transform = take_apart(layout, extents)
    assert transform is not None
    assert transform.extents == places.shape
    assert transform.origin == layout.shape.origin
    for found, expected in zip(
        positions_by(transform), np.unravel_index(places, extents or (1,)), strict=False
    ):
        np.testing.assert_array_equal(found, expected)


@given(selections(BY_MODE + REGROUPING))
def test_what_is_taken_apart_has_the_positions_of_the_places(case):
    extents, layout, places = case
    transform = take_apart(layout, extents)
    if transform is None:
        return
    assert len(transform.coordinates) == len(extents)
    for number, found in enumerate(positions_by(transform)):
        np.testing.assert_array_equal(found, np.unravel_index(places, extents)[number])


@given(selections(BY_MODE + REGROUPING))
def test_what_is_taken_apart_is_put_together_as_it_was(case):
    extents, layout, places = case
    transform = take_apart(layout, extents)
    if transform is not None:
        again = put_together(transform, extents)
        assert again.shape == layout.shape
        np.testing.assert_array_equal(again.to_numpy(), places)


@given(selections(BY_MODE), st.integers(0, 1000), st.integers(0, 3))
def test_through_an_operand_is_its_layout_at_these_positions(case, seed, steps):
    extents, layout, places = case
    rng = random.Random(seed)
    # An operand of these extents: modes of any step, some of them turned, repeated or picked.
    operand = Layout(Shape(*[2 * n for n in extents]))[tuple([slice(0, 2 * n, 2) for n in extents])]
    offsets = operand.to_numpy()
    for _ in range(steps):
        name = rng.choice(["reverse", "rotate", "gather"])
        try:
            after, found = STEPS[name](rng, operand, offsets)
        except StepError:
            continue
        if found.shape == extents:
            operand, offsets = after, found
    transform = take_apart(layout, extents)
    found = through(operand, transform)
    if found is None:
        assert any(len(coordinate.feeds) > 1 for coordinate in transform.coordinates)
        return
    assert found.shape == layout.shape
    np.testing.assert_array_equal(found.to_numpy(), offsets.reshape(-1)[places])


@given(selections(BY_MODE))
def test_bounds_of_coordinates_are_those_of_their_positions(case):
    extents, layout, _ = case
    transform = take_apart(layout, extents)
    for coordinate, positions in zip(transform.coordinates, positions_by(transform), strict=True):
        assert coordinate.bounds() == (positions.min(), positions.max())
