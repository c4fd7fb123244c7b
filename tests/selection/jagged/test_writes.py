"""Writing through views of rows, adding through them, and computing them block by block."""

from typing import Any

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, ExtentMismatchError, ReadOnlyError, SizeOverflowError

MASK = tw.jagged([[True, False], [True], [], [False, True, True]])
FUNCTIONS: dict[str, Any] = {
    "concat": sel.concat,
    "interleave": sel.interleave,
    "jagged": tw.jagged,
    "mask": MASK,
    "pad_rows": sel.pad_rows,
    "stack": sel.stack,
}


def tensors() -> dict[str, Any]:
    return {
        "a": tw.jagged([[1, 2], [3], [], [4, 5, 6]]),
        "b": tw.jagged([[7], [], [8, 9, 10]]),
        "q": tw.jagged([[9, 1], [1], [], [5, 5, 5]]),
        "y": tw.as_tensor([10, 20, 30, 40]),
        "c": tw.jagged([np.array([[1, 2], [3, 4]]), np.array([[5, 6, 7]]), np.zeros((0, 2), int)]),
        "d": tw.jagged([[[1, 2], [3]], [], [[], [4, 5, 6]]]),
        "T": tw.as_tensor(np.arange(12).reshape(3, 4)).tiled(tw.Tiling([1, 2], [2, 2])),
        "small": tw.jagged([[1], [2, 3]], dtype="i1"),
    }


def view_of(expression: str, given: dict[str, Any]) -> sel.View[Any]:
    views = {name: sel.as_view(tensor) for name, tensor in given.items()}
    return eval(expression, {**FUNCTIONS, **views})


WRITABLE = [
    "a[::-1]",
    "a[:, ::2]",
    "a[mask]",
    "a[[3, 0]]",
    "concat([a, b])",
    "concat([a, b])[2:6]",
    "concat([a, b])[:, ::-1]",
    "concat([a, b])[jagged([[0], [], [], [2], [], [], [1]])]",
    "concat([a, q], mode=1)",
    "interleave([a, b])",
    "stack([a, q])",
    "stack([a, q], mode=1)",
    "stack([a, q], mode=2)",
    "c.permute((0, 2, 1))",
    "concat([d, d[:0]])[:, :, ::-1]",
    "T[::-1]",
    "pad_rows(a, 3)[:, :0]",
    "a.repeat((2, 1))[0:0]",
    "concat([a, a])[0:0]",
]


@pytest.mark.parametrize("expression", WRITABLE)
def test_what_is_written_is_read(expression):
    view = view_of(expression, tensors())
    new = tw.from_buffer(np.arange(100, 100 + view.size), view.shape)
    assert not view.is_readonly
    view.assign(new)
    assert view.compute().array_equal(new)
    view[...] = 5
    assert set(view.compute().elements().tolist()) <= {5}


def test_the_other_elements_stay():
    given = tensors()
    view_of("concat([a, b])[2:6]", given)[:, :1] = -1
    assert given["a"].tolist() == [[1, 2], [3], [], [-1, 5, 6]]
    assert given["b"].tolist() == [[-1], [], [8, 9, 10]]


REFUSED = {
    "a[[3, 3]]": "overlap",
    "y.broadcast(a.shape)": r"\(0, 0\) to \(0, 1\).* share",
    "pad_rows(a, 3)": r"\(0, 2\): a constant",
    "concat([a, a])": r"\(0, 0\) to \(3, 2\) and elements \(4, 0\) to \(7, 2\) share",
    'concat([a, b]).astype("f8")': "converted",
}


@pytest.mark.parametrize(("expression", "words"), REFUSED.items(), ids=REFUSED)
def test_what_has_no_place_of_its_own_is_refused_and_named(expression, words):
    given = tensors()
    view = view_of(expression, given)
    assert view.is_readonly
    with pytest.raises(ReadOnlyError, match=words):
        view.assign(0)
    assert {name: tensor.tolist() for name, tensor in given.items()} == {
        name: tensor.tolist() for name, tensor in tensors().items()
    }


def test_values_that_do_not_fit_are_refused():
    given = tensors()
    rows = view_of("concat([a, b])", given)
    with pytest.raises(ExtentMismatchError):
        rows.assign(given["a"])
    with pytest.raises(ConversionError, match="jagged"):
        rows.assign([[1], [2]])
    with pytest.raises(SizeOverflowError):
        view_of("concat([small, small[:0]])", given).assign(300)
    assert given["small"].tolist() == [[1], [2, 3]]


def test_what_overlaps_is_read_first():
    given = tensors()
    rows = view_of("concat([a, b])", given)
    rows.assign(rows[:, ::-1])
    assert rows.compute().tolist() == [[2, 1], [3], [], [6, 5, 4], [7], [], [10, 9, 8]]


def test_adding_adds_for_each_index():
    given = tensors()
    sel.as_view(tw.jagged([[1, 1, 1], [1, 1, 1]])).accumulate_into(view_of("a[[3, 3]]", given))
    assert given["a"].tolist() == [[1, 2], [3], [], [6, 7, 8]]
    given = tensors()
    sel.as_view(given["a"]).accumulate_into(view_of("y.broadcast(a.shape)", given))
    assert given["y"].tolist() == [13, 23, 30, 55]
    given = tensors()
    rows = view_of("concat([a, a[:1]])", given)
    sel.concat([given["a"], given["a"][:1]]).accumulate_into(rows)
    assert given["a"].tolist() == [[3, 6], [6], [], [8, 10, 12]]
    with pytest.raises(ExtentMismatchError):
        sel.as_view(given["b"]).accumulate_into(rows)


BLOCKS = [
    "a",
    "a[::-1]",
    "concat([a, b])",
    "concat([d, d])",
    "concat([c, c])",
    "T",
    "concat([T, T])",
    "a[:0]",
]


@pytest.mark.parametrize("most", [1, 2, 3, 5, 100])
@pytest.mark.parametrize("expression", BLOCKS)
def test_blocks_are_the_rows_in_order(expression, most):
    view = view_of(expression, tensors())
    elements: list[int] = []
    for region, block in view.blocks(8 * most):
        assert block.shape == region
        assert block.size <= most
        elements += block.elements().tolist()
    assert elements == view.compute().elements().tolist()


def test_progress_of_blocks_counts_the_whole():
    seen: list[tuple[int, int]] = []
    view = view_of("concat([a, b])", tensors())
    list(view.blocks(24, progress=lambda done, total: seen.append((done, total))))
    assert seen[-1] == (80, 80)
