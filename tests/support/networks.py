"""Two hosts on one machine: network namespaces, joined by a link that is slowed, cut and mended."""

import contextlib
import os
import subprocess
import sys
import textwrap

import pytest

__all__ = ["Network", "ended", "hosts", "network", "started"]

_REQUIRED = "TENSORWRAPPER_REQUIRE_NETNS"


def _ip(*words):
    done = subprocess.run(words, capture_output=True, text=True, timeout=20, check=False)
    if done.returncode:
        raise OSError(f"{' '.join(words)}: {done.stderr.strip()}")


class Network:
    """A link between two hosts, ``left`` and ``right``, whose names carry the number of this process."""

    def __init__(self):
        number = os.getpid()
        self.left, self.right = f"tw-{number}-l", f"tw-{number}-r"
        self.ends = f"twl{number}", f"twr{number}"
        self.addresses = "10.77.0.1", "10.77.0.2"

    def make(self):
        left, right = self.ends
        _ip("ip", "netns", "add", self.left)
        _ip("ip", "netns", "add", self.right)
        _ip("ip", "link", "add", left, "type", "veth", "peer", "name", right)
        for host, end, address in zip((self.left, self.right), self.ends, self.addresses, strict=True):
            _ip("ip", "link", "set", end, "netns", host)
            _ip("ip", "-n", host, "addr", "add", f"{address}/24", "dev", end)
            _ip("ip", "-n", host, "link", "set", "lo", "up")
            _ip("ip", "-n", host, "link", "set", end, "up")
        self.slow("1gbit")

    def slow(self, rate):
        """Let so many bits a second through, either way."""
        for host, end in zip((self.left, self.right), self.ends, strict=True):
            words = ("root", "tbf", "rate", rate, "burst", "128kb", "latency", "400ms")
            _ip("tc", "-n", host, "qdisc", "replace", "dev", end, *words)

    def cut(self, *, silently):
        """Cut the link: so that both ends see it, or so that packets vanish."""
        if silently:
            _ip("ip", "-n", self.left, "route", "add", "blackhole", f"{self.addresses[1]}/32")
        else:
            _ip("ip", "-n", self.left, "link", "set", self.ends[0], "down")

    def mend(self, *, silently):
        """Mend it again."""
        if silently:
            _ip("ip", "-n", self.left, "route", "del", "blackhole", f"{self.addresses[1]}/32")
        else:
            _ip("ip", "-n", self.left, "link", "set", self.ends[0], "up")

    def start(self, host, program, *words):
        """Start a Python program at a host."""
        command = [sys.executable, "-W", "ignore", "-u", "-c", textwrap.dedent(program), *map(str, words)]
        return subprocess.Popen(
            ["ip", "netns", "exec", host, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def remove(self):
        for host in (self.left, self.right):
            with contextlib.suppress(OSError):
                _ip("ip", "netns", "del", host)


@contextlib.contextmanager
def network():
    """Make two hosts, or skip the test, and say at which step this machine cannot."""
    found = Network()
    try:
        try:
            found.make()
        except (OSError, subprocess.TimeoutExpired) as error:
            if os.environ.get(_REQUIRED):
                raise
            pytest.skip(f"no network namespaces here: {error}")
        yield found
    finally:
        found.remove()


@pytest.fixture(scope="module")
def hosts():
    """Two hosts for all tests of a module, which names this fixture."""
    with network() as found:
        yield found


@pytest.fixture
def started(hosts):
    """What starts a program at each of two hosts, the second when the first says that it is ready."""
    running = []

    def start(left, right, port):
        address = f"tcp://{hosts.addresses[0]}:{port}"
        first = hosts.start(hosts.left, left, address)
        running.append(first)
        assert first.stdout.readline() == "ready\n", first.stderr.read()
        second = hosts.start(hosts.right, right, address)
        running.append(second)
        return first, second

    yield start
    for process in running:
        process.kill()
        process.communicate()


def ended(process):
    """Return the words that a program has said when it has ended well."""
    said, complained = process.communicate(timeout=90)
    assert process.returncode == 0, complained
    return said.split()
