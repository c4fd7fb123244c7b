"""A sparse buffer keeps the contract of buffers."""

import numpy as np

from tensorwrapper.buffer import Sparse
from tensorwrapper.testing import BufferContract


class TestSparse(BufferContract):
    def buffer(self):
        return Sparse([8, 2, 3], [1.5, 2.0, -4.0], 11)

    def expected(self):
        return np.array([0, 0, 2, -4.0, 0, 0, 0, 0, 1.5, 0, 0])


class TestReadOnlySparse(BufferContract):
    def buffer(self):
        return Sparse(
            [0, 6], np.array([5, -1], dtype="m8[s]"), 7, fill_value=np.timedelta64(3, "s")
        ).as_readonly()

    def expected(self):
        return np.array([5, 3, 3, 3, 3, 3, -1], dtype="m8[s]")


class TestSparseWithoutAnything(BufferContract):
    def buffer(self):
        return Sparse([], np.empty(0, dtype=bool), 9, fill_value=True)

    def expected(self):
        return np.ones(9, dtype=bool)
