"""`Snapshots`: tensors as served at earlier moments, kept for clients."""

import secrets
import threading
import time
from collections.abc import Mapping
from typing import Final, final

from tensorwrapper.errors import RequestRefusedError
from tensorwrapper.remote.protocol._events import Pinned
from tensorwrapper.remote.protocol._limits import ServeLimits
from tensorwrapper.remote.served._served_tensor import ServedTensor

_SECONDS: Final = 60
"""Seconds that a snapshot is kept after its last use."""


@final
class _Pin:
    """Tensors of one snapshot, and its expiry time."""

    __slots__ = ("holdings", "owner", "until", "versions")

    def __init__(self, holdings: Mapping[str, ServedTensor], owner: str) -> None:
        self.owner = owner
        self.holdings = holdings
        self.versions = {name: own.facts.version for name, own in holdings.items()}
        self.until = time.monotonic() + _SECONDS


@final
class Snapshots:
    """Snapshots by name. Nothing is copied, as a snapshot keeps references to replaced tensors."""

    __slots__ = ("_limits", "_lock", "_pins")

    def __init__(self, limits: ServeLimits) -> None:
        self._limits = limits
        self._pins: dict[str, _Pin] = {}
        self._lock = threading.Lock()

    def add(self, holdings: Mapping[str, ServedTensor], owner: str) -> Pinned:
        """Keep the currently served tensors, unless the client has too many snapshots."""
        name = secrets.token_hex(16)
        with self._lock:
            self._expire()
            own = sum([pin.owner == owner for pin in self._pins.values()])
            if own >= self._limits.client_snapshots:
                raise RequestRefusedError("limit", f"the client already has {own} snapshots")
            if len(self._pins) >= self._limits.server_snapshots:
                raise RequestRefusedError("busy", f"the server already has {len(self._pins)} snapshots")
            self._pins = {**self._pins, name: _Pin(holdings, owner)}
        return Pinned(name, _SECONDS)

    def release(self, name: str) -> Pinned:
        """Release a snapshot."""
        with self._lock:
            self._pins = {key: own for key, own in self._pins.items() if key != name}
        return Pinned(name, 0)

    def find(self, name: str) -> Mapping[str, ServedTensor] | None:
        """Return the tensors of a snapshot; None if it is not kept."""
        if not self._pins:
            return None
        with self._lock:
            self._expire()
            pin = self._pins.get(name)
        return None if pin is None else _used(pin)

    def has(self, pin: str, name: str, version: str) -> bool:
        """Return True if a snapshot has a tensor at this version; an edited tensor has another version."""
        found = self._pins.get(pin)
        return found is not None and found.versions.get(name) == version

    def at(self, name: str, version: str) -> ServedTensor | None:
        """Return a tensor that some snapshot has at a version."""
        if not self._pins:
            return None
        with self._lock:
            self._expire()
        for pin in self._pins.values():
            if pin.versions.get(name) == version:
                return _used(pin)[name]
        return None

    def expire(self) -> None:
        """Drop expired snapshots, also when no requests arrive."""
        if self._pins:
            with self._lock:
                self._expire()

    def _expire(self) -> None:
        now = time.monotonic()
        if any(own.until < now for own in self._pins.values()):
            self._pins = {key: own for key, own in self._pins.items() if own.until >= now}


def _used(pin: _Pin) -> Mapping[str, ServedTensor]:
    pin.until = time.monotonic() + _SECONDS
    return pin.holdings
