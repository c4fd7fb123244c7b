"""Plans: values that say what is written and read before anything is."""

import copy
import gc
import pickle
import threading
import weakref

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import JaggedModeError, OutOfBoundsError
from tests.support.counting_source import CountingSource

# ruff: noqa: ARG005 - the functions of the table take the same arguments

X = np.arange(24).reshape(4, 6)


def facts(view):
    return [(step.kind, step.nbytes, step.runs) for step in view.plan().steps]


@pytest.mark.parametrize(
    ("view", "expected"),
    [
        (lambda v: v, [("copy", 192, 1)]),
        (lambda v: v[:, 1:4], [("copy", 96, 4)]),
        (lambda v: v.permute((1, 0)), [("copy", 192, 24)]),
        (lambda v: v[:1].broadcast((3, 6)), [("copy", 144, 3)]),
        (lambda v: v.rotate((0, 1)), [("take", 192, 8)]),
        (lambda v: v.gather(1, [5, 0, 3]), [("take", 96, 12)]),
        (lambda v: sel.pad(v, [(1, 0), (0, 0)], fill_value=1), [("fill", 48, 1), ("copy", 192, 1)]),
        (lambda v: sel.concat([v, v], mode=1), [("copy", 192, 4), ("copy", 192, 4)]),
        (lambda v: sel.interleave([v, v]), [("copy", 192, 4), ("copy", 192, 4)]),
        (lambda v: sel.minimum(v, 3), [("compute", 192, 1)]),
        (lambda v: v.astype("f8"), [("compute", 192, 1)]),
        (lambda v: sel.concat([v, v]).reshape((2, 24)), [("compute", 384, 1)]),
        (lambda v: sel.iota((3, 4)), [("compute", 96, 1)]),
    ],
)
def test_each_way_of_writing_has_its_word_bytes_and_runs(view, expected):
    assert facts(view(sel.as_view(tw.as_tensor(X)))) == expected


def test_large_views_that_wrap_or_fold_are_a_few_blocks():
    x = np.zeros((100, 100))
    v = sel.as_view(tw.as_tensor(x))
    assert [step.kind for step in v.rotate((3, 5)).plan().steps] == ["copy"] * 4
    edge = sel.pad(v, [(2, 2), (3, 3)], boundary="edge").plan()
    assert [step.kind for step in edge.steps] == ["copy"] * 9
    assert [step.kind for step in v.gather(0, np.arange(100)[::-1] ** 2 % 101 % 100).plan().steps] == ["take"]


def test_windows_are_positions_of_the_result():
    v = sel.interleave([sel.concat([X, X]), sel.zeros((8, 6), dtype="i8")])
    assert [step.window for step in v.plan().steps] == [
        (range(0, 8, 2), range(6)),
        (range(1, 16, 2), range(6)),
        (range(8, 16, 2), range(6)),
    ]


def test_what_is_read_of_each_source_is_summed():
    t, source = tw.as_tensor(X), CountingSource(X)
    plan = sel.concat([t[:2], source, t[3:], sel.zeros((1, 6), dtype="i8")]).plan()
    assert [(own.source, own.nbytes) for own in plan.reads] == [(sel.TensorSource(t), 144), (source, 192)]
    assert plan.bytes_read == 336
    assert plan.nbytes == 8 * 48
    assert plan.runs == 4


def test_what_repeats_is_read_once():
    v = sel.as_view(tw.as_tensor(X))
    assert v[:1].broadcast((50, 6)).plan().bytes_read == 48
    assert v.repeat((3, 2)).plan().bytes_read == 192
    assert v.gather(0, [1, 1, 1]).plan().bytes_read == 48
    assert v.reshape((24,)).sliding_window(0, 5).plan().bytes_read == 192


def test_a_plan_prints_its_steps():
    v = sel.pad(tw.as_tensor(np.array([1, 2, 3])), [(0, 2)], fill_value=9)
    assert str(v.plan()).splitlines() == [
        "2 steps, 2 runs: 40 bytes of Shape(5) written, 24 read",
        "  copy [0:3]: 24 bytes in 1 run, reads 24 of tensor(Shape(3), int64)",
        "  fill [3:5]: 16 bytes in 1 run",
    ]
    assert repr(v.plan()) == "<Plan of Shape(5) int64: 2 steps, 24 bytes read>"
    many = sel.concat([np.array([k]) for k in range(30)])
    assert str(many.plan()).splitlines()[-1] == "  ... 10 more"


def test_equal_views_have_one_plan():
    t = tw.as_tensor(X)
    one, two = sel.as_view(t)[1:][::2], sel.as_view(t)[1::2]
    assert one.plan() is one.plan()
    assert one.plan() is two.plan()
    assert one.plan() != sel.as_view(t)[::2].plan()


def test_plans_keep_no_source_alive():
    x = np.zeros(1000)
    t = tw.as_tensor(x)
    alive = weakref.ref(t.buffer.flat.base if t.buffer.flat.base is not None else t.buffer.flat)
    view = sel.as_view(t)[::2]
    view.plan()
    view.compute()
    del t, view, x
    gc.collect()
    assert alive() is None


def test_a_plan_pickles():
    plan = sel.concat([sel.iota((3,)), sel.zeros((2,), dtype="i8")]).plan()
    for other in (pickle.loads(pickle.dumps(plan)), copy.deepcopy(plan)):
        assert other == plan
        assert hash(other) == hash(plan)
        assert [step.kind for step in other.steps] == ["compute", "fill"]


def test_planning_reads_nothing():
    source = CountingSource(X)
    str(sel.as_view(source).rotate((1, 1)).plan())
    assert source.calls == 0


def test_a_region_must_be_inside():
    assert sel.as_view(X).plan(tw.Shape(2, 2, origin=(1, 1))).nbytes == 32
    with pytest.raises(OutOfBoundsError):
        sel.as_view(X).plan(tw.Shape(9, 9))


def test_jagged_views_have_none():
    with pytest.raises(JaggedModeError, match="one copy"):
        sel.as_view(tw.jagged([[1], [2, 3]])).plan()


def test_threads_find_equal_plans():
    t = tw.as_tensor(X)
    views = [sel.as_view(t)[::2] for _ in range(50)]
    plans = []
    threads = [
        threading.Thread(target=lambda part=part: plans.extend([v.plan() for v in part]))
        for part in (views[::2], views[1::2])
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(plans) == 50
    assert len(set(plans)) == 1
