"""What a source elsewhere sends: each position once, and nothing for what only repeats or orders it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import selection as sel
from tensorwrapper.selection import Outer
from tests.support.selection.counting_source import CountingSource
from tests.support.tensor.view_chains import viewed

# ruff: noqa: ARG005 - the functions of the table take the same arguments

X = np.arange(240.0).reshape(12, 20)
ALL = X.nbytes

# name: view, the same of NumPy, bytes that are read
ROWS = {
    "slice": (lambda v: v[2:6, 1::3], lambda x: x[2:6, 1::3], 4 * 7 * 8),
    "select": (lambda v: v[3], lambda x: x[3], 20 * 8),
    "index": (lambda v: v.gather(0, [3, 3, 1, 3]), lambda x: x[[3, 3, 1, 3]], 2 * 20 * 8),
    "broadcast": (lambda v: v[:1].broadcast((50, 20)), lambda x: np.broadcast_to(x[:1], (50, 20)), 20 * 8),
    "repeat": (lambda v: v.repeat((3, 2)), lambda x: np.tile(x, (3, 2)), ALL),
    "repeat each": (lambda v: v.repeat_each(1, 4), lambda x: np.repeat(x, 4, 1), ALL),
    "reflect": (
        lambda v: v[:5].pad([(3, 4), (0, 0)], boundary="reflect"),
        lambda x: np.pad(x[:5], [(3, 4), (0, 0)], mode="reflect"),
        5 * 20 * 8,
    ),
    "edge": (
        lambda v: v[:, 7:9].pad([(0, 0), (5, 5)], boundary="edge"),
        lambda x: np.pad(x[:, 7:9], [(0, 0), (5, 5)], mode="edge"),
        12 * 2 * 8,
    ),
    "wrap": (
        lambda v: v.pad([(5, 5), (0, 30)], boundary="wrap"),
        lambda x: np.pad(x, [(5, 5), (0, 30)], mode="wrap"),
        ALL,
    ),
    "constant pad": (
        lambda v: sel.pad(v[:2], [(9, 9), (0, 0)], fill_value=1),
        lambda x: np.pad(x[:2], [(9, 9), (0, 0)], constant_values=1),
        2 * 20 * 8,
    ),
    "only the pad": (
        lambda v: sel.pad(v, [(9, 9), (0, 0)], fill_value=1)[:9],
        lambda x: np.ones((9, 20)),
        0,
    ),
    "permute": (lambda v: v.permute((1, 0)), lambda x: x.T, ALL),
    "reverse": (lambda v: v.reverse(0, 1), lambda x: x[::-1, ::-1], ALL),
    "rotate": (lambda v: v.rotate((5, 7)), lambda x: np.roll(x, (5, 7), (0, 1)), ALL),
    "unsqueeze": (lambda v: v.unsqueeze(1), lambda x: x[:, None], ALL),
    "reshape": (lambda v: v.reshape((3, 4, 5, 4)), lambda x: x.reshape((3, 4, 5, 4)), ALL),
    "reshape across": (lambda v: v.reshape((20, 12))[3:5], lambda x: x.reshape((20, 12))[3:5], 2 * 12 * 8),
    "concat": (lambda v: sel.concat([v[:3], v[9:]]), lambda x: np.concatenate([x[:3], x[9:]]), 6 * 20 * 8),
    "interleave": (
        lambda v: sel.interleave([v[:3], v[9:]]),
        lambda x: np.stack([x[:3], x[9:]], 1).reshape((6, 20)),
        6 * 20 * 8,
    ),
    "stack": (lambda v: sel.stack([v[0], v[0]]), lambda x: np.stack([x[0], x[0]]), 20 * 8),
    "widening cast": (lambda v: v.astype("c16"), lambda x: x.astype("c16"), ALL),
    "sliding windows": (
        lambda v: v[0].sliding_window(0, 5),
        lambda x: np.lib.stride_tricks.sliding_window_view(x[0], 5),
        20 * 8,
    ),
    "sliding windows of rows": (
        lambda v: v.sliding_window(0, 3)[::4],
        lambda x: np.lib.stride_tricks.sliding_window_view(x, 3, 0)[::4],
        9 * 20 * 8,
    ),
    "positions in blocks": (
        lambda v: v.gather(1, [0, 1, 7, 8, 14, 15]).split_mode(1, (3, 2)),
        lambda x: x[:, [0, 1, 7, 8, 14, 15]].reshape((12, 3, 2)),
        12 * 6 * 8,
    ),
    "generator": (lambda v: sel.minimum(sel.iota((5,)), 3), lambda x: np.minimum(np.arange(5), 3), 0),
    "nothing": (lambda v: v[3:3], lambda x: x[3:3], 0),
}


@pytest.mark.parametrize("name", ROWS)
def test_a_source_sends_each_element_that_is_needed_once(name):
    view, ours, nbytes = ROWS[name]
    source = CountingSource(X)
    chosen = view(sel.as_view(source))
    assert chosen.plan().bytes_read == nbytes
    np.testing.assert_array_equal(np.asarray(chosen), ours(X))
    assert source.nbytes == nbytes


def test_a_choice_reads_what_its_operands_share_once():
    source = CountingSource(X)
    v = sel.as_view(source)
    mask = np.eye(12, 20, dtype=bool)
    np.testing.assert_array_equal(np.asarray(sel.where(mask, v, v[:1])), np.where(mask, X, X[:1]))
    assert source.calls == 1
    assert source.nbytes == 8 * (12 + 20 - 1)  # the points of the diagonal, and the row, which meet


def test_the_points_of_a_long_diagonal_are_read_one_by_one():
    x = np.arange(10_000).reshape(100, 100)
    source = CountingSource(x)
    assert sel.as_view(source).diagonal().tolist() == np.diagonal(x).tolist()
    assert source.nbytes == 100 * 8
    assert source.calls == 1


def test_points_that_come_again_are_read_once():
    x = np.arange(10_000).reshape(100, 100)
    source = CountingSource(x)
    rows, columns = np.arange(100) % 50 * 2, np.arange(100) % 50
    assert sel.as_view(source).vindex[rows, columns].tolist() == x[rows, columns].tolist()
    assert source.nbytes == 50 * 8


def test_a_large_rotation_needs_no_table():
    source = CountingSource(np.zeros((1 << 20,), "u1"))
    (read,) = sel.as_view(source).rotate((12345,)).plan().reads
    assert read.selections == (Outer([range(1 << 20)]),)


@given(st.data())
def test_a_chain_reads_no_element_twice(data):
    x = np.arange(60).reshape(3, 5, 4)
    source = CountingSource(x)
    view, expected = sel.as_view(source), x
    for _ in range(data.draw(st.integers(0, 5))):
        view, expected = viewed(data.draw, view, expected)
    np.testing.assert_array_equal(np.asarray(view), expected)
    distinct = len(np.unique(expected))
    assert source.nbytes == view.plan().bytes_read
    # Exactly what is needed, unless modes of the source are merged; then the box around it.
    assert source.nbytes >= 8 * distinct
    assert source.nbytes <= x.nbytes
