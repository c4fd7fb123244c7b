"""What is sent is read piece by piece."""

import numpy as np

from tensorwrapper import selection as sel
from tests.support.selection.kinds import KINDS
from tests.support.transport.sockets_of_transfers import through


def test_a_view_is_computed_chunk_by_chunk(listening):
    source = np.arange(90_000.0).reshape(300, 300)
    view = sel.concat([source[::2], source[:50] * 2])[:, 5:290:3]
    received = through(listening, view)
    assert np.array_equal(received.to_numpy(), view.compute().to_numpy())


def test_rows_of_a_jagged_view_are_computed_chunk_by_chunk(listening):
    rows = KINDS["jagged"](2000, 3)
    view = sel.concat([rows, rows[::-1]])
    received = through(listening, view)
    assert received.array_equal(view.compute())


def test_views_of_strings_and_of_sparse_elements_arrive(listening):
    for kind in ("strings", "sparse"):
        view = sel.concat([KINDS[kind](50, 1), KINDS[kind](50, 2)])
        assert through(listening, view).array_equal(view.compute())


def test_a_memory_map_is_a_source(listening, tmp_path):
    np.arange(50_000, dtype="i4").tofile(tmp_path / "data")
    source = np.memmap(tmp_path / "data", "i4", "r", shape=(100, 500))
    assert np.array_equal(through(listening, source[:, ::2]).to_numpy(), source[:, ::2])
