"""What strangers say of a tensor."""

import pytest

from tensorwrapper.errors import RemoteProtocolError
from tensorwrapper.transport import TransferReceiver
from tests.support.transport.transfers import entry, spoilt


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"version": 2}, "limit"),
        ({"version": True}, "schema"),
        ({"key": "k" * 129}, "limit"),
        ({"key": 1}, "schema"),
        ({"chunk": 0}, "schema"),
        ({"chunk": 2**30}, "limit"),
        ({"stranger": 1}, "schema"),
        ({"name": "n" * 256}, "limit"),
        ({"name": 3}, "schema"),
        ({"follow": -1}, "schema"),
        ({"follow": 2**31}, "limit"),
        ({"tensor": {}}, "schema"),
        ({"tensor": {"entry": entry(10, 0), "bytes": [44]}}, "size"),
        ({"tensor": {"entry": entry(10, 5), "bytes": [40]}}, "layout"),
        ({"tensor": {"entry": entry(2**40, 0), "bytes": [4]}}, "limit"),
        ({"tensor": {"entry": entry(10, 0), "bytes": [2**63]}}, "limit"),
    ],
)
def test_a_hostile_offer_is_refused(changes, reason):
    taker = TransferReceiver()
    with pytest.raises(RemoteProtocolError) as caught:
        taker.receive(spoilt(**changes))
    assert caught.value.reason == reason
    assert taker.state == "failed"
