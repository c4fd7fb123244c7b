"""Flows over real sockets: threads and processes, peers that vanish, hang, or break the rules."""

import json
from pathlib import Path

import numpy as np
import pytest

from tensorwrapper import wire
from tensorwrapper.errors import (
    FlowAbortedError,
    LocalProtocolError,
    TransportClosedError,
    TransportError,
    TransportTimeoutError,
)
from tensorwrapper.transport import Flows, Socket
from tests.support.transport.flows import expected, give, in_thread, put_many, take

RECORDED = json.loads((Path(__file__).parents[2] / "golden" / "zio-flow.json").read_text())["conversations"]
COUNTER = iter(range(10**6))


@pytest.mark.parametrize("road", ["tcp", "ipc", "inproc"])
@pytest.mark.parametrize(("kind", "client"), [("ROUTER", "DEALER"), ("PAIR", "PAIR"), ("DEALER", "DEALER")])
@pytest.mark.parametrize("credit", [1, 2, 7])
def test_all_that_is_given_is_taken_in_order(tmp_path, road, kind, client, credit):
    place = {"tcp": "tcp://127.0.0.1:*", "ipc": f"ipc://{tmp_path}/f"}.get(road, f"inproc://f{next(COUNTER)}")
    with Socket(kind) as socket:
        join = in_thread(give, socket.bind(place), 40, credit, client)
        with Flows(socket).accept(credit=3) as flow:
            assert [message.tensors[0].tolist() for message in flow] == expected(40)
            assert (flow.state, flow.credit, flow.get()) == ("ended", min(credit, 3), None)
        assert join() == min(credit, 3)


@pytest.mark.parametrize("count", [0, 1, 40])
def test_a_server_gives(count):
    with Socket("ROUTER") as socket:
        join = in_thread(take, socket.bind("tcp://127.0.0.1:*"))
        with Flows(socket).accept() as flow:
            assert flow.direction == "extract"
            for number in range(count):
                flow.put([np.full(number % 5, number)])
        assert join() == expected(count)


def test_many_clients_at_once_do_not_mix():
    with Socket("ROUTER") as socket, Flows(socket) as flows:
        address = socket.bind("tcp://127.0.0.1:*")
        joins = [in_thread(give, address, 10 + number) for number in range(8)]
        open_flows = [flows.accept() for _ in joins]
        assert len(flows.running) == 8
        taken = {flow.peer: [] for flow in open_flows}
        while open_flows:
            for flow in list(open_flows):
                message = flow.get()
                if message is None:
                    open_flows.remove(flow)
                else:
                    taken[flow.peer].append(message.tensors[0].tolist())
        assert sorted(map(len, taken.values())) == [10 + number for number in range(8)]
        assert all(rows == expected(len(rows)) for rows in taken.values())
        assert not flows.running
        for join in joins:
            join()


def test_one_flow_after_the_other_over_one_socket():
    with Socket("PAIR") as left, Socket("PAIR") as right:
        right.connect(left.bind(f"inproc://f{next(COUNTER)}"))
        flows = Flows(right)
        with pytest.raises(TransportTimeoutError, match="did not answer"):
            flows.open("extract", timeout=0.05)
    with Socket("ROUTER") as socket:
        address = socket.bind("tcp://127.0.0.1:*")

        def client():
            with Socket("DEALER") as own:
                own.connect(address)
                for _ in range(3):
                    with Flows(own).open("extract") as flow:
                        flow.put([[1]])

        join, flows = in_thread(client), Flows(socket)
        for _ in range(3):
            with flows.accept() as flow:
                assert len(list(flow)) == 1
        join()
        assert flows.strays == 0


def test_no_more_is_under_way_than_was_granted():
    with Socket("ROUTER") as socket:
        address = socket.bind("tcp://127.0.0.1:*")

        def client():
            with Socket("DEALER") as own:
                own.connect(address)
                flow = Flows(own).open("extract", credit=3)
                for _ in range(3):
                    flow.put([[1]])
                with pytest.raises(TransportTimeoutError, match="no credit"):
                    flow.put([[1]], timeout=0.1)
                flow.abort("enough")

        join = in_thread(client)
        flow = Flows(socket).accept()
        join()
        assert [flow.get().tensors[0].tolist() for _ in range(3)] == [[1]] * 3
        with pytest.raises(FlowAbortedError, match="enough"):
            flow.get()


def test_an_exception_in_a_flow_tells_the_peer_that_it_has_not_all():
    with Socket("ROUTER") as socket:
        address = socket.bind("tcp://127.0.0.1:*")

        def client():
            with Socket("DEALER") as own:
                own.connect(address)
                with Flows(own).open("extract") as flow:
                    flow.put([[1]])
                    raise ZeroDivisionError

        join = in_thread(client)
        with pytest.raises(FlowAbortedError, match="ZeroDivisionError"), Flows(socket).accept() as flow:
            list(flow)
        with pytest.raises(ZeroDivisionError):
            join()


def test_a_taker_that_has_enough_ends_the_flow():
    with Socket("ROUTER") as socket:
        address = socket.bind("tcp://127.0.0.1:*")

        def client():
            with Socket("DEALER") as own:
                own.connect(address)
                with Flows(own).open("inject", credit=2) as flow:
                    return flow.get().tensors[0].tolist()

        join = in_thread(client)
        flow = Flows(socket).accept()
        with pytest.raises(TransportClosedError, match="has ended"):
            put_many(flow)
        assert join() == [0]
        assert flow.state == "ended"


def test_each_end_does_what_it_said():
    with Socket("ROUTER") as socket:
        join = in_thread(give, socket.bind("tcp://127.0.0.1:*"), 1)
        with Flows(socket).accept() as flow:
            with pytest.raises(LocalProtocolError, match="takes"):
                flow.put([[1]])
            list(flow)
        join()


def test_what_was_asked_with_reaches_the_other_end():
    with Socket("ROUTER") as socket:
        address = socket.bind("tcp://127.0.0.1:*")

        def client():
            with Socket("DEALER") as own:
                own.connect(address)
                ask = wire.Message(form="FLOW", label='{"stream":"s1"}', parts=[b"payload"])
                with Flows(own).open("extract", message=ask) as flow:
                    return flow.request.label_object["stream"]

        join = in_thread(client)
        with Flows(socket).accept() as flow:
            assert flow.request.label_object["stream"] == "s1"
            assert bytes(flow.request.parts[0]) == b"payload"
            list(flow)
        assert join() == "s1"


def test_one_flow_more_than_allowed_is_refused_and_the_others_go_on():
    with Socket("ROUTER") as socket:
        address = socket.bind("tcp://127.0.0.1:*")
        flows = Flows(socket, flows=1)

        def client():
            with Socket("DEALER") as own:
                own.connect(address)
                return Flows(own).open("inject", credit=2)

        first = in_thread(take, address)
        flow = flows.accept()
        second = in_thread(client)
        while not flows.strays:
            flow.put([[1]])
        with pytest.raises(TransportClosedError, match="refused this flow"):
            second()
        flow.close()
        assert set(map(tuple, first())) == {(1,)}


def test_only_sockets_of_both_ways_carry_flows():
    with Socket("PUSH") as socket, pytest.raises(TransportError, match="two-way socket"):
        Flows(socket)
    with Socket("ROUTER") as socket, pytest.raises(TransportError, match="use accept"):
        Flows(socket).open("extract")
