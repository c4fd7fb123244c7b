"""Serving: who is let in, versions under readers, and the end."""

import contextlib
import threading
import time

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import (
    ConversionError,
    DTypeError,
    ExtentError,
    LeakedResourceWarning,
    TensorNameError,
    TransportClosedError,
    TransportError,
    VersionChangedError,
)
from tensorwrapper.remote import Catalogue, Sharding, connect_shards
from tensorwrapper.remote.client._pushdown import PushedSource
from tensorwrapper.transport import CurveClient, CurveServer, KeyPair


def test_who_is_listed_sees_what_is_his_and_nobody_else_anything():
    ours, alice, bob, eve = (KeyPair.make() for _ in range(4))
    security = CurveServer(ours, allow=[alice.public, bob.public])
    allow = {"open*": [alice.public, bob.public], "secret": [alice.public]}
    with tw.serve({"open1": [1, 2], "secret": [3]}, security=security, allow=allow) as server:
        with tw.connect(server.address, security=CurveClient(alice, ours.public)) as remote:
            assert list(remote) == ["open1", "secret"]
            view = remote["secret"].view()
            planned, before = view.plan().bytes_on_wire, remote.counters
            assert view.tolist() == [3]
            after = remote.counters
            moved = after.bytes_sent_on_wire + after.bytes_received_on_wire
            assert planned == moved - before.bytes_sent_on_wire - before.bytes_received_on_wire
            received = after.bytes_received_on_wire
        with tw.connect(server.address, security=CurveClient(bob, ours.public)) as remote:
            assert list(remote) == ["open1"]
            with pytest.raises(TensorNameError):
                remote["secret"]
            received += remote.counters.bytes_received_on_wire
        # An answer may arrive before the server has counted it.
        while (sent := server.stats()["bytes_sent"]) < received:
            time.sleep(0.01)
        for wrong in (CurveClient(eve, ours.public), CurveClient(alice, eve.public), None):
            with pytest.raises(TransportError):
                tw.connect(server.address, security=wrong)
        assert server.stats()["bytes_sent"] == sent


def test_arguments_that_make_no_sense_are_refused():
    with pytest.raises(ConversionError, match="requires security"):
        tw.serve({"x": [1]}, allow={"*": []})
    with pytest.raises(ExtentError):
        tw.serve({"x": [1]}, threads=0)
    with pytest.raises(DTypeError):
        tw.serve({"x": object()})
    with pytest.raises(TransportError):
        tw.serve({"x": [1]}, "tcp://nowhere")


def test_a_server_that_is_closed_says_so():
    server = tw.serve({"x": [1]})
    assert "tcp://" in repr(server)
    server.close()
    assert "closed" in repr(server)
    for use in (lambda: server.address, server.stats, lambda: server.replace("x", [1])):
        with pytest.raises(TransportClosedError):
            use()


def test_a_server_that_is_dropped_warns():
    server = tw.serve({"x": [1]})
    with pytest.warns(LeakedResourceWarning):
        del server


def test_versions_that_change_under_readers_are_never_mixed():
    n = 400_000
    with tw.serve({"x": np.zeros(n)}) as server, tw.connect(server.address) as remote:
        done = threading.Event()

        def write():
            for k in range(1, 40):
                server.replace("x", np.full(n, float(k)))
            done.set()

        writer = threading.Thread(target=write)
        writer.start()
        found, changed = set(), 0
        while not done.is_set() or not found:
            try:
                values = np.unique(remote["x"].compute())
            except VersionChangedError:
                changed += 1
                continue
            assert len(values) == 1
            found.add(values[0])
        writer.join()
        assert remote["x"][7].compute().item() == 39.0


def test_memory_that_is_edited_is_read_before_or_after():
    x = np.zeros(300_000)
    with tw.serve({"x": x}) as server, tw.connect(server.address) as remote:
        done = threading.Event()

        def edit():
            for k in range(1, 30):
                with server.editing("x"):
                    x[:150_000] = k
                    x[150_000:] = k
            done.set()

        editor = threading.Thread(target=edit)
        editor.start()
        while not done.is_set():
            try:
                assert len(np.unique(remote["x"].compute())) == 1
            except VersionChangedError:
                continue
        editor.join()
        with pytest.raises(TensorNameError):
            server.editing("y").__enter__()


def test_it_is_asked_how_it_is_while_it_drains():
    """`stats` raised as soon as `close` had begun."""
    x = np.zeros(2**20)
    server = tw.serve({"x": x})
    address, drained = server.address, []
    with contextlib.ExitStack() as stack:
        remote = stack.enter_context(tw.connect(address))
        edit = server.editing("x")
        # A read waits for the one who edits, and the server for the read.
        edit.__enter__()
        view = remote["x"][::2]

        def read():
            with contextlib.suppress(VersionChangedError):
                view.compute()

        reader = threading.Thread(target=read)
        reader.start()
        # Its answer has memory: later requests are refused, and the client would ask until its deadline.
        while not server.stats()["bytes_held"]:
            time.sleep(0.005)
        ending = [threading.Thread(target=server.close, args=(30,)) for _ in range(2)]
        for own in ending:
            own.start()
        until = time.monotonic() + 20
        while not server.stats()["draining"] and time.monotonic() < until:
            time.sleep(0.005)
        drained.append(server.stats()["draining"])
        assert (server.address, server.closed, server.names) == (address, False, ["x"])
        edit.__exit__(None, None, None)
        for own in [*ending, reader]:
            own.join()
    assert drained == [1]
    assert server.closed
    with pytest.raises(TransportClosedError):
        server.stats()


OWN = {
    "box": tw.as_tensor(np.arange(6.0).reshape(2, 3)),
    "rows": tw.jagged([[1, 2], [], [3]]),
    "tiles": tw.as_tensor(np.arange(16).reshape(4, 4)).tiled(tw.Tiling([1, 3], [2, 2])),
    "layers": tw.from_buffer(np.arange(4.0), tw.Shape.nested(tw.Shape(2, 2), layers=(1, 1))),
    "sparse": tw.sparse([(0, 1)], [5.0], tw.Shape(2, 2)),
    "words": tw.strings(["a", None, "c"], shape=tw.Shape.jagged([1, 2]), nullable=True),
}


@pytest.mark.parametrize("name", OWN)
def test_what_is_read_from_a_server_itself_is_refused_by_it(name):
    """It answered for no other thread than its own, and nothing for two minutes: it waited for itself."""
    with tw.serve(OWN) as server, tw.serve({}) as other, tw.connect(server.address) as remote:
        own = remote[name]
        parts = [own]
        if name != "sparse":
            # Of a sparse tensor a view has its entries, as few rows have their elements: they ask nobody.
            parts += [own.view(), own.view()[1:], *([own[1:]] if name != "rows" else [])]
        for part in parts:
            with pytest.raises(ConversionError, match="the tensor 'z': it is read from this server"):
                server.replace("z", part)
            other.replace("z", part)
        assert server.names == sorted(OWN)
        with tw.connect(other.address) as elsewhere:
            assert elsewhere["z"].tolist() == parts[-1].tolist()
        server.replace(name, server.tensors[name])


def test_what_a_server_computes_or_has_parts_of_is_refused_by_it():
    x = np.arange(20000.0).reshape(2, 10000)
    with tw.serve({"x": x, "y": x, "x/0": x[:1]}) as server, tw.serve({"x/1": x[1:]}) as other:
        held = Sharding(tw.Tiling([1, 1], [10000]), "f8", [other.address, server.address], [1, 0])
        host = server.address.replace("127.0.0.1", "localhost")
        with tw.connect(host) as remote, connect_shards(Catalogue({"x": held})) as shards:
            own = remote["x"].view()
            there = remote.pushed(sel.minimum(remote["y"].view(), own))
            assert [own for own in sel.sources(there).values() if isinstance(own, PushedSource)]
            for given in (own, there, shards["x"], shards["x"][:1], shards["x"].view()):
                with pytest.raises(ConversionError, match="from this server"):
                    server.replace("z", given)


def test_what_was_read_from_a_server_of_before_at_its_address_is_not_served_there(tmp_path):
    address = f"ipc://{tmp_path}/served"
    server = tw.serve({"x": [1, 2]}, address)
    with tw.connect(address) as remote:
        there = remote["x"]
        server.close()
        with pytest.raises(ConversionError, match="cannot serve the tensor 'y': it is read from this server"):
            tw.serve({"x": [1, 2], "y": there}, address)
        with tw.serve({"x": [1, 2]}, address) as again:
            assert again.names == ["x"]
