"""Equal shapes are interchangeable: whatever stores them, they answer alike; unequal ones do not."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tensorwrapper.errors import TensorWrapperError
from tensorwrapper.shape import Jagged, Rows, Shape, Tiled, as_shape
from tensorwrapper.shape.rows._unroll import unroll
from tensorwrapper.testing import jagged_shapes, nested_shapes, shapes, tiled_shapes, triangular_shapes

dask_base = pytest.importorskip("dask.base")


def restored(shape: Shape) -> list[Shape]:
    """Return the shape stored in other ways, and sent through every text."""
    others = [
        pickle.loads(pickle.dumps(shape)),
        Shape.parse(format(shape, "full")),
        Shape.from_json(shape.to_json()),
        shape.translate_by((1,) * shape.rank).translate_by((-1,) * shape.rank),
        shape.permute(range(shape.rank)),
    ]
    if shape.kind == "jagged":
        rows = shape.implementation.rows
        others.append(as_shape(Jagged(rows)))
        others.append(as_shape(Jagged(rows.compact())))
        others.append(as_shape(Jagged(unroll(rows, shape.rank - 1))))
    return others


def answers(shape: Shape) -> list[object]:
    """Return what the queries answer that do not tell how many modes are unrolled."""
    modes = range(shape.rank)
    found: list[object] = [shape.kind, shape.layers, shape.rank, shape.size, shape.names, shape.padding]
    found += [shape.extent_bounds(m) for m in modes] + [shape.dependencies(m) for m in modes]
    found += [attempt(lambda: shape.origin), attempt(lambda: shape.extents), list(shape.indices())]
    found += [shape.as_smooth(), hash(shape), dask_base.tokenize(shape)]
    box = shape.as_smooth()
    for index in list(box.indices())[:20]:
        found += [index in shape, attempt(lambda at=index: shape.ordinal(at))]
        prefixes = [index[:k] for k in modes]
        found += [attempt(lambda at=p: (shape.extent_at(at), shape.origin_at(at))) for p in prefixes]
    return found


def attempt(query):
    try:
        return query()
    except TensorWrapperError as error:
        return type(error)


@settings(max_examples=150)
@given(shapes(max_rank=4, max_extent=2, max_origin=1), shapes(max_rank=4, max_extent=2, max_origin=1))
def test_s4_equal_shapes_give_equal_answers(left, right):
    for other in [right, *restored(left)]:
        assert (left == other) == (other == left)
        if left == other:
            assert answers(left) == answers(other)
            assert left.is_congruent(other)
            assert left.same_elements(other)


@settings(max_examples=150)
@given(st.one_of(jagged_shapes(max_rank=3), tiled_shapes(max_rank=2), triangular_shapes(), nested_shapes()))
def test_s4_texts_pickles_and_moves_give_an_equal_shape(shape):
    for k, other in enumerate(restored(shape)[:5]):
        assert other == shape, k


small = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=2)


@given(small, small)
def test_s4_cells_are_equal_exactly_if_their_tables_are(left, right):
    one, other = [Shape.from_cells((len(table),), table) for table in (left, right)]
    assert (one == other) == (left == right)
    assert (dask_base.tokenize(one) == dask_base.tokenize(other)) == (left == right)
    assert one != other or one.permute((0, 2, 1)) == other.permute((0, 2, 1))


def test_s4_what_is_behind_an_empty_mode_counts():
    none, three = Shape.from_cells((1,), [(0, 0)]), Shape.from_cells((1,), [(0, 3)])
    assert none != three
    assert none.permute((0, 2, 1)) != three.permute((0, 2, 1))
    assert none == Shape.jagged([[]], rank=3) != three
    assert dask_base.tokenize(none) == dask_base.tokenize(Shape.jagged([[]], rank=3))
    assert Shape.jagged([], rank=2, origin=(0, 5)) != Shape.jagged([], rank=2)


@pytest.mark.parametrize(
    "shape",
    [
        Shape.from_uniform(3, 0),
        Shape.from_uniform(0, 3),
        Shape.jagged([0, 0], origin=(1, 4)),
        Shape.jagged([Shape(0, 2), Shape(0, 2)]),
        Shape.tiled([2], []),
        Shape.tiled([1, 2], []),
    ],
)
def test_s4_a_permutation_and_its_inverse_give_the_shape_back(shape):
    order = tuple(range(shape.rank))[::-1] if shape.rank < 4 else (1, 0, 3, 2)
    there = shape.permute(order)
    assert there.permute(tuple(np.argsort(order))) == shape
    for other in restored(there)[:3]:
        assert other == there


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (Shape.triangular(4), Shape.jagged([1, 2, 3, 4])),
        (Shape.triangular(0, "upper"), Shape.jagged([], rank=2)),
        (Shape.tiled([1, 2], [3, 3]), Shape.from_cells((2, 2), [(1, 3), (1, 3), (2, 3), (2, 3)])),
        (Shape.tiled([3], [3]), Shape.jagged([Shape(1, 3, 3)])),
        (Shape.jagged([[2, 2], [3]]), Shape.from_cells((2,), [(2, 2), (1, 3)])),
        (Shape.from_uniform(2, 3), Shape.jagged([3, 3])),
        (Shape.jagged([5, 1, 2], origin=(-1, 0))[0:], Shape.jagged([1, 2])),
        (Shape(4, 4)[1:3], Shape(2, 4, origin=(1, 0))),
    ],
)
def test_equal_shapes_in_different_representations_have_equal_tokens(left, right):
    assert left == right
    assert dask_base.tokenize(left) == dask_base.tokenize(right)
    assert hash(left) == hash(right)
    assert dask_base.tokenize(left) != dask_base.tokenize(left.translate_by((1,) * left.rank))


def test_closed_forms_of_any_size_have_tokens_and_hashes():
    for shape in (Shape.triangular(10**9), Shape.tiled([1] * 3000, [1] * 3000)):
        assert dask_base.tokenize(shape) == dask_base.tokenize(pickle.loads(pickle.dumps(shape)))
        assert hash(shape) == hash(pickle.loads(pickle.dumps(shape)))
    assert type(Shape.tiled([1], [1]).implementation) is Tiled
    assert Rows.of_lengths([1]).count == 1
