"""A thread that looks after sockets while the caller computes: peers are answered, nothing is mixed up."""

import gc
import os
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from tensorwrapper import wire
from tensorwrapper.errors import (
    FlowAbortedError,
    LocalProtocolError,
    RemoteProtocolError,
    TransportClosedError,
    TransportError,
    TransportForkError,
    TransportTimeoutError,
)
from tensorwrapper.transport import Flows, Socket

CLIENT = """
    import sys
    from tensorwrapper.errors import TransportTimeoutError
    from tensorwrapper.transport import Flows, Socket
    with Socket("DEALER") as socket:
        socket.connect(sys.argv[1])
        print("connected", flush=True)
        sys.stdin.readline()
        done = 0
        try:
            for k in range(6):
                with Flows(socket, timeout=1.5).open("extract", credit=4) as flow:
                    for number in range(4):
                        flow.put([[k, number]])
                done += 1
        except TransportTimeoutError:
            pass
        print(done, flush=True)
"""


def compute(process, seconds):
    """Keep the interpreter busy, without a call of ours."""
    total, until = 0, time.monotonic() + seconds
    while time.monotonic() < until and process.poll() is None:
        total += sum(range(100))
    return total


@pytest.mark.slow
@pytest.mark.parametrize("background", [True, False])
def test_peers_are_answered_while_the_caller_computes(background):
    with Socket("ROUTER") as socket:
        process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(CLIENT), socket.bind("tcp://127.0.0.1:*")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        with process, Flows(socket, credit=4, background=background) as flows:
            assert process.stdout.readline() == "connected\n"
            process.stdin.write("\n")
            process.stdin.flush()
            compute(process, 3)
            done = int(process.stdout.readline())
            # Without it even the first flow is not agreed to.
            assert done == (6 if background else 0)
            for k in range(done):
                flow = flows.accept(timeout=0)
                assert [message.tensors[0].tolist() for message in flow] == [[k, n] for n in range(4)]


@pytest.fixture
def server():
    with Socket("ROUTER") as socket:
        address = socket.bind("tcp://127.0.0.1:*")
        with Flows(socket, credit=4, background=True) as flows:
            yield socket, flows, address


def wait_until(condition):
    until = time.monotonic() + 30
    while not condition() and time.monotonic() < until:
        time.sleep(0.002)
    assert condition()


def test_credit_that_is_free_is_granted_and_no_more(server):
    _, flows, address = server
    with Socket("DEALER") as socket:
        socket.connect(address)
        with Flows(socket).open("extract", credit=4) as flow:
            for number in range(4):
                flow.put([[number]])
            with pytest.raises(TransportTimeoutError, match="granted no credit"):
                # What waits in memory is bounded, whoever computes.
                flow.put([[4]], timeout=0.2)
            taken = flows.accept()
            assert taken.get().tensors[0].tolist() == [0]
            # Half of the credit is granted at once; less than that by the thread.
            flow.put([[4]], timeout=10)
            with pytest.raises(TransportTimeoutError):
                flow.put([[5]], timeout=0.1)
            rest = [taken.get().tensors[0].tolist() for _ in range(4)]
            assert rest == [[1], [2], [3], [4]]
        wait_until(lambda: taken.state == "ended")
        assert taken.get() is None


def test_a_giver_learns_that_the_taker_has_had_enough(server):
    _, flows, address = server

    def take():
        with Socket("DEALER") as socket:
            socket.connect(address)
            with Flows(socket).open("inject", credit=2) as flow:
                found.append(flow.get().tensors[0].tolist())

    found = []
    taker = threading.Thread(target=take)
    taker.start()
    flow = flows.accept(timeout=10)
    flow.put([[1]])
    taker.join(30)
    assert found == [[1]]
    wait_until(lambda: flow.state == "ended")
    with pytest.raises(TransportClosedError):
        flow.put([[2]])


def give_flows(address, start):
    with Socket("DEALER", timeout=60) as socket:
        socket.connect(address)
        for k in range(start, start + 5):
            with Flows(socket, timeout=60).open("extract") as flow:
                for number in range(20):
                    flow.put([[k, number]])


def take_flows(flows, found):
    while True:
        try:
            flow = flows.accept(timeout=2)
        except TransportTimeoutError:
            return
        got = []
        for message in flow:
            got.append(message.tensors[0].tolist())
            if len(got) % 7 == 0:
                time.sleep(0.015)
        found.append(got)


@pytest.mark.slow
def test_many_callers_and_peers_at_once(server):
    """Threads take flows of peers that begin and end them, with pauses of any length: each message once."""
    _, flows, address = server
    found = []
    threads = [threading.Thread(target=give_flows, args=[address, 100 * k]) for k in range(4)]
    threads += [threading.Thread(target=take_flows, args=[flows, found]) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(100)
    assert sorted(got[0][0] for got in found) == [100 * k + n for k in range(4) for n in range(5)]
    for got in found:
        assert got == [[got[0][0], number] for number in range(20)]


def test_who_breaks_the_rules_is_told_of_when_the_caller_comes(server):
    _, flows, address = server
    with Socket("DEALER") as socket:
        socket.connect(address)
        flow = Flows(socket).open("extract", credit=4)
        taken = flows.accept()
        socket.send(wire.encode([[1]], form="FLOW", seqno=77, label={"flow": "DAT"}))
        wait_until(lambda: taken.state == "failed")
        with pytest.raises(RemoteProtocolError, match="is missing"):
            taken.get()
        flow.abort()


def test_a_flow_that_is_given_up(server):
    _, flows, address = server
    with Socket("DEALER") as socket:
        socket.connect(address)
        flow = Flows(socket).open("extract", credit=4)
        flow.put([[1]])
        flow.abort("no more")
        taken = flows.accept()
        with pytest.raises(FlowAbortedError, match="no more"):
            list(taken)


def test_the_credit_is_that_of_all(server):
    _, flows, _ = server
    with pytest.raises(LocalProtocolError, match="accepted in the background"):
        flows.accept(credit=2)


def drivers():
    return [thread for thread in threading.enumerate() if thread.name == "tensorwrapper-driver"]


def test_it_ends_with_the_flows_or_the_socket():
    before = len(drivers())
    with Socket("ROUTER") as socket:
        socket.bind("tcp://127.0.0.1:*")
        flows = Flows(socket, background=True)
        assert len(drivers()) == before + 1
        flows.close()
        flows.close()
        assert len(drivers()) == before
        # Now it is the caller's again.
        assert not socket.poll(0)
        flows = Flows(socket, background=True)
        time.sleep(0.05)
    assert len(drivers()) == before
    with pytest.raises(TransportClosedError):
        flows.accept()
    flows.close()


def test_flows_that_are_forgotten_keep_no_thread():
    before = len(drivers())
    with Socket("ROUTER") as socket:
        socket.bind("tcp://127.0.0.1:*")
        Flows(socket, background=True)
        gc.collect()
    wait_until(lambda: len(drivers()) == before)


def test_what_strikes_the_thread_reaches_the_caller(monkeypatch):
    with Socket("ROUTER") as socket, Flows(socket, background=True) as flows:
        before = len(drivers())

        def fail(*_):
            raise TransportError("it struck")

        with monkeypatch.context() as patch:
            patch.setattr(type(socket), "poll", fail)
            with flows._driver:
                pass
            wait_until(lambda: len(drivers()) < before)
        with pytest.raises(TransportError, match="it struck"):
            flows.accept(timeout=0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_child_of_fork_is_refused(server):
    _, flows, _ = server
    child = os.fork()
    if not child:
        try:
            flows.accept(timeout=1)
        except TransportForkError:
            os._exit(0)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


LEFT = """
    from tensorwrapper.transport import Flows, Socket
    socket = Socket("ROUTER")
    socket.bind("tcp://127.0.0.1:*")
    flows = Flows(socket, background=True)
    END
    print("done")
"""


@pytest.mark.slow
@pytest.mark.parametrize("end", ["", "import time; time.sleep(0.1)", "socket.close()", "flows.close()"])
def test_a_process_ends_while_it_runs(end):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(LEFT).replace("END", end)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
