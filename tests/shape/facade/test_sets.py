"""Set algebra on boxes, against Python's sets of indices."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import JaggedModeError, LayerError, RankError
from tensorwrapper.shape import Shape
from tensorwrapper.shape.boxes._box_sets import partition, subtract

FAR = 2**70


def boxes(rank, *, far=0):
    modes = st.lists(st.tuples(st.integers(-3, 5), st.integers(0, 5)), min_size=rank, max_size=rank)
    return modes.map(lambda m: Shape.smooth([n for _, n in m], origin=[far + a for a, _ in m]))


def families(most, *, far=0):
    """A box, and some others of its rank."""
    return st.integers(0, 3).flatmap(
        lambda rank: st.tuples(
            boxes(rank, far=far), st.lists(boxes(rank, far=far), min_size=1, max_size=most)
        )
    )


def indices(shape):
    return set(shape.indices())


def check_parts(parts, expected):
    """The parts are not empty, disjoint, in order, and together the expected indices."""
    assert all(part.size for part in parts)
    assert sum(part.size for part in parts) == len(expected)
    assert set().union(*map(indices, parts)) == expected
    origins = [part.origin for part in parts]
    assert origins == sorted(origins)


@given(families(4))
def test_intersection_and_hull_of_many(family):
    box, others = family
    every = [indices(shape) for shape in (box, *others)]

    assert indices(box.intersect(*others)) == set.intersection(*every)
    hull = box.hull(*others)
    assert all(hull.encloses(shape) for shape in (box, *others) if shape.size)
    if set.union(*every):
        columns = list(zip(*set.union(*every), strict=True))
        assert hull.extents == tuple(max(c) - min(c) + 1 for c in columns)


@given(families(4))
def test_a_difference_is_that_of_the_sets(family):
    box, others = family
    parts = box.difference(*others)

    check_parts(parts, indices(box).difference(*map(indices, others)))
    if len(others) == 1:
        assert len(parts) <= max(2 * box.rank, 1)


@given(families(1))
def test_one_box_and_a_table_of_one_leave_the_same_indices(family):
    box, (other,) = family
    one = subtract(box.implementation, [other.implementation])
    many = subtract(box.implementation, [other.implementation, other.implementation])

    assert one == many


@given(families(4))
def test_a_partition_makes_up_the_box_and_crosses_no_face(family):
    box, others = family
    parts = box.partition_by(*others)

    check_parts(parts, indices(box))
    for part in parts:
        for other in others:
            assert other.encloses(part) or not indices(part) & indices(other)


@given(families(3), families(3, far=FAR))
def test_integers_of_any_size_make_the_same_parts(near, far):
    for box, others in (near, far):
        moved = [Shape.smooth(s.extents, origin=[a + FAR for a in s.origin]) for s in others]
        there = box.translate_by((FAR,) * box.rank)
        for how in (subtract, partition):
            here = how(box.implementation, [s.implementation for s in others])
            assert [p.translate_by((FAR,) * box.rank) for p in here] == how(
                there.implementation, [s.implementation for s in moved]
            )


@given(families(1))
def test_enclosing_is_inclusion_for_boxes_with_an_index(family):
    box, (other,) = family
    if other.size:
        assert box.encloses(other) == (indices(other) <= indices(box))
    assert box.encloses(box)
    assert box.hull(other).encloses(other) or not other.size


@given(st.lists(st.integers(0, 2).flatmap(boxes), max_size=3))
def test_a_product_has_the_indices_of_all_one_after_the_other(factors):
    expected = [()]
    for factor in factors:
        expected = [a + b for a in expected for b in factor.indices()]

    assert list(Shape.product(factors).indices()) == expected


@given(st.integers(1, 3).flatmap(boxes), st.integers(1, 4), st.data())
def test_parts_of_given_extents_join_to_the_whole(box, extent, data):
    mode = data.draw(st.integers(0, box.rank - 1))
    parts = box.split_by_extents(extent, mode)

    assert Shape.concat(parts, mode=mode) == box
    assert [part.extents[mode] for part in parts[:-1]] == [extent] * (len(parts) - 1)
    assert box.split_by_extents([p.extents[mode] for p in parts], mode) == parts


@given(st.lists(st.integers(0, 4), min_size=1, max_size=5), st.integers(1, 3))
def test_rows_of_any_lengths_split_along_mode_0(lengths, extent):
    rows = Shape.jagged(lengths)
    parts = rows.split_by_extents(extent)

    assert Shape.concat(parts) == rows


def test_many_boxes_take_a_moment():
    # A thousand holes leave thousands of parts: a walk over all pairs would take minutes.
    holes = [
        Shape(1, 1, 1, origin=(3 * i, 3 * j, 3 * k)) for i in range(10) for j in range(10) for k in range(10)
    ]
    parts = Shape(30, 30, 30).difference(*holes)

    assert sum(part.size for part in parts) == 27000 - 1000


METHODS = {
    "difference": lambda a, b: a.difference(b),
    "partition_by": lambda a, b: a.partition_by(b),
    "intersect": lambda a, b: a.intersect(b),
    "hull": lambda a, b: a.hull(b),
}


@pytest.mark.parametrize("name", METHODS)
def test_what_is_no_box_is_refused(name):
    method = METHODS[name]
    for a, b in ((Shape(2, 2), Shape.jagged([1])), (Shape.jagged([1]), Shape(2, 2))):
        with pytest.raises(JaggedModeError, match=f"{name} is for boxes"):
            method(a, b)
    with pytest.raises(RankError, match="rank 2 does not combine with one of rank 1"):
        method(Shape(2, 2), Shape(2))
    nested = Shape.nested(Shape(2, 2), layers=(1, 1))
    with pytest.raises(LayerError, match=f"{name} of a nested shape"):
        method(nested, Shape(2, 2))


@pytest.mark.parametrize("name", METHODS)
def test_nested_boxes_keep_their_layers(name):
    a, b = (Shape.nested(Shape(2, 3, origin=at), layers=(1, 1)) for at in ((0, 0), (1, 1)))
    made = METHODS[name](a, b)
    for shape in made if isinstance(made, tuple) else (made,):
        assert shape.layers == (1, 1)


def test_a_product_is_of_boxes_without_layers():
    with pytest.raises(LayerError, match=r"layers|flatten"):
        Shape.product([Shape.nested(Shape(2, 2), layers=(1, 1))])
    with pytest.raises(JaggedModeError, match="product is for boxes"):
        Shape.product([Shape.jagged([1])])


def test_enclosing_asks_a_box_for_its_rank():
    with pytest.raises(RankError, match="rank 2 does not enclose one of rank 1"):
        Shape(2, 2).encloses(Shape(1))
    with pytest.raises(JaggedModeError, match="encloses is for boxes"):
        Shape.jagged([1]).encloses(Shape(1, 1))


def test_a_mode_of_many_extents_is_not_split_by_extents():
    with pytest.raises(JaggedModeError, match="mode 1"):
        Shape.jagged([3, 1]).split_by_extents(2, mode=1)
