"""`FairQueue`: the order in which requests are answered, and the share of clients without a history."""

from collections.abc import Callable, Iterable
from typing import Final, final

from tensorwrapper.remote.server._clients import Client, Task

_SETTLES: Final = 2.0
"""Seconds after which a client that receives answers is no longer a newcomer."""
_SHARE: Final = 0.125
"""Share of the server's time for all newcomers, while it also serves others."""
_BURST: Final = 0.008
"""Maximum unused share in seconds."""
_RECENT: Final = 0.1
"""Seconds for which the server counts as working for a client after it did."""
_HELD: Final = 2**21
"""Limit on unsent bytes for newcomers meanwhile, a few milliseconds of a fast link."""
_AHEAD: Final = 0.004
"""Seconds that one settled client may be ahead of another: about one answer."""
_RATE: Final = 2.0**30
"""Bytes made and sent per second, about: the cost to other clients."""


def cost_of(nbytes: int, seconds: float) -> float:
    """Return the cost of an answer for waiting clients in seconds: computation or transfer."""
    return max(seconds, nbytes / _RATE)


@final
class FairQueue:
    """Fair shares of the server's time. Settled clients have individual shares; newcomers share an eighth.

    A client that reconnects all the time is always a newcomer, so even a hundred such clients use at most an
    eighth. Newcomers are not limited while no other client is served. The next settled client is the one with
    the least time so far; the next newcomer the one with the smallest request.
    """

    __slots__ = ("_credit", "_held", "_last", "_served", "_virtual")

    def __init__(self) -> None:
        self._virtual = 0.0
        """Work done for the client served last: clients without requests meanwhile save up nothing."""
        self._served = float("-inf")
        """Time at which a settled client was last served, or waited."""
        self._credit, self._last = 0.0, 0.0
        self._held = 0

    @staticmethod
    def settle(client: Client, now: float) -> bool:
        """Return True if a client is not a newcomer any more."""
        if not client.is_settled and now - client.born >= _SETTLES and client.counts["answers"]:
            client.is_settled = True
        return client.is_settled

    def order(self, clients: Iterable[Client], now: float, has_room: Callable[[Task], bool]) -> list[Client]:
        """Return the clients whose next request can be answered, in their order, at a time in seconds."""
        settled, young, held = list[Client](), list[Client](), 0
        for client in clients:
            if self.settle(client, now):
                if client.asked or client.out or client.held:
                    self._served = now
                # A client that cannot be served must not delay others.
                if client.asked and not client.out and has_room(client.asked[0]):
                    client.due = max(client.due, self._virtual)
                    settled.append(client)
                continue
            held += client.held
            if client.asked and not client.out and has_room(client.asked[0]):
                young.append(client)
        self._held = held
        self._credit = min(self._credit + (now - self._last) * _SHARE, _BURST)
        self._last = now
        settled.sort(key=_due)
        if settled:
            self._virtual = max(self._virtual, settled[0].due)
        young.sort(key=_asked)
        return [*settled, *young]

    def waits(self, client: Client, now: float) -> bool:
        """Return True if requests of a client are not parsed yet while others are served.

        This applies to a newcomer with large pending requests.
        """
        if self.settle(client, now) or now - self._served > _RECENT or not client.asked:
            return False
        last = client.asked[-1]
        return last.nbytes > 0 or last.frames is not None

    def may(self, client: Client) -> bool:
        """Return True if a client is served now: not far ahead of others, newcomers within their share."""
        if client.is_settled:
            return client.due <= self._virtual + _AHEAD
        if self._last - self._served > _RECENT:
            return True
        task = client.asked[0]
        if task.is_small:
            # Such requests cost hardly anything, for example a hello or a list of tensors.
            return True
        return self._credit > 0 and (not self._held or self._held + task.nbytes <= _HELD)

    def charge(self, client: Client, cost: float, held: int = 0) -> None:
        """Charge a client for work, in seconds, and record the bytes held for it."""
        client.due += cost
        if not client.is_settled:
            self._credit -= cost
            self._held += held


def _due(client: Client) -> float:
    return client.due


def _asked(client: Client) -> tuple[bool, int, float]:
    return client.asked[0].frames is not None, client.wanted, client.due
