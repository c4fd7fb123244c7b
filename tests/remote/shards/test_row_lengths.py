"""Where rows begin and how long they are, asked of all who hold some of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.remote.shards._row_lengths import lengths_of
from tensorwrapper.selection import Runs
from tests.remote.shards.conftest import held, in_rows

LENGTHS = np.random.default_rng(3).integers(0, 4, 30)
ROWS = tw.from_buffer(np.arange(int(LENGTHS.sum())), tw.Shape.jagged(LENGTHS))
BEGINS = np.cumsum(LENGTHS) - LENGTHS


@pytest.fixture(scope="module")
def source():
    with held({"rows": ROWS}, in_rows([4, 0, 1, 20, 5]), count=2) as (shards, _):
        yield shards["rows"]._source


@given(chosen=st.lists(st.integers(0, 29), unique=True).map(sorted))
def test_they_are_those_of_the_whole(source, chosen):
    rows = Runs(chosen)
    starts, lengths = lengths_of(source, rows)
    assert lengths.tolist() == LENGTHS[chosen].tolist()
    assert starts.tolist() == BEGINS[rows.starts].tolist()
