"""Computing views: into new memory, into memory that is given, at once or part by part."""

import os
import threading

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper import selection as sel
from tensorwrapper.buffer import count_copies
from tensorwrapper.errors import (
    BufferSizeError,
    ComputationCancelledError,
    ConversionError,
    DTypeError,
    ExtentError,
    ExtentMismatchError,
    ReadOnlyError,
)
from tensorwrapper.selection.execution._write_in_memory import threads_for

X = np.arange(24).reshape(4, 6)


def view():
    return sel.concat([X, X + 100], mode=1)[:, ::3]


EXPECTED = np.concatenate([X, X + 100], 1)[:, ::3]


def test_a_result_has_memory_of_its_own():
    t = tw.as_tensor(X.copy())
    found = sel.as_view(t).compute()
    found[0, 0] = 99
    assert t[0, 0].item() == 0
    assert not found.is_readonly


@pytest.mark.parametrize(("order", "strides"), [("C", (4, 1)), ("F", (1, 4)), ((0, 1), (1, 4))])
def test_the_order_says_how_new_memory_is_filled(order, strides):
    found = view().compute(order=order)
    np.testing.assert_array_equal(np.asarray(found), EXPECTED)
    assert np.asarray(found).strides == tuple(8 * step for step in strides)


def test_an_order_is_kept_at_an_origin():
    v = sel.iota(Shape(2, 3, origin=(5, -1)), 0)
    assert v.compute(order="F").shape == v.shape
    assert v.compute(order="F").tolist() == [[5, 5, 5], [6, 6, 6]]


@pytest.mark.parametrize(
    "make",
    [
        lambda: np.zeros((4, 4)),
        lambda: np.zeros((4, 4), order="F"),
        lambda: np.zeros((8, 4), "f4")[::-2],
        lambda: np.zeros((4, 4, 3), "c16")[:, :, 1],
        lambda: np.zeros((4, 4), ">i8"),
    ],
    ids=["C", "F", "strided", "inner mode of another type", "other byte order"],
)
def test_an_array_that_is_given_is_written_and_returned_as_a_tensor(make):
    out = make()
    found = view().compute(out)
    assert isinstance(found, tw.Tensor)
    assert np.shares_memory(np.asarray(found), out)
    np.testing.assert_array_equal(out, EXPECTED)


def test_a_tensor_that_is_given_is_written_and_returned():
    out = tw.as_tensor(np.zeros((4, 4))).permute((1, 0))[::-1]
    assert view().compute(out) is out
    assert out.tolist() == EXPECTED.tolist()


def test_memory_around_the_result_stays():
    wide = np.full((6, 6), -1)
    view().compute(wide[1:5, 1:5])
    assert (wide[[0, 5]] == -1).all()
    assert (wide[:, [0, 5]] == -1).all()


@pytest.mark.parametrize(
    ("out", "error", "text"),
    [
        (np.zeros((4, 5)), ExtentMismatchError, r"\(4, 4\) does not fit into \(4, 5\)"),
        (np.zeros((4, 4), bool), DTypeError, "int64 do not go into elements of type bool"),
        (np.broadcast_to(np.zeros(4), (4, 4)), ReadOnlyError, "cannot be written"),
        (tw.as_tensor(np.zeros(4)).broadcast((4, 4)), ReadOnlyError, "cannot be written"),
        (tw.as_tensor(np.zeros((4, 4))).gather(0, [1, 0, 3, 2]), ConversionError, "with strides"),
    ],
    ids=["extents", "type", "read-only", "repeated", "no array"],
)
def test_memory_that_does_not_fit_is_refused(out, error, text):
    with pytest.raises(error, match=text):
        view().compute(out)


@pytest.mark.parametrize(
    "turn",
    [
        lambda v: v[::-1],
        lambda v: v.permute((1, 0)),
        lambda v: v.rotate((1, 2)),
        lambda v: sel.concat([v[2:], v[:2]]),
        lambda v: sel.minimum(v, v.permute((1, 0))),
    ],
    ids=["reverse", "permute", "rotate", "concat", "minimum"],
)
def test_the_memory_of_a_source_may_be_written(turn):
    x = np.arange(16).reshape(4, 4)
    expected = np.asarray(turn(sel.as_view(x.copy())).compute())
    turn(sel.as_view(tw.as_tensor(x))).compute(x)
    np.testing.assert_array_equal(x, expected)


@pytest.mark.parametrize("threads", [1, 2, np.int8(3)])
def test_threads_change_nothing(threads):
    x = np.arange(300 * 400.0).reshape(300, 400)
    v = sel.concat([x, x], mode=1).permute((1, 0)).rotate((3, 0))
    expected = np.roll(np.concatenate([x, x], 1).T, 3, 0)
    np.testing.assert_array_equal(np.asarray(v.compute(threads=threads)), expected)


def test_at_least_one_thread():
    with pytest.raises(ExtentError, match="threads"):
        view().compute(threads=0)


def test_progress_ends_with_all_bytes():
    v = sel.iota((5000, 1000), 1)
    seen = []
    v.compute(progress=lambda done, total: seen.append((done, total)))
    assert len(seen) > 1
    assert all(total == v.nbytes for _, total in seen)
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})
    assert seen[-1][0] == v.nbytes


def test_a_cancelled_computation_keeps_what_was_written():
    cancel, out = threading.Event(), np.zeros((5000, 1000), "i8")
    with pytest.raises(ComputationCancelledError, match="of 40000000 bytes"):
        sel.full((5000, 1000), 7).compute(out, progress=lambda *_: cancel.set(), cancel=cancel)
    assert out[0, 0] == 7
    assert out[-1, -1] == 0


def test_what_joins_casts_operands_that_differ():
    v = sel.concat([np.array([1, 2], "i1"), np.array([0.5], "f4")])
    assert v.compute().dtype == np.float32
    assert v.tolist() == [1, 2, 0.5]


def test_casts_wrap_where_that_is_asked_for():
    assert sel.as_view(np.array([300, -1, 5])).astype("u1", casting="unsafe").tolist() == [44, 255, 5]
    sel.as_view(np.array([np.nan, 1e30])).astype("i4", casting="unsafe").compute()


def test_a_view_without_modes_is_one_element():
    v = sel.as_view(np.float64(2.5))
    assert v.compute().item() == float(v) == v.tolist() == 2.5
    out = np.zeros(())
    assert v.compute(out).rank == 0
    assert out == 2.5
    assert [block.item() for _, block in v.blocks(8)] == [2.5]


@pytest.mark.parametrize("extents", [(0,), (3, 0), (0, 0, 2)])
def test_a_view_without_elements_computes_to_none(extents):
    v = sel.concat([np.zeros(extents), np.zeros(extents)])
    assert v.compute().shape.extents == (2 * extents[0], *extents[1:])
    assert list(v.blocks(100)) == []
    assert v.plan().steps == ()
    assert v.plan().nbytes == 0


def test_as_many_bytes_are_copied_as_the_plan_says():
    x = np.zeros((50, 60))  # of a few elements no plan is made
    v = sel.pad(sel.concat([x, x + 1]), [(1, 1), (2, 2)], fill_value=3)
    with count_copies() as count:
        v.compute()
    assert count.nbytes == v.plan().nbytes


def test_a_block_has_at_least_one_element():
    with pytest.raises(BufferSizeError, match="int64 has more than 7 bytes"):
        view().blocks(7)


def test_blocks_of_memory_that_runs_along_another_mode_have_a_run_of_it():
    v = sel.as_view(np.zeros((500, 400))).permute((1, 0))
    regions = [region.extents for region, _ in v.blocks(64 * 8 * 10)]
    assert regions[0] == (64, 10)


def test_cancelled_blocks_end():
    cancel = threading.Event()
    blocks = view().blocks(32, cancel=cancel)
    next(blocks)
    cancel.set()
    with pytest.raises(ComputationCancelledError):
        next(blocks)


def test_progress_of_blocks_counts_the_whole_view():
    seen = []
    for _ in view().blocks(64, progress=lambda done, total: seen.append((done, total))):
        pass
    assert seen == [(64, 128), (128, 128)]


def test_jagged_views_are_copied():
    t = tw.jagged([[1, 2, 3], [4]])
    v = sel.as_view(t)[::-1]
    assert v.compute().tolist() == [[4], [1, 2, 3]]
    out = tw.jagged([[0], [0, 0, 0]])
    assert v.compute(out) is out
    assert out.tolist() == [[4], [1, 2, 3]]


def test_strings_are_computed_into_strings():
    s = tw.strings(["a", "bb", "c"])
    assert sel.as_view(s)[::-2].compute().tolist() == ["c", "a"]
    assert sel.pad(s, [(1, 1)], fill_value="").compute().tolist() == ["", "a", "bb", "c", ""]
    assert sel.where([True, False, True], s, s[::-1]).tolist() == ["a", "bb", "c"]
    assert sel.full((2,), "x").compute().tolist() == ["x", "x"]
    nullable = tw.strings(["a", None])
    assert sel.concat([nullable, nullable]).tolist() == ["a", None, "a", None]
    raw = tw.strings([b"a", b"b\0"])
    assert sel.interleave([raw, raw]).tolist() == [b"a", b"a", b"b\0", b"b\0"]
    out = tw.strings(["", ""])
    sel.as_view(s)[:2].compute(out)
    assert out.tolist() == ["a", "bb"]


def test_large_results_are_written_by_two_threads_where_there_are_two_processors():
    both = len(os.sched_getaffinity(0)) > 1 if hasattr(os, "sched_getaffinity") else os.cpu_count() != 1

    assert threads_for(1 << 20, None) == 1
    assert threads_for(1 << 26, None) == (2 if both else 1)
    assert threads_for(1 << 26, 1) == 1
    assert threads_for(1, np.int8(3)) == 3


@pytest.mark.parametrize("count", [2730, 2731, 30_000])
def test_generated_modes_that_are_merged_under_a_mode_of_one_position(count):
    """`np.unravel_index` of NumPy 2.4.6 repeats positions of more than 8192 numbers in (n, 1)."""
    wanted = np.arange(3 * count)
    for view in (
        sel.compute((count, 3), lambda i, j: 3 * i + j, dtype="i8"),
        sel.minimum(sel.compute((count, 3), lambda i, j: 3 * i + j, dtype="i8"), 3 * count),
    ):
        for shape in ((3 * count, 1), (3 * count, 1, 1), (1, 3 * count, 1)):
            assert np.array_equal(view.reshape(shape).compute().elements(), wanted)
            assert np.array_equal(view.reshape(shape)[::-1].compute().elements().sum(), wanted.sum())
