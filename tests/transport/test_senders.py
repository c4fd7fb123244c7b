"""Who sent a message: the name that a ROUTER answers to, the host, the key."""

import pytest
import zmq

from tensorwrapper import wire
from tensorwrapper.errors import RemoteProtocolError
from tensorwrapper.transport._kinds import check_kind
from tensorwrapper.transport._senders import peer_of, signer_of


@pytest.mark.parametrize(("listening", "connecting"), [("PULL", "PUSH"), ("ROUTER", "DEALER")])
def test_who_sends_what_is_no_message_is_named(pair, listening, connecting):
    sink, source = pair(listening, connecting)
    source.send([b"no", b"message"])
    with pytest.raises(RemoteProtocolError) as caught:
        sink.receive()
    assert caught.value.peer == b"127.0.0.1" if listening == "PULL" else len(caught.value.peer) == 5


def test_a_frame_of_this_process_has_no_sender():
    frame = zmq.Frame(wire.encode_frames([b"x"]))
    assert (peer_of(check_kind("PULL"), [frame]), signer_of(frame)) == (b"", "")
