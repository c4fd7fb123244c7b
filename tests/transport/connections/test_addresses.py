"""Tests of what is an address, and who is reached at it."""

import pytest

from tensorwrapper.errors import ConversionError, TransportError
from tensorwrapper.transport.connections._addresses import check_address, is_local


@pytest.mark.parametrize(
    "address", ["tcp://127.0.0.1:*", "tcp://[::1]:5555", "ipc:///tmp/x", "inproc://x", "tcp://eth0:65535"]
)
def test_addresses_are_taken(address):
    check_address(address, "listen at")


@pytest.mark.parametrize("address", ["localhost:5555", "nowhere", "", "x" * 10_000])
def test_an_address_says_its_way(address):
    with pytest.raises(TransportError, match=r"cannot connect to .*use for example 'tcp://") as caught:
        check_address(address, "connect to")
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("address", ["", "tcp://", "tcp://127.0.0.1", "tcp://:5555"])
def test_an_example_of_an_error_is_an_address(address):
    with pytest.raises(TransportError, match="use for example") as caught:
        check_address(address, "connect to")
    check_address(str(caught.value).rpartition("use for example ")[2].strip("'"), "connect to")


def test_ports_end_and_addresses_are_text():
    with pytest.raises(TransportError, match="use 1 to 65535"):
        check_address("tcp://127.0.0.1:65536", "listen at")
    # Only a listener may leave the port open.
    for port in ("", "*", "x", "²"):
        with pytest.raises(TransportError, match=r"use 1 to 65535$"):
            check_address(f"tcp://127.0.0.1:{port}", "connect to")
    with pytest.raises(TransportError, match=r"use 1 to 65535, or \* for any$"):
        check_address("tcp://127.0.0.1:", "listen at")
    with pytest.raises(ConversionError, match="an address must be text"):
        check_address(("localhost", 1), "connect to")


@pytest.mark.parametrize(
    ("address", "beyond"),
    [
        ("tcp://127.0.0.1:1", False),
        ("tcp://[::1]:1", False),
        ("tcp://localhost:1", False),
        ("ipc:///tmp/x", False),
        ("tcp://0.0.0.0:1", True),
        ("tcp://eth0:1", True),
        ("tcp://127.0.0.1:0;127.0.0.1:1", False),
        ("tcp://127.0.0.1:0;192.0.2.1:1", True),
        # Names that begin as that of this machine does.
        ("tcp://localhost.example.org:1", True),
        ("tcp://127.example.org:1", True),
        ("inproc://x", False),
    ],
)
def test_other_machines_reach_some(address, beyond):
    assert is_local(address) is not beyond
