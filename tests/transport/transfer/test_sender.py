"""The end that gives: credit, rows, what is missing, and what strangers say."""

import json

import numpy as np
import pytest

from tensorwrapper import wire
from tensorwrapper.errors import RemoteProtocolError
from tensorwrapper.transport import (
    TransferReceiver,
    TransferSender,
)
from tests.support.transport.transfers import (
    ELEMENTS,
    chunk_of,
    pair,
    read,
    said,
    skeleton,
    take,
)


def test_a_giver_gives_as_much_as_it_was_granted():
    giver, taker = pair(granted=2)
    take(taker, chunk_of(giver))
    take(taker, chunk_of(giver))
    assert (giver.next(), giver.credit, taker.outstanding) == (None, 0, 0)
    giver.receive(read(taker.pay(1, 200)))
    run = giver.next()
    assert (run.first, run.count, taker.outstanding) == (200, 50, 1)


@pytest.mark.parametrize("credit", [0, -1, True, 2**63, 1.0, "1", None, 5])
def test_hostile_credit_is_refused(credit):
    giver, _ = pair(credit=4, granted=2)
    label = json.dumps({"flow": "PAY", "credit": credit, "tw": {"chunk": 400}})
    with pytest.raises(RemoteProtocolError):
        giver.receive(wire.Message(form="FLOW", label=label, origin=7, granule=1))
    assert giver.state == "failed"


def test_chunks_end_with_rows_where_rows_fit():
    giver = TransferSender(skeleton(ELEMENTS.reshape(10, 100)), 7, "key", chunk=1000, rows=100)
    taker = TransferReceiver()
    taker.receive(read(giver.offer()))
    giver.receive(read(taker.grant(8, 1000)))
    assert giver.next().count == 200
    giver.rows = 400
    assert giver.next().count == 250


def test_a_grant_says_what_is_missing_and_the_giver_begins_there():
    giver, taker = pair(granted=3)
    chunk_of(giver)
    take(taker, chunk_of(giver))
    giver.receive(read(taker.grant(4, 4000)))
    assert taker.missing() == [(0, 0, 100), (0, 200, 800)]
    runs = []
    while (run := giver.next()) is not None:
        runs.append((run.first, run.count))
        giver.sent(run)
    assert runs[0] == (0, 100)
    assert runs[1][0] == 200


@pytest.mark.parametrize(
    "table",
    [
        [(0, 0, 1001)],
        [(1, 0, 1)],
        [(0, 0, 0)],
        [(0, 2**63, 2**63)],
        [(0, 0, 600), (0, 0, 600)],
        [(2**63, 0, 1)],
    ],
)
def test_hostile_runs_are_refused(table):
    giver, _ = pair()
    data = np.array(table, dtype="<u8").view(np.uint8).reshape(-1)
    message = said("GRANT", 2)
    with pytest.raises(RemoteProtocolError) as caught:
        giver.receive(wire.Message(form="FLOW", label=message.label, granule=2, parts=[data]))
    assert caught.value.reason == "layout"


def test_a_grant_of_no_whole_runs_or_of_another_key_is_refused():
    for parts, key, reason in (([b"x" * 23], "key", "size"), ([b"", b""], "key", "size"), ([], "no", "flow")):
        giver, _ = pair()
        label = said("GRANT").label.replace('"key": "key"', f'"key": "{key}"')
        with pytest.raises(RemoteProtocolError) as caught:
            giver.receive(wire.Message(form="FLOW", label=label, granule=2, parts=parts))
        assert caught.value.reason == reason


def test_credit_that_was_lost_is_no_way_to_more():
    giver, taker = pair(credit=4, granted=4)
    for _ in range(4):
        chunk_of(giver)
    # Everything was lost, and the taker begins anew: what it granted before is void.
    giver.receive(read(taker.grant(4, 400)))
    assert giver.credit == 4
    with pytest.raises(RemoteProtocolError, match="exceed"):
        giver.receive(read(taker.pay(1, 400)))


def test_both_ends_say_why_they_give_up():
    giver, taker = pair()
    giver.receive(read(taker.cancel("enough")))
    assert (giver.state, giver.error, taker.state) == ("failed", "enough", "failed")
