"""Snapshots at the server: found by name, by version, and forgotten in time."""

import weakref

import numpy as np
import pytest

from tensorwrapper.errors import RequestRefusedError
from tensorwrapper.remote import ServeLimits
from tensorwrapper.remote.served import _snapshots
from tensorwrapper.remote.served._served_tensor import ServedTensor
from tensorwrapper.remote.served._snapshots import Snapshots


def holdings(version):
    return {"x": ServedTensor("x", np.zeros(3), version, ServeLimits())}


def test_a_snapshot_is_found_by_its_name_and_its_tensors_by_version():
    pins, old = Snapshots(ServeLimits()), holdings("1")
    assert pins.find("nobody") is None
    pin = pins.add(old, "me").pin

    assert pins.find(pin) is old
    assert pins.at("x", "1") is old["x"]
    assert pins.at("x", "2") is pins.at("y", "1") is None
    assert pins.release(pin).seconds == 0
    assert pins.find(pin) is pins.at("x", "1") is None


def test_it_is_kept_for_so_long_after_its_last_use(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(_snapshots.time, "monotonic", lambda: now[0])
    pins = Snapshots(ServeLimits())
    pin = pins.add(holdings("1"), "me").pin
    for _ in range(5):
        now[0] += 50
        assert pins.at("x", "1") is not None
    now[0] += 61
    assert pins.at("x", "1") is pins.find(pin) is None


def test_it_is_let_go_also_if_nobody_asks_for_anything(monkeypatch):
    """What was replaced stayed in memory until the next request."""
    now = [0.0]
    monkeypatch.setattr(_snapshots.time, "monotonic", lambda: now[0])
    pins, old = Snapshots(ServeLimits()), holdings("1")
    pins.add(old, "me")
    kept = weakref.ref(old["x"].facts)
    for seconds, gone in ((59, False), (2, True)):
        now[0] += seconds
        pins.expire()
        assert (not pins._pins) == gone
    old.clear()
    assert kept() is None


def test_each_client_has_its_share_of_them():
    """One client took all, and nobody else had any."""
    pins = Snapshots(ServeLimits(client_snapshots=3, server_snapshots=8))
    for owner in ("a", "b"):
        kept = [pins.add(holdings("1"), owner).pin for _ in range(3)]
        with pytest.raises(RequestRefusedError, match="limit"):
            pins.add(holdings("1"), owner)
        pins.release(kept[0])
        pins.add(holdings("1"), owner)
    pins.add(holdings("1"), "c")
    pins.add(holdings("1"), "d")
    with pytest.raises(RequestRefusedError, match="busy"):
        pins.add(holdings("1"), "e")
