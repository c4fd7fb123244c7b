"""The number of elements that a symmetry stores, for extents of any size.

The orbit of an index depends on which of its numbers are equal. Modes that operations exchange
have one extent, so patterns of equal numbers (at most 4140, Bell's number of 8) stand for all indices.
"""

import itertools
import math
from collections.abc import Iterator
from functools import lru_cache, reduce
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import different
from tensorwrapper.shape.symmetry._operations import table_of


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
    columns, negative = np.ascontiguousarray(permutations.T), (signs < 0) & ~conjugate
    modes = tuple(sorted({tuple(sorted(set(column.tolist()))) for column in columns}))
    types: list[OrbitType] = []
    seen: set[int] = set()
    for firsts in _patterns(modes, rank):
        if reduce(lambda key, first: key << 3 | first, firsts, 0) in seen:
            continue
        pattern = np.array(firsts, np.uint8)
        images = pattern[columns]
        same = (images == pattern[:, None]).all(axis=0)
        found = set(different(_keys(images).astype(np.int64)).tolist())
        seen |= found
        values = tuple([len(set(pattern[list(own)].tolist())) for own in modes])
        multiplicity = len(codes) // int(np.count_nonzero(same))
        types.append(OrbitType(values, len(found), multiplicity, bool((same & negative).any())))
    return Orbits(modes, tuple(types))


def _patterns(modes: tuple[tuple[int, ...], ...], rank: int) -> Iterator[tuple[int, ...]]:
    """Return for each way in which exchanged modes may have equal numbers where each number comes first."""
    for choice in itertools.product(*[list(_partitions(own)) for own in modes]):
        pattern = [0] * rank
        for own, firsts in zip(modes, choice, strict=True):
            for mode, first in zip(own, firsts, strict=True):
                pattern[mode] = first
        yield tuple(pattern)


def _partitions(modes: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    if not modes:
        yield ()
        return
    for firsts in _partitions(modes[:-1]):
        for first in (*dict.fromkeys(firsts), modes[-1]):
            yield (*firsts, first)


def _keys(images: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint32]:
    """Return a number for each column that says where each of its numbers comes first: three bits each."""
    keys = np.zeros(images.shape[1], np.uint32)
    for place, own in enumerate(images):
        first = np.full(len(own), place, np.uint8)
        for before in range(place - 1, -1, -1):
            np.copyto(first, before, where=images[before] == own)
        keys = (keys << np.uint32(3)) | first
    return keys


def count_stored(orbits: Orbits, extents: tuple[int, ...]) -> int:
    """Return the number of orbits that are not forced to be zero."""
    total = 0
    for own in orbits.types:
        ways = own.patterns
        for modes, values in zip(orbits.modes, own.values, strict=True):
            ways *= math.perm(extents[modes[0]], values)
        total += 0 if own.zero else ways // own.multiplicity
    return total
