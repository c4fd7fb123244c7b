"""Rows, a window on columns: every answer against brute force over lists of lists."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import JaggedModeError, OutOfBoundsError, RankError
from tensorwrapper.shape import Rows

starts = st.integers(-3, 3)


class Model:
    """Rows of rank 3 as plain lists: where each row starts, and start and extent of each leaf."""

    def __init__(self, first, rows):
        self.first, self.rows = first, rows

    @property
    def prefixes(self):
        return [(i, j) for i, (low, row) in enumerate(self.rows, self.first) for j, _ in enumerate(row, low)]

    @property
    def ranges(self):
        """Per mode the (start, extent) under every prefix."""
        rows = [(low, len(row)) for low, row in self.rows]
        return [(self.first, len(rows))], rows, [leaf for _, row in self.rows for leaf in row]

    @property
    def indices(self):
        pairs = zip(self.prefixes, self.ranges[2], strict=True)
        return [(i, j, k) for (i, j), (low, extent) in pairs for k in range(low, low + extent)]

    def made(self):
        _, rows, leaves = self.ranges
        return Rows.of_lengths(
            *[np.array([extent for _, extent in level], dtype=np.int64) for level in (rows, leaves)],
            first=self.first,
            origins=[np.array([low for low, _ in level], dtype=np.int64) for level in (rows, leaves)],
        )

    def __repr__(self):
        return f"Model({self.first}, {self.rows})"


leaf_rows = st.lists(st.tuples(starts, st.integers(0, 3)), max_size=3)
models = st.builds(Model, starts, st.lists(st.tuples(starts, leaf_rows), max_size=4))


@st.composite
def windows(draw):
    """Rows, whole or a run of them that lies in a parent's columns, and their model."""
    model = draw(models)
    rows = model.made()
    if draw(st.booleans()):
        a, b = sorted(draw(st.tuples(*[st.integers(0, len(model.rows))] * 2)))
        rows = Rows(rows.columns, rows.depth, rows.start + a, rows.start + b, model.first + a)
        model = Model(model.first + a, model.rows[a:b])
    return rows, model


@given(windows())
def test_counts_are_those_of_the_lists(pair):
    rows, model = pair
    assert (rows.rank, rows.outer_rank) == (3, 2)
    assert (rows.count, rows.first, rows.size) == (len(model.rows), model.first, len(model.indices))
    assert rows.leaves[1] - rows.leaves[0] == len(model.prefixes)
    assert rows.packed().is_whole


@given(windows())
def test_ordinals_and_indices_are_inverse_and_in_order(pair):
    rows, model = pair
    assert [rows.index(n) for n in range(rows.size)] == model.indices
    assert [rows.ordinal(index) for index in model.indices] == list(range(rows.size))
    for n in (-1, rows.size):
        with pytest.raises(OutOfBoundsError, match="ordinal"):
            rows.index(n)


@given(windows())
def test_every_prefix_leads_to_its_range(pair):
    rows, model = pair
    mode_0, mode_1, leaves = model.ranges
    assert rows.range_under(()) == mode_0[0][::-1]
    for i, (start, extent) in enumerate(mode_1, model.first):
        assert rows.range_under((i,)) == (extent, start)
        assert isinstance(rows.under((i,)), Rows)
    for prefix, (start, extent) in zip(model.prefixes, leaves, strict=True):
        assert rows.range_under(prefix) == (extent, start)
        leaf = rows.under(prefix)
        assert rows.prefix_of(leaf) == prefix
        assert rows.box_under(prefix) == ((extent,), (start,))
        if extent:
            assert rows.cell_of((*prefix, start)) == (leaf, (start,))


@given(windows(), st.tuples(*[st.integers(-5, 8)] * 3))
def test_what_is_outside_is_refused(pair, index):
    rows, model = pair
    if index in model.indices:
        assert rows.index(rows.ordinal(index)) == index
        return
    for ask in (rows.ordinal, rows.cell_of):
        with pytest.raises(OutOfBoundsError, match=r"index .* is outside"):
            ask(index)


@given(windows())
def test_tables_have_all_of_it_at_once(pair):
    rows, model = pair
    leaves = model.ranges[2]
    table = rows.cell_table()
    assert list(map(tuple, table.indices.tolist())) == model.prefixes
    assert list(zip(table.origins[:, 0].tolist(), table.extents[:, 0].tolist(), strict=True)) == leaves
    assert table.offsets.tolist() == [0, *itertools.accumulate(extent for _, extent in leaves)]
    for mode, expected in enumerate(model.ranges):
        extents, origins = rows.ranges(mode)
        assert list(zip(origins.tolist(), extents.tolist(), strict=True)) == list(expected)
    found, places = rows.leaves_of(np.arange(rows.size, dtype=np.int64))
    assert found.tolist() == [rows.cell_of(index)[0] for index in model.indices]
    assert (rows.elements_before(found) + places).tolist() == list(range(rows.size))


@given(windows())
def test_the_box_is_the_smallest_around_the_ranges(pair):
    rows, model = pair
    extents, origin = rows.box()
    for mode, ranges in enumerate(model.ranges):
        filled = [(low, low + extent) for low, extent in ranges if extent]
        low, high = min([a for a, _ in filled], default=origin[mode]), max([b for _, b in filled], default=0)
        assert (origin[mode], extents[mode]) == (low, high - low if filled else 0)


@given(windows())
def test_an_origin_that_varies_is_refused(pair):
    rows, model = pair
    different = [mode for mode, ranges in enumerate(model.ranges) if len({low for low, _ in ranges}) > 1]
    if different:
        with pytest.raises(JaggedModeError, match=f"mode {different[0]} has no single origin"):
            rows.uniform_origin()
    else:
        found = rows.uniform_origin()
        assert all({low for low, _ in ranges} <= {o} for o, ranges in zip(found, model.ranges, strict=True))


@given(windows())
def test_compact_rows_answer_alike_and_keep_nothing_else(pair):
    rows, model = pair
    own = rows.compact()
    assert own.is_whole
    assert [own.index(n) for n in range(own.size)] == model.indices
    assert own.columns.n_leaves == len(model.prefixes)
    assert own.columns.n_rows == len(model.rows)


@given(windows())
def test_leading_modes_are_rows_of_prefixes(pair):
    rows, model = pair
    heads = rows.leading(2)
    assert (heads.rank, heads.outer_rank) == (2, 1)
    assert [heads.index(n) for n in range(heads.size)] == model.prefixes


def test_a_window_of_a_window_copies_nothing():
    rows = Model(0, [(0, [(0, 1)]), (0, [(0, 2), (5, 2)]), (0, [])]).made()
    inner = rows.under((1,))
    assert inner.columns is rows.columns
    assert (inner.rank, inner.size) == (2, 4)
    assert [inner.index(n) for n in range(4)] == [(0, 0), (0, 1), (1, 5), (1, 6)]


@pytest.mark.parametrize(
    "ask",
    [
        lambda rows: rows.under((0, 0, 0)),
        lambda rows: rows.range_under((0, 0, 0)),
        lambda rows: rows.ordinal((0,)),
        lambda rows: rows.cell_of((0,)),
    ],
)
def test_prefixes_and_indices_of_another_rank_are_refused(ask):
    with pytest.raises(RankError):
        ask(Model(0, [(0, [(0, 1)])]).made())
