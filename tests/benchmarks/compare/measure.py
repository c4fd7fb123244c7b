"""A row: what is run, beside what, with which aim; and what was seen of it."""

import gc
import importlib
import itertools
import json
import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Run = Callable[[], object]

SHORT = 2e-4
"""Work that takes less is repeated within a round: reading the clock costs a microsecond."""


@dataclass(frozen=True)
class Row:
    """One piece of work; `aim` in seconds, or `times` the peer. With both the longer of them is the aim."""

    name: str
    work: str
    ours: Run
    peers: dict[str, Run] = field(default_factory=dict)
    aim: float | None = None
    times: float | None = None
    limit: tuple[str, Run] | None = None
    missing: str | None = None
    shares: int = 1
    """How many pieces one run does: the times are of one piece."""
    once: bool = False
    """Whether runs are processes or long: then a few rounds, without repetition."""
    clock: Callable[[], float] = time.process_time


@dataclass(frozen=True)
class Seen:
    """The least times of a row, in seconds."""

    row: Row
    ours: float
    peers: dict[str, float]
    limit: float | None

    @property
    def peer(self) -> tuple[str, float] | None:
        """The fastest peer and its time."""
        return min(self.peers.items(), key=lambda item: item[1]) if self.peers else None

    @property
    def target(self) -> float:
        """What ours may take, in seconds."""
        asked = [self.row.aim] if self.row.aim is not None else []
        if self.row.times is not None and self.peer is not None:
            asked.append(self.row.times * self.peer[1])
        return max(asked) if asked else float("inf")

    @property
    def met(self) -> bool:
        """Whether the aim was met, if there is one."""
        return self.has_aim and self.ours <= self.target

    @property
    def has_aim(self) -> bool:
        """Whether anything was asked for."""
        return math.isfinite(self.target)

    def fields(self) -> tuple[str, ...]:
        """Return the texts of a line of the table."""
        peer = self.peer
        over = self.ours / self.target - 1
        verdict = "met" if self.met else f"missed by {over:.0%}" if self.has_aim else ""
        if self.limit is not None and self.row.limit is not None:
            verdict += f"; limit {self.row.limit[0]} {duration(self.limit)}"
        return (
            self.row.name,
            self.row.work,
            duration(self.ours),
            f"{peer[0]} {duration(peer[1])}" if peer else "-",
            f"{self.ours / peer[1]:.2f}" if peer else "-",
            duration(self.target) if self.target < float("inf") else "-",
            verdict,
        )


def library(name: str) -> Any:
    """Return the module of a peer, or None if it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def seen(row: Row, seconds: float) -> Seen | str:
    """Return the least times of `row`, all of it in turns, or why it could not be measured."""
    runs: dict[str, Run] = {"": row.ours, **{f"peer {name}": run for name, run in row.peers.items()}}
    if row.limit is not None:
        runs["limit"] = row.limit[1]
    counts: dict[str, int] = {}
    best = dict.fromkeys(runs, float("inf"))
    for who, run in runs.items():
        try:
            run()
        except OSError as error:
            return f"{type(error).__name__}: {error}"
        took = _time(run, 1, row.clock)
        counts[who] = 1 if row.once else max(1, min(10_000, int(SHORT / max(took, 1e-7))))
    # What the set-up made is not looked at again by the collector, neither in our turns nor in the peer's.
    gc.collect()
    gc.freeze()
    end = row.clock() + seconds
    for number in range(2000):
        if number >= (3 if row.once else 5) and row.clock() > end:
            break
        for who, run in runs.items():
            best[who] = min(best[who], _time(run, counts[who], row.clock))
    peers = {name: best[f"peer {name}"] / row.shares for name in row.peers}
    limit = best["limit"] / row.shares if row.limit is not None else None
    return Seen(row, best[""] / row.shares, peers, limit)


def pace() -> float:
    """Return how many times as long Python and NumPy take here as where the aims in seconds were set.

    The geometric mean of formulas of theirs, whose times there stand in the table of the documentation; it
    is asked before each row, because machines that are shared change from one second to the next.
    """
    text = (
        '{"dtype":"<f8","of":{"pad":[[1,0],[0,0]],"part":{"of":{"source":"0"}},"value":0.0},'
        '"ops":[["slice",0,1,1,2]],"range":{"end":[2,4],"start":[0,0]},"view":1}'
    )
    few = np.arange(24.0).reshape(2, 3, 4)
    array = np.arange(900.0).reshape(30, 30)
    formulas: tuple[tuple[Run, float], ...] = (
        (lambda: json.loads(text), 2.5e-6),
        (lambda: np.roll(few, (0, 1, 2), (0, 1, 2)), 6.04e-6),
        (lambda: array[5:20, 20:30], 146e-9),
        (lambda: deque(itertools.product(range(100), range(100), range(100)), maxlen=0), 2.75e-3),
    )
    ratios: list[float] = []
    for run, then in formulas:
        found = seen(Row("", "", run), 0.05)
        assert isinstance(found, Seen)
        ratios.append(found.ours / then)
    return math.prod(ratios) ** (1 / len(ratios))


class _Held:
    """What has slots that only its setters write, as frozen classes have."""

    __slots__ = ("extents", "offset", "origin", "seen", "strides")


_SETTERS = [vars(_Held)[slot].__set__ for slot in _Held.__slots__]


def parts_made(count: int) -> None:
    """Make `count` times what a part of a tensor is, and nothing else: three objects, and eight slots set."""
    new = object.__new__
    one, two, three, four, five = _SETTERS
    for number in range(count):
        place, layout, tensor = new(_Held), new(_Held), new(_Held)
        one(place, ())
        two(place, number)
        three(place, ())
        four(place, None)
        five(place, ())
        one(layout, place)
        one(tensor, layout)
        two(tensor, None)


class Tile:
    """A place in memory that is an array by NumPy's protocol, made from its extents, strides and start."""

    __slots__ = ("extents", "flat", "start", "strides")

    def __init__(self, flat: Any, extents: Any, strides: Any, start: int) -> None:
        self.flat, self.extents, self.strides, self.start = flat, extents, strides, start

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.ndarray(self.extents, self.flat.dtype, self.flat, self.start, self.strides).view()


class Bare:
    """An array under a property whose brackets give what a tensor is made of, and check nothing."""

    __slots__ = ("array",)

    def __init__(self, array: Any) -> None:
        self.array = array

    @property
    def points(self) -> "_Brackets":
        """What stands before the brackets."""
        return _Brackets(self.array)


class _Brackets:
    __slots__ = ("array",)

    def __init__(self, array: Any) -> None:
        self.array = array

    def __getitem__(self, key: Any) -> object:
        found = self.array[key]
        return _pair(_pair(_place(found.shape, found.ndim), None), _pair(found.reshape(-1), None))


_FIRST, _SECOND, _THIRD, _FOURTH, _FIFTH = _SETTERS


def _place(extents: Any, rank: int) -> object:
    made = object.__new__(_Held)
    _FIRST(made, extents)
    _SECOND(made, 0)
    _THIRD(made, (0,) * rank)
    _FOURTH(made, None)
    _FIFTH(made, extents)
    return made


def _pair(one: object, other: object) -> object:
    made = object.__new__(_Held)
    _FIRST(made, one)
    _SECOND(made, other)
    return made


def _time(run: Run, count: int, clock: Callable[[], float]) -> float:
    start = clock()
    for _ in range(count):
        run()
    return (clock() - start) / count


def duration(seconds: float) -> str:
    """Return a time with three digits and its unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
