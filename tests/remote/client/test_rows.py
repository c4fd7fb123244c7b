"""Rows whose table is elsewhere: the numbers of their elements are those of the whole."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tensorwrapper as tw

LENGTHS = np.random.default_rng(2).integers(0, 4, 60)
ROWS = tw.from_buffer(np.arange(LENGTHS.sum()), tw.Shape.jagged(LENGTHS))


@pytest.fixture(scope="module")
def remote():
    with tw.serve({"rows": ROWS}) as server, tw.connect(server.address) as found:
        yield found


INSIDE = st.sampled_from([(), (slice(0, 0),), (slice(None, None, -1),), (slice(1, None),)])
CHOICES = st.one_of(
    st.integers(-60, 59),
    st.slices(60),
    st.lists(st.integers(-60, 59), max_size=8),
)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(CHOICES, INSIDE)
def test_any_rows_are_those_of_the_tensor(remote, rows, inside):
    key = (rows, *inside) if not isinstance(rows, list) else rows
    try:
        here = tw.selection.as_view(ROWS)[key]
    except (IndexError, ValueError) as error:
        with pytest.raises(type(error)):
            remote["rows"][key]
        return
    there = remote["rows"][key]

    assert there.shape == here.shape or there.shape.size == here.shape.size == 0
    assert there.compute().tolist() == here.compute().tolist()
    if there.shape.rank == 2:
        assert there[::-1].compute().tolist() == here[::-1].compute().tolist()


def test_a_mask_of_rows_selects_them(remote):
    mask = np.arange(60) % 7 == 3

    assert remote["rows"][mask].compute().tolist() == ROWS[mask].tolist()
