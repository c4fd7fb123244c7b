"""Where rows that are put together lie."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ExtentMismatchError, SelectionError

A = tw.jagged([[1, 2], [3], [], [4, 5, 6]])
O = tw.from_buffer(np.arange(1, 7), A.shape.translate_to((5, -1)))  # noqa: E741 - as the table calls it
MASK = tw.jagged([[True, False], [True], [], [False, True, True]])
Z = tw.as_tensor(np.arange(6).reshape(2, 3)).tiled(tw.Tiling([0, 2], [3]))

PLACED = {
    "the whole": (lambda: sel.as_view(O), (5, -1)),
    "another type": (lambda: sel.as_view(O).astype("f4"), (5, -1)),
    "later rows": (lambda: sel.as_view(O)[2:], (0, 0)),
    "one after the other": (lambda: sel.concat([O, O]), (5, -1)),
    "beside one another": (lambda: sel.concat([O, O], mode=1), (5, -1)),
    "after a list": (lambda: sel.concat([O, sel.as_view(O).astype("f8")]), (5, -1)),
    "in turns": (lambda: sel.interleave([O, O]), (5, -1)),
    "under one another": (lambda: sel.stack([O, O]), (0, 5, -1)),
    "under each row": (lambda: sel.stack([O, O], mode=1), (5, 0, -1)),
    "under each element": (lambda: sel.stack([O, O], mode=2), (5, -1, 0)),
    "the less": (lambda: sel.minimum(O, O), (5, -1)),
    "at most": (lambda: sel.minimum(O, 3), (5, -1)),
    "at most a number for each row": (lambda: sel.minimum(O, np.array([1, 2, 3, 4])), (5, -1)),
    "chosen": (lambda: sel.where(O > 2, O, -1), (5, -1)),
}


@pytest.mark.parametrize(("make", "origin"), PLACED.values(), ids=PLACED)
def test_rows_keep_the_origin_that_operands_agree_on(make, origin):
    view = make()
    assert view.shape.origin == origin
    assert view.compute().shape == view.shape
    again = sel.from_json(sel.to_json(view), sources=sel.sources(view))
    assert again.shape == view.shape
    assert again.compute().array_equal(view.compute())


def test_a_window_keeps_its_place():
    window = sel.as_view(O).window(O.shape.slice_outer(7, 9))
    assert window.shape.origin == (7, -1)
    assert window.compute().tolist() == [[], [4, 5, 6]]
    message = tw.wire.decode(tw.wire.encode([window.compute()]))
    assert message.tensors[0].shape.origin == (7, -1)


def test_rows_spread_over_lie_where_they_did():
    assert sel.as_view([1, 2, 3, 4]).broadcast(O.shape).shape.origin == (5, -1)


@pytest.mark.parametrize(
    "make",
    [
        lambda: sel.concat([O, A], mode=1),
        lambda: sel.where(MASK, O, A),
        lambda: sel.minimum(O, A),
        lambda: sel.minimum(O, tw.as_tensor([1, 2, 3, 4])),
        lambda: sel.stack([O, A]),
    ],
)
def test_operands_that_lie_elsewhere_are_refused(make):
    with pytest.raises(ExtentMismatchError, match=r"starts at|lies elsewhere|origin"):
        make()


def test_only_the_mode_that_grows_may_start_elsewhere():
    later = tw.from_buffer(np.arange(1, 7), A.shape.translate_to((9, -1)))
    assert sel.concat([O, later]).shape.origin == (5, -1)


@pytest.mark.parametrize("start", ["[5,-1,0]", "[5]", "5", "[5,null]", "[9223372036854775807,0]"])
def test_hostile_origins_are_refused(start):
    text = sel.to_json(sel.concat([O, O]))
    assert '"start":[5,-1]' in text
    with pytest.raises(SelectionError):
        sel.from_json(text.replace("[5,-1]", start), sources={"0": O})


@pytest.mark.parametrize(
    ("key", "rows", "nbytes"),
    [
        (np.s_[0:1], [[[]]], 0),
        (np.s_[1:], [[[[0, 1, 2], [3, 4, 5]]]], 48),
        (np.s_[::-1], [[[[0, 1, 2], [3, 4, 5]]], [[]]], 48),
    ],
)
def test_empty_tiles(key, rows, nbytes):
    view = sel.as_view(Z)[key]
    assert view.compute().tolist() == rows
    assert view.plan().bytes_read == nbytes
