"""Running iterators feed layouts: places of the next indices as arrays, and the iterator goes on."""

import itertools
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tensorwrapper import Layout, Shape, Tiling
from tensorwrapper.errors import (
    ConversionError,
    ExtentError,
    OutOfBoundsError,
    RankError,
    SizeOverflowError,
)
from tensorwrapper.layout import CustomLayout, as_layout


class Diagonals(CustomLayout):
    """A layout of a stranger that has `offset_of` and no more."""

    @property
    def shape(self):
        return Shape(3, 4, origin=(1, -1))

    def offset_of(self, index):
        if index not in self.shape:
            raise OutOfBoundsError(f"{index} is outside")
        row, column = (n - first for n, first in zip(index, (1, -1), strict=True))
        return 5 * row + (row + column) % 5


def layouts():
    box, rows = Layout(Shape(3, 4, origin=(1, -1))), Shape.jagged([3, 0, 1, 2])
    yield from (Layout(Shape()), Layout(Shape(0, 3)), box, Layout(Shape(2, 3, 2), order="F"))
    yield from (
        box.permute((1, 0)).reverse(0),
        box.rotate((1, 2)),
        box.gather(1, [2, 0, 0]),
        box.repeat((2, 1)),
    )
    yield from (Layout(rows), Layout.padded(rows), Layout(rows)[1:], Layout(rows).gather(0, [2, 0]))
    yield Layout(Shape.jagged([Shape(2, 2, origin=(1, 0)), Shape(1, 3)]))
    yield Layout(Shape.jagged([[1], [2, 3]]))
    yield from (Layout.tiled(Tiling([1, 2], [2, 0, 1])), Layout(Shape(2, 3)).as_tiled(Tiling([1, 1], [2, 1])))
    yield Layout(Shape.tiled([1, 2], [2, 1]))
    yield Layout(Shape.nested(Shape(2, 3), layers=(1, 1)))
    yield Layout(Shape.triangular(3))
    yield from (Layout.parse("((2,2),3):((1,8),2)"), Layout.parse("S<1,0,1> o 0 o (4,2):(2,1)"))
    yield as_layout(Diagonals())


LAYOUTS = list(layouts())
some_layouts = st.sampled_from(LAYOUTS)
orders = st.sampled_from(["C", "F"])
slices = st.one_of(st.just(slice(None)), st.slices(12))


def brute(layout, indices):
    return [layout.offset_of(index) for index in indices]


@given(some_layouts, orders, slices)
def test_the_places_of_all_indices_are_those_of_each(layout, order, key):
    run = layout.shape.indices(order=order)[key]
    expected = brute(layout, run)
    it = run.iterator()
    places = layout.offsets_of(it)
    assert (places.tolist(), places.dtype, places.shape) == (expected, np.int64, (len(run),))
    assert (it.position, next(it, None)) == (len(run), None)
    assert layout.offsets_of(it).tolist() == layout.offsets_of(it, count=3).tolist() == []
    assert layout.offsets_of(run).tolist() == expected


class Feeding(RuleBasedStateMachine):
    """An iterator that feeds a layout by turns, steps, jumps and moves, beside lists of indices."""

    @initialize(layout=some_layouts, order=orders, key=slices)
    def start(self, layout, order, key):
        run = layout.shape.indices(order=order)[key]
        self.layout, self.it, self.all, self.place = layout, run.iterator(), list(run), 0

    @rule(count=st.integers(0, 7))
    def take_some(self, count):
        expected = self.all[self.place : self.place + count]
        before = self.it.position
        try:
            wanted = brute(self.layout, expected)
        except OutOfBoundsError:
            with pytest.raises(OutOfBoundsError):
                self.layout.offsets_of(self.it, count=count)
            assert self.it.position == before
            return
        assert self.layout.offsets_of(self.it, count=count).tolist() == wanted
        self.place += len(expected)

    @rule(count=st.integers(0, 7))
    def take_a_table(self, count):
        expected = self.all[self.place : self.place + count]
        table = self.it.take(count)
        assert (table.dtype, table.shape) == (np.int64, (len(expected), self.layout.shape.rank))
        assert [tuple(row) for row in table.tolist()] == expected
        self.place += len(expected)

    @rule()
    def step(self):
        expected = self.all[self.place : self.place + 1]
        assert list(itertools.islice(self.it, 1)) == expected
        self.place += len(expected)

    @rule(data=st.data())
    def jump(self, data):
        self.place = self.it.position = data.draw(st.integers(0, len(self.all)))

    @rule(by=st.integers(-1, 1))
    def move(self, by):
        if self.all and self.layout.shape.rank:
            moved = self.it.indices.translate_by((by,) + (0,) * (self.layout.shape.rank - 1))
            try:
                self.it.origin = moved.origin
            except ValueError:  # an origin that varies
                return
            self.all = list(moved)

    @rule()
    def look(self):
        assert (self.it.position, self.it.remaining) == (self.place, len(self.all) - self.place)
        assert list(self.it.ahead()) == self.all[self.place :]


TestFeeding = Feeding.TestCase


def test_a_window_walks_over_a_layout_as_its_origin_is_set():
    layout, it = Layout(Shape(6, 6)), Shape(2, 2).indices().iterator()
    assert layout.offsets_of(it, count=3).tolist() == [0, 1, 6]
    it.origin = (3, 4)
    assert layout.offsets_of(it).tolist() == [29]
    it.position = 0
    assert layout.offsets_of(it).tolist() == [22, 23, 28, 29]


def test_what_does_not_fit_is_refused_and_the_iterator_stays():
    layout = Layout(Shape(3, 3))
    it = Shape(4, 3).indices().iterator()
    next(it)
    for given_, error in ((layout, OutOfBoundsError), (Layout(Shape(3)), RankError)):
        with pytest.raises(error):
            given_.offsets_of(it)
        assert it.position == 1
    for count, error in ((-1, ExtentError), (1.5, ConversionError), ("2", ConversionError)):
        for take in (it.take, it.ahead, lambda n: layout.offsets_of(it, count=n)):
            with pytest.raises(error):
                take(count)
        assert it.position == 1
    assert layout.offsets_of(it, count=8).tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    for other in ([[0, 0]], layout.shape.indices()):
        with pytest.raises(ConversionError, match="running iterator"):
            layout.offsets_of(other, count=1)


def test_runs_of_any_length_are_fed_from():
    shape = Shape(2**40, 2**40)
    it = shape.indices().iterator()
    it.position = 2**41 + 7
    assert Layout(shape, strides=(1, 0)).offsets_of(it, count=2**10).tolist() == [2] * 2**10
    assert (it.position, next(it)) == (2**41 + 7 + 2**10, (2, 7 + 2**10))
    with pytest.raises(SizeOverflowError):
        Layout(shape, strides=(1, 0)).offsets_of(it)
    far = Shape(2, origin=(2**63 - 2,)).indices().iterator()
    with pytest.raises(SizeOverflowError):
        far.take()
    assert far.position == 0


@pytest.mark.parametrize(
    "layout",
    [
        Layout(Shape(1000, 1000)).permute((1, 0)),
        Layout(Shape(1000, 1000)).rotate((3, 4)),
        Layout(Shape(100, 10000)).gather(0, np.arange(100)[::-1]),
        Layout(Shape.jagged(np.full(10_000, 100))),
        Layout(Shape.jagged(np.arange(2000) % 1001)),
        Layout.padded(Shape.jagged(np.arange(1415))),
        Layout.tiled(Tiling([100] * 10, [10] * 100)),
        Layout(Shape.nested(Shape(1000, 1000), layers=(1, 1))),
    ],
    ids=["permuted", "rotated", "gathered", "rows", "ragged", "padded", "tiles", "nested"],
)
def test_no_python_is_run_for_each_of_a_million_indices(layout):
    it = layout.shape.indices().iterator()
    calls = itertools.count()

    def count(*_):
        next(calls)

    sys.setprofile(count)
    try:
        first = layout.offsets_of(it, count=10)
        rest = layout.offsets_of(it)
    finally:
        sys.setprofile(None)
    assert len(first) + len(rest) == layout.shape.size > 990_000
    assert next(calls) < 20_000
