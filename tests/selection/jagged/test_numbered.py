"""The rows of the table that are no expression with a result: where views lie, what is read and refused.

Each row of the table has a test with its number: 1 to 88, 99 to 123 and 129 in `test_rows`, the others here.
"""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import DTypeError, ExtentMismatchError, ReadOnlyError, VersionChangedError
from tests.selection.jagged import test_rows
from tests.support.selection.counting_source import CountingSource
from tests.support.selection.kinds import REFUSALS

ROWS = [[1, 2], [3], [], [4, 5, 6]]
A = tw.jagged(ROWS)
O = tw.from_buffer(np.arange(1, 7), A.shape.translate_to((5, -1)))  # noqa: E741 - as the table calls it
MASK = tw.jagged([[True, False], [True], [], [False, True, True]])


def row89():
    view = sel.as_view(CountingSource(O))[2:]
    assert view.compute().tolist() == [[], [4, 5, 6]]
    assert view.shape.origin == (0, 0)
    assert view.plan().bytes_read == 24


def row90():
    window = sel.as_view(O).window(O.shape.slice_outer(7, 9))
    assert (window.shape.origin, window.compute().tolist()) == ((7, -1), [[], [4, 5, 6]])
    assert tw.wire.decode(tw.wire.encode([window])).tensors[0].shape.origin == (7, -1)


def row91():
    # The table refuses it; regions keep their places in every join of rows, as in `Shape.concat`.
    assert sel.concat([O, A]).shape == tw.Shape.concat([O.shape, A.shape])
    with pytest.raises(ExtentMismatchError, match=r"mode 1 starts at -1.*at 0"):
        sel.concat([tw.zeros(tw.Shape(2, 3, origin=(5, -1))), tw.zeros((2, 3))])
    assert sel.concat([O, O]).shape.origin == (5, -1)


def row92():
    assert sel.as_view(O).shape.origin == sel.as_view(CountingSource(O)).shape.origin == (5, -1)


def row93():
    for refused in (lambda: sel.where(MASK, O, A), lambda: sel.minimum(O, A)):
        with pytest.raises(ExtentMismatchError, match="starts at"):
            refused()
    assert sel.minimum(O, O).shape.origin == (5, -1)
    assert sel.as_view(O).astype("f4").shape.origin == (5, -1)


def row94():
    tiles = tw.as_tensor(np.arange(6).reshape(2, 3)).tiled(tw.Tiling([0, 2], [3]))
    view = sel.as_view(CountingSource(tiles))
    whole = [[[0, 1, 2], [3, 4, 5]]]
    for key, rows, nbytes in (
        (np.s_[0:1], [[[]]], 0),
        (np.s_[1:], [whole], 48),
        (np.s_[::-1], [whole, [[]]], 48),
    ):
        assert view[key].compute().tolist() == rows
        assert view[key].plan().bytes_read == nbytes


def row95():
    source = CountingSource(tw.from_buffer(np.arange(3 * 10**6), tw.Shape.jagged(np.full(10**6, 3))))
    row = sel.as_view(source)[2]
    assert row.plan().bytes_read == 24
    assert row.compute().tolist() == [6, 7, 8]
    assert source.nbytes == 24


def row96():
    source = CountingSource(A)
    view = sel.as_view(source)
    both = sel.concat([view, view[::-1]])
    (read,) = both.plan().reads
    assert read.nbytes == 48
    assert both.compute().tolist() == [*ROWS, *ROWS[::-1]]
    assert (source.calls, source.nbytes) == (1, 48)


def row97():
    sources = [CountingSource(tw.jagged([[k, k], []])) for k in range(4)]
    views = [sel.as_view(source) for source in sources]
    many = sel.concat([*views, *[views[3]] * 99_996])
    assert many[5:6].compute().tolist() == [[]]
    assert many[4:5].compute().tolist() == [[2, 2]]
    assert [source.calls for source in sources] == [0, 0, 1, 0]


def row98():
    source, other = CountingSource(A), CountingSource(A)
    first = sel.stack([sel.as_view(source), sel.as_view(other)[:, ::-1]])[0]
    assert first.compute().tolist() == ROWS
    assert (source.nbytes, other.nbytes) == (48, 0)


def row124():
    a, y = tw.jagged(ROWS), tw.as_tensor([10, 20, 30, 40])
    for view, words in (
        (sel.as_view(a)[[3, 3]], r"\(0, 0\) and \(1, 0\)"),
        (sel.as_view(y).broadcast(a.shape), r"\(0, 0\) to \(0, 1\)"),
        (sel.pad_rows(sel.as_view(a), 3), r"\(0, 2\): a constant"),
    ):
        with pytest.raises(ReadOnlyError, match=words):
            view.assign(0)
    assert (a.tolist(), y.tolist()) == (ROWS, [10, 20, 30, 40])


def row125():
    a = tw.jagged(ROWS)
    with pytest.raises(ReadOnlyError, match=r"\b0\b.*\b4\b"):
        sel.concat([a, a]).assign(0)
    assert a.tolist() == ROWS


def row126():
    small = tw.jagged([[1], [2, 3]], dtype="i1")
    with pytest.raises(DTypeError):
        sel.as_view(small).assign(300.5)
    assert small.tolist() == [[1], [2, 3]]


def row128():
    class Changing(CountingSource):
        def deliver(self, selection, target):
            super().deliver(selection, target)
            self.version = "2"

    with pytest.raises(VersionChangedError, match=r"1.*2"):
        sel.as_view(Changing(A)).compute()


CASES = [
    row89, row90, row91, row92, row93, row94, row95, row96, row97, row98, row124, row125, row126, row128
]  # fmt: skip


@pytest.mark.parametrize("check", CASES, ids=[check.__name__ for check in CASES])
def test_row(check):
    check()


def test_every_row_of_the_table_has_a_test():
    told = [number for number, *_ in test_rows.TABLE]
    here = [int(check.__name__.removeprefix("row")) for check in CASES]
    assert sorted({*told, *REFUSALS, *here}) == [*range(1, 130)]
    assert not set(here) & {*told, *REFUSALS}
