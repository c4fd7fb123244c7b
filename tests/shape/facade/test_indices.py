"""Indices: what ``range`` is to integers."""

import collections.abc
import copy
import operator
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import (
    ConversionError,
    ExtentError,
    JaggedModeError,
    OutOfBoundsError,
    RankError,
    StepError,
)
from tensorwrapper.shape import Indices, Shape

SHAPES = [
    Shape(),
    Shape(5),
    Shape(0, 3),
    Shape(2, 3, origin=(1, -1)),
    Shape(2, 3, 2),
    Shape.jagged([3, 0, 1, 2]),
    Shape.jagged([Shape(2, 2, origin=(1, 0)), Shape(1, 3)]),
    Shape.tiled([2, 1], [1, 0, 2]),
    Shape.jagged([[1], [2, 3]])[1],
]
shapes = st.sampled_from(SHAPES)
orders = st.sampled_from(["C", "F"])
keys = st.one_of(st.slices(12), st.slices(4))


@pytest.mark.parametrize(
    ("shape", "absolute", "relative"),
    [
        (Shape(2, 3), [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)], None),
        (Shape(2, 3)[0:1, 1:3], [(0, 1), (0, 2)], [(0, 0), (0, 1)]),
        (Shape(2, 2, origin=(10, 10)), [(10, 10), (10, 11), (11, 10), (11, 11)], list(Shape(2, 2).indices())),
        (Shape.jagged([Shape(2), Shape(3)]), [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2)], None),
        (
            Shape.jagged([2, 3], origin=(10, 5)),
            [(10, 5), (10, 6), (11, 5), (11, 6), (11, 7)],
            [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2)],
        ),
        # Each counts from the origin of its own row.
        (
            Shape.jagged([Shape(2, origin=(5,)), Shape(3, origin=(6,))], origin=(10, 0)),
            [(10, 5), (10, 6), (11, 6), (11, 7), (11, 8)],
            [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2)],
        ),
        (
            Shape.nested(Shape(1, 2, origin=(3, 4)), layers=(1, 1)),
            [(3, 4), (3, 5)],
            [(0, 0), (0, 1)],
        ),
        (Shape.triangular(3, "upper")[1:], [(1, 1), (1, 2), (2, 2)], [(0, 0), (0, 1), (1, 0)]),
        (Shape(2, 2)[1:, :1], [(1, 0)], [(0, 0)]),
        (Shape(2, origin=(-1,)), [(-1,), (0,)], [(0,), (1,)]),
        (Shape(), [()], [()]),
        (Shape(0, 5), [], []),
        (Shape.jagged([0, 0]), [], []),
        (Shape(5), [(k,) for k in range(5)], None),
        (Shape(4, origin=(1,)), [(1,), (2,), (3,), (4,)], [(0,), (1,), (2,), (3,)]),
        (
            Shape(2, 2, 2, origin=(1, 1, 1)),
            [(1, 1, 1), (1, 1, 2), (1, 2, 1), (1, 2, 2), (2, 1, 1), (2, 1, 2), (2, 2, 1), (2, 2, 2)],
            None,
        ),
    ],
)
def test_absolute_and_relative_indices(shape, absolute, relative):
    assert list(shape.indices()) == absolute
    if relative is None:
        relative = [tuple(map(operator.sub, i, shape.origin)) for i in absolute]
    assert list(shape.offsets()) == relative
    assert sorted(shape.offsets(order="F")) == relative


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("extents", [(), (5,), (10, 5), (2, 3, 4), (40, 3), (17, 2, 2), (17, 0, 2)])
def test_the_kth_index_visited_has_ordinal_k(extents, order):
    shape = Shape(*extents)
    flat = np.arange(shape.size).reshape(extents, order=order)
    assert [flat[i] for i in shape.indices(order=order)] == list(range(shape.size))


@pytest.mark.parametrize(
    ("shape", "row_major", "column_major"),
    [
        (Shape(), [()], [()]),
        (Shape(5), [(k,) for k in range(5)], [(k,) for k in range(5)]),
        (Shape(4, origin=(1,)), [(1,), (2,), (3,), (4,)], [(1,), (2,), (3,), (4,)]),
        (
            Shape(5, 5),
            [(i, j) for i in range(5) for j in range(5)],
            [(i, j) for j in range(5) for i in range(5)],
        ),
        (
            Shape(5, 4, origin=(0, 1)),
            [(i, j) for i in range(5) for j in range(1, 5)],
            [(i, j) for j in range(1, 5) for i in range(5)],
        ),
        (
            Shape(2, 2, 2, origin=(1, 1, 1)),
            [(i, j, k) for i in (1, 2) for j in (1, 2) for k in (1, 2)],
            [(i, j, k) for k in (1, 2) for j in (1, 2) for i in (1, 2)],
        ),
    ],
)
def test_both_orders_of_a_box(shape, row_major, column_major):
    assert list(shape.indices()) == row_major
    assert list(shape.indices(order="F")) == column_major


def test_the_first_mode_runs_fastest_in_fortran_order():
    shape = Shape(5, 4, origin=(0, 1))
    assert list(shape.indices(order="F"))[:3] == [(0, 1), (1, 1), (2, 1)]
    assert list(Shape.jagged([3, 1, 2]).indices(order="F")) == [
        (0, 0),
        (1, 0),
        (2, 0),
        (0, 1),
        (2, 1),
        (0, 2),
    ]


@pytest.mark.parametrize("order", ["c", "A", None, 0])
def test_other_orders_are_refused(order):
    with pytest.raises(ConversionError, match=repr(order)):
        Shape(2).indices(order=order)
    with pytest.raises(TypeError, match='"C" or "F"'):
        Shape(2).offsets(order=order)


@given(shapes, orders, keys)
def test_a_run_behaves_as_the_list_of_its_indices(shape, order, key):
    expected = list(shape.indices(order=order))[key]
    run = shape.indices(order=order)[key]
    assert isinstance(run, collections.abc.Sequence)
    assert list(run) == list(run) == expected
    assert len(run) == run.size == len(expected)
    assert bool(run) == bool(expected)
    assert [run[k] for k in range(len(run))] == expected
    assert [run[k - len(run)] for k in range(len(run))] == expected
    assert list(reversed(run)) == expected[::-1]
    assert run.to_numpy().tolist() == [list(i) for i in expected]
    assert run.to_numpy().dtype == np.int64
    assert run.to_numpy().shape == (len(expected), shape.rank)
    for index in shape.indices():
        assert (index in run) == (index in expected)
        assert run.count(index) == expected.count(index)
    for index in expected:
        assert run.index(index) == expected.index(index)
    for place in (len(expected), -len(expected) - 1):
        with pytest.raises(OutOfBoundsError, match=f"position {place}"):
            run[place]


@given(shapes, orders, keys, keys)
def test_runs_of_runs(shape, order, first, second):
    everything = list(shape.indices(order=order))
    run = shape.indices(order=order)[first][second]
    assert list(run) == everything[first][second]
    assert list(reversed(run)) == everything[first][second][::-1]
    assert run.places == range(len(everything))[first][second]


@pytest.mark.parametrize(
    "cut", [(0, 5), (95, 100), (95, 105), (99, 101), (100, 105), (0, 300), (150, 290), (7, 7)]
)
@pytest.mark.parametrize(
    "shape", [Shape(3, 100, origin=(1, -5)), Shape(1, 3, 100), Shape(300), Shape(100, 3)]
)
def test_arrays_of_parts_of_lines(shape, cut):
    for order in ("C", "F"):
        run = shape.indices(order=order)[slice(*cut)]
        for part in (run, run[::-1], run[::3]):
            assert list(map(tuple, part.to_numpy().tolist())) == list(part)
            assert [tuple(i) for table in part.batches(7) for i in table.tolist()] == list(part)
            assert part.to_numpy().flags.c_contiguous


@given(shapes, orders, keys, st.integers(1, 7))
def test_batches_are_the_array_in_pieces(shape, order, key, length):
    run = shape.indices(order=order)[key]
    pieces = list(run.batches(length))
    assert all(len(p) == length for p in pieces[:-1])
    assert all(0 < len(p) <= length for p in pieces)
    if pieces:
        assert np.array_equal(np.concatenate(pieces), run.to_numpy())
    else:
        assert len(run) == 0


@given(shapes, orders, keys, shapes, orders, keys)
def test_runs_are_equal_if_they_hold_the_same_indices_in_the_same_order(a, order, key, b, other, cut):
    first, second = a.indices(order=order)[key], b.indices(order=other)[cut]
    if len(first) or len(second):
        assert (first == second) == (list(first) == list(second))
    if first == second:
        assert hash(first) == hash(second)


@st.composite
def runs_of_boxes(draw, rank):
    extents = draw(st.lists(st.integers(1, 3), min_size=rank, max_size=rank))
    origin = draw(st.lists(st.integers(0, 1), min_size=rank, max_size=rank))
    run = Shape.smooth(extents, origin=origin).indices(order=draw(orders))
    start = draw(st.integers(0, run.size - 1))
    stop = draw(st.integers(start + 1, min(run.size, start + 4)))
    return run[start:stop][:: draw(st.sampled_from([1, 1, -1, 2]))]


@given(st.integers(1, 3).flatmap(lambda rank: st.tuples(runs_of_boxes(rank), runs_of_boxes(rank))))
def test_runs_of_boxes_that_wrap_alike_are_equal(pair):
    first, second = pair
    assert (first == second) == (list(first) == list(second))
    if first == second:
        assert hash(first) == hash(second)


def test_a_run_equals_the_indices_of_the_part_that_it_covers():
    assert Shape(4).indices()[2:] == Shape(4)[2:].indices()
    assert hash(Shape(4).indices()[2:]) == hash(Shape(4)[2:].indices())
    assert Shape(4, 5).indices()[5:10] == Shape(4, 5)[1:2].indices()
    assert Shape(4).indices(order="F") == Shape(4).indices()
    assert Shape(2, 2).indices(order="F") != Shape(2, 2).indices()
    assert Shape(2).indices() != [(0,), (1,)]
    assert Shape(3, 4).indices()[::-1] == Shape(3, 4).indices()[::-1]
    assert Shape(3, 4).indices()[::-1] != Shape(3, 4).indices()
    assert Shape(1, 4).indices(order="F") == Shape(1, 4).indices()
    assert Shape(3, 4).indices(order="F")[1:3] == Shape(9, 4).indices(order="F")[1:3]
    assert Shape(3, 4).indices(order="F")[1:5] != Shape(4, 4).indices(order="F")[1:5]
    assert Shape(0, 3).indices() == Shape(3, 0).indices() == Shape(4).indices()[2:2]
    assert hash(Shape(0, 3).indices()) == hash(Shape(3, 0).indices())


def test_layers_do_not_order_indices():
    shape = Shape.nested(Shape(2, 3), layers=(1, 1))
    assert shape.indices() == Shape(2, 3).indices()
    assert hash(shape.indices()) == hash(Shape(2, 3).indices())
    assert Indices(shape.implementation) == Shape(2, 3).indices()


def test_a_whole_slice_is_the_run_itself():
    run = Shape(2, 3).indices()
    assert run[:] is run
    assert run[0:6] is run
    assert run[::-1][::-1] == run


@given(shapes, orders, keys)
def test_pickles_and_copies_are_equal(shape, order, key):
    run = shape.indices(order=order)[key]
    for twin in (copy.copy(run), copy.deepcopy(run), pickle.loads(pickle.dumps(run))):
        assert twin == run
        assert list(twin) == list(run)


@pytest.mark.parametrize("what", [(0,), (0, 0, 0), (5, 5), (0.0, 0), (True, 0), "00", None, 3])
def test_what_is_no_index_is_not_in_a_run(what):
    for run in (Shape(2, 3).indices(), Shape(2, 3).indices()[1:]):
        assert what not in run
        assert run.count(what) == 0
        with pytest.raises(ValueError, match="is not among"):
            run.index(what)


def test_index_searches_between_its_bounds():
    run = Shape(6).indices()[::2]
    assert run.index((4,)) == 2
    assert run.index((4,), -1) == 2
    with pytest.raises(ExtentError, match=r"\(4,\)"):
        run.index((4,), 0, 2)
    with pytest.raises(ValueError, match=r"\(3,\)"):
        run.index((3,))


@pytest.mark.parametrize("key", [True, 1.0, "a", None, (0, 1)])
def test_positions_are_integers(key):
    with pytest.raises(ConversionError, match="position"):
        Shape(4).indices()[key]


@pytest.mark.parametrize(
    "key", [slice("a"), slice(None, 1.5), slice(None, None, True), slice(np.arange(2), None)]
)
def test_bounds_of_slices_are_integers(key):
    with pytest.raises(ConversionError, match="of a slice"):
        Shape(4).indices()[key]


def test_slices_take_any_integers():
    run = Shape(9).indices()
    assert list(run[np.int8(1) : np.uint64(8) : np.int16(3)]) == [(1,), (4,), (7,)]
    assert run[10**30 :].size == 0
    assert list(run[-(10**30) : 10**30 : 10**30]) == [(0,)]
    assert run[:: 10**30].to_numpy().tolist() == [[0]]
    with pytest.raises(StepError, match="must not be 0"):
        run[::0]


@pytest.mark.parametrize(
    ("length", "error", "match"),
    [(0, ExtentError, "at least one"), (-3, ExtentError, "-3"), (2.0, ConversionError, r"2\.0")],
)
def test_the_length_of_a_batch_is_checked_when_asked_for(length, error, match):
    with pytest.raises(error, match=match):
        Shape(4).indices().batches(length)


def test_a_run_moves_with_its_shape():
    run = Shape(2, 2).indices()[1:3]
    assert list(run.translate_by((10, 0))) == [(10, 1), (11, 0)]
    assert list(run.translate_to((5, 5))) == [(5, 6), (6, 5)]
    assert (run.origin, run.translate_to((5, 5)).origin, run.order) == ((0, 0), (5, 5), "C")
    with pytest.raises(RankError, match="rank 2"):
        run.translate_by((1,))
    varying = Shape.triangular(3, "upper").indices()
    assert list(varying.translate_by((1, -1)))[:2] == [(1, -1), (1, 0)]
    for call in (lambda: varying.translate_to((0, 0)), lambda: varying.origin):
        with pytest.raises(JaggedModeError, match="no single origin"):
            call()


def test_indices_of_one_shape_become_those_of_another_by_their_ordinals():
    matrix, rows = Shape(2, 3), Shape.jagged([1, 5])
    table = rows.indices_at(matrix.ordinals(matrix.indices().to_numpy()))
    assert list(map(tuple, table.tolist())) == list(rows.indices())
    assert matrix.index(rows.ordinal((1, 2))) == (1, 0)


@pytest.mark.parametrize("shape", [Shape(2, 3, 2), Shape.jagged([[1], [2, 3]]), Shape.tiled([2, 1], [1, 2])])
@pytest.mark.parametrize("modes", range(4))
def test_leading_modes_are_gone_over_on_their_own(shape, modes):
    if modes <= shape.rank:
        assert list(shape.leading(modes).indices()) == sorted({i[:modes] for i in shape.indices()})


def test_indices_never_change():
    run = Shape(2).indices()
    assert isinstance(run, Indices)
    for name in ("order", "_shape", "anything"):
        with pytest.raises(AttributeError):
            setattr(run, name, None)


@pytest.mark.parametrize(
    ("run", "text"),
    [
        (Shape(2).indices(), "Indices([(0,), (1,)])"),
        (Shape(0).indices(), "Indices([])"),
        (Shape.jagged([3, 2]).indices(order="F")[::2], "Indices([(0, 0), (0, 1), (0, 2)])"),
    ],
)
def test_text(run, text):
    assert repr(run) == text
