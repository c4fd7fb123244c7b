"""Cycles of every kind, and the offsets that their formula gives."""

import math

from hypothesis import strategies as st

from tensorwrapper.layout.axes._axis import Cycle

small = st.integers(-40, 40)


@st.composite
def cycles(draw, *, whole=False):
    """Any cycle; with ``whole`` one whose last position is followed by its first."""
    modulus = draw(st.none() | st.integers(1, 24)) if not whole else draw(st.integers(1, 24))
    turn = draw(st.integers(-24, 24))
    extent = draw(st.integers(0, 30))
    if whole:
        extent = modulus // math.gcd(turn, modulus) * draw(st.integers(0, 3))
    return Cycle(extent, draw(small), turn, modulus, draw(st.integers(1, 5)), draw(st.integers(-4, 4)))


def defined(axis):
    """The offsets by the formula, in Python integers, which round down."""
    found = []
    for j in range(axis.extent):
        place = axis.start + axis.increment * j
        found.append(axis.step * ((place if axis.modulus is None else place % axis.modulus) // axis.divisor))
    return found


def listed(based):
    base, axis = based
    return [base + axis.at(j) for j in range(axis.extent)]
