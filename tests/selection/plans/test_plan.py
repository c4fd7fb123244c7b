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
from tensorwrapper.errors import OutOfBoundsError
from tests.support.selection.counting_source import CountingSource

X = np.arange(24).reshape(4, 6)


def test_a_layout_of_one_source_is_one_step():
    x = np.zeros((100, 100))
    v = sel.as_view(tw.as_tensor(x))
    assert [step.kind for step in v.plan().steps] == ["copy"]
    assert [step.kind for step in v.rotate((3, 5)).plan().steps] == ["take"]
    edge = sel.pad(v, [(2, 2), (3, 3)], boundary="edge").plan()
    assert [step.kind for step in edge.steps] == ["take"]
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


def test_rows_have_plans_of_their_elements():
    view = sel.as_view(tw.jagged([[1], [2, 3]]))[::-1]
    plan = view.plan()
    assert plan.shape == tw.Shape.jagged([2, 1])
    assert plan.bytes_read == plan.nbytes == 24
    assert pickle.loads(pickle.dumps(plan)).shape == plan.shape


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
