"""Connections: threads, forks, limits of time, and servers that come back."""

import contextlib
import os
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import (
    RequestRefusedError,
    TransportClosedError,
    TransportForkError,
    TransportTimeoutError,
    VersionChangedError,
)
from tensorwrapper.remote.client._connection import Connection
from tensorwrapper.remote.protocol._events import AskFacts
from tensorwrapper.transport import Socket
from tests.support.remote_servers import bound

X = np.arange(4000.0).reshape(40, 100)


def test_each_thread_has_a_connection_of_its_own():
    with tw.serve({"x": X}) as server, tw.connect(server.address) as remote:
        x = remote["x"].view()
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda k: x[k % 40].compute().tolist(), range(80)))
        assert found == [X[k % 40].tolist() for k in range(80)]


def test_nobody_at_an_address_is_found_out_in_time():
    with pytest.raises(TransportTimeoutError, match="tcp://127"):
        tw.connect("tcp://127.0.0.1:1", timeout=0.2)


def test_a_server_of_something_else_is_found_out_in_time():
    with Socket("ROUTER") as other:
        address = other.bind("tcp://127.0.0.1:*")
        with pytest.raises(TransportTimeoutError):
            tw.connect(address, timeout=0.3)


def test_what_is_closed_says_so():
    with tw.serve({"x": X}) as server:
        with tw.connect(server.address) as remote:
            x = remote["x"]
        remote.close()
        with pytest.raises(TransportClosedError):
            x[0].compute()
        with pytest.raises(TransportClosedError):
            list(remote)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_of_fork_is_told_to_connect_anew():
    with tw.serve({"x": X}) as server, tw.connect(server.address) as remote:
        x = remote["x"]
        child = os.fork()
        if not child:
            code = 1
            try:
                x[0].compute()
            except TransportForkError:
                code = 0
            finally:
                os._exit(code)
        assert os.waitpid(child, 0)[1] == 0
        assert np.array_equal(x[0].compute(), X[0])


def test_a_server_that_starts_anew_with_a_file_is_read_on(tmp_path):
    path = tmp_path / "x.tens"
    tw.save(path, {"x": X})
    server = tw.serve(path)
    address = server.address
    with tw.connect(address, timeout=20) as remote:
        x = remote["x"]
        assert np.array_equal(x[3].compute(), X[3])
        server.close()
        again = []

        def start():
            time.sleep(0.3)
            again.append(bound(lambda: tw.serve(path, address)))

        thread = threading.Thread(target=start)
        thread.start()
        try:
            assert np.array_equal(x[5].compute(), X[5])
        finally:
            thread.join()
            again[0].close()


def test_a_server_that_starts_anew_with_memory_has_changed():
    server = tw.serve({"x": X})
    address = server.address
    with tw.connect(address, timeout=20) as remote:
        x = remote["x"]
        server.close()
        with bound(lambda: tw.serve({"x": X}, address)), pytest.raises(VersionChangedError):
            x[5].compute()


def test_a_request_has_a_deadline_also_while_the_server_lives():
    with tw.serve({"x": X}) as server, tw.connect(server.address, deadline=0.3) as remote:
        x = remote["x"]
        with server.editing("x"), pytest.raises((TransportTimeoutError, RequestRefusedError)):
            x[0].compute()


def test_a_known_server_that_breaks_handshakes_off_for_a_moment_is_waited_for(tmp_path):
    tw.save(tmp_path / "a.tens", {"x": X})
    server = tw.serve(tmp_path / "a.tens")
    address = server.address

    def come_back():
        with bound(lambda: socket.create_server(("127.0.0.1", int(address.rpartition(":")[2])))) as listener:
            listener.settimeout(2)
            broken = 0
            while broken < 12:
                with contextlib.suppress(TimeoutError):
                    listener.accept()[0].close()
                broken += 1
        return bound(lambda: tw.serve(tmp_path / "a.tens", address))

    with tw.connect(address, timeout=20) as remote, ThreadPoolExecutor(1) as pool:
        there = remote["x"]
        server.close()
        back = pool.submit(come_back)
        assert np.array_equal(there[5].compute(), X[5])
        back.result().close()


def test_who_connects_while_the_client_is_closed_leaves_no_socket(monkeypatch):
    """A thread that began before the end and had its connection after it kept one that nobody closed."""
    made, init = [], Connection.__init__

    def late(self, *given, **options):
        init(self, *given, **options)
        made.append(self)
        if len(made) == 2:
            remote.close()

    monkeypatch.setattr(Connection, "__init__", late)
    with tw.serve({"x": X}) as server:
        remote = tw.connect(server.address)
        with ThreadPoolExecutor(1) as pool, pytest.raises(TransportClosedError, match="is closed"):
            pool.submit(remote.health).result()
        assert len(made) == 2
        assert all(connection.closed for connection in made)


def test_who_reads_while_the_client_is_closed_is_told_that_it_was():
    with tw.serve({"x": np.arange(200_000.0).reshape(500, 400)}) as server:
        found = []

        def read(tensor):
            try:
                while True:
                    tensor[:, ::50].tolist()
            except Exception as error:  # noqa: BLE001 - whatever it is, it is looked at
                found.append(error)

        for _ in range(6):
            remote = tw.connect(server.address)
            threads = [threading.Thread(target=read, args=[remote["x"]]) for _ in range(3)]
            for thread in threads:
                thread.start()
            time.sleep(0.02)
            remote.close()
            for thread in threads:
                thread.join()
    assert len(found) == 18
    assert {type(error) for error in found} == {TransportClosedError}
    assert all("closed" in str(error) for error in found)


def test_a_request_that_cannot_be_written_is_not_tried_again():
    with tw.serve({"x": X}) as server, tw.connect(server.address) as remote:
        connection = remote._connections.here()
        for _ in range(2):
            with pytest.raises(UnicodeEncodeError):
                connection.ask(AskFacts(("\ud800",)))
        time.sleep(0.3)
        for _ in range(3):
            connection.pump(0.01)
        assert remote["x"][3].tolist() == X[3].tolist()
