"""Commands are started as a shell starts them that waits for them."""

import signal

import pytest


@pytest.fixture(autouse=True, scope="session")
def interruptible():
    """Let children hear SIGINT, also where the tests were started in the background, which ignores it."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    if before is signal.SIG_IGN:
        signal.signal(signal.SIGINT, before)
