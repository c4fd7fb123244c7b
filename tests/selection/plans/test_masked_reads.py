"""Where a mask chooses, of each operand only that is read which it is chosen for."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import VersionChangedError
from tensorwrapper.selection.plans import _source_reads, _split_work
from tests.selection.expressions.test_unary import calls_counted
from tests.support.selection.counting_source import CountingSource

MASK = tw.jagged([[True, False], [True], [], [False, True, True]])


def rows_elsewhere(lengths):
    source = CountingSource(np.arange(sum(lengths)))
    return source, sel.as_view(source).unflatten(lengths)


def chosen_of(view):
    return sum(own.nbytes for own in view.plan().reads if own.source.dtype != bool)


@pytest.mark.parametrize(
    ("make", "nbytes"),
    [
        (lambda v: sel.where(MASK, v, -1), 32),
        (lambda v: sel.where(MASK, v.astype("f8"), -1), 32),
        (lambda v: sel.where(MASK, v[:, ::-1], tw.jagged([[9, 1], [1], [], [5, 5, 5]])), 32),
        (lambda v: sel.where(MASK, v, v[:, ::-1]), 32),
        (lambda v: sel.where(MASK & ~MASK, v, 7), 0),
        (lambda v: sel.where(MASK, 7, v)[3:], 8),
    ],
)
def test_a_where_reads_elsewhere_only_what_the_mask_chooses(make, nbytes):
    source, view = rows_elsewhere([2, 1, 0, 3])
    chosen = make(view)
    here = make(sel.as_view(tw.from_buffer(source.array, view.shape)))
    before = source.nbytes
    assert sum(own.nbytes for own in chosen.plan().reads if own.source is source) == nbytes
    assert chosen.compute().tolist() == here.compute().tolist()
    assert source.nbytes - before == nbytes


FEW = np.arange(40) % 20 == 6
TWENTY = np.arange(20) + 100


def _twice(make):
    return lambda v: sel.concat([make(v), v[:2]])


@pytest.mark.parametrize(
    ("make", "elements"),
    [
        (lambda v: sel.where(FEW, sel.concat([v, TWENTY]), 3), 1),
        (lambda v: sel.where(FEW, sel.concat([TWENTY, v])[::-1], 3), 1),
        (lambda v: sel.where(FEW, sel.concat([v, v]), 3), 1),
        (lambda v: sel.where(FEW, sel.concat([v, v[::-1]]), 3), 2),
        (lambda v: sel.where(FEW[:20], sel.minimum(v, 5), 3), 1),
        (lambda v: sel.where(FEW[:20], sel.maximum(v, v[::-1]), 3), 2),
        (lambda v: sel.where(~FEW[:20], 3, sel.minimum(v, TWENTY).astype("f4")), 1),
        (lambda v: sel.where(FEW, sel.interleave([v, TWENTY]), 3), 2),
        (lambda v: sel.where(FEW, sel.interleave([TWENTY, v]), 3), 0),
        (lambda v: sel.where(FEW, sel.pad(v, [(3, 17)]), 3), 1),
        (lambda v: sel.where(FEW.reshape(2, 20), sel.stack([v, TWENTY]), 3), 1),
        (lambda v: sel.where(FEW.reshape(2, 20), sel.stack([v, TWENTY]), 3)[:, 5:8], 1),
        (lambda v: sel.where(FEW, sel.where(~FEW, sel.concat([v, v]), 4), 3), 0),
        (
            lambda v: sel.where(
                CountingSource(TWENTY > 0), sel.where(FEW[:20], sel.minimum(v[::-1], 9), 4), 3
            ),
            1,
        ),
        (_twice(lambda v: sel.where(FEW, sel.concat([v, TWENTY]), 3)), 3),
        (lambda v: sel.concat([sel.where(FEW, sel.concat([v, TWENTY]), 3), v]), 20),
    ],
)
def test_what_a_mask_chooses_is_followed_through_what_views_are_put_together_with(make, elements):
    source = CountingSource(np.arange(20))
    chosen, here = make(sel.as_view(source)), make(sel.as_view(np.arange(20)))
    assert sum([own.nbytes for own in chosen.plan().reads if own.source is source]) == 8 * elements
    assert chosen.compute().tolist() == here.compute().tolist()
    assert source.nbytes == 8 * elements


def test_many_parts_elsewhere_are_looked_at_once_each():
    found = []
    for count in (40, 160):
        parts = [CountingSource(np.arange(4) + k) for k in range(count)]
        view = sel.where(np.arange(4 * count) % 8 == 0, sel.concat(parts), 0)
        with calls_counted() as calls:
            assert view.plan().bytes_read == 8 * count // 2
        found.append(calls[0])
        assert view.compute().tolist() == [k // 4 if k % 8 == 0 else 0 for k in range(4 * count)]
        assert sum([own.nbytes for own in parts]) == 8 * count // 2
    assert found[1] <= 5 * found[0]


def test_a_mask_that_changes_changes_what_is_read():
    source = CountingSource(np.arange(10_000.0).reshape(100, 100))
    mask = tw.as_tensor(np.zeros((100, 100), bool))
    view = sel.where(mask, source, 0.0)
    assert chosen_of(view) == 0
    mask[3:5, 7:9] = True
    assert chosen_of(view) == 32
    assert "32 read" in str(view.plan())
    expected = np.where(mask.to_numpy(), source.array, 0.0)
    assert np.array_equal(view.compute().to_numpy(), expected)
    assert source.nbytes == 32


def test_choices_inside_choices_are_followed():
    a, q = tw.jagged([[1, 2], [3], [], [4, 5, 6]]), tw.jagged([[9, 1], [1], [], [5, 5, 5]])
    inner = sel.where(MASK, a, q)
    assert chosen_of(sel.where(MASK, inner, 0)) == 32
    assert chosen_of(sel.where(~MASK, inner, 0)) == 16
    assert chosen_of(sel.concat([inner, a[:1]])) == 32 + 8 + 16
    assert chosen_of(sel.minimum(inner, 3).astype("f8")[3:]) == 24


def _twenty():
    source = CountingSource(np.arange(20).reshape(4, 5))
    return source, sel.as_view(source)


@pytest.mark.parametrize(
    ("make", "nbytes"),
    [
        # A row is twice in the stack, and every second element of the whole is taken.
        (lambda v: sel.stack([v.flatten(), v.flatten()]).flatten()[::4], 40),
        (lambda v: sel.stack([v.flatten(), v.flatten()])[:, :5].flatten()[[0, 6, 5]], 16),
        (lambda v: sel.concat([v, v[::-1]]).flatten()[[3, 36]], 16),
        # Many times the same four elements, none of them in the row or the column of another.
        (lambda v: v.vindex[np.arange(4), np.arange(4)].broadcast((50, 4)), 32),
    ],
)
def test_of_what_is_taken_by_number_no_more_is_read_than_is_taken(make, nbytes):
    source, view = _twenty()
    made = make(view)
    here = make(sel.as_view(source.array))
    assert made.plan().bytes_read == here.plan().bytes_read == nbytes
    before = source.nbytes
    assert made.compute().tolist() == here.compute().tolist()
    assert source.nbytes - before == nbytes
    assert np.concatenate([own.elements() for _, own in made.blocks(16)]).tolist() == made.elements().tolist()


@pytest.mark.parametrize("rows", [False, True])
def test_where_a_mask_has_too_many_elements_for_one_look_blocks_are_read_by_themselves(rows, monkeypatch):
    monkeypatch.setattr(_source_reads, "_LISTED", 16)
    monkeypatch.setattr(_split_work, "_AT_ONCE", 16)
    sources = [CountingSource(np.arange(60) + first) for first in (0, 100)]
    mask = np.arange(60) // 10 == 3
    views = [sel.as_view(source) for source in sources]
    views = [view.unflatten([7, 0, 53]) if rows else view.reshape((6, 10)) for view in views]
    chosen = sel.where(tw.from_buffer(mask, views[0].shape), *views)
    assert {own.nbytes for own in chosen.plan().reads if own.source in sources} == {80, 400}
    expected = np.where(mask, np.arange(60), np.arange(60) + 100)
    assert chosen.compute().elements().tolist() == expected.tolist()
    assert [source.nbytes for source in sources] == [80, 400]


def test_a_version_that_changes_between_two_blocks_is_seen(monkeypatch):
    monkeypatch.setattr(_source_reads, "_LISTED", 16)
    monkeypatch.setattr(_split_work, "_AT_ONCE", 16)

    class Changing(CountingSource):
        def cost(self, selection):
            self.version = str(self.calls)
            return super().cost(selection)

    source = Changing(np.arange(60))
    with pytest.raises(VersionChangedError):
        sel.where(np.arange(60) // 8 % 2 == 0, sel.as_view(source), -1).compute()
