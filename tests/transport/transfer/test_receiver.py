"""The end that takes: what has room, what is missing, and what is lost."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import RemoteProtocolError
from tensorwrapper.transport import TransferReceiver, TransferSender
from tests.support.transport.transfers import ELEMENTS, Link, chunk_of, pair, read, skeleton, take


@pytest.mark.parametrize(
    ("part", "first", "nbytes", "number", "reason"),
    [
        (0, 0, 400, 2, "flow"),
        (0, 0, 400, 2**31, "flow"),
        (1, 0, 400, 0, "layout"),
        (0, 1000, 4, 0, "flow"),
        (0, 2**63, 4, 0, "flow"),
        (0, 999, 8, 0, "size"),
        (0, 0, 6, 0, "size"),
        (0, 0, 0, 0, "size"),
        (0, 0, 404, 0, "size"),
    ],
)
def test_a_hostile_chunk_is_refused(part, first, nbytes, number, reason):
    _, taker = pair(granted=2)
    with pytest.raises(RemoteProtocolError) as caught:
        taker.came(part, first, nbytes, 1 << 32 | number)
    assert caught.value.reason == reason
    assert taker.state == "failed"


def test_what_came_already_is_refused():
    giver, taker = pair(granted=2)
    chunk = chunk_of(giver)
    take(taker, chunk)
    with pytest.raises(RemoteProtocolError, match="was not requested"):
        take(taker, chunk)


def test_an_overlap_is_refused():
    _, taker = pair(granted=2)
    taker.came(0, 50, 200, 1 << 32)
    with pytest.raises(RemoteProtocolError) as caught:
        taker.came(0, 0, 400, 1 << 32 | 1)
    assert caught.value.reason == "size"


def test_late_chunks_of_before_a_grant_change_nothing():
    giver, taker = pair(granted=2)
    late = chunk_of(giver)
    taker.grant(2, 400)
    assert taker.room(late[0], late[1], late[3]) == 0
    assert (taker.outstanding, taker.left) == (2, 1000)


def test_a_chunk_that_overtook_others_is_noticed():
    giver, taker = pair(granted=3)
    first, second = chunk_of(giver), chunk_of(giver)
    take(taker, second)
    assert taker.is_torn
    take(taker, first)
    assert not taker.is_torn


def test_what_another_process_took_is_not_asked_for_again():
    giver = TransferSender(skeleton(), 7, "key")
    taker = TransferReceiver()
    taker.receive(read(giver.offer()))
    taker.forget([(0, 10, 5), (0, 990, 10)])
    assert (taker.missing(), taker.left) == ([(0, 10, 5), (0, 990, 10)], 15)
    giver.receive(read(taker.grant(8, 2**20)))
    assert giver.left == 15
    with pytest.raises(RemoteProtocolError, match="not within"):
        taker.forget([(0, 999, 2)])


@pytest.mark.parametrize("asks", [False, True], ids=["accepts", "asks"])
def test_a_taker_that_begins_anew_is_heard_at_once(asks):
    giver, first = pair(granted=2)
    for _ in range(20):
        giver.receive(read(first.grant(2, 400)))
    chunk_of(giver), chunk_of(giver)
    taker = TransferReceiver()
    if asks:
        giver.receive(read(taker.ask(7, giver.key, 2, 400)))
    # The giver has no credit, and says its offer again after a while.
    taker.receive(read(giver.offer()))
    assert taker.epoch >= 21
    giver.receive(read(taker.grant(2, 400)))
    assert (giver.credit, giver.left) == (2, 1000)
    take(taker, chunk_of(giver))


@pytest.mark.parametrize("number", [2**32 - 1, 2**63])
def test_a_giver_that_says_it_had_more_grants_than_there_are_is_refused(number):
    label, _ = TransferSender(skeleton(), 7, "key").offer()
    taker = TransferReceiver()
    with pytest.raises(RemoteProtocolError, match="grants") as caught:
        taker.receive(read([label, struct.pack("<3Q", 7, number, 0)]))
    assert (caught.value.reason, taker.state) == ("flow", "failed")


def test_an_offer_of_the_same_key_is_of_the_same_tensor():
    _, taker = pair()
    with pytest.raises(RemoteProtocolError, match="another tensor"):
        taker.receive(read(TransferSender(skeleton(ELEMENTS[:10]), 8, "key").offer()))


def test_a_giver_that_was_killed_goes_on_under_another_number():
    giver, taker = pair(granted=3)
    take(taker, chunk_of(giver))
    again = TransferSender(skeleton(), 99, "key", credit=4, chunk=400)
    taker.receive(read(again.offer()))
    again.receive(read(taker.grant(4, 400)))
    assert (taker.request, again.left) == (99, 900)


def test_a_tensor_that_is_asked_for_comes_without_another_word():
    giver, taker = TransferSender(skeleton(), 7, "key"), TransferReceiver()
    giver.receive(read(taker.ask(7, "key", 3, 400)))
    assert (giver.state, giver.next()) == ("asked", None)
    taker.receive(read(giver.offer()))
    take(taker, chunk_of(giver))
    assert (giver.state, taker.state, taker.left) == ("moving", "moving", 900)


@given(st.integers(0, 2**32), st.sampled_from([0.0, 0.1, 0.4]))
def test_every_element_comes_once_whatever_is_lost_or_overtaken(seed, loss):
    link = Link(seed, loss)
    for _ in range(5000):
        if link.giver.state == "done":
            break
        link.step()
    assert link.giver.state == "done"
    assert (link.there == 1).all()
