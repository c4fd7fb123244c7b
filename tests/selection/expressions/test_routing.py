"""What a selection of a shared mode comes down to: slices by the short way, as by the general one."""

import pickle

import numpy as np
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
