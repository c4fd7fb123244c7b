"""A view as a source keeps the contract of sources."""

import numpy as np

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.remote.served._view_source import ViewSource
from tensorwrapper.testing import SourceContract

ROWS = tw.jagged([[1, 2], [], [3, 4, 5]])


class TestBox(SourceContract):
    VIEW = sel.pad(np.arange(12.0).reshape(3, 4), [(1, 0), (0, 2)], fill_value=7)

    def source(self):
        return ViewSource(self.VIEW)

    def expected(self):
        return self.VIEW.compute()


class TestRows(SourceContract):
    VIEW = tw.concat([ROWS, ROWS])

    def source(self):
        return ViewSource(self.VIEW)

    def expected(self):
        return self.VIEW.compute()
