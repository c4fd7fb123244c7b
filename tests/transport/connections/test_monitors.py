"""What ZeroMQ tells of connections: in order, until nothing more is heard."""

import zmq

from tensorwrapper.transport._context import make_socket
from tensorwrapper.transport.connections._monitors import close_monitor, events_of, open_monitor

TOLD = zmq.EVENT_LISTENING | zmq.EVENT_ACCEPTED


def test_events_are_told_with_their_numbers_and_addresses():
    server, client = make_socket(zmq.ROUTER), make_socket(zmq.DEALER)
    monitor = open_monitor(server, TOLD)
    try:
        port = server.bind_to_random_port("tcp://127.0.0.1")
        client.connect(f"tcp://127.0.0.1:{port}")
        client.send(b"here")
        server.recv_multipart()  # After which it was accepted.
        told = list(events_of(monitor))
        assert [event for event, _, _ in told] == [zmq.EVENT_LISTENING, zmq.EVENT_ACCEPTED]
        assert all(number >= 0 and place.endswith(str(port)) for _, number, place in told)
        assert list(events_of(monitor)) == []
    finally:
        close_monitor(server, monitor)
        client.close(0)
        server.close(0)
    assert monitor.closed


def test_nothing_is_heard_of_a_socket_that_was_closed_before():
    server = make_socket(zmq.ROUTER)
    monitor = open_monitor(server, TOLD)
    server.close(0)
    close_monitor(server, monitor)
    assert monitor.closed
