"""Laws of strided layouts, against brute force and against NumPy's views of ``arange``."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import LayoutError, OutOfBoundsError, RankError
from tensorwrapper.layout import Layout
from tensorwrapper.shape import Shape


@st.composite
def layouts(draw):
    """Any strided layout: packed in some order, or with arbitrary strides; any origin, extents from 0."""
    rank = draw(st.integers(0, 4))
    modes = st.lists(st.integers(0, 4), min_size=rank, max_size=rank)
    extents = draw(modes)
    origin = draw(st.lists(st.integers(-3, 3), min_size=rank, max_size=rank))
    shape = Shape(*extents, origin=origin)
    offset = draw(st.integers(-20, 20))
    if draw(st.booleans()):
        strides = draw(st.lists(st.integers(-6, 6), min_size=rank, max_size=rank))
        return Layout(shape, strides=strides, offset=offset)
    order = draw(st.permutations(range(rank)))
    ascend = draw(st.lists(st.booleans(), min_size=rank, max_size=rank))
    return Layout(shape, order=order, ascend=ascend, offset=draw(st.sampled_from([None, offset])))


def brute(layout):
    """The offset of every index, from the definition."""
    shape = layout.shape
    return {
        index: layout.offset
        + sum((i - o) * s for i, o, s in zip(index, shape.origin, layout.strides, strict=True))
        for index in itertools.product(
            *[range(o, o + n) for o, n in zip(shape.origin, shape.extents, strict=True)]
        )
    }


@given(layouts())
def test_offsets_are_offset_plus_steps(layout):
    expected = brute(layout)
    assert {i: layout.offset_of(i) for i in expected} == expected
    places = list(expected.values())
    assert layout.to_numpy().shape == layout.shape.extents
    assert layout.to_numpy().ravel().tolist() == places
    table = np.array(list(expected), dtype=np.int64).reshape(len(places), layout.shape.rank)
    assert layout.offsets_of(table).tolist() == places
    assert layout.offsets_of(layout.shape.indices().to_numpy()).tolist() == places


@given(layouts())
def test_bounds_contiguity_and_injectivity_are_those_of_the_offsets(layout):
    places = list(brute(layout).values())
    least, greatest = (min(places), max(places)) if places else (0, -1)
    assert layout.bounds() == (least, greatest)
    assert layout.span == greatest - least + 1
    first = layout.offset
    assert layout.is_contiguous == (places == list(range(first, first + len(places))))
    assert layout.is_injective == (len(set(places)) == len(places))


@given(layouts())
def test_index_of_is_the_first_index_with_that_offset(layout):
    first = {}
    for index, place in brute(layout).items():
        first.setdefault(place, index)
    least, greatest = layout.bounds()
    for place in range(least - 2, greatest + 3):
        if place in first:
            assert layout.index_of(place) == first[place]
        else:
            with pytest.raises(OutOfBoundsError, match="no element"):
                layout.index_of(place)


@given(layouts(), st.data())
def test_indices_outside_have_no_place(layout, data):
    index = data.draw(st.tuples(*[st.integers(-5, 8)] * layout.shape.rank))
    if index in brute(layout):
        return
    with pytest.raises(OutOfBoundsError, match="is not in"):
        layout.offset_of(index)
    with pytest.raises(OutOfBoundsError, match="is not in"):
        layout.offsets_of([index])


SLICES = st.builds(
    slice,
    st.none() | st.integers(-6, 6),
    st.none() | st.integers(-6, 6),
    st.none() | st.integers(-3, 3).filter(bool),
)


@st.composite
def keys(draw, rank):
    """A basic key, not always one that fits."""
    items = draw(
        st.lists(
            st.one_of(SLICES, st.integers(-5, 4), st.integers(-5, 4).map(np.int32), st.none()),
            max_size=rank + 1,
        )
    )
    if draw(st.booleans()):
        items.insert(draw(st.integers(0, len(items))), Ellipsis)
    return items[0] if len(items) == 1 and draw(st.booleans()) else tuple(items)


@given(layouts(), st.data())
def test_positional_keys_are_numpys(layout, data):
    key = data.draw(keys(layout.shape.rank))
    places = layout.to_numpy()
    try:
        expected = np.asarray(places[key])
    except IndexError as error:
        too_many = "too many indices" in str(error)
        with pytest.raises(RankError if too_many else IndexError):
            layout[key]
        return
    part = layout[key]
    assert part.shape == Shape(*expected.shape)
    assert np.array_equal(part.to_numpy(), expected)
    assert part.is_strided


@given(layouts(), st.data())
def test_a_chain_of_views_is_numpys(layout, data):
    expected = layout.to_numpy()
    for _ in range(data.draw(st.integers(1, 4))):
        rank = expected.ndim
        match data.draw(st.sampled_from(["permute", "reverse", "broadcast", "slice"])):
            case "permute":
                order = data.draw(st.permutations(range(rank)))
                layout, expected = layout.permute(order), expected.transpose(order)
            case "reverse":
                modes = data.draw(st.lists(st.integers(-rank, rank - 1), max_size=2)) if rank else []
                layout = layout.reverse(*modes)
                axes = {m % rank for m in modes} if modes else set(range(rank))
                expected = np.flip(expected, axis=tuple(axes))
            case "broadcast":
                extents = [data.draw(st.integers(0, 3)) if n == 1 else n for n in expected.shape]
                extents = (*data.draw(st.lists(st.integers(0, 2), max_size=1)), *extents)
                layout, expected = layout.broadcast(extents), np.broadcast_to(expected, extents)
            case _:
                key = data.draw(st.tuples(*[SLICES] * rank))
                layout, expected = layout[key], expected[key]
        assert layout.shape.extents == expected.shape
        assert np.array_equal(layout.to_numpy(), expected)


@given(layouts(), st.lists(st.integers(0, 4), max_size=5))
def test_broadcast_refuses_what_numpy_refuses(layout, extents):
    try:
        expected = np.broadcast_to(layout.to_numpy(), extents)
    except ValueError:
        with pytest.raises(LayoutError):
            layout.broadcast(extents)
        return
    assert np.array_equal(layout.broadcast(extents).to_numpy(), expected)


@given(layouts(), st.data())
def test_a_window_has_the_places_of_its_indices(layout, data):
    first, last = [], []
    for o, n in zip(layout.shape.origin, layout.shape.extents, strict=True):
        a, b = sorted(data.draw(st.tuples(st.integers(o, o + n), st.integers(o, o + n))))
        first.append(a)
        last.append(b)
    region = layout.shape.slice(first, last)
    part = layout.window(region)
    expected = brute(layout)
    assert part.shape == region
    assert part.strides == layout.strides
    assert brute(part) == {i: expected[i] for i in region.indices()}
    if region == layout.shape:
        assert part == layout


@given(layouts())
def test_layouts_pickle_and_hash_as_values(layout):
    again = pickle.loads(pickle.dumps(layout))
    assert again == layout
    assert hash(again) == hash(layout)
    assert again == Layout(layout.shape, strides=layout.strides, offset=layout.offset)
