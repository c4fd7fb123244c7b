"""Laws of smooth shapes, values and views, against ranges and their products."""

import copy
import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import OutOfBoundsError, RankError
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
        return extents, origin, as_shape(SmoothView(box._held, ()))
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
def test_facts_are_those_of_the_box(given_):
    extents, origin, shape = given_
    assert (shape.kind, shape.rank, shape.extents, shape.origin) == ("smooth", len(extents), extents, origin)
    assert shape.size == math.prod(extents) == len(model(extents, origin))
    assert shape.padding == 0
    assert shape.outer_rank == 0
    assert shape.as_smooth() is shape
    for mode in range(shape.rank):
        assert shape.extent(mode) == shape.extent(mode - shape.rank) == extents[mode]
        assert shape.extent_bounds(mode) == (extents[mode], extents[mode])
        assert shape.is_uniform(mode)
        assert shape.dependencies(mode) == ()
        if all(extents[:mode]):
            assert shape.extent_at(origin[:mode]) == extents[mode]
            assert shape.origin_at(origin[:mode]) == origin[mode]


@given(shapes())
def test_indices_ordinals_and_arrays_agree_with_the_product(given_):
    extents, origin, shape = given_
    expected = model(extents, origin)
    assert list(shape.indices()) == expected
    assert list(shape.indices(order="F")) == sorted(expected, key=lambda i: i[::-1])
    assert list(shape.offsets()) == model(extents, (0,) * len(extents))
    assert shape.indices().to_numpy().tolist() == [list(i) for i in expected]
    assert [shape.index(k) for k in range(len(expected))] == expected
    assert [shape.ordinal(i) for i in expected] == list(range(len(expected)))
    table = np.array(expected, dtype=np.int64).reshape(len(expected), shape.rank)
    assert shape.ordinals(table).tolist() == list(range(len(expected)))
    assert np.array_equal(shape.indices_at(np.arange(len(expected))), table)


@given(shapes(), st.data())
def test_membership_is_that_of_the_product(given_, data):
    extents, origin, shape = given_
    inside = set(model(extents, origin))
    points = data.draw(st.lists(st.tuples(*[st.integers(-5, 9)] * shape.rank), min_size=1, max_size=20))
    expected = [p in inside for p in points]
    assert [p in shape for p in points] == expected
    assert (
        shape.contains(np.array(points, dtype=np.int64).reshape(len(points), shape.rank)).tolist() == expected
    )
    for point in set(points) - inside:
        with pytest.raises(OutOfBoundsError, match="outside"):
            shape.ordinal(point)
        with pytest.raises(OutOfBoundsError, match="is not in"):
            shape.ordinals([point])


@given(shapes(), st.booleans(), st.data())
def test_a_slice_keeps_what_lies_inside_or_raises(given_, clip, data):
    extents, origin, shape = given_
    bounds = st.tuples(st.integers(-5, 9), st.integers(-1, 6)).map(lambda b: (b[0], b[0] + b[1]))
    pairs = [data.draw(st.one_of(bounds, st.just((o, o + n)))) for n, o in zip(extents, origin, strict=True)]
    first, last = [a for a, _ in pairs], [b for _, b in pairs]
    ends = [o + n for n, o in zip(extents, origin, strict=True)]
    fits = all(o <= a and b <= e for o, a, b, e in zip(origin, first, last, ends, strict=True))
    if any(a > b for a, b in pairs) or not (clip or fits):
        with pytest.raises(OutOfBoundsError, match="outside"):
            shape.slice(first, last, clip=clip)
        return
    part = shape.slice(first, last, clip=clip)
    assert list(part.indices()) == [
        i for i in model(extents, origin) if all(a <= k < b for a, k, b in zip(first, i, last, strict=True))
    ]
    if fits:
        assert (part.origin, part) == (tuple(first), shape[tuple(slice(a, b) for a, b in pairs)])
    for a, o, e in zip(part.origin, origin, ends, strict=True):
        assert o <= a <= e


@given(shapes(), st.data())
def test_pins_drop_their_modes_wherever_they_stand(given_, data):
    extents, origin, shape = given_
    key = tuple(
        data.draw(st.one_of(st.just(slice(None)), st.integers(o - 1, o + n)))
        for n, o in zip(extents, origin, strict=True)
    )
    kept = [m for m, item in enumerate(key) if isinstance(item, slice)]
    if all(m in kept or origin[m] <= k < origin[m] + extents[m] for m, k in enumerate(key)):
        rest = shape[key]
        assert rest.extents == tuple(extents[m] for m in kept)
        assert rest.origin == tuple(origin[m] for m in kept)
    else:
        with pytest.raises(OutOfBoundsError, match="outside"):
            shape[key]


@given(shapes(), st.data())
def test_translation_and_permutation_act_on_the_set(given_, data):
    extents, origin, shape = given_
    offset = data.draw(st.tuples(*[st.integers(-9, 9)] * shape.rank))
    there = shape.translate_by(offset)
    assert there.origin == tuple(a + b for a, b in zip(origin, offset, strict=True))
    assert there.is_congruent(shape)
    assert there.translate_to(origin) == shape
    order = data.draw(st.permutations(range(shape.rank)))
    permuted = shape.permute(order)
    assert list(permuted.indices()) == sorted(tuple(i[m] for m in order) for i in model(extents, origin))
    assert permuted.permute([order.index(m) for m in range(shape.rank)]) == shape


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
def test_equality_is_that_of_extents_and_origin_and_agrees_with_the_hash(first, second):
    (extents, origin, a), (others, start, b) = first, second
    assert (a == b) == (b == a) == ((extents, origin) == (others, start))
    assert a.is_congruent(b) == (extents == others)
    same = len(extents) == len(others) and set(model(extents, origin)) == set(model(others, start))
    assert a.same_elements(b) == same
    if a == b:
        assert hash(a) == hash(b)
    value = Shape.smooth(extents, origin=origin)
    assert a == value
    assert hash(a) == hash(value)
    assert a._held == value._held
    assert hash(a._held) == hash(value._held)


@given(shapes())
def test_copies_and_pickles_are_equal_and_leave_the_hash_behind(given_):
    _, _, shape = given_
    number = hash(shape)
    for twin in (copy.copy(shape), copy.deepcopy(shape), pickle.loads(pickle.dumps(shape)), shape.copy()):
        assert twin == shape
        assert hash(twin) == number
    assert pickle.loads(pickle.dumps(shape))._hash is None
    assert type(pickle.loads(pickle.dumps(shape))._held) is type(shape._held)
    assert type(shape.copy()._held) is Smooth
    assert eval(repr(shape), {"Shape": Shape}) == shape


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
