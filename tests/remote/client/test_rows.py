"""Rows whose table is elsewhere: the numbers of their elements are those of the whole."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.errors import RemoteProtocolError
from tensorwrapper.remote.protocol import _events as ev

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


def test_a_mask_and_positions_within_rows_select_as_of_the_tensor(remote):
    mask = tw.from_buffer(np.arange(ROWS.size) % 3 == 0, ROWS.shape)
    places = tw.from_buffer(
        np.zeros(np.count_nonzero(LENGTHS), "i8"), tw.Shape.jagged(np.minimum(LENGTHS, 1))
    )

    assert remote["rows"][mask].compute().tolist() == ROWS[mask].tolist()
    assert remote["rows"][places].compute().tolist() == ROWS[places].tolist()


def test_few_elements_come_with_the_lengths_of_their_rows():
    lengths = np.arange(1000) % 7
    rows = tw.from_buffer(np.arange(float(lengths.sum())), tw.Shape.jagged(lengths))
    with tw.serve({"rows": rows}) as server, tw.connect(server.address) as remote:
        there = remote["rows"]
        before = remote.counters.messages_sent
        view = there[[900, 3, 17, 3]]
        assert view.plan().bytes_on_wire == 0
        assert view.compute().tolist() == [rows[k].tolist() for k in (900, 3, 17, 3)]
        assert view[:, ::-2].compute().tolist() == [rows[k].tolist()[::-2] for k in (900, 3, 17, 3)]
        assert remote.counters.messages_sent == before + 1


def test_many_elements_are_asked_for_by_themselves():
    lengths = np.full(100, 1000)
    rows = tw.from_buffer(np.arange(float(lengths.sum())), tw.Shape.jagged(lengths))
    with tw.serve({"rows": rows}) as server, tw.connect(server.address) as remote:
        before = remote.counters
        view = remote["rows"][10:20]
        assert remote.counters.bytes_received - before.bytes_received < 1000
        assert view.plan().bytes_on_wire > 80_000
        assert view.compute().tolist() == [rows[k].tolist() for k in range(10, 20)]


def test_elements_that_nobody_asked_for_are_refused():
    with tw.serve({"rows": tw.jagged([[1, 2], [], [3]])}) as server, tw.connect(server.address) as remote:
        there = remote["rows"]
        for elements in (bytes(8), bytes(2**16)):
            answer = ev.Rows(there.version, np.array([0]), np.array([2]), memoryview(elements))
            connection = remote._connections.here()
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(type(connection), "ask", lambda *_, answer=answer: answer)
                with pytest.raises(RemoteProtocolError):
                    there[0]


@pytest.mark.parametrize("count", [50, 5000])
def test_rows_of_another_type_are_planned_as_they_come(count):
    rows = tw.from_buffer(np.arange(4 * count), tw.Shape.jagged([count] * 4))
    with tw.serve({"rows": rows}) as server, tw.connect(server.address) as remote:
        view = remote["rows"][1:].astype("f4")
        before, said = remote.counters, view.plan().bytes_on_wire
        assert view.compute().tolist() == rows[1:].tolist()
        after = remote.counters
        sent = after.bytes_sent_on_wire - before.bytes_sent_on_wire
        assert said == sent + after.bytes_received_on_wire - before.bytes_received_on_wire
