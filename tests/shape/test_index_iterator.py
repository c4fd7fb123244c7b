"""The running iterator over indices: a position and an origin that can be set while it runs."""

import copy
import itertools
import operator
import pickle
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tensorwrapper.errors import ConversionError, JaggedModeError, OutOfBoundsError, RankError
from tensorwrapper.shape import IndexIterator, Shape

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
    Shape.nested(Shape(2, 3), layers=(1, 1)),
]
shapes = st.sampled_from(SHAPES)
orders = st.sampled_from(["C", "F"])
keys = st.one_of(st.slices(12), st.slices(4))
runs = st.builds(lambda shape, order, key: shape.indices(order=order)[key], shapes, orders, keys)


@given(runs)
def test_it_gives_out_every_index_once(run):
    it = run.iterator()
    assert iter(it) is it
    assert it.indices is run
    for k, index in enumerate(run):
        assert it.position == k
        assert it.remaining == operator.length_hint(it) == len(run) - k
        assert next(it) == index
    assert next(it, None) is None
    assert next(it, None) is None
    assert (it.position, it.remaining) == (len(run), 0)


class Running(RuleBasedStateMachine):
    """An iterator beside the list of what it goes over."""

    @initialize(run=runs)
    def start(self, run):
        self.run, self.expected, self.place = run, list(run), 0
        self.it = run.iterator()

    @rule()
    def step(self):
        index = next(self.it, None)
        if self.place < len(self.expected):
            assert index == self.expected[self.place]
            self.place += 1
        else:
            assert index is None

    @rule(position=st.integers(-2, 14))
    def jump(self, position):
        if 0 <= position <= len(self.expected):
            self.it.position = position
            self.place = position
        else:
            with pytest.raises(OutOfBoundsError, match=rf"position {position} .*\[0, {len(self.expected)}\]"):
                self.it.position = position

    @precondition(lambda self: self.run.places)
    @rule(data=st.data())
    def move(self, data):
        rank = len(self.expected[0])
        origin = data.draw(st.tuples(*[st.integers(-20, 20)] * rank))
        try:
            offset = tuple(map(operator.sub, origin, self.it.origin))
        except JaggedModeError:
            with pytest.raises(JaggedModeError, match="no single origin"):
                self.it.origin = origin
            return
        self.it.origin = origin
        assert self.it.origin == origin
        self.expected = [tuple(map(operator.add, index, offset)) for index in self.expected]

    @invariant()
    def it_knows_where_it_is(self):
        assert self.it.position == self.place
        assert self.it.remaining == operator.length_hint(self.it) == len(self.expected) - self.place
        assert list(self.it.indices) == self.expected


TestRunning = Running.TestCase


def test_a_position_may_be_set_after_the_end():
    it = Shape(2, 2).indices().iterator()
    assert len(list(it)) == 4
    it.position = np.int64(3)
    assert list(it) == [(1, 1)]
    it.position = 4
    assert list(it) == []


@pytest.mark.parametrize(
    ("position", "error", "match"),
    [
        (-1, OutOfBoundsError, r"-1 is outside \[0, 4\]"),
        (5, IndexError, r"5 is outside \[0, 4\]"),
        (1.0, ConversionError, r"1\.0"),
        (True, ConversionError, "True"),
        ("1", TypeError, "'1'"),
    ],
)
def test_a_position_that_is_refused_leaves_the_iterator_where_it_was(position, error, match):
    it = Shape(2, 2).indices().iterator()
    next(it)
    with pytest.raises(error, match=match):
        it.position = position
    assert (it.position, next(it)) == (1, (0, 1))


def test_an_origin_that_is_refused_leaves_the_iterator_where_it_was():
    it = Shape(2, 2).indices().iterator()
    next(it)
    with pytest.raises(RankError, match="rank 2"):
        it.origin = (1,)
    with pytest.raises(ConversionError, match=r"0\.5"):
        it.origin = (0.5, 1)
    assert (it.origin, it.position, next(it)) == ((0, 0), 1, (0, 1))


def test_over_a_run_it_keeps_its_place_in_the_run():
    it = Shape(2, 3).indices()[1::2].iterator()
    assert (next(it), it.position) == ((0, 1), 1)
    it.origin = (10, 10)
    assert list(it) == [(11, 10), (11, 12)]
    it.position = 0
    assert list(it) == [(10, 11), (11, 10), (11, 12)]


def test_over_more_indices_than_python_counts():
    it = Shape(*[2] * 100, origin=(-1,) * 100).indices().iterator()
    assert (it.remaining, operator.length_hint(it)) == (2**100, sys.maxsize)
    it.position = 2**99 + 1
    assert next(it) == (0, *[-1] * 98, 0)
    assert (it.position, it.remaining) == (2**99 + 2, 2**99 - 2)
    it.origin = (0,) * 100
    assert next(it) == (1, *[0] * 97, 1, 0)
    it.position = 2**100 - 1
    assert list(it) == [(1,) * 100]
    assert (it.remaining, operator.length_hint(it)) == (0, 0)
    with pytest.raises(OutOfBoundsError, match=str(2**100 + 1)):
        it.position = 2**100 + 1


def test_it_neither_pickles_nor_copies():
    it = Shape(2).indices().iterator()
    assert isinstance(it, IndexIterator)
    for call in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="position"):
            call(it)


def test_two_iterators_over_one_run_do_not_share_a_position():
    run = Shape(2, 2).indices()
    a, b = run.iterator(), run.iterator()
    assert list(itertools.islice(a, 3)) == list(run)[:3]
    a.origin = (5, 5)
    assert list(b) == list(run)
