"""Where a view repeats elements, every index adds what it has."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import DTypeError, ExtentMismatchError, ReadOnlyError

CASES = {
    "a broadcast": (
        lambda t: sel.as_view(t).broadcast((5, 4)),
        np.arange(4).reshape(1, 4) * np.ones((5, 1), int),
    ),
    "a repetition": (lambda t: sel.as_view(t).repeat((3,)), np.arange(12)),
    "each twice": (lambda t: sel.as_view(t).repeat_each(0, 2), np.arange(8)),
    "windows": (lambda t: sel.as_view(t).sliding_window(0, 3), np.arange(6).reshape(2, 3)),
    "a gather": (lambda t: sel.as_view(t).gather(0, [3, 3, 0]), np.array([1, 2, 4])),
    "one source twice": (lambda t: sel.concat([t, t[1:]]), np.arange(7)),
    "edges": (lambda t: sel.as_view(t).pad([(2, 1)], boundary="edge"), np.arange(7)),
    "what is put in order": (
        lambda t: sel.concat([t, t]).reshape((2, 4)).permute((1, 0)).reshape((8,)),
        np.arange(8),
    ),
    "windows over what is put in order": (
        lambda t: sel.concat([t, t]).reshape((2, 4)).permute((1, 0)).reshape((8,)).sliding_window(0, 2),
        np.arange(14).reshape(7, 2),
    ),
}


@pytest.mark.parametrize(("view", "values"), CASES.values(), ids=CASES)
def test_every_index_adds_its_own(view, values):
    places = np.asarray(view(tw.as_tensor(np.arange(4))).compute())
    wanted = np.full(4, 100)
    np.add.at(wanted, places.reshape(-1), values.reshape(-1))
    t = tw.as_tensor(np.full(4, 100))
    sel.as_view(values).accumulate_into(view(t)[...])
    assert t.tolist() == wanted.tolist()


def test_tensors_and_views_that_repeat_are_targets():
    t = tw.as_tensor([0, 0])
    sel.as_view([1, 2, 4]).accumulate_into(t.gather(0, [0, 1, 0]))
    assert t.tolist() == [5, 2]
    sel.iota((3, 2), 0).accumulate_into(sel.as_view(t).broadcast((3, 2)))
    assert t.tolist() == [8, 5]


def test_values_are_broadcast():
    t = tw.as_tensor([0, 0])
    sel.full((), 1, dtype="i8").accumulate_into(sel.concat([t, t, t]))
    assert t.tolist() == [3, 3]


def test_what_is_refused_changes_nothing():
    t = tw.as_tensor([0, 0])
    fixed = np.zeros(2, "i8")
    fixed.flags.writeable = False
    with pytest.raises(ReadOnlyError, match="position 2 of mode 0: a constant"):
        sel.ones((3,), dtype="i8").accumulate_into(sel.pad(t, [(0, 1)]))
    with pytest.raises(ReadOnlyError, match="read-only"):
        sel.ones((4,), dtype="i8").accumulate_into(sel.concat([t, tw.as_tensor(fixed)]))
    with pytest.raises(ExtentMismatchError):
        sel.ones((3,), dtype="i8").accumulate_into(sel.concat([t, t]))
    with pytest.raises(DTypeError):
        sel.ones((4,), dtype="f8").accumulate_into(sel.concat([t, t]))
    assert t.tolist() == [0, 0]
