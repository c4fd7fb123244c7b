"""What is true of boxes alone, against ranges and their products; the contract has what all shapes share."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import RankError
from tensorwrapper.shape import Shape, Smooth, SmoothView, as_shape


def boxes(rank):
    modes = st.lists(st.tuples(st.integers(0, 4), st.integers(-3, 3)), min_size=rank, max_size=rank)
    return modes.map(lambda pairs: (tuple(n for n, _ in pairs), tuple(o for _, o in pairs)))


@st.composite
def shapes(draw, least=0):
    """Extents, origin, and a shape that has them: a value, a view of one, a leaf, a bounding box, a chip."""
    rank = draw(st.integers(least, 4))
    extents, origin = draw(boxes(rank))
    box = Shape.smooth(extents, origin=origin)
    sort = draw(st.sampled_from(["value", "view", "leaf", "row", "tile", "chip"]))
    if sort == "view":
        return extents, origin, as_shape(SmoothView(box.implementation, ()))
    if sort == "chip":
        return extents, origin, Shape.smooth((2, *extents), origin=(5, *origin))[6]
    if sort == "row" and rank:
        # Not a leaf: a whole row, which the columns hold unrolled.
        return extents, origin, Shape.jagged([box, box]).as_smooth()[1] if all(extents) else box
    if sort == "leaf" and rank:
        return extents, origin, Shape.jagged([box.translate_by((1,) * rank), box])[1]
    if sort == "tile" and rank:
        tiles = Shape.tiled(*[[1, n] for n in extents])
        return extents, (0,) * rank, tiles.chip(*[1] * rank)
    return extents, origin, box


def model(extents, origin):
    return list(itertools.product(*[range(o, o + n) for n, o in zip(extents, origin, strict=True)]))


@given(shapes())
def test_a_box_has_the_extents_and_the_origin_that_were_asked_for(given_):
    extents, origin, shape = given_

    assert (shape.kind, shape.rank, shape.extents, shape.origin) == ("smooth", len(extents), extents, origin)
    assert shape.size == math.prod(extents) == len(model(extents, origin))
    assert list(shape.indices()) == model(extents, origin)
    assert (shape.padding, shape.outer_rank) == (0, 0)
    assert shape.as_smooth() is shape
    assert type(shape.copy().implementation) is Smooth
    for mode in range(shape.rank):
        # Known also where no prefix leads to the mode.
        assert shape.extent_bounds(mode) == (extents[mode], extents[mode])
        assert shape.is_uniform(mode)
        assert shape.dependencies(mode) == ()


@given(shapes(), st.data())
def test_a_part_of_a_box_is_a_box_where_it_lay(given_, data):
    extents, origin, shape = given_
    offset = data.draw(st.tuples(*[st.integers(-9, 9)] * shape.rank))
    order = data.draw(st.permutations(range(shape.rank)))
    there = shape.translate_by(offset)

    assert (there.extents, there.origin) == (extents, tuple(map(sum, zip(origin, offset, strict=True))))
    assert there.translate_to(origin) == shape
    turned = shape.permute(order)
    assert turned.extents == tuple(extents[mode] for mode in order)
    assert turned.origin == tuple(origin[mode] for mode in order)
    ends = [o + data.draw(st.integers(0, n)) for n, o in zip(extents, origin, strict=True)]
    part = shape.slice(origin, ends)
    assert (part.origin, part.extents) == (origin, tuple(e - o for e, o in zip(ends, origin, strict=True)))
    assert part == shape[tuple(slice(o, e) for o, e in zip(origin, ends, strict=True))]


@given(st.integers(0, 3).flatmap(lambda r: st.tuples(boxes(r), boxes(r))))
def test_intersect_and_hull_are_those_of_the_sets(pair):
    a, b = (Shape.smooth(extents, origin=origin) for extents, origin in pair)
    mine, theirs = set(a.indices()), set(b.indices())
    assert set(a.intersect(b).indices()) == mine & theirs
    both = mine | theirs
    hull = a.hull(b)
    assert both <= set(hull.indices())
    assert hull.same_elements(b.hull(a))
    if mine and theirs:
        columns = list(zip(*both, strict=True))
        assert hull.origin == tuple(min(c) for c in columns)
        assert hull.extents == tuple(max(c) - min(c) + 1 for c in columns)
    elif mine:
        assert hull == a


@given(shapes(), shapes())
def test_equality_is_that_of_extents_and_origin(first, second):
    (extents, origin, a), (others, start, b) = first, second

    assert (a == b) == (b == a) == ((extents, origin) == (others, start))
    assert a.is_congruent(b) == (extents == others)


@given(shapes(least=1), st.integers(0, 5))
def test_the_wrong_number_of_entries_is_refused(given_, count):
    _, _, shape = given_
    if count == shape.rank:
        return
    numbers = (0,) * count
    calls = [
        lambda: shape.slice(numbers, numbers),
        lambda: shape.slice(shape.origin, numbers),
        lambda: shape.translate_by(numbers),
        lambda: shape.translate_to(numbers),
        lambda: shape.ordinal(numbers),
        lambda: shape.ordinals([numbers]),
        lambda: shape.intersect(numbers),
        lambda: shape.hull(numbers),
    ]
    for call in calls:
        with pytest.raises(RankError, match=str(shape.rank)):
            call()
    with pytest.raises(RankError, match="permutation"):
        shape.permute(range(count))
    assert numbers not in shape
