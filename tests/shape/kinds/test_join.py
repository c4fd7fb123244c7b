"""Rows joined and stacked: under every prefix, without a copy where nothing is between them."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tensorwrapper.errors import (
    ExtentMismatchError,
)
from tensorwrapper.shape import Shape
from tensorwrapper.testing import jagged_shapes, shapes, smooth_shapes, tiled_shapes


def tree_of(shape, prefix=()):
    """Origin and children at every prefix, asked for one at a time."""
    if len(prefix) == shape.rank:
        return None
    origin = shape.origin_at(prefix)
    return origin, tuple(tree_of(shape, (*prefix, origin + k)) for k in range(shape.extent_at(prefix)))


def joined(trees, mode):
    """The trees joined along a mode, one prefix at a time; ValueError where an earlier mode differs."""
    if mode == 0:
        return trees[0][0], tuple(child for _, children in trees for child in children)
    if any((origin, len(children)) != (trees[0][0], len(trees[0][1])) for origin, children in trees):
        raise ValueError(mode)
    return trees[0][0], tuple(joined(row, mode - 1) for row in zip(*[c for _, c in trees], strict=True))


def stacked(tree, mode, count):
    if mode == 0:
        return 0, (tree,) * count
    return tree[0], tuple(stacked(child, mode - 1, count) for child in tree[1])


@given(st.data(), st.integers(2, 4))
def test_rows_join_under_every_prefix(data, rank):
    drawn = st.one_of(
        jagged_shapes(min_rank=rank, max_rank=rank), smooth_shapes(min_rank=rank, max_rank=rank)
    )
    first, second = data.draw(drawn), data.draw(drawn)
    assume("jagged" in (first.kind, second.kind))
    mode = data.draw(st.integers(0, rank - 1))
    try:
        expected = joined([tree_of(first), tree_of(second)], mode)
    except ValueError:
        with pytest.raises(ExtentMismatchError):
            Shape.concat([first, second], mode=mode)
        return
    found = Shape.concat([first, second], mode=mode)
    assert found.kind == "jagged"
    assert tree_of(found) == expected


@given(st.one_of(jagged_shapes(max_rank=3), tiled_shapes()), st.data())
def test_one_shape_joins_itself_along_every_mode(shape, data):
    mode = data.draw(st.integers(0, shape.rank - 1))
    count = data.draw(st.integers(1, 3))
    found = Shape.concat([shape] * count, mode=mode)
    assert tree_of(found) == joined([tree_of(shape)] * count, mode)
    assert found.size == count * shape.size


@given(shapes(["smooth", "jagged"], max_rank=3), st.integers(1, 3), st.data())
def test_a_stack_repeats_what_follows_the_new_mode(shape, count, data):
    mode = data.draw(st.integers(0, shape.rank))
    found = Shape.stack([shape] * count, mode=mode)
    assert tree_of(found) == stacked(tree_of(shape), mode, count)
    assert found.kind == shape.kind


def test_parts_along_mode_0_are_windows_and_join_without_a_copy():
    shape = Shape.jagged(range(100))
    parts = shape.split(7)
    assert all(part.implementation.rows.columns is shape.implementation.rows.columns for part in parts)
    assert Shape.concat(parts).implementation.rows.columns is shape.implementation.rows.columns


def test_rows_that_are_all_alike_are_stored_once():
    box = Shape(1000, 5)
    found = Shape.concat([Shape.jagged([5]), box])
    assert found == Shape.jagged([5] * 1001)
    same = Shape.concat([Shape.jagged([Shape(2, 3)] * 2), Shape(10**9, 2, 3)])
    assert (same.extents, same[10**9]) == ((10**9 + 2, 2, 3), Shape(2, 3))
