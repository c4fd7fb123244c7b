"""The number of elements that a symmetry stores, for extents of any size.

The orbit of an index depends on which of its numbers are equal. Modes that operations exchange
have one extent, so patterns of equal numbers (at most 4140, Bell's number of 8) stand for all indices.
"""

import itertools
import math
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tensorwrapper.shape.symmetry._operations import table_of

__all__ = ["OrbitType", "Orbits", "count_stored", "orbits_of"]


class OrbitType(NamedTuple):
    """Indices whose numbers are equal in one way, or in a way that an operation makes of it."""

    values: tuple[int, ...]
    """The number of different numbers at each set of exchanged modes."""

    patterns: int
    """The number of such ways."""

    multiplicity: int
    """The number of indices in one orbit."""

    zero: bool
    """True if the elements are forced to be zero."""


class Orbits(NamedTuple):
    """The sets of exchanged modes, and the types of orbits."""

    modes: tuple[tuple[int, ...], ...]
    types: tuple[OrbitType, ...]


@lru_cache(maxsize=64)
def orbits_of(codes: tuple[bytes, ...], rank: int) -> Orbits:
    """Return the types of orbits of a group; O(different types * order * rank**2)."""
    permutations, signs, conjugate = table_of(codes, rank)
    negative = (signs < 0) & ~conjugate
    modes = tuple(sorted({tuple(sorted(set(permutations[:, mode].tolist()))) for mode in range(rank)}))
    types: list[OrbitType] = []
    seen: set[int] = set()
    weights = 8 ** np.arange(rank)
    for pattern in _patterns(modes, rank):
        key = int(pattern @ weights)
        if key in seen:
            continue
        images = pattern[permutations]
        same = (images == pattern).all(axis=1)
        found = set((_first_places(images) @ weights).tolist())
        seen |= found
        values = tuple([len(set(pattern[list(own)].tolist())) for own in modes])
        multiplicity = len(codes) // int(np.count_nonzero(same))
        types.append(OrbitType(values, len(found), multiplicity, bool((same & negative).any())))
    return Orbits(modes, tuple(types))


def _patterns(modes: tuple[tuple[int, ...], ...], rank: int) -> Iterator[npt.NDArray[np.int64]]:
    """Return for each way in which exchanged modes may have equal numbers where each number comes first."""
    for choice in itertools.product(*[list(_partitions(own)) for own in modes]):
        pattern = np.empty(rank, np.int64)
        for own, firsts in zip(modes, choice, strict=True):
            pattern[list(own)] = firsts
        yield pattern


def _partitions(modes: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    if not modes:
        yield ()
        return
    for firsts in _partitions(modes[:-1]):
        for first in (*dict.fromkeys(firsts), modes[-1]):
            yield (*firsts, first)


def _first_places(images: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return for each number of a row the place where it comes first."""
    if not images.size:
        return images  # of no modes
    places: npt.NDArray[np.int64] = (images[:, :, None] == images[:, None, :]).argmax(axis=2)
    return places


def count_stored(orbits: Orbits, extents: tuple[int, ...]) -> int:
    """Return the number of orbits that are not forced to be zero."""
    total = 0
    for own in orbits.types:
        ways = own.patterns
        for modes, values in zip(orbits.modes, own.values, strict=True):
            ways *= math.perm(extents[modes[0]], values)
        total += 0 if own.zero else ways // own.multiplicity
    return total
