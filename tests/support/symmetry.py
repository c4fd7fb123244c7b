"""Symmetries drawn at random, their closure by brute force, and data that have them."""

import itertools
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from tensorwrapper.errors import SymmetryError
from tensorwrapper.shape import Operation, Symmetry


def parts_of(symmetry):
    """Return permutation, sign and conjugation of each operation."""
    return [(own.permutation, own.sign, own.conjugate) for own in symmetry.operations]


def brute_closure(rank, generators):
    """Return all products of generators."""
    found = {Operation(tuple(range(rank)), 1, False)}
    while True:
        more = {
            Operation(
                tuple(own.permutation[k] for k in two.permutation),
                own.sign * two.sign,
                own.conjugate != two.conjugate,
            )
            for own, two in itertools.product(found, generators)
        }
        if more <= found:
            return found
        found |= more


@st.composite
def symmetries(draw, most_rank, *, conjugate=True):
    """Draw a rank, generators and the symmetry of these; no symmetry of zeros."""
    rank = draw(st.integers(0, most_rank))
    operation = st.tuples(
        st.permutations(range(rank)).map(tuple),
        st.sampled_from([1, 1, -1]),
        st.booleans() if conjugate else st.just(False),
    )
    generators = []
    for p, s, c in draw(st.lists(operation, max_size=3)):
        try:
            Symmetry(rank, [*generators, Operation(p, s, c)])
        except SymmetryError:
            continue
        generators.append(Operation(p, s, c))
    return rank, generators, Symmetry(rank, generators)


def symmetric_data(symmetry, extents, seed, dtype=np.complex128, most=9):
    """Return integers as complex numbers, or as real ones, that have a symmetry exactly."""
    rng = np.random.default_rng(seed)
    x = rng.integers(-most, most + 1, extents) + 0j
    if dtype == np.complex128:
        x = x + 1j * rng.integers(-most, most + 1, extents)
    total = np.zeros(extents, np.complex128)
    for p, sign, conjugate in parts_of(symmetry):
        image = sign * x.transpose(p)
        total = total + (image.conj() if conjugate else image)
    return total.astype(dtype) if dtype == np.complex128 else total.real.astype(dtype)


def extents_of(s, data, most=4):
    """Draw extents that are equal along the cycles of a symmetry."""
    drawn = [data.draw(st.integers(0, most)) for _ in range(s.rank)]
    first = [min(own.permutation.index(mode) for own in s.operations) for mode in range(s.rank)]
    return tuple(drawn[mode] for mode in first)


def water_integrals():
    """Return the 406 packed repulsion integrals of water in STO-3G, of 7 functions."""
    lines = Path(__file__).with_name("water_sto3g_s8.txt").read_text(encoding="ascii").splitlines()
    return np.array(" ".join(lines[2:]).split(), np.float64)
