"""The buffer of one tile of each orbit, as a buffer."""

import numpy as np

from tensorwrapper import BlockPattern, Tiling
from tensorwrapper.buffer import SymmetricBlocks
from tensorwrapper.shape import Symmetry
from tensorwrapper.testing import BufferContract

CUT = Tiling([1, 2], [1, 2])
STORED = BlockPattern(CUT).unique("s2")


class TestSymmetricTiles(BufferContract):
    def buffer(self):
        return SymmetricBlocks(STORED, np.array([1.0, 2, 3, 4, 5, 5, 6]), Symmetry.parse("s2"))

    def expected(self):
        return np.array([1.0, 2, 3, 2, 3, 4, 5, 5, 6])


class TestHermitianTiles(BufferContract):
    def buffer(self):
        return SymmetricBlocks(STORED, np.array([1, 2j, 3, 4, 5 + 1j, 5 - 1j, 6]), Symmetry.parse("h2"))

    def expected(self):
        return np.array([1, -2j, 3, 2j, 3, 4, 5 + 1j, 5 - 1j, 6])


class TestAntisymmetricTiles(BufferContract):
    def buffer(self):
        return SymmetricBlocks(
            BlockPattern(CUT, [(1, 0), (1, 1)]), np.array([2, 3, 0, 5, -5, 0]), Symmetry.parse("a2")
        )

    def expected(self):
        return np.array([0, -2, -3, 2, 3, 0, 5, -5, 0])


def test_memory_is_shared():
    values = np.array([1.0, 2, 3, 4, 5, 5, 6])
    buffer = SymmetricBlocks(STORED, values, Symmetry.parse("s2"))
    values[1] = 9
    assert buffer.read(np.arange(9)).tolist()[1] == 9
    assert buffer.orbit_sizes().tolist() == [1, 2, 1]
    assert repr(buffer) == (
        "<SymmetricBlocks buffer: 3 for 4 of 2 x 2 tiles, 7 elements of type float64, else 0.0, symmetry "
        "2: +(0 1)>"
    )
