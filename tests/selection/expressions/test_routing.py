"""What a selection of a shared mode comes down to: slices by the short way, as by the general one."""

import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel


@st.composite
def shared(draw):
    """Return a view that shares out a mode among slices of one or two arrays, and its elements."""
    rank = draw(st.integers(1, 3))
    mode = draw(st.integers(0, rank - 1))
    sources = [np.arange(4**rank).reshape((4,) * rank) * sign for sign in (1, -1)]
    tensors = [tw.as_tensor(own) for own in sources]
    kind = draw(st.sampled_from(["concat", "interleave", "stack", "nested"]))
    common = tuple([draw(_slices(4)) for _ in range(rank)])
    views, arrays = [], []
    for _ in range(draw(st.integers(1, 4))):
        number = draw(st.integers(0, 1))
        key = (
            (*common[:mode], draw(_slices(4)), *common[mode + 1 :])
            if kind in {"concat", "nested"}
            else common
        )
        view, array = sel.as_view(tensors[number])[key], sources[number][key]
        if draw(st.booleans()) and kind != "interleave":
            places = draw(st.lists(st.integers(0, array.shape[0] - 1), min_size=1, max_size=3))
            if mode == 0 and kind != "stack":
                view, array = view.gather(0, places), array[places]
        views.append(view)
        arrays.append(array)
    if kind == "interleave":
        return sel.interleave(views, mode=mode), _in_turns(arrays, mode)
    if kind == "stack":
        return sel.stack(views, mode=mode), np.stack(arrays, axis=mode)
    view, array = sel.concat(views, mode=mode), np.concatenate(arrays, axis=mode)
    return (
        (sel.concat([view, view], mode=mode), np.concatenate([array] * 2, mode))
        if kind == "nested"
        else (view, array)
    )


def _in_turns(arrays, mode):
    both = np.stack(arrays, axis=mode + 1)
    extents = list(arrays[0].shape)
    extents[mode] *= len(arrays)
    return both.reshape(extents)


@st.composite
def _slices(draw, extent):
    step = draw(st.sampled_from([1, 1, 2, 3, -1, -2]))
    start = draw(st.integers(0, extent - 1))
    last = start + step * draw(st.integers(0, ((extent - 1 - start) if step > 0 else start) // abs(step)))
    stop = last + (1 if step > 0 else -1)
    return slice(start, None if stop < 0 else stop, step)


@settings(max_examples=300, deadline=None)
@given(shared(), st.data())
def test_slices_have_the_elements_of_numpy(case, data):
    view, array = case
    key = tuple([data.draw(_slices(n)) for n in array.shape])

    assert np.array_equal(sel.View(view[key].normal_form()).compute().to_numpy(), array[key])
    assert np.array_equal(view[key].compute().to_numpy(), array[key])
    assert view[key].compute().array_equal(view[key].compute(threads=1))
    assert view[key].compute(order="F").array_equal(view[key].compute())


def test_pieces_are_pickled_and_other_operands_make_other_pieces():
    view = sel.concat([np.arange(3), np.arange(4)])[1:5]
    normal = view.normal_form()
    again = pickle.loads(pickle.dumps(normal))
    assert again.node.operands == tuple([piece.view for piece in again.node.pieces])
    assert sel.View(again).compute().tolist() == [1, 2, 0, 1]
    turned = normal.node.with_operands(normal.node.operands)
    assert turned == normal.node
    assert turned.operands == normal.node.operands


@pytest.mark.parametrize("width", [1, 4])
def test_positions_of_a_join_take_no_tables_of_their_own_size(width):
    whole = np.arange(1 << 22, dtype="f8").reshape(-1, width)
    joined = sel.concat([whole[: len(whole) // 2], whole[len(whole) // 2 :]])
    positions = np.random.default_rng(0).integers(0, len(whole), len(whole))
    joined[positions[:2]].compute()

    tracemalloc.start()
    try:
        found = joined[positions].compute()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert np.array_equal(np.asarray(found), whole[positions])
    assert peak < found.size * 8 + positions.nbytes + (64 << 20)


@pytest.mark.parametrize("looked_up", [1, 2, 5])
def test_positions_in_blocks_are_those_at_once(monkeypatch, looked_up):
    monkeypatch.setattr("tensorwrapper.selection.expressions._routing._LOOKED_UP", looked_up)
    draws = np.random.default_rng(0)
    whole = np.arange(60).reshape(10, 3, 2)
    joined = sel.concat([whole[:4], whole[4:5], whole[5:]])
    for _ in range(20):
        rows, columns = draws.integers(-10, 10, draws.integers(1, 9)), draws.permutation(3)[:2]
        for key in [(rows,), (rows, slice(None), slice(1)), (slice(1, 9, 2), columns), np.ix_(rows, columns)]:
            assert joined[key].compute().tolist() == whole[key].tolist()
