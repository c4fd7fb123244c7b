"""No memory, no descriptors, signals: what arrives is whole, and the sockets go on or say why not."""

import json
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="limits are Linux's"),
]
COMMON = """
    import json, os, resource, signal, sys
    import numpy as np
    from tensorwrapper import wire
    from tensorwrapper.errors import TensorWrapperError, TransportError
    from tensorwrapper.errors import TransportTimeoutError, TransportTornError
    from tensorwrapper.transport import Socket

    road = "ipc://" + sys.argv[1] + "/road"
    NONE = resource.RLIM_INFINITY

    def limit(more):
        pages = int(open("/proc/self/statm").read().split()[0])
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + more, NONE))

    def in_child(work, *arguments):
        child = os.fork()
        if not child:
            # As a process ends that has messages to deliver: `os._exit` would lose them.
            sys.exit(work(*arguments))
        return child

    def ended(child):
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
"""


def run(code, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(COMMON) + textwrap.dedent(code), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_faults_a_sender_without_memory_sends_whole_messages_or_none(tmp_path):
    said = run(
        """
        table = np.asfortranarray(np.arange(300_000.0).reshape(500, 600))
        # libzmq aborts the process where it has no memory for a frame of its own; glibc exits with 127 where
        # it has none for the thread-local data of a library.
        ENDED = -signal.SIGABRT, 127

        def small(socket, seqno):
            try:
                socket.send(wire.encode([], seqno=seqno), timeout=60)
            except TransportTornError:
                # It says so, and another socket does the work.
                with Socket("PUSH", timeout=60) as again:
                    again.connect(road)
                    again.send(wire.encode([], seqno=seqno))

        def send(more, keep):
            with Socket("PUSH", timeout=60, linger=60) as socket:
                socket.connect(road)
                small(socket, 0)
                hog, kept, code = None, [bytes(450) for _ in range(keep)], 0
                limit(more)
                try:
                    while keep:
                        hog = (hog, bytearray(400))
                except MemoryError:
                    pass
                kept = None
                try:
                    for k in range(1, 4):
                        socket.send(wire.encode([table, np.arange(k)], seqno=k))
                except MemoryError:
                    code = 3
                except TensorWrapperError:
                    code = 4
                resource.setrlimit(resource.RLIMIT_AS, (NONE, NONE))
                while hog:
                    hog = hog[0]
                small(socket, 9)
            return code

        ends = []
        for more, keep in [(0, 0), (2_600_000, 0), (5_000_000, 0), (80_000_000, 0), (0, 100), (0, 10_000)]:
            child = in_child(send, more, keep)
            with Socket("PULL", timeout=1) as sink:
                sink.bind(road)
                seen, code, late = [], None, 0
                while not seen or seen[-1] != 9:
                    try:
                        message = sink.receive()
                    except TransportTimeoutError:
                        if code is None:
                            gone, status = os.waitpid(child, os.WNOHANG)
                            code = os.waitstatus_to_exitcode(status) if gone else None
                        if code in ENDED:
                            break
                        late += 1
                        assert late < 100, (code, seen)
                        continue
                    seen.append(message.seqno)
                    sizes = [tensor.size for tensor in message.tensors]
                    assert sizes == ([300_000, message.seqno] if message.seqno in (1, 2, 3) else []), sizes
            code = ended(child) if code is None else code
            assert seen == [*range(len(seen))] if code in ENDED else [0, *range(1, len(seen) - 1), 9], seen
            assert code or len(seen) == 5, (code, seen)
            ends.append(code)
        print(json.dumps(ends))
        """,
        tmp_path,
    )
    assert set(said) <= {0, 3, 4, -signal.SIGABRT, 127}
    assert {0, 3} <= set(said), said


def test_faults_a_socket_without_memory_is_refused_and_never_ends_the_process(tmp_path):
    said = run(
        """
        def begin(more):
            limit(more)
            code = 0
            try:
                with Socket("PULL", timeout=5) as sink, Socket("PUSH", timeout=5) as source:
                    sink.bind(road)
                    source.connect(road)
                    source.send(wire.encode([], seqno=1))
                    code = 0 if sink.receive().seqno == 1 else 2
            except MemoryError:
                code = 3
            except TransportError as error:
                code = 4
            resource.setrlimit(resource.RLIMIT_AS, (NONE, NONE))
            return code

        megabytes = (0, 1, 4, 10, 20, 40, 60, 70, 90, 120, 200, 400)
        print(json.dumps([ended(in_child(begin, more * 2**20)) for more in megabytes]))
        """,
        tmp_path,
    )
    assert set(said) <= {0, 3, 4}, said
    assert (said[0], said[-1]) == (4, 0), said


def test_faults_a_receiver_without_memory_for_a_frame_goes_on(tmp_path):
    # ZeroMQ drops the connection that brings such a frame; it comes back, and with it what is sent later.
    assert (
        run(
            """
        def receive():
            with Socket("PULL", timeout=1) as socket:
                socket.bind(road)
                assert socket.receive(timeout=60).seqno == 0
                limit(100_000_000)
                open(sys.argv[1] + "/limited", "w").close()
                try:
                    socket.receive()
                except (TransportTimeoutError, MemoryError):
                    pass
                else:
                    return 2
                resource.setrlimit(resource.RLIMIT_AS, (NONE, NONE))
                open(sys.argv[1] + "/free", "w").close()
                # The large one may have waited for the connection to come back.
                while socket.receive(timeout=60).seqno != 7:
                    pass
            return 0

        child = in_child(receive)
        with Socket("PUSH", timeout=60) as source:
            source.connect(road)
            source.send(wire.encode([], seqno=0))
            for name in ("/limited", "/free"):
                while not os.path.exists(sys.argv[1] + name):
                    assert os.waitpid(child, os.WNOHANG) == (0, 0)
                    signal.sigtimedwait([], 0.02)
                if name == "/limited":
                    source.send(wire.encode([np.zeros(2**25)], seqno=1))
            source.send(wire.encode([], seqno=7))
            code = ended(child)
        print(json.dumps(code))
        """,
            tmp_path,
        )
        == 0
    )


def test_faults_a_listener_without_descriptors_takes_peers_when_it_has_some_again(tmp_path):
    assert (
        run(
            """
        ready, go = os.pipe()

        def send():
            road = os.read(ready, 100).decode()
            with Socket("PUSH", timeout=60) as other:
                other.connect(road)
                other.send(wire.encode([np.arange(3)], seqno=5))
            return 0

        child = in_child(send)
        with Socket("PULL", timeout=60) as sink, Socket("PUSH", timeout=60) as source:
            # Over ipc ZeroMQ ends a process that has no descriptor for a new peer.
            road = sink.bind("tcp://127.0.0.1:*")
            source.connect(road)
            source.send(wire.encode([], seqno=1))
            assert sink.receive().seqno == 1
            held = os.listdir("/proc/self/fd")
            soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(map(int, held)) + 1, hard))
            taken = []
            try:
                while True:
                    taken.append(os.open(os.devnull, os.O_RDONLY))
            except OSError:
                pass

            os.write(go, road.encode())
            # Who is connected goes on.
            for k in range(20):
                source.send(wire.encode([np.arange(1000)], seqno=k))
                assert sink.receive().seqno == k
            refused = None
            try:
                Socket("PULL")
            except TransportError as error:
                refused = error.errno
            for file in taken:
                os.close(file)
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            assert sink.receive().tensors[0].tolist() == [0, 1, 2]
            assert ended(child) == 0
        print(json.dumps(refused))
        """,
            tmp_path,
        )
        == 24
    )


def test_faults_signals_that_are_handled_while_sockets_wait_change_nothing(tmp_path):
    rung, timeouts = run(
        """
        rung, timeouts = [], 0
        signal.signal(signal.SIGALRM, lambda number, frame: rung.append(number))
        with Socket("PULL", timeout=60) as sink, Socket("PUSH", timeout=60) as source:
            signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
            sink.bind(road)
            source.connect(road)
            for k in range(60):
                source.send(wire.encode([np.arange(20_000), np.arange(k)], seqno=k))
                message = sink.receive()
                first, second = message.tensors
                assert (message.seqno, first[-1].item(), second.size) == (k, 19_999, k)
            for _ in range(3):
                try:
                    sink.receive(timeout=0.02)
                except TransportTimeoutError:
                    timeouts += 1
            signal.setitimer(signal.ITIMER_REAL, 0)
        print(json.dumps([len(rung), timeouts]))
        """,
        tmp_path,
    )
    assert rung > 20
    assert timeouts == 3
