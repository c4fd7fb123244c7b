"""Indices and their running iterator: what ``range`` and its iterator are to integers."""

import collections.abc
import copy
import itertools
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
    SizeOverflowError,
)
from tensorwrapper.shape import IndexIterator, Indices, Shape

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
        (Shape.jagged([2, 3], origin=(10, 5)), [(10, 5), (10, 6), (11, 5), (11, 6), (11, 7)], None),
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
    first = shape.origin
    expected = [tuple(map(operator.sub, i, first)) for i in absolute] if relative is None else relative
    assert list(shape.offsets()) == expected


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("extents", [(), (5,), (10, 5), (2, 3, 4)])
def test_the_kth_index_visited_has_ordinal_k(extents, order):
    shape = Shape(*extents)
    flat = np.arange(shape.size).reshape(extents, order=order)
    assert [flat[i] for i in shape.indices(order=order)] == list(range(shape.size))


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
    assert len(run) == len(expected)
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
    assert list(shape.indices(order=order)[first][second]) == everything[first][second]


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


def test_a_run_equals_the_indices_of_the_part_that_it_covers():
    assert Shape(4).indices()[2:] == Shape(4)[2:].indices()
    assert hash(Shape(4).indices()[2:]) == hash(Shape(4)[2:].indices())
    assert Shape(4, 5).indices()[5:10] == Shape(4, 5)[1:2].indices()
    assert Shape(4).indices(order="F") == Shape(4).indices()
    assert Shape(2, 2).indices(order="F") != Shape(2, 2).indices()
    assert Shape(2).indices() != [(0,), (1,)]


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


def test_long_shapes_answer_without_walking():
    run = Shape(10**12, 3).indices()
    assert next(iter(run)) == (0, 0)
    assert run[-1] == (10**12 - 1, 2)
    assert (10**11, 1) in run
    assert run.index((10**11, 1)) == 3 * 10**11 + 1
    assert next(reversed(run)) == (10**12 - 1, 2)
    assert next(iter(Shape(3, 10**12).indices(order="F"))) == (0, 0)
    assert list(itertools.islice(Shape(2**21, 2**21).indices(), 2**21 - 1, 2**21 + 1)) == [
        (0, 2**21 - 1),
        (1, 0),
    ]
    assert list(Shape(10**12, 0).indices()) == []


def test_runs_longer_than_64_bits():
    run = Shape(2**40, 2**40).indices()
    assert run[2**79] == (2**39, 0)
    assert list(run[2**79 : 2**79 + 2].places) == [2**79, 2**79 + 1]
    assert run == Shape(2**40, 2**40).indices()
    assert run != Shape(2**40, 2**40, origin=(1, 0)).indices()
    assert hash(run) == hash(Shape(2**40, 2**40).indices())
    assert repr(run) == "Indices([(0, 0), (0, 1), (0, 2), (0, 3), ...])"
    assert next(reversed(run)) == (2**40 - 1, 2**40 - 1)
    assert list(itertools.islice(run[1:], 2)) == [(0, 1), (0, 2)]
    assert run.index((1, 0)) == 2**40
    for call in (run.to_numpy, lambda: len(run), lambda: run.batches(3)):
        with pytest.raises(SizeOverflowError, match="64 bits"):
            call()
    with pytest.raises(OutOfBoundsError, match=f"a run of {2**80} indices"):
        run[2**80]


@given(shapes, orders)
def test_an_iterator_gives_out_every_index_once(shape, order):
    run = shape.indices(order=order)
    it = run.iterator()
    assert iter(it) is it
    assert it.indices is run
    for k, index in enumerate(run):
        assert it.position == k
        assert operator.length_hint(it) == len(run) - k
        assert next(it) == index
    assert next(it, None) is None
    assert it.position == len(run)


@given(shapes, orders, st.integers(0, 8), st.data())
def test_setting_the_origin_of_an_iterator_keeps_its_position(shape, order, steps, data):
    run = shape.indices(order=order)
    it = run.iterator()
    done = list(itertools.islice(it, steps))
    origin = data.draw(st.tuples(*[st.integers(-20, 20)] * shape.rank))
    try:
        moved = run.translate_to(origin)
    except JaggedModeError:
        with pytest.raises(JaggedModeError, match="no single origin"):
            it.origin = origin
        return
    it.origin = origin
    assert it.origin == origin
    assert it.position == len(done)
    assert list(it) == list(moved)[len(done) :]


def test_an_iterator_over_a_run_keeps_its_place_in_the_run():
    it = Shape(2, 3).indices()[1::2].iterator()
    assert (next(it), it.position) == ((0, 1), 1)
    it.origin = (10, 10)
    assert list(it) == [(11, 10), (11, 12)]
    with pytest.raises(RankError, match="rank 2"):
        it.origin = (1,)
    with pytest.raises(AttributeError):
        it.position = 0


def test_an_iterator_does_not_pickle():
    assert isinstance(Shape(2).indices().iterator(), IndexIterator)
    with pytest.raises(TypeError, match="position"):
        pickle.dumps(Shape(2).indices().iterator())


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
