"""Arguments made of any bytes, for readers that take numbers and arrays."""

import random
from collections.abc import Sequence
from typing import Any, TypeVar

from tests.fuzz.mutate import NUMBERS

T = TypeVar("T")


class Draw:
    """Takes bytes from the front; where none are left, they are 0."""

    def __init__(self, data: bytes) -> None:
        self._data, self._place = data, 0

    def byte(self) -> int:
        self._place += 1
        return self._data[self._place - 1] if self._place <= len(self._data) else 0

    def raw(self, count: int) -> bytes:
        self._place += count
        return self._data[self._place - count : self._place].ljust(count, b"\0")

    def choice(self, items: Sequence[T]) -> T:
        return items[self.byte() % len(items)]

    def integer(self) -> int:
        """Mostly from -2 to 13, now and then one at the edge of something."""
        byte = self.byte()
        return byte % 16 - 2 if byte < 208 else self.choice(NUMBERS)

    def integers(self, most: int = 5) -> list[int]:
        return [self.integer() for _ in range(self.byte() % (most + 1))]

    def ascending(self, most: int = 6) -> list[int]:
        """Mostly from 0 on and never descending, as offsets are."""
        found, last = [0], 0
        for step in self.integers(most):
            last += step
            found.append(last)
        return found

    def some(self) -> Any:
        """Return what somebody may pass for a list of integers."""
        byte = self.byte()
        if byte < 200:
            return self.ascending() if byte % 2 else self.integers()
        return [[self.integers(3), self.integers(3)], None, 1.5, "12", [0.5], [[]], [None], 2, b"ab", {}][
            byte % 10
        ]


def random_inputs() -> list[bytes]:
    """Return bytes to begin with."""
    rng = random.Random(1)
    return [rng.randbytes(rng.choice((8, 24, 60, 120))) for _ in range(200)]
