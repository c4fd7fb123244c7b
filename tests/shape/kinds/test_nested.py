"""Nested shapes: layers over smooth, jagged and tiled shapes, values and views; rows of tables."""

import copy
import gc
import pickle
import tracemalloc
import weakref

import numpy as np
import pytest
from dask.base import tokenize

from tensorwrapper.errors import (
    ConversionError,
    JaggedModeError,
    LayerError,
    OutOfBoundsError,
    RankError,
)
from tensorwrapper.shape import Nested, NestedView, Shape, Smooth, as_shape

ROWS = Shape.jagged([[10], [20, 30], [30, 10, 20]])
TILES = Shape.tiled([5, 15, 10], [5, 15, 10])
SQUARES = Shape.nested(Shape(2, 2, 10, 10), layers=(2, 2))
FAR = Shape.nested(Shape(9, 2, 9, origin=(2, 1, 3)), layers=(1, 2))


def nest(shape, *layers):
    return Shape.nested(shape, layers=layers)


@pytest.mark.parametrize(
    ("flat", "layers", "sizes"),
    [
        (Shape(), (), ()),
        (Shape(), (0,), (1,)),
        (Shape(), (0, 0), (1, 1)),
        (Shape(10), (1,), (10,)),
        (Shape(10), (1, 0), (10, 10)),
        (Shape(10), (0, 1), (1, 10)),
        (Shape(10, 20), (2,), (200,)),
        (Shape(10, 20), (2, 0), (200, 200)),
        (Shape(10, 20), (1, 1), (10, 200)),
        (Shape(10, 20), (0, 2), (1, 200)),
        (Shape(10, 20, 30), (3,), (6000,)),
        (Shape(10, 20, 30), (1, 2), (10, 6000)),
        (Shape(10, 20, 30), (1, 1, 1), (10, 200, 6000)),
        (Shape(5, 10, 15, 20), (2, 2), (50, 15000)),
        (Shape(0, 3), (1, 1), (0, 0)),
        (Shape(3, 0), (1, 1), (3, 0)),
        (ROWS, (1, 2), (3, 120)),
        (ROWS, (2, 1), (6, 120)),
        (ROWS, (0, 1, 0, 1, 1), (1, 3, 3, 6, 120)),
        (Shape.jagged([Shape(10, 20), Shape(30, 40), Shape(50, 60)]), (1, 1, 1), (3, 90, 4400)),
        (TILES, (2, 2), (9, 900)),
        (TILES, (1, 1, 1, 1), (3, 9, 90, 900)),
        (TILES[1], (1, 2), (3, 450)),
        (Shape.triangular(4), (1, 1), (4, 10)),
        (Shape(2**40, 2**40, 2**40), (2, 1), (2**80, 2**120)),
    ],
)
def test_construction(flat, layers, sizes):
    shape = nest(flat, *layers)

    assert (shape.kind, shape.rank, shape.size, shape.layers) == ("nested", flat.rank, flat.size, layers)
    assert tuple(shape.layer_size(k) for k in range(len(layers))) == sizes
    assert tuple(shape.layer_size(k - len(layers)) for k in range(len(layers))) == sizes
    assert shape.as_smooth() == flat.as_smooth()
    assert shape.padding == flat.padding
    assert shape.flatten() == flat
    assert shape.outer_rank == sum(layers[:-1])
    assert shape == nest(shape, *layers)
    assert nest(shape, flat.rank).layers == (flat.rank,)


def test_layers_may_be_any_integers():
    assert nest(Shape(2, 3), np.int16(1), np.uint8(1)).layers == (1, 1)
    assert Shape.nested((2, 3), layers=np.array([1, 1])) == nest(Shape(2, 3), 1, 1)
    assert Shape.nested(Smooth((2, 3)), layers=iter([1, 1])).layers == (1, 1)
    assert type(nest(Shape(2, 3), np.int16(1), 1).layers[0]) is int


@pytest.mark.parametrize(
    ("layers", "error", "match"),
    [
        ((1,), LayerError, r"\(1,\).*rank 2"),
        ((1, 2), LayerError, r"\(1, 2\).*rank 2"),
        ((), LayerError, r"\(\).*rank 2"),
        ((3, -1), LayerError, r"\(3, -1\).*not be negative"),
        ((1.0, 1), ConversionError, r"1\.0"),
        ((True, 1), ConversionError, "True"),
        ("11", ConversionError, "'11'"),
        (2, ConversionError, "2"),
    ],
)
def test_layers_deal_every_mode(layers, error, match):
    with pytest.raises(error, match=match):
        Shape.nested(Shape(2, 3), layers=layers)


def test_an_implementation_made_by_hand_is_checked_too():
    assert as_shape(Nested(Smooth((2, 3)), (1, 1))) == nest(Shape(2, 3), 1, 1)
    for layers in ((1,), (3, -1)):
        with pytest.raises(LayerError, match="rank 2"):
            Nested(Smooth((2, 3)), layers)
        with pytest.raises(LayerError, match="rank 2"):
            NestedView(ROWS[1].implementation, layers)


@pytest.mark.parametrize("layer", [2, -3, 10**20])
def test_a_layer_that_does_not_exist(layer):
    for call in (
        SQUARES.layer_size,
        lambda k: SQUARES.cells(layer=k),
        lambda k: SQUARES.element((), layer=k),
    ):
        with pytest.raises(LayerError, match=rf"layer {layer} does not exist .* 2 layers \(2, 2\)"):
            call(layer)


def test_a_plain_shape_is_one_layer():
    assert (Shape(2, 3).layers, ROWS.layers, Shape().layers) == ((2,), (3,), (0,))
    assert (Shape(2, 3).layer_size(0), ROWS.layer_size(-1), Shape().layer_size(0)) == (6, 120, 1)
    with pytest.raises(LayerError, match="layer 0 does not exist"):
        nest(Shape()).layer_size(0)


# Slices and chips.


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (lambda s: s.chip(0), nest(Shape(2, 10, 10), 1, 2)),
        (lambda s: s.chip(1), nest(Shape(2, 10, 10), 1, 2)),
        (lambda s: s.chip(0, 1), Shape(10, 10)),
        (lambda s: s.chip(1, 1, 3), Shape(10)),
        (lambda s: s.chip(1, 1, 3, 4), Shape()),
        (lambda s: s.chip(), SQUARES),
        (lambda s: s[0:1, 1:2], nest(Shape(1, 1, 10, 10, origin=(0, 1, 0, 0)), 2, 2)),
        (
            lambda s: s.slice((0, 1, 0, 0), (1, 2, 10, 10)),
            nest(Shape(1, 1, 10, 10, origin=(0, 1, 0, 0)), 2, 2),
        ),
        (
            lambda s: s.slice((1, 0, 5, 0), (2, 2, 10, 10)),
            nest(Shape(1, 2, 5, 10, origin=(1, 0, 5, 0)), 2, 2),
        ),
        (lambda s: s.slice_outer(1, 2), nest(Shape(1, 2, 10, 10, origin=(1, 0, 0, 0)), 2, 2)),
        (lambda s: s[0], nest(Shape(2, 10, 10), 1, 2)),
        (lambda s: s[:, 1], nest(Shape(2, 10, 10), 1, 2)),
        (lambda s: s[..., 3], nest(Shape(2, 2, 10), 2, 1)),
        (lambda s: s[0, :, 3], nest(Shape(2, 10), 1, 1)),
        (lambda s: s[..., 3, 4], Shape(2, 2)),
        (lambda s: s[1, 1], Shape(10, 10)),
        (lambda s: s[1, 0, 5:], Shape(5, 10, origin=(5, 0))),
        (lambda s: s[...], SQUARES),
        (lambda s: s[1:1], nest(Shape(0, 2, 10, 10, origin=(1, 0, 0, 0)), 2, 2)),
    ],
)
def test_slices_keep_layers_and_chips_drop_those_they_empty(part, expected):
    assert part(SQUARES) == expected
    assert part(SQUARES).layers == expected.layers


@pytest.mark.parametrize(
    ("shape", "part", "expected"),
    [
        (nest(ROWS, 1, 2), lambda s: s[1], Shape.jagged([20, 30])),
        (nest(ROWS, 1, 1, 1), lambda s: s[1], nest(Shape.jagged([20, 30]), 1, 1)),
        (nest(ROWS, 1, 2), lambda s: s[1, 1], Shape(30)),
        (nest(ROWS, 1, 2), lambda s: s[:, 0], nest(Shape.jagged([10, 20, 30]), 1, 1)),
        (nest(ROWS, 2, 1), lambda s: s[..., 5], Shape.jagged([1, 2, 3])),
        (nest(ROWS, 1, 1, 1), lambda s: s[..., 5], nest(Shape.jagged([1, 2, 3]), 1, 1)),
        (nest(ROWS, 1, 2), lambda s: s[1:], nest(ROWS[1:], 1, 2)),
        (
            nest(ROWS, 1, 2),
            lambda s: s.slice((0, 0, 0), (3, 1, 15), clip=True),
            nest(Shape.jagged([[10], [15], [15]]), 1, 2),
        ),
        (nest(TILES, 2, 2), lambda s: s[1, 2], Shape(15, 10)),
        (nest(TILES, 2, 2), lambda s: s[1], nest(TILES[1], 1, 2)),
        (nest(TILES, 2, 2), lambda s: s[1:, :2], nest(TILES[1:, :2], 2, 2)),
        # A layer without modes has none to lose.
        (nest(Shape(2, 3), 0, 2), lambda s: s[1], nest(Shape(3), 0, 1)),
        (nest(Shape(2, 3), 0, 1, 1), lambda s: s[1], nest(Shape(3), 0, 1)),
        (nest(Shape(2, 3), 2, 0), lambda s: s[1, 2], Shape()),
        (nest(Shape(2, 3), 0, 2, 0), lambda s: s[1, 2], nest(Shape(), 0, 0)),
        (nest(Shape(2, 3), 2), lambda s: s[1], Shape(3)),
        (nest(Shape(2, 3), 2), lambda s: s[1:], nest(Shape(1, 3, origin=(1, 0)), 2)),
        (nest(Shape()), lambda s: s[...], nest(Shape())),
    ],
)
def test_parts_of_jagged_tiled_and_empty_layers(shape, part, expected):
    assert part(shape) == expected
    assert part(shape).layers == expected.layers


@pytest.mark.parametrize(
    ("part", "error", "match"),
    [
        (lambda s: s.chip(2), OutOfBoundsError, r"index 2 .*\[0, 2\) of mode 0"),
        (lambda s: s.chip(0, 0, 0, 0, 0), RankError, "too many"),
        (lambda s: s.slice((0, 0, 0), (1, 1, 1)), RankError, "4 bounds"),
        (lambda s: s.slice((0, 0, 0, 0), (1, 1, 1, 11)), OutOfBoundsError, r"\[0, 11\)"),
        (lambda s: s[0:3], OutOfBoundsError, r"\[0, 3\)"),
    ],
)
def test_parts_that_leave_the_shape(part, error, match):
    with pytest.raises(error, match=match):
        part(SQUARES)


# Layers and other operations.


def test_layers_are_made_anew_without_new_columns():
    first = nest(ROWS, 1, 2)
    second = nest(first, 2, 1)

    assert second.layers == (2, 1)
    assert second.implementation.flat is first.implementation.flat is ROWS.implementation
    assert nest(second, 1, 2) == first
    assert second.flatten() == ROWS


@pytest.mark.parametrize(
    ("shape", "order", "expected"),
    [
        (nest(Shape(2, 3, 4), 1, 2), (0, 2, 1), nest(Shape(2, 4, 3), 1, 2)),
        (nest(Shape(2, 3, 4), 2, 1), (1, 0, 2), nest(Shape(3, 2, 4), 2, 1)),
        (nest(Shape(2, 3, 4), 3), (2, 0, 1), nest(Shape(4, 2, 3), 3)),
        (nest(Shape(2, 3, 4), 0, 1, 0, 2), (0, 2, 1), nest(Shape(2, 4, 3), 0, 1, 0, 2)),
        (nest(TILES[1:], 2, 2), (1, 0, 3, 2), nest(TILES[1:].permute((1, 0, 3, 2)), 2, 2)),
        (nest(Shape(), 0, 0), (), nest(Shape(), 0, 0)),
    ],
)
def test_modes_move_within_their_layer(shape, order, expected):
    assert shape.permute(order) == expected
    assert shape.permute(order).layers == expected.layers


@pytest.mark.parametrize(
    ("shape", "order", "error", "match"),
    [
        (nest(Shape(2, 3, 4), 1, 2), (1, 0, 2), LayerError, "mode 1 of layer 1 before mode 0 of layer 0"),
        (nest(Shape(2, 3, 4), 1, 2), (2, 1, 0), LayerError, "flatten"),
        (nest(Shape(2, 3), 1, 0, 1), (1, 0), LayerError, "mode 1 of layer 2 before mode 0 of layer 0"),
        (nest(ROWS, 1, 2), (0, 2, 1), JaggedModeError, "depends"),
        (nest(Shape(2, 3), 2), (0, 0), RankError, "permutation"),
    ],
)
def test_modes_do_not_leave_their_layer(shape, order, error, match):
    with pytest.raises(error, match=match):
        shape.permute(order)


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        (lambda s: s.translate_by((1, 2, 3)), nest(Shape(4, 5, 6, origin=(1, 2, 3)), 1, 2)),
        (lambda s: s.translate_to((1, 2, 3)), nest(Shape(4, 5, 6, origin=(1, 2, 3)), 1, 2)),
        (lambda s: s.intersect(FAR), nest(Shape(2, 2, 3, origin=(2, 1, 3)), 1, 2)),
        (lambda s: s.hull(nest(Shape(9, 2, 9), 1, 2)), nest(Shape(9, 5, 9), 1, 2)),
        (lambda s: s.leading(2), Shape(4, 5)),
        (lambda s: s.outer(), Shape(4)),
        (lambda s: s.as_smooth(), Shape(4, 5, 6)),
        (lambda s: s.copy(), nest(Shape(4, 5, 6), 1, 2)),
    ],
)
def test_operations_on_nested_boxes(operation, expected):
    assert operation(nest(Shape(4, 5, 6), 1, 2)) == expected


@pytest.mark.parametrize("other", [Shape(4, 5, 6), nest(Shape(4, 5, 6), 2, 1), nest(Shape(4, 5, 6), 3)])
@pytest.mark.parametrize("method", ["intersect", "hull"])
def test_boxes_of_different_layers_do_not_combine(method, other):
    shape = nest(Shape(4, 5, 6), 1, 2)
    for a, b in ((shape, other), (other, shape)):
        with pytest.raises(LayerError, match=rf"{method} of .* flatten\(\)"):
            getattr(a, method)(b)
    with pytest.raises(LayerError, match=r"\(3,\) and a nested one with \(3,\)"):
        getattr(Shape(4, 5, 6), method)(nest(Shape(4, 5, 6), 3))
    with pytest.raises(RankError, match=r"rank 3 .* rank 2"):
        getattr(shape, method)(nest(Shape(4, 5), 1, 1))
    with pytest.raises(JaggedModeError, match="boxes"):
        getattr(nest(ROWS, 1, 2), method)(nest(ROWS, 1, 2))


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda: Shape.jagged([nest(Shape(2, 3), 1, 1)]), LayerError, r"layers \(1, 1\).*flatten\(\)"),
        (lambda: Shape.jagged([Shape(2, 3), nest(Shape(2, 3), 1, 1)]), LayerError, r"flatten\(\)"),
        (lambda: Shape.jagged([[nest(ROWS, 1, 2)], [ROWS]]), LayerError, r"layers \(1, 2\)"),
        (lambda: Shape.jagged([nest(ROWS[1:], 1, 2)]), LayerError, r"flatten\(\)"),
        (lambda: Shape.jagged([Shape(2, 3), Shape(4)]), RankError, "one rank"),
    ],
)
def test_children_of_a_jagged_shape_have_no_layers(make, error, match):
    with pytest.raises(error, match=match):
        make()


def test_the_layers_of_an_outer_shape_do_not_matter_to_cells():
    extents = [(1, 2), (3, 4)]
    assert Shape.from_cells(nest(Shape(2), 0, 1), extents) == Shape.from_cells(Shape(2), extents)


@pytest.mark.parametrize(
    ("layers", "expected"),
    [
        ((Shape(10), Shape(20, 30)), nest(Shape(10, 20, 30), 1, 2)),
        (((10,), (20, 30)), nest(Shape(10, 20, 30), 1, 2)),
        ((Shape(2, origin=(5,)), Shape(3, origin=(-1,))), nest(Shape(2, 3, origin=(5, -1)), 1, 1)),
        ((Shape(), (3,)), nest(Shape(3), 0, 1)),
        (((), ()), nest(Shape(), 0, 0)),
        ((Shape(4, 5),), nest(Shape(4, 5), 2)),
        ((), nest(Shape())),
        ((ROWS[1, 1], Shape(2)), nest(Shape(30, 2), 1, 1)),
    ],
)
def test_a_nested_shape_is_made_layer_by_layer(layers, expected):
    shape = Shape.from_layers(*layers)

    assert shape == expected
    assert shape.layers == expected.layers


@pytest.mark.parametrize("layer", [ROWS, nest(Shape(2), 1)])
def test_layers_that_are_no_boxes(layer):
    with pytest.raises(JaggedModeError, match=f"layer 1 is {layer.kind}"):
        Shape.from_layers(Shape(2), layer)


# Values and views.


def test_layers_over_a_view_are_a_view():
    for part in (ROWS[1:], ROWS[1], ROWS[1, 1], ROWS.as_smooth()):
        view = nest(part, part.rank)
        assert type(view.implementation) is NestedView
        assert view.implementation.flat is part.implementation
        assert type(view.copy().implementation) is Nested
        assert view.copy() == view
    assert type(nest(Shape(2), 1).implementation) is type(nest(TILES, 2, 2).implementation) is Nested
    assert type(nest(ROWS, 1, 2)[1:].implementation) is NestedView
    value = nest(ROWS, 1, 2)
    assert value.copy() is value


@pytest.mark.parametrize(
    "make",
    [
        lambda: nest(Shape(2, 3, origin=(1, 0)), 1, 1),
        lambda: nest(Shape.jagged([[1], [2, 3]]), 1, 2),
        lambda: nest(Shape.jagged([[1], [2, 3]])[1:], 2, 1),
        lambda: nest(Shape.jagged([3, 1])[0], 0, 1),
        lambda: nest(Shape.tiled([1, 2], [3]), 2, 2),
        lambda: nest(Shape()),
    ],
)
def test_values_pickle_copy_and_have_one_token(make):
    shape = make()
    hash(shape)
    for twin in (copy.copy(shape), copy.deepcopy(shape), pickle.loads(pickle.dumps(shape))):
        assert twin == shape
        assert hash(twin) == hash(shape)
        assert type(twin.implementation) is type(shape.implementation)
        assert twin.layers == shape.layers
    assert tokenize(shape) == tokenize(make())
    assert tokenize(shape) != tokenize(nest(shape, *shape.layers, 0))


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        (nest(Shape(10, 20, 30), 1, 2), "(10; 20, 30)"),
        (nest(ROWS, 2, 1), "(3, 1|2|3; 10|20|30|30|10|20)"),
        (nest(Shape(1, 2, origin=(3, 4)), 1, 1), "(1; 2)@(3, 4)"),
    ],
)
def test_text(shape, text):
    assert str(shape) == text
    assert eval(repr(shape)) == shape
    assert repr(shape.implementation).startswith("Nested(")
    assert repr(nest(shape.flatten()[...], *shape.layers).implementation).startswith("Nested")


# What layers cost.

MILLIONS = Shape.jagged(np.arange(10**7) % 7)


def allocated(make, times=100):
    """Bytes held by each result of `make`; the first call warms caches up."""
    make()
    gc.collect()
    tracemalloc.start()
    try:
        kept = [make() for _ in range(times)]
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return held / len(kept)


@pytest.mark.parametrize(
    "make",
    [
        lambda: nest(MILLIONS, 1, 1),
        lambda: nest(MILLIONS[5:], 1, 1),
        lambda: nest(MILLIONS, 1, 1)[5:],
        lambda: nest(nest(MILLIONS, 1, 1)[5:], 0, 2),
        lambda: nest(MILLIONS, 1, 1).element((10**6,)),
        lambda: nest(MILLIONS, 1, 1).as_smooth(),
        lambda: nest(MILLIONS, 1, 1).translate_by((0, 0)),
        lambda: nest(MILLIONS, 1, 1).outer(),
        lambda: nest(MILLIONS, 1, 1).flatten(),
    ],
)
def test_layers_over_many_rows_take_under_a_kibibyte(make):
    assert allocated(make) < 1024


def test_a_pickled_nested_view_takes_its_own_rows_along():
    for view in (nest(MILLIONS[500:510], 1, 1), nest(MILLIONS, 1, 1)[500:510]):
        data = pickle.dumps(view)
        assert len(data) < 1024
        assert pickle.loads(data) == view


def test_a_copy_lets_go_of_the_parent():
    parent = Shape.jagged(np.arange(1000))
    alive = weakref.ref(parent.implementation.rows.columns)
    view = nest(parent, 1, 1)[10:20]
    twin = view.copy()
    assert twin == view
    del parent
    gc.collect()
    assert alive() is not None
    del view
    gc.collect()
    assert alive() is None
    assert twin.size == sum(range(10, 20))
