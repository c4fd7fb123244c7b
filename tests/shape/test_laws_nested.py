"""Laws of layers: all else is the shape without them, and elements put together are the whole."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import LayerError, OutOfBoundsError, TensorWrapperError
from tensorwrapper.shape import Shape, as_shape
from tensorwrapper.shape.kinds._nested import NestedCommon
from tests.support.shape.layered import SHAPES, over_a_view, prefixes


def outcome(call):
    """What a call gives, or the class of its error."""
    try:
        return call()
    except TensorWrapperError as error:
        return type(error)


@given(SHAPES)
def test_layers_change_no_answer(shape):
    flat = shape.flatten()
    assert flat.kind != "nested"
    assert (shape.rank, shape.size, shape.padding) == (flat.rank, flat.size, flat.padding)
    assert outcome(lambda: shape.origin) == outcome(lambda: flat.origin)
    assert outcome(lambda: shape.extents) == outcome(lambda: flat.extents)
    for mode in range(flat.rank):
        assert shape.extent_bounds(mode) == flat.extent_bounds(mode)
        assert shape.is_uniform(mode) == flat.is_uniform(mode)
        assert shape.dependencies(mode) == flat.dependencies(mode)
        for prefix in prefixes(flat, mode):
            assert shape.extent_at(prefix) == flat.extent_at(prefix)
            assert shape.origin_at(prefix) == flat.origin_at(prefix)
    indices = list(flat.indices())
    assert list(shape.indices()) == indices
    assert list(shape.indices(order="F")) == list(flat.indices(order="F"))
    assert list(shape.offsets()) == list(flat.offsets())
    assert [shape.ordinal(i) for i in indices] == list(range(flat.size))
    assert [shape.index(k) for k in range(flat.size)] == indices
    assert shape.indices() == flat.indices()
    assert shape.same_elements(flat)
    assert flat.same_elements(shape)
    assert shape != flat
    assert not shape.is_congruent(flat)
    assert shape.as_smooth() == flat.as_smooth()
    assert shape.as_smooth().kind == "smooth"
    for modes in range(flat.rank + 1):
        assert shape.leading(modes) == flat.leading(modes)


@given(SHAPES)
def test_the_size_of_a_layer_counts_the_prefixes_that_reach_through_it(shape):
    ends = itertools.accumulate(shape.layers)
    sizes = [len(prefixes(shape, end)) for end in ends]
    assert [shape.layer_size(k) for k in range(len(shape.layers))] == sizes
    if sizes:
        assert sizes[-1] == shape.size


@given(SHAPES, st.data())
def test_parts_are_those_of_the_shape_without_layers(shape, data):
    flat, key, kept = shape.flatten(), [], []
    for count in shape.layers:
        left = 0
        for _ in range(count):
            item = data.draw(
                st.one_of(st.integers(-3, 3), st.slices(3).filter(lambda s: s.step in (None, 1)))
            )
            key.append(item)
            left += isinstance(item, slice)
        if left or not count:
            kept.append(left)
    try:
        expected = flat[tuple(key)]
    except OutOfBoundsError:
        with pytest.raises(OutOfBoundsError):
            shape[tuple(key)]
        return
    part = shape[tuple(key)]
    assert part.flatten() == expected
    if len(kept) < 2 and expected.rank < flat.rank:
        assert part == expected
    else:
        assert (part.kind, part.layers) == ("nested", tuple(kept))


@given(SHAPES, st.data())
def test_slices_keep_every_layer(shape, data):
    if not shape.size:
        return
    first = data.draw(st.sampled_from(list(shape.indices())))
    last = tuple([i + 1 for i in first])
    part = shape.slice(first, last)
    assert (part.layers, part.kind) == (shape.layers, "nested")
    assert part.flatten() == shape.flatten().slice(first, last)
    wide = [i + 9 for i in first]
    assert shape.slice(first, wide, clip=True).flatten() == shape.flatten().slice(first, wide, clip=True)
    if shape.rank:
        rows = shape.slice_outer(first[0], first[0] + 1)
        assert rows == Shape.nested(shape.flatten().slice_outer(first[0], first[0] + 1), layers=shape.layers)


@given(SHAPES, SHAPES)
def test_equality_is_that_of_shapes_and_of_layers(a, b):
    for x, y in ((a, b), (a, Shape.nested(a, layers=b.layers) if a.rank == b.rank else b)):
        same = x.flatten() == y.flatten()
        assert (x == y) == (same and x.layers == y.layers)
        assert x.same_elements(y) == (x.flatten().same_elements(y.flatten()))
        assert x.is_congruent(y) == (x.flatten().is_congruent(y.flatten()) and x.layers == y.layers)
        if x == y:
            assert hash(x) == hash(y)


@given(SHAPES)
def test_the_representation_does_not_matter(shape):
    twins = [
        shape.copy(),
        shape[...],
        # Rows say neither sizes of tiles where there is none, nor where these would start.
        over_a_view(shape) if shape.size else shape,
        Shape.nested(shape.flatten(), layers=shape.layers),
        as_shape(Wrapped(shape.implementation.flat, shape.layers)),
    ]
    for twin in twins:
        assert twin == shape
        assert shape == twin
        assert hash(twin) == hash(shape)
        assert twin.is_congruent(shape)
        assert list(twin.cells()) == list(shape.cells())


class Wrapped(NestedCommon):
    """A stranger's nested shape."""

    __slots__ = ("inner", "numbers")

    def __init__(self, flat, layers):
        self.inner = flat
        self.numbers = layers

    @property
    def flat(self):
        return self.inner

    @property
    def layers(self):
        return self.numbers


@given(SHAPES, st.data())
def test_layers_are_dealt_anew_and_back(shape, data):
    marks = sorted(data.draw(st.lists(st.integers(0, shape.rank), max_size=3)))
    layers = tuple(b - a for a, b in itertools.pairwise([0, *marks, shape.rank]))
    other = Shape.nested(shape, layers=layers)
    assert other.layers == layers
    assert other.flatten() == shape.flatten()
    assert Shape.nested(other, layers=shape.layers) == shape
    assert Shape.nested(shape.flatten(), layers=layers) == other


@given(SHAPES, st.data())
def test_a_permutation_keeps_every_mode_in_its_layer_or_raises(shape, data):
    order = data.draw(st.permutations(range(shape.rank)))
    homes = [layer for layer, count in enumerate(shape.layers) for _ in range(count)]
    if [homes[m] for m in order] != homes:
        with pytest.raises(LayerError, match="flatten"):
            shape.permute(order)
        return
    expected = outcome(lambda: shape.flatten().permute(order))
    moved = outcome(lambda: shape.permute(order))
    if isinstance(expected, Shape):
        assert moved == Shape.nested(expected, layers=shape.layers)
    else:
        assert moved is expected


@given(SHAPES, st.data())
def test_a_moved_shape_keeps_its_layers(shape, data):
    offset = data.draw(st.tuples(*[st.integers(-5, 5)] * shape.rank))
    moved = shape.translate_by(offset)
    assert moved.flatten() == shape.flatten().translate_by(offset)
    assert moved.layers == shape.layers
    assert moved.is_congruent(shape)
    back = moved.translate_by([-k for k in offset])
    assert back.is_congruent(shape)
    # Tiles without a place keep sizes that rows, which a move within tiles makes, cannot say.
    assert back == shape or not shape.size


@given(st.lists(st.lists(st.tuples(st.integers(0, 3), st.integers(-2, 2)), max_size=2), max_size=3))
def test_boxes_per_layer_make_the_product(layers):
    boxes = [Shape.smooth([e for e, _ in layer], origin=[o for _, o in layer]) for layer in layers]
    shape = Shape.from_layers(*boxes)
    product = [tuple(itertools.chain(*parts)) for parts in itertools.product(*[b.indices() for b in boxes])]
    assert list(shape.indices()) == product
    assert shape.layers == tuple(box.rank for box in boxes)
    sizes = itertools.accumulate([box.size for box in boxes], lambda a, b: a * b)
    assert [shape.layer_size(k) for k in range(len(boxes))] == list(sizes)
    if boxes:
        assert all(cell == boxes[-1] for _, cell in shape.cells())
