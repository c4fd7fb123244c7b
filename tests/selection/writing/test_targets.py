"""Writes arrive at the elements that the view shows: each way to put views together, by hand."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper import selection as sel
from tensorwrapper.errors import ReadOnlyError


def _ab():
    return tw.as_tensor(np.arange(6)), tw.as_tensor(np.arange(10, 13))


CASES = {
    "a source": (lambda a, _: sel.as_view(a), range(6), [0, 1, 2, 3, 4, 5], [10, 11, 12]),
    "a slice": (lambda a, _: sel.as_view(a)[::-2], [7, 8, 9], [0, 9, 2, 8, 4, 7], [10, 11, 12]),
    "a rotation": (lambda a, _: sel.as_view(a).rotate([1])[:3], [7, 8, 9], [8, 9, 2, 3, 4, 7], [10, 11, 12]),
    "a gather": (lambda a, _: sel.as_view(a).gather(0, [4, 0]), [7, 8], [8, 1, 2, 3, 7, 5], [10, 11, 12]),
    "points": (
        lambda a, _: sel.as_view(a).reshape((2, 3))[[0, 1], [2, 0]],
        [7, 8],
        [0, 1, 7, 8, 4, 5],
        [10, 11, 12],
    ),
    "a mask": (lambda a, _: sel.as_view(a)[np.arange(6) % 3 == 0], [7, 8], [7, 1, 2, 8, 4, 5], [10, 11, 12]),
    "concat": (lambda a, b: sel.concat([a, b])[4:8], [6, 7, 8, 9], [0, 1, 2, 3, 6, 7], [8, 9, 12]),
    "concat, turned": (lambda a, b: sel.concat([b, a])[3::-1], [6, 7, 8, 9], [6, 1, 2, 3, 4, 5], [9, 8, 7]),
    "interleave": (
        lambda a, b: sel.interleave([a[:3], b]),
        [1, 2, 3, 4, 5, 6],
        [1, 3, 5, 3, 4, 5],
        [2, 4, 6],
    ),
    "stack": (
        lambda a, b: sel.stack([a[3:], b], mode=1)[1:],
        [[1, 2], [3, 4]],
        [0, 1, 2, 3, 1, 3],
        [10, 2, 4],
    ),
    "a pad cut off": (lambda _, b: sel.pad(b, [(2, 2)])[2:4], [1, 2], [0, 1, 2, 3, 4, 5], [1, 2, 12]),
    "a chosen pad": (
        lambda _, b: sel.pad(b, [(1, 1)])[[3, 1]],
        [1, 2],
        [0, 1, 2, 3, 4, 5],
        [2, 11, 1],
    ),
    "reordered, reshaped": (
        lambda a, _: sel.as_view(a).reshape((2, 3)).permute((1, 0)).reshape((6,)),
        [1, 2, 3, 4, 5, 6],
        [1, 3, 5, 2, 4, 6],
        [10, 11, 12],
    ),
    "joined, reshaped": (
        lambda a, b: sel.concat([a[:3], b]).reshape((2, 3)).permute((1, 0)).reshape((2, 3)),
        [[1, 2, 3], [4, 5, 6]],
        [1, 3, 5, 3, 4, 5],
        [2, 4, 6],
    ),
    "parts of what is reshaped": (
        lambda a, b: sel.concat([a[:3], b]).reshape((2, 3)).permute((1, 0)).reshape((6,))[1:4],
        [7, 8, 9],
        [0, 8, 2, 3, 4, 5],
        [7, 9, 12],
    ),
    "a cast to the same type": (
        lambda _, b: sel.as_view(b).astype("i8"),
        [1, 2, 3],
        [0, 1, 2, 3, 4, 5],
        [1, 2, 3],
    ),
    "optimized": (lambda a, b: sel.concat([a, b]).optimize()[5:7], [1, 2], [0, 1, 2, 3, 4, 1], [2, 11, 12]),
    "one number": (lambda a, b: sel.concat([a, b])[6], 5, [0, 1, 2, 3, 4, 5], [5, 11, 12]),
}


@pytest.mark.parametrize(("view", "values", "a", "b"), CASES.values(), ids=CASES)
def test_a_write_arrives_and_changes_nothing_else(view, values, a, b):
    left, right = _ab()
    target = view(left, right)
    assert not target.is_readonly
    target.assign(np.array(values))
    assert left.tolist() == a
    assert right.tolist() == b
    assert target.compute().tolist() == np.array(values).tolist()


def test_values_are_broadcast_and_cast_as_numpy_does():
    a, b = tw.as_tensor(np.zeros((2, 3), "f4")), tw.as_tensor(np.zeros((1, 3), "f4"))
    view = sel.concat([a, b])
    view.assign([1, 2, 3])
    assert view.compute().tolist() == [[1.0, 2.0, 3.0]] * 3
    view.assign([[1.5], [2.5], [3.5]])
    assert b.tolist() == [[3.5, 3.5, 3.5]]
    view.assign(np.int64(7))
    assert a.tolist() == [[7.0, 7.0, 7.0]] * 2
    view.assign(tw.as_tensor([[[4, 5, 6]]]))
    assert b.tolist() == [[4.0, 5.0, 6.0]]


def test_items_are_written_by_keys():
    a, b = tw.as_tensor(np.arange(6).reshape(2, 3)), tw.as_tensor([[9, 9, 9]])
    view = sel.concat([a, b])
    view[1:, 0] = [70, 80]
    view[0, [2, 1]] = [5, 6]
    view[...] = view
    assert a.tolist() == [[0, 6, 5], [70, 4, 5]]
    assert b.tolist() == [[80, 9, 9]]
    view[2, -1] = 1
    assert b.tolist() == [[80, 9, 1]]


def test_origins_do_not_matter():
    memory = np.arange(6)
    t = tw.from_buffer(memory, Shape(6, origin=(3,)))
    view = sel.concat([t, t[:0]]).window(Shape(2, origin=(4,)))
    view.assign([10, 20])
    assert memory.tolist() == [0, 10, 20, 3, 4, 5]


def test_strings_are_written():
    a, b = tw.strings(["a", "b", "c"]), tw.strings(["x", "yy"])
    view = sel.interleave([a, b])
    view.assign(["1", "22", "", "4", "55555"])
    assert a.tolist() == ["1", "", "55555"]
    assert b.tolist() == ["22", "4"]
    sel.concat([a, b]).reshape((5, 1))[::-1].reshape((5,)).assign("same")
    assert a.tolist() + b.tolist() == ["same"] * 5


def test_a_jagged_view_is_written_like_its_tensor():
    t = tw.jagged([[1, 2], [3]])
    sel.as_view(t)[:1].assign(0)
    assert t.tolist() == [[0, 0], [3]]


def test_tensors_in_tiles_are_written():
    memory = tw.as_tensor(np.arange(16).reshape(4, 4)).to_layout(tw.Layout.tiled(tw.Tiling([2, 2], [1, 3])))
    view = sel.concat([memory, memory[:0]], mode=0)[::-1]
    view.assign(np.arange(16).reshape(4, 4))
    assert memory.tolist() == np.arange(16).reshape(4, 4)[::-1].tolist()


def test_ten_million_rows_are_written_without_lists():
    many = 10**6
    a, b = tw.as_tensor(np.zeros(many, "i1")), tw.as_tensor(np.zeros(many, "i1"))
    view = sel.interleave([a, b]).gather(0, np.random.default_rng(1).permutation(2 * many))
    view.assign(np.ones(2 * many, "i1"))
    assert np.asarray(a).all()
    assert np.asarray(b).all()


def _repeats(x):
    v = sel.concat([x, x])
    w = sel.concat([v, v[::-1]]).optimize()
    return sel.concat([w, w.reverse(1)], mode=1)


def test_a_repeat_of_repeats_is_added_to():
    for x in (tw.zeros((2, 3), dtype="i8"), tw.jagged([[0, 0], [0]])):
        view = _repeats(x)
        places = np.arange(x.shape.size)
        where = _repeats(tw.from_buffer(places, x.shape)).compute().elements()
        given = np.arange(view.shape.size) ** 2
        tw.from_buffer(given, view.shape).accumulate_into(view)
        expected = np.zeros_like(places)
        np.add.at(expected, where, given)
        assert x.elements().tolist() == expected.tolist()


def test_what_is_used_twice_many_times_over_is_added_to_once_each():
    x = tw.zeros((3,), dtype="i8")
    view = sel.as_view(x)
    for _ in range(12):
        view = sel.concat([view, view[::-1]])
    sel.as_view(np.ones(view.shape.extents, int)).accumulate_into(view)
    assert x.tolist() == [2**12] * 3
    deep = sel.as_view(x)
    for _ in range(200):
        deep = sel.concat([deep[1:], deep[:1]])
    sel.as_view([5, 0, 0]).accumulate_into(deep)
    assert sorted(x.tolist()) == [2**12, 2**12, 2**12 + 5]


def test_what_nests_deeply_is_written_to():
    x, flat = tw.zeros((2, 3), dtype="i8"), np.arange(6)
    view = sel.as_view(x)
    for step in range(100):
        view = sel.concat([view[1:], view[:1]], mode=0).reverse(1) if step % 3 else sel.stack(list(view))
    view.assign(flat.reshape(2, 3))
    assert view.compute().tolist() == flat.reshape(2, 3).tolist()
    assert sorted(x.elements().tolist()) == flat.tolist()


def test_what_is_made_once_and_computed_is_refused_for_what_it_is():
    x = tw.zeros((2, 2), dtype="i8")
    w = sel.maximum(x, 1)
    with pytest.raises(ReadOnlyError, match=r"the result of maximum\(\)"):
        sel.as_view(np.ones((4, 2), int)).accumulate_into(sel.concat([w, w[::-1]]))
    assert x.tolist() == [[0, 0], [0, 0]]
