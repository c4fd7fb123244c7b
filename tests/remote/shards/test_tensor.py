"""Sharded tensors: what they know, and rows of which only those that are selected are asked for."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import OutOfBoundsError
from tests.remote.shards.conftest import held, in_rows

LENGTHS = np.random.default_rng(7).integers(0, 6, 60)
ROWS = tw.from_buffer(np.arange(int(LENGTHS.sum())), tw.Shape.jagged(LENGTHS))


@pytest.fixture(scope="module")
def rows():
    with held({"rows": ROWS}, in_rows([10, 0, 37, 13])) as (shards, _):
        yield shards["rows"]


def test_it_knows_what_the_catalogue_says(rows):
    assert (rows.name, rows.kind, rows.rank, rows.size, len(rows)) == ("rows", "jagged", 2, ROWS.size, 60)
    assert (rows.dtype, rows.nbytes, rows.tiling.grid.size) == (np.int64, ROWS.nbytes, 4)
    assert rows.sharding.row_count == 60
    assert "60 rows" in repr(rows)


@pytest.mark.parametrize(
    "key",
    [
        3,
        -1,
        slice(5, 52),
        slice(None, None, -9),
        slice(10, 10),
        [47, 3, 3, 59],
        (slice(8, 12), slice(0, 1)),
        (slice(None), slice(None, None, 2)),
        (10, slice(1, None)),
        slice(None),
        ...,
    ],
    ids=str,
)
def test_rows_are_those_of_the_whole(rows, key):
    expected = tw.selection.as_view(ROWS)[key]
    found = rows[key]
    assert found.shape == expected.shape
    assert found.compute().tolist() == expected.compute().tolist()


def test_the_whole(rows):
    assert rows.tolist() == ROWS.tolist()
    assert rows.shape == ROWS.shape
    assert rows.view().shape == ROWS.shape
    assert rows.plan().bytes_received == ROWS.nbytes
    with pytest.raises(OutOfBoundsError):
        rows[60]


def test_only_the_rows_that_are_selected_are_asked_for():
    lengths = np.full(200_000, 3)
    big = tw.from_buffer(np.arange(600_000), tw.Shape.jagged(lengths))
    with held({"rows": big}, in_rows([50_000, 150_000]), count=2) as (shards, servers):
        assert shards["rows"][[49_999, 50_000, 199_999]].tolist() == [
            [149_997, 149_998, 149_999],
            [150_000, 150_001, 150_002],
            [599_997, 599_998, 599_999],
        ]
        assert sum(server.stats()["bytes_sent"] for server in servers) < 10_000
