"""The thread of a server: every message has an answer or is dropped, and nobody waits for another."""

import contextlib
import random
import sys
import threading
import time

import numpy as np
import pytest
import zmq

import tensorwrapper as tw
from tensorwrapper import wire
from tensorwrapper.errors import (
    ComputationCancelledError,
    RequestRefusedError,
    TransportError,
    TransportTimeoutError,
)
from tensorwrapper.remote import ServeLimits
from tensorwrapper.remote.protocol import _events as ev
from tensorwrapper.remote.protocol._answers import receive_answer
from tensorwrapper.remote.protocol._requests import send_request
from tensorwrapper.remote.server import _event_loop
from tensorwrapper.remote.server._catalogue import Catalogue
from tensorwrapper.selection import Outer, Runs
from tensorwrapper.transport import Socket
from tests.support.long_runs import IS_LONG
from tests.support.strangers.raw_peers import RawPeer

HOSTILE = 10_000 if IS_LONG else 600
X = np.arange(100_000.0).reshape(100, 1000)


class Slow:
    """A source of four ones that stands still until it is released."""

    shape, dtype, version = tw.Shape(4), np.dtype("f8"), ""

    def __init__(self):
        self.begun, self.release = threading.Event(), threading.Event()

    def read(self, _selections, out):
        self.begun.set()
        self.release.wait(20)
        for own in out:
            own[...] = 1
        self.count = len(out)
        return self

    def completed(self):
        return iter(range(self.count))

    def cancel(self):
        pass

    def cost(self, selection):
        return selection.size * 8


@pytest.fixture
def server():
    with tw.serve({"x": X, "rows": tw.jagged([[1, 2], [3]])}) as found:
        yield found


def mutated(rng, frames):
    frames = [bytearray(frame) for frame in frames]
    for _ in range(rng.randint(1, 4)):
        match rng.randrange(5):
            case 0 if frames[0]:
                frames[0][rng.randrange(len(frames[0]))] = rng.randrange(256)
            case 1:
                frames.append(bytearray(rng.randbytes(rng.randrange(40))))
            case 2 if len(frames) > 2:
                del frames[rng.randrange(len(frames))]
            case 3:
                digits = str(rng.choice([0, -1, 2**31, 2**63 - 1, 2**64, 10**30])).encode()
                frames[0] = bytearray(bytes(frames[0]).replace(b"1", digits, rng.randint(1, 3)))
            case _ if frames[-1]:
                frames[-1][rng.randrange(len(frames[-1]))] ^= 1 << rng.randrange(8)
    return frames if len(frames) > 1 else [b"", b""]


def test_hostile_requests_are_answered_or_dropped_and_others_served(server):
    rng = random.Random(7)
    seeds = [
        send_request(1, ev.AskRead("x", "", None, (Outer([range(1, 9), [1, 4, 9]]), Runs([1, 5, 11])))),
        send_request(1, ev.AskRows("rows", "1", Runs([0, 1]))),
        send_request(1, ev.Hello("1" * 32, 1, 1)),
        send_request(1, ev.AskFacts(("x", "rows"))),
        wire.Message(form="JSON", label='{"tw":' + "[" * 9000, origin=1).to_frames(),
        wire.Message(form="JSON", label='{"tw":{"read":1111111}}', origin=1).to_frames(),
        [b"garbage", b"1" * 24],
        [b"\xff" * 100, b"1" * 11],
    ]
    with Socket("DEALER") as socket:
        socket.connect(server.address)
        deadline = time.monotonic() + 20 + HOSTILE / 100
        for number in range(1, HOSTILE + 1):
            socket.send(mutated(rng, rng.choice(seeds)))
            # Who takes no answers is not answered: this one takes them.
            while number % 50 == 0 or number == HOSTILE:
                while socket.poll(0):
                    receive_answer(socket.receive_frames()[1])
                stats = server.stats()
                if stats["answers"] + stats["refusals"] + stats["dropped"] >= number:
                    break
                assert time.monotonic() < deadline
                socket.poll(0.01)
        assert stats["refusals"] > HOSTILE / 2
    with tw.connect(server.address) as remote:
        assert np.array_equal(remote["x"][3:5].compute(), X[3:5])


def test_a_client_that_takes_no_answers_holds_up_nobody(server):
    with Socket("DEALER", linger=0) as slow, tw.connect(server.address) as remote:
        slow.connect(server.address)
        for number in range(60):
            slow.send(send_request(number, ev.AskRead("x", "", None, (Runs(0, 100_000),))))
        for _ in range(20):
            assert np.array_equal(remote["x"][7].compute(), X[7])


def test_clients_that_went_away_make_room_for_others():
    with tw.serve({"x": X}, limits=ServeLimits(clients=2)) as server:
        for number in range(8):
            with tw.connect(server.address) as remote:
                assert remote["x"][number][0].compute().item() == X[number, 0]
        assert server.stats()["clients"] <= 2
        assert server.stats()["dropped"] == 0


def test_refusals_that_nobody_takes_fill_no_memory():
    with tw.serve({"x": X}, limits=ServeLimits(in_flight=4)) as server:
        with zmq.Context() as context, context.socket(zmq.DEALER) as socket:
            # It has room for hardly anything: what the server holds back is its own.
            socket.linger, socket.rcvhwm, socket.rcvbuf = 0, 1, 4096
            socket.connect(server.address)
            request = [b"", *map(bytes, send_request(1, ev.AskRead("none", "", None, (Runs(0, 10),))))]
            for _ in range(10_000):
                socket.send_multipart(request)
            deadline = time.monotonic() + 30
            while server.stats()["dropped"] == 0 and time.monotonic() < deadline:
                time.sleep(0.01)
            assert server.stats()["dropped"] > 0
            kept = max(len(client.out) for client in list(server._loop._clients.values()))
            assert kept <= 2 * 4 + 2
        with tw.connect(server.address) as remote:
            assert remote["x"][3, 1].compute().item() == X[3, 1]


def test_a_number_that_is_in_use_is_refused_and_too_many_are_busy():
    slow = Slow()
    limits = ServeLimits(in_flight=3)
    with tw.serve({"slow": slow}, limits=limits) as server, Socket("DEALER") as socket:
        socket.connect(server.address)
        for number in (1, 1, 2, 3, 4):
            socket.send(send_request(number, ev.AskRead("slow", "", None, (Outer([range(4)]),))))
        found = [receive_answer(socket.receive_frames()[1]) for _ in range(2)]
        assert [(number, own.reason) for number, own in found] == [(1, "replayed"), (4, "busy")]
        slow.release.set()
        assert sorted(receive_answer(socket.receive_frames()[1])[0] for _ in range(3)) == [1, 2, 3]


def test_refusals_are_logged_with_fields(server, caplog):
    caplog.set_level("DEBUG", logger="tensorwrapper.remote")
    with tw.connect(server.address) as remote:
        assert "nobody" not in remote
    (record,) = [own for own in caplog.records if own.getMessage().startswith("refused")]
    assert (record.verb, record.reason, record.key) == ("AskFacts", "missing", "")
    assert len(record.client) >= 8


def test_requests_that_come_together_are_answered_together(monkeypatch):
    # A server that forgot one until something else came would take so long for it.
    monkeypatch.setattr(_event_loop, "_IDLE", 60)
    with tw.serve({"x": X}) as server, Socket("DEALER", timeout=20) as socket:
        socket.connect(server.address)
        for number in range(8):
            socket.send(send_request(number, ev.AskRead("x", "", None, (Runs(0, 4000),))))
        found = [receive_answer(socket.receive_frames()[1])[0] for _ in range(8)]
        assert found == list(range(8))


def test_an_address_that_is_taken_is_refused(server):
    with pytest.raises(TransportError):
        tw.serve({"x": X}, server.address)


def test_a_server_that_ends_answers_what_it_has_taken(server):
    with tw.connect(server.address, timeout=1.0) as remote:
        view = remote["x"][5]
        server.close()
        server.close()
        assert server.closed
        with pytest.raises((TransportTimeoutError, RequestRefusedError)):
            view.compute()


def test_what_came_meanwhile_is_taken_in_one_turn(monkeypatch):
    """With a turn for each message, a hundred clients that ask for much held up all others."""
    begun, turns, answer, dispatch = threading.Event(), [], Catalogue.answer, _event_loop.Loop._dispatch

    def slow(self, request, key, *more):
        assert begun.wait(20)
        return answer(self, request, key, *more)

    def turn(self):
        turns.append(self)
        dispatch(self)

    monkeypatch.setattr(Catalogue, "answer", slow)
    monkeypatch.setattr(_event_loop.Loop, "_dispatch", turn)
    with tw.serve({"x": X}) as server, contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(Socket("DEALER", linger=0)) for _ in range(60)]
        for own in sockets:
            own.connect(server.address)
            own.send(send_request(7, ev.Ping()))
        begun.set()
        for own in sockets:
            assert receive_answer(own.receive_frames(timeout=20)[1])[0] == 7
        assert len(turns) < 40


def test_a_server_that_ends_says_how_it_is(monkeypatch):
    going, answer = threading.Event(), Catalogue.answer

    def slow(self, request, key, *more):
        assert going.wait(20)
        return answer(self, request, key, *more)

    monkeypatch.setattr(Catalogue, "answer", slow)
    monkeypatch.setattr(Catalogue, "is_quick", lambda *_: False)
    # The server ends when its last client is gone, at any load.
    monkeypatch.setattr(_event_loop, "_LAST", 60)
    with tw.serve({"x": X}) as server, Socket("DEALER", timeout=20) as socket:
        socket.connect(server.address)
        read = ev.AskRead("x", "", None, (Runs(0, 1),))
        socket.send(send_request(1, read))
        while server.stats()["requests"] == 0:
            time.sleep(0.001)
        closing = threading.Thread(target=server.close, args=[60])
        closing.start()
        draining = number = 0
        while not draining:
            number += 2
            socket.send(send_request(number, ev.AskHealth()))
            draining = dict(receive_answer(socket.receive_frames()[1])[1].counts)["draining"]
        socket.send(send_request(3, read))
        number, refused = receive_answer(socket.receive_frames()[1])
        assert (number, refused.reason) == (3, "draining")
        going.set()
        assert receive_answer(socket.receive_frames()[1])[0] == 1
        socket.close()
        closing.join(30)
        assert not closing.is_alive()


def test_a_client_that_asks_too_often_is_told_so():
    limits = ServeLimits(requests_per_second=5)
    with tw.serve({"x": X}, limits=limits) as server, Socket("DEALER") as socket:
        socket.connect(server.address)
        for number in range(20):
            socket.send(send_request(number, ev.Ping()))
        found = [receive_answer(socket.receive_frames()[1])[1] for _ in range(20)]
    assert 5 <= sum(isinstance(own, ev.Pong) for own in found) < 20
    assert {own.reason for own in found if isinstance(own, ev.Refused)} == {"busy"}


def test_answers_that_nobody_takes_stay_within_the_memory_of_a_server():
    limits = ServeLimits(client_bytes=2**22, server_bytes=2**23)
    with tw.serve({"x": np.zeros(2**18)}, limits=limits) as server, zmq.Context() as context:
        sockets = [context.socket(zmq.DEALER) for _ in range(6)]
        try:
            for own in sockets:
                own.linger, own.rcvhwm, own.rcvbuf = 0, 1, 4096
                own.connect(server.address)
                for number in range(16):
                    asked = ev.AskRead("x", "", None, (Runs(0, 2**18),))
                    own.send_multipart([b"", *map(bytes, send_request(number, asked))])
            deadline = time.monotonic() + 20
            while server.stats()["requests"] < 6 * 16 and time.monotonic() < deadline:
                time.sleep(0.01)
            assert 0 < server.stats()["bytes_held"] <= 2**23
            assert max(own.held for own in list(server._loop._clients.values())) <= 2**22
            with tw.connect(server.address) as remote:
                assert remote["x"][5].compute().item() == 0
        finally:
            for own in sockets:
                own.close(0)


def test_a_server_stops_working_at_what_is_cancelled():
    stopped, cancel = threading.Event(), threading.Event()

    class Endless:
        shape, dtype, version = tw.Shape(4), np.dtype("f8"), ""

        def read(self, _selections, _out):
            cancel.set()
            return self

        def completed(self):
            while True:
                time.sleep(0.001)
                yield None

        def cancel(self):
            stopped.set()

        def cost(self, selection):
            return selection.size * 8

    with tw.serve({"x": Endless(), "y": X}) as server, tw.connect(server.address) as remote:
        with pytest.raises(ComputationCancelledError):
            remote["x"].compute(cancel=cancel)
        assert stopped.wait(60)
        assert remote["y"][0, 0].compute().item() == X[0, 0]


def test_what_is_worked_at_when_the_time_is_up_is_told_to_stop(monkeypatch):
    """`close` waited for it, however long it took."""
    begun, told = threading.Event(), []

    def slow(_self, _request, _key, _number, stop, _peer):
        begun.set()
        told.append(stop.wait(60))
        return ev.Refused("internal", "")

    monkeypatch.setattr(Catalogue, "is_quick", lambda *_: False)
    monkeypatch.setattr(Catalogue, "answer", slow)
    with tw.serve({"x": X}) as server, Socket("DEALER", linger=0) as socket:
        socket.connect(server.address)
        socket.send(send_request(1, ev.AskRead("x", "", None, (Runs(0, 10),))))
        assert begun.wait(20)
        server.close(0.1)
        assert told == [True]


@contextlib.contextmanager
def held_up(tensors):
    """Give a loop whose thread stands still as soon as somebody asks for `gate`, and what lets it go on."""
    limits, release, reached = ServeLimits(), threading.Event(), threading.Event()
    catalogue = Catalogue(None, limits)

    def version():
        reached.set()
        release.wait(20)
        return "1"

    for name, tensor in tensors.items():
        catalogue.put(name, tensor)
    release.set()
    catalogue.put("gate", np.arange(3.0), version)
    release.clear()
    reached.clear()
    loop = _event_loop.Loop(catalogue, "tcp://127.0.0.1:*", None, 1)
    with Socket("DEALER", linger=0) as socket:
        socket.connect(loop.address)
        socket.send(send_request(1, ev.AskRead("gate", "1", None, (Runs(0, 3),))))
        assert reached.wait(20)
        try:
            yield loop, socket, release
        finally:
            release.set()
            loop.stop(5)


@pytest.mark.skipif(sys.platform != "linux", reason="others do not tell who went away")
def test_nothing_is_made_for_who_went_away_before_his_requests_were_taken():
    """A hundred clients that came and went every second had thousands of answers made, and held up all."""
    asked = ev.AskRead("x", "", None, (Runs(0, 100_000),))
    with held_up({"x": X}) as (loop, socket, release):
        for _ in range(3):
            with RawPeer(loop.address) as peer:
                for number in range(9):
                    peer.send(send_request(number, asked))
        release.set()
        assert receive_answer(socket.receive_frames()[1])[0] == 1
        deadline = time.monotonic() + 20
        while loop.stats()["dropped"] < 9 and time.monotonic() < deadline:
            pass
        assert loop.stats()["dropped"] >= 9
        assert loop.stats()["requests"] == loop.stats()["clients"] == 1


def test_of_two_peers_with_one_connection_the_later_has_it(server):
    """What a peer has sent is read after it went away, when another has the number of its descriptor."""
    loop = server._loop
    with RawPeer(server.address) as peer, tw.connect(server.address) as remote:
        peer.send(send_request(1, ev.Ping()))
        assert peer.socket.recv(4096)
        while len(loop._clients) < 2:
            remote.health()
        ours = min(loop._clients)
        place = loop._clients[ours].line.place
        assert loop._peers_of_lines[place] == ours
        assert {own.line.place for own in loop._clients.values()} == set(loop._peers_of_lines)


@pytest.mark.skipif(sys.platform != "linux", reason="others do not tell who went away")
def test_who_goes_away_while_his_requests_wait_is_forgotten_with_them():
    slow = Slow()
    with tw.serve({"slow": slow}) as server:
        with RawPeer(server.address) as peer:
            for number in range(9):
                peer.send(send_request(number, ev.AskRead("slow", "", None, (Outer([range(4)]),))))
            assert slow.begun.wait(20)
        with tw.connect(server.address) as remote:
            deadline = time.monotonic() + 20
            while server.stats()["clients_dropped"] == 0 and time.monotonic() < deadline:
                remote.health()
            assert remote.health()["waiting"] == 0
            slow.release.set()
            while remote.health()["running"]:
                pass
        assert server.stats()["bytes_held"] == 0


def test_a_request_that_takes_long_to_read_is_answered_as_any_other(server):
    """Another thread reads it, and nobody waits for that."""
    many = tuple(Runs(200 * k, 1 + k % 7) for k in range(400))
    expected = np.concatenate([X.reshape(-1)[200 * k : 200 * k + 1 + k % 7] for k in range(400)])
    with Socket("DEALER") as socket:
        socket.connect(server.address)
        socket.send(send_request(1, ev.AskRead("x", "", None, many)))
        socket.send(send_request(2, ev.AskRead("x" * 2000, "", None, many)))
        socket.send(send_request(3, ev.AskRead("x", "", None, (*many, Runs(10**9, 5)))))
        socket.send(send_request(4, ev.AskRead("x", "", None, (Runs(0, 2),))))
        found = dict(receive_answer(socket.receive_frames()[1]) for _ in range(4))
    assert np.array_equal(np.frombuffer(found[1].frames[0]), expected)
    assert (found[2].reason, found[3].reason) == ("limit", "bounds")
    assert np.frombuffer(found[4].frames[0]).tolist() == [0, 1]


def test_a_request_that_takes_long_to_read_is_cancelled_and_replayed_as_any_other():
    slow = Slow()
    many = tuple(Runs(0, 1) for _ in range(400))
    asked = ev.AskRead("slow", "", None, (Outer([range(4)]),))
    with tw.serve({"slow": slow, "x": X}) as server, Socket("DEALER") as socket:
        socket.connect(server.address)
        for number in (1, 2):
            socket.send(send_request(number, asked))
        assert slow.begun.wait(20)
        for number in (3, 3, 4):
            socket.send(send_request(number, ev.AskRead("x", "", None, many)))
        socket.send(send_request(5, ev.Cancel(3)))
        assert receive_answer(socket.receive_frames()[1]) == (
            3,
            ev.Refused("replayed", "the request 3 is not answered yet"),
        )
        slow.release.set()
        numbers = sorted(receive_answer(socket.receive_frames()[1])[0] for _ in range(3))
        assert numbers == [1, 2, 4]
        socket.send(send_request(6, ev.AskHealth()))
        assert receive_answer(socket.receive_frames()[1])[0] == 6
        assert server._loop._budget.waiting == 0


def test_what_newcomers_ask_for_is_read_when_its_turn_comes_and_answered_as_any_other(monkeypatch):
    """Thousands of requests whose clients vanish cost more to read than all else."""
    read = list[int]()
    given = _event_loop.RequestReader.read
    monkeypatch.setattr(
        _event_loop.RequestReader, "read", lambda self, frames: read.append(1) or given(self, frames)
    )
    monkeypatch.setattr(_event_loop.FairQueue, "waits", lambda _self, client, _now: bool(client.asked))
    slow = Slow()
    with tw.serve({"slow": slow, "x": X}, threads=1) as server, Socket("DEALER") as socket:
        socket.connect(server.address)
        for number in (0, 1, 2):
            socket.send(send_request(number, ev.AskRead("slow", "", None, (Outer([range(4)]),))))
        assert slow.begun.wait(20)
        for number in range(3, 40):
            socket.send(send_request(number, ev.AskRead("x", "", None, (Runs(number, 2),))))
        socket.send(send_request(40, ev.AskRead("x", "", None, (Runs(10**9, 2),))))
        odd = b'ZIO0JSON{"tw":{"read":{"name":"x","version":"","select":"everything"}}}'
        socket.send([odd, send_request(41, ev.Ping())[1]])
        socket.send(send_request(42, ev.Cancel(8)))
        # The cancel comes first: once the refusal is here, it has been read.
        socket.send(send_request(7, ev.AskRead("x", "", None, (Runs(0, 2),))))
        assert receive_answer(socket.receive_frames()[1]) == (
            7,
            ev.Refused("replayed", "the request 7 is not answered yet"),
        )
        assert server.stats()["in_flight"] == 41
        # Two of the slow ones are worked at, and the third waits; so do all others, but the cancel.
        assert len(read) <= 4
        slow.release.set()
        found = dict(receive_answer(socket.receive_frames()[1]) for _ in range(41))
        assert sorted(found) == [*range(8), *range(9, 42)]
        for number in (3, 7, 39):
            assert np.frombuffer(found[number].frames[0]).tolist() == [number, number + 1]
        assert (found[40].reason, found[41].reason) == ("bounds", "schema")
        assert server._loop._budget.waiting == 0
        assert server.stats()["bytes_held"] == 0


def test_long_requests_leave_a_thread_to_others():
    slow = [Slow() for _ in range(3)]
    served = {"x": X, **{f"slow{k}": own for k, own in enumerate(slow)}}
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(tw.serve(served, threads=1))
        clients = [stack.enter_context(tw.connect(server.address)) for _ in range(4)]
        found = []
        threads = [
            threading.Thread(target=lambda k=k: found.append(clients[k][f"slow{k}"].compute().tolist()))
            for k in range(3)
        ]
        try:
            for thread, own in zip(threads, slow, strict=True):
                thread.start()
                assert own.begun.wait(20)
            assert clients[3]["x"].compute().tolist() == X.tolist()
            assert found == []
        finally:
            for own in slow:
                own.release.set()
            for thread in threads:
                thread.join(20)
        assert found == [[1.0] * 4] * 3


class Meeting(Slow):
    """A source whose reads end when two of them have begun."""

    def __init__(self):
        super().__init__()
        self.both = threading.Barrier(2)

    def read(self, selections, out):
        self.both.wait(20)
        self.release.set()
        return super().read(selections, out)


def test_several_clients_read_one_tensor_at_once():
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(tw.serve({"m": Meeting()}, threads=2))
        clients = [stack.enter_context(tw.connect(server.address)) for _ in range(2)]
        found = []
        threads = [
            threading.Thread(target=lambda own=own: found.append(own["m"].compute().tolist()))
            for own in clients
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(40)
        assert found == [[1.0] * 4] * 2


def test_one_client_does_not_take_the_places_of_others():
    """Long requests of one client are as many as there are threads, whatever it asks."""
    slow = [Slow() for _ in range(12)]
    served = {"x": X, **{f"slow{k}": own for k, own in enumerate(slow)}}
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(tw.serve(served, threads=1))
        greedy, honest = [stack.enter_context(tw.connect(server.address)) for _ in range(2)]
        sources = [greedy[f"slow{k}"] for k in range(len(slow))]
        threads = [threading.Thread(target=own.compute) for own in sources]
        try:
            for thread in threads:
                thread.start()
            # Whichever of them came first.
            assert any(own.begun.wait(0.05) for _ in range(100) for own in slow)
            assert honest["x"].compute().tolist() == X.tolist()
            assert sum(own.begun.is_set() for own in slow) < len(slow)
        finally:
            for own in slow:
                own.release.set()
            for thread in threads:
                thread.join(20)
