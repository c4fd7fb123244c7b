"""`Turns`: whose request is answered next, and how much those may have of whom nothing is known yet."""

from collections.abc import Callable, Iterable
from typing import Final, final

from tensorwrapper.remote.server._clients import Client, Task

__all__ = ["Turns", "cost_of"]

_SETTLES: Final = 2.0
"""Seconds after which a client that takes answers is no newcomer any more."""
_SHARE: Final = 0.125
"""What all newcomers together have of the time of the server, while it works for others as well."""
_BURST: Final = 0.008
"""Seconds of it that they may save up."""
_RECENT: Final = 0.1
"""Seconds for which the server counts as working for a client after it did."""
_HELD: Final = 2**21
"""Bytes of answers to newcomers that may be on their way meanwhile: a few milliseconds of a fast link."""
_AHEAD: Final = 0.004
"""Seconds that whoever settled may have had more than another who did: an answer, about."""
_RATE: Final = 2.0**30
"""Bytes that are made and sent in a second, about: what they cost others who wait."""


def cost_of(nbytes: int, seconds: float) -> float:
    """Return what an answer costs those who wait, in seconds: to work at it, or to send it."""
    return max(seconds, nbytes / _RATE)


@final
class Turns:
    """Shares of the server's time. A client that settled pays for its own; newcomers share an eighth.

    Who vanishes and comes back all the time is a newcomer each time: a hundred of them cost the others no
    more than an eighth. Nothing is held back while nobody else is served. Of those who settled, the one that
    has had least is the next; of newcomers, the one that asked for least.
    """

    __slots__ = ("_credit", "_held", "_last", "_served", "_virtual")

    def __init__(self) -> None:
        self._virtual = 0.0
        """What whoever was served last has had: who had nothing to ask meanwhile has saved up nothing."""
        self._served = float("-inf")
        """When a client that has settled was served, or waited, the last time."""
        self._credit, self._last = 0.0, 0.0
        self._held = 0

    @staticmethod
    def settle(client: Client, now: float) -> bool:
        """Tell whether a client is no newcomer any more."""
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
                # Whoever cannot be served holds nobody back.
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
        """Tell whether what a client asks for is not even read yet, while others are served.

        So it is for a newcomer that asked for much already, and did not get it.
        """
        if self.settle(client, now) or now - self._served > _RECENT or not client.asked:
            return False
        last = client.asked[-1]
        return last.nbytes > 0 or last.frames is not None

    def may(self, client: Client) -> bool:
        """Tell whether a client is served now: not far ahead of others, newcomers within their share."""
        if client.is_settled:
            return client.due <= self._virtual + _AHEAD
        if self._last - self._served > _RECENT:
            return True
        task = client.asked[0]
        if task.is_small:
            # What costs hardly anything: to say hello, and to ask what is there.
            return True
        return self._credit > 0 and (not self._held or self._held + task.nbytes <= _HELD)

    def charge(self, client: Client, cost: float, held: int = 0) -> None:
        """Note what was done for a client, in seconds, and how many bytes it holds for it."""
        client.due += cost
        if not client.is_settled:
            self._credit -= cost
            self._held += held


def _due(client: Client) -> float:
    return client.due


def _asked(client: Client) -> tuple[bool, int, float]:
    return client.asked[0].frames is not None, client.wanted, client.due
