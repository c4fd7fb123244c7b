"""Smooth shapes beside TensorStore's index domains, which are literal and have origins too."""

import itertools

import pytest
import tensorstore as ts
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import OutOfBoundsError, RankError
from tensorwrapper.shape import Shape

ranks = st.integers(0, 3)
extents = st.integers(0, 4)
places = st.integers(-6, 6)


def boxes(rank, least=0):
    modes = st.lists(st.tuples(st.integers(least, 4), places), min_size=rank, max_size=rank)
    return modes.map(lambda m: Shape.smooth([n for n, _ in m], origin=[o for _, o in m]))


def domain_of(shape):
    return ts.IndexDomain(inclusive_min=shape.origin, shape=shape.extents)


def shape_of(domain):
    return Shape.smooth(domain.shape, origin=domain.origin)


def ends_of(shape):
    return tuple(o + n for o, n in zip(shape.origin, shape.extents, strict=True))


def indexed(shape, key):
    return shape_of(ts.IndexTransform(domain=domain_of(shape))[key].domain)


bounds = st.one_of(st.none(), places)
pieces = st.builds(slice, bounds, bounds)


@given(ranks.flatmap(boxes))
def test_facts(shape):
    domain = domain_of(shape)
    assert (domain.rank, domain.size, domain.shape) == (shape.rank, shape.size, shape.extents)
    assert (domain.origin, domain.exclusive_max) == (shape.origin, ends_of(shape))
    assert shape_of(domain) == shape


@given(ranks.flatmap(boxes), st.data())
def test_keys(shape, data):
    items = st.one_of(places, pieces) if shape.size else pieces
    key = tuple(data.draw(st.lists(items, max_size=shape.rank)))
    if data.draw(st.booleans()):
        key = (*key[:1], ..., *key[1:])
    try:
        expected = indexed(shape, key)
    except IndexError:
        with pytest.raises(IndexError):
            shape[key]
        return
    try:
        assert shape[key] == expected
    except OutOfBoundsError:
        # The one difference: TensorStore takes an empty interval anywhere, we only where it touches.
        assert 0 in expected.extents


@given(st.integers(1, 3).flatmap(lambda r: boxes(r, least=1)), st.data())
def test_slices_and_their_slices(shape, data):
    key = tuple(
        slice(*sorted(data.draw(st.tuples(*[st.integers(o, o + n)] * 2))))
        for o, n in zip(shape.origin, shape.extents, strict=True)
    )
    part = indexed(shape, key)
    assert shape[key] == part
    assert shape.slice([k.start for k in key], [k.stop for k in key]) == part
    again = tuple(slice(o, o + n // 2) for o, n in zip(part.origin, part.extents, strict=True))
    assert part[again] == indexed(part, again)


@pytest.mark.parametrize(
    "key",
    [4, -1, 0, slice(0, 2), slice(2, 5), slice(3, 2), slice(-1, None), (1, 9), (..., 9), (1, 1, 1)],
)
def test_what_tensorstore_refuses_is_refused(key):
    shape = Shape(3, 4, origin=(1, 0))
    with pytest.raises(IndexError):
        indexed(shape, key)
    with pytest.raises((OutOfBoundsError, RankError)):
        shape[key]


@given(ranks.flatmap(lambda r: st.tuples(boxes(r), boxes(r))))
def test_intersect(pair):
    a, b = pair
    expected = shape_of(domain_of(a).intersect(domain_of(b)))
    assert a.intersect(b) == expected


@given(ranks.flatmap(lambda r: st.tuples(boxes(r, least=1), boxes(r, least=1))))
def test_hull_of_boxes_that_are_not_empty(pair):
    a, b = pair
    assert a.hull(b) == shape_of(domain_of(a).hull(domain_of(b)))


def test_an_empty_box_adds_its_other_modes_to_the_hulls_of_tensorstore_and_nothing_to_ours():
    box, empty = Shape(3, 4), Shape(0, 2, origin=(7, 7))
    assert shape_of(domain_of(box).hull(domain_of(empty))) == Shape(3, 9)
    assert box.hull(empty) == empty.hull(box) == box


@pytest.mark.parametrize("method", ["intersect", "hull"])
def test_ranks_must_match(method):
    a, b = Shape(3, 4), Shape(3)
    with pytest.raises(ValueError, match=r"[Rr]ank"):
        getattr(domain_of(a), method)(domain_of(b))
    with pytest.raises(ValueError, match=r"[Rr]ank"):
        getattr(a, method)(b)


@given(ranks.flatmap(boxes), st.data())
def test_translations(shape, data):
    offset = data.draw(st.tuples(*[places] * shape.rank))
    assert shape.translate_by(offset) == shape_of(domain_of(shape).translate_by[offset])
    assert shape.translate_to(offset) == shape_of(domain_of(shape).translate_to[offset])


@pytest.mark.parametrize("offset", [(1,), (1, 2, 3)])
def test_a_translation_of_another_rank_is_refused(offset):
    shape = Shape(3, 4)
    with pytest.raises(ValueError, match="dimensions"):
        domain_of(shape).translate_by[offset]
    with pytest.raises(RankError, match=str(len(offset))):
        shape.translate_by(offset)


@given(ranks.flatmap(boxes), st.data())
def test_transpositions(shape, data):
    order = data.draw(st.permutations(range(shape.rank)))
    assert shape.permute(order) == shape_of(domain_of(shape).transpose(order))


@given(ranks.flatmap(lambda r: st.tuples(boxes(r), boxes(r))))
def test_equality(pair):
    a, b = pair
    assert (a == b) == (domain_of(a) == domain_of(b))


@given(ranks.flatmap(boxes), st.data())
def test_membership_agrees_with_pinning_every_mode(shape, data):
    index = data.draw(st.tuples(*[places] * shape.rank))
    try:
        ts.IndexTransform(domain=domain_of(shape))[index]
        inside = True
    except IndexError:
        inside = False
    if shape.size:
        assert (index in shape) == inside
    assert list(itertools.islice(shape.indices(), shape.size + 1)) == list(
        itertools.product(*map(range, shape.origin, ends_of(shape)))
    )
