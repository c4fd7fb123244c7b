"""Views that grow in a loop: what is appended to again and again stays one node."""

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.selection.expressions import _joining
from tensorwrapper.selection.expressions._joining import Joining, _runs_of, _write_runs


@pytest.mark.slow
def test_appending_many_times_gives_one_concat():
    view = sel.as_view([0])
    for number in range(1, 2000):
        view = sel.concat([view, [number]])

    assert np.array_equal(view, np.arange(2000))
    assert len(sel.sources(view)) == 2000


def test_a_joined_part_that_was_selected_from_keeps_its_steps():
    inner = sel.concat([[1, 2], [3]])

    assert sel.concat([inner[::-1], inner]).compute().tolist() == [3, 2, 1, 1, 2, 3]
    assert sel.concat([sel.stack([inner, inner]), [[4, 5, 6]]]).compute().tolist()[2] == [4, 5, 6]


@st.composite
def shards(draw):
    """More tensors of rank 1 than are looked at one by one: whole memory, parts of it, steps, none."""
    memory = np.arange(12.0)
    keys = st.builds(
        slice, st.integers(0, 6), st.none() | st.integers(0, 12), st.none() | st.sampled_from([2, -1])
    )
    own = [tw.as_tensor(memory)[draw(keys)] for _ in range(draw(st.integers(17, 20)))]
    whole = draw(st.integers(0, 5))
    return [tw.as_tensor(np.arange(3.0) + k) for k in range(whole)] + own[whole:]


@given(shards(), st.data())
@settings(max_examples=40)
def test_many_tensors_joined_are_what_their_views_are(parts, data):
    made, general = sel.concat(parts), sel.concat(iter(parts))
    arrays = np.concatenate([own.to_numpy() for own in parts])
    assert (made._expression.node._boxes is None, general._expression.node._boxes is None) == (
        False,
        True,
    )
    assert (made.shape, made.dtype) == (general.shape, general.dtype)
    step = data.draw(st.sampled_from([1, -1, 2]))
    places = data.draw(st.lists(st.integers(0, len(arrays) - 1), max_size=9 if len(arrays) else 0))
    for key in (slice(None), slice(None, None, step), slice(2, 9), np.array(places, dtype=np.int64)):
        np.testing.assert_array_equal(sel.concat(parts)[key].compute().to_numpy(), arrays[key])
    assert made.normal_form() == general.normal_form()
    assert made._expression == general._expression
    assert hash(made._expression) == hash(general._expression)
    assert made.plan().bytes_read == general.plan().bytes_read
    assert len(sel.sources(made)) == len(sel.sources(general))
    assert sel.to_json(made) == sel.to_json(general)
    for again in (pickle.loads(pickle.dumps(made)), copy.deepcopy(made)):
        np.testing.assert_array_equal(again.compute().to_numpy(), arrays)
    np.testing.assert_array_equal(sel.concat([made, made]).compute().to_numpy(), np.tile(arrays, 2))


@st.composite
def boxes(draw, mode, rank):
    """Arrays that agree in all modes but one: of new memory, parts of it, in steps, permuted."""
    others = [draw(st.integers(0, 3)) for _ in range(rank)]
    made = []
    for number in range(draw(st.integers(1, 4))):
        extents = [*others]
        if mode is not None:
            extents[mode] = draw(st.integers(0, 3))
        order = draw(st.permutations(range(rank)))
        room = np.arange(math.prod(3 * n + 2 for n in extents), dtype="i4") + 1000 * number
        array = room.reshape([3 * extents[m] + 2 for m in order]).transpose(np.argsort(order))
        for axis, n in enumerate(extents):
            step, begin = draw(st.sampled_from([1, 1, -1, 2])), draw(st.integers(0, 2))
            positions = slice(begin, begin + abs(step) * n, abs(step))
            array = array[(slice(None),) * axis + (positions,)]
            array = np.flip(array, axis) if step < 0 else array
        made.append(array.copy() if draw(st.booleans()) else array)
    return made


@given(st.data())
def test_boxes_anywhere_in_memory_are_joined_and_stacked_as_numpy_does(data):
    rank = data.draw(st.integers(1, 3))
    is_stack = data.draw(st.booleans())
    mode = data.draw(st.integers(-rank - is_stack, rank - 1 + is_stack))
    arrays = data.draw(boxes(None if is_stack else mode, rank))
    parts = [tw.as_tensor(own) for own in arrays]
    ours, theirs = (sel.stack, np.stack) if is_stack else (sel.concat, np.concatenate)
    wanted = theirs(arrays, axis=mode)
    view = ours(parts, mode=mode)
    assert view._expression.node._boxes is not None
    made = view.compute()
    np.testing.assert_array_equal(made, wanted)
    assert made.layout == tw.Layout(tw.Shape(*wanted.shape))
    gaps = np.zeros((*wanted.shape, 2), "i4")
    view.compute(gaps[..., 0])
    np.testing.assert_array_equal(gaps[..., 0], wanted)
    np.testing.assert_array_equal(view[..., ::-1].compute(), wanted[..., ::-1])


def test_what_many_parts_are_is_asked_before_they_are_joined_at_once():
    x, named = tw.as_tensor(np.arange(3.0)), tw.as_tensor(np.arange(3.0)).named("t")
    far = tw.from_buffer(np.arange(3.0), tw.Shape(3, origin=(5,)))
    others = (named, far, tw.as_tensor(np.arange(3)), tw.strings(["a"]), np.arange(3.0), x[None])
    for other in others:
        parts = [*[x] * 20, other]
        assert set(map(type, parts)) != {tw.Tensor} or Joining.of_tensors(parts) is None
    assert sel.concat([*[x] * 20, tw.as_tensor(np.arange(3))]).dtype == np.float64
    written = sel.concat([x, x, *[tw.as_tensor(np.zeros(1)) for _ in range(20)]])
    written[6:] = np.arange(20.0)
    np.testing.assert_array_equal(written.compute().to_numpy()[6:], np.arange(20.0))


@pytest.mark.parametrize(
    "key", [[3, 19, 0, 12, 7, 7, 15, 1, 18], (slice(None), np.arange(1023, 500, -1) ** 2 % 1024)]
)
def test_long_rows_are_not_looked_up_element_by_element(monkeypatch, key):
    array = np.arange(20.0 * 1024).reshape(20, 1024)
    view = sel.concat([tw.as_tensor(array[:8]), tw.as_tensor(array[8:])])
    monkeypatch.setattr(_joining, "PlacedRunner", None)

    assert np.array_equal(view[key].compute(), array[key])


@given(
    st.lists(st.integers(1, 5), min_size=2, max_size=6),
    st.sampled_from(["f8", "u1", "c16", "M8[s]", ">i4"]),
    st.data(),
)
def test_rows_from_anywhere_of_joined_parts_are_those_of_the_parts_put_together(heights, dtype, data):
    rest = data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=2))
    count = sum(heights) * math.prod(rest)
    flat = np.arange(count).astype(dtype)
    whole = flat.reshape(-1, *rest)
    joined = sel.concat(np.split(whole, np.cumsum(heights)[:-1]))
    rows = data.draw(st.lists(st.integers(0, len(whole) - 1), min_size=1, max_size=12))
    key = [rows]
    for extent in rest:
        low = data.draw(st.integers(0, extent - 1))
        key.append(slice(low, data.draw(st.integers(low + 1, extent)), data.draw(st.integers(1, 2))))

    found = np.asarray(joined[tuple(key)].compute())

    assert found.tolist() == whole[tuple(key)].tolist()


@pytest.mark.parametrize(
    ("key", "bytes_of_a_run"),
    [
        (([7, 2, 2],), 96),  # whole rows
        (([7, 2], slice(0, 2)), 48),
        (([7, 2], slice(1, 3)), 24),
        (([7, 2], slice(None), slice(1, 2)), 8),
    ],
)
def test_rows_from_anywhere_are_copied_by_the_longest_runs_that_rows_are_made_of(key, bytes_of_a_run):
    whole = np.arange(108.0).reshape(9, 4, 3)
    found = np.empty_like(whole[key])
    joined = Joining.of_tensors([tw.as_tensor(whole[:5]), tw.as_tensor(whole[5:])])._in_memory()

    _write_runs(joined, 12, _runs_of(sel.as_view(whole)[key].expression.layout), found)
    assert found.tolist() == whole[key].tolist()
    assert [run.dtype.itemsize for run in joined.runs.values()] == [bytes_of_a_run] * (bytes_of_a_run > 8)
