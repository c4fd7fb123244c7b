"""How long a request may be, and what becomes of a refusal."""

import itertools
import math

import pytest

import tensorwrapper as tw
from tensorwrapper.errors import (
    ConversionError,
    OutOfBoundsError,
    ReadOnlyError,
    RequestRefusedError,
    TensorNameError,
    VersionChangedError,
)
from tensorwrapper.remote.client import _pending_request
from tensorwrapper.remote.client._pending_request import Pending, Timeouts, raise_refusal
from tensorwrapper.remote.protocol._events import AskStats, Hello, Refused


@pytest.mark.parametrize(
    ("patience", "request_", "heard", "moved", "left"),
    [
        (Timeouts(10, None, None), AskStats(), 95, 0, (5, "")),
        (Timeouts(10, 7, None), AskStats(), 99, 0, (-3, "")),
        (Timeouts(10, None, 30), AskStats(), 99, 95, (9, "")),
        (Timeouts(10, None, 3), AskStats(), 99, 95, (-2, "idle")),
        (Timeouts(10, None, 30), AskStats(), 99, 60, (9, "")),
        (Timeouts(10, None, 30), Hello("0" * 32, 1, 1), 99, 99, (0, "")),
    ],
)
def test_what_is_left_is_the_least_of_its_limits(monkeypatch, patience, request_, heard, moved, left):
    now = itertools.chain([90], itertools.repeat(100))
    monkeypatch.setattr(_pending_request.time, "monotonic", lambda: next(now))
    assert patience.left(Pending(1, request_), heard, moved) == left


@pytest.mark.parametrize("name", ["deadline", "idle"])
@pytest.mark.parametrize("value", [0, -1, math.nan, "1", True])
def test_a_time_is_a_number_of_seconds(name, value):
    shards = tw.remote.connect_shards
    for connect in (tw.connect, tw.connect_async, shards):
        given = tw.remote.Catalogue({}) if connect is shards else "tcp://127.0.0.1:1"
        with pytest.raises(ConversionError, match=f"{name} must be a positive number of seconds"):
            connect(given, **{name: value})


@pytest.mark.parametrize(
    ("reason", "error"),
    [
        ("missing", TensorNameError),
        ("readonly", ReadOnlyError),
        ("changed", VersionChangedError),
        ("bounds", OutOfBoundsError),
        ("limit", RequestRefusedError),
        ("internal", RequestRefusedError),
    ],
)
def test_each_reason_is_an_error(reason, error):
    with pytest.raises(error, match="the text") as caught:
        raise_refusal(Refused(reason, "the text"), AskStats())
    assert ("the limit is the server's" in str(caught.value)) == (reason == "limit")
