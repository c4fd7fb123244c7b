"""Views put together: NumPy's elements, one type, and what does not go together is refused."""

import pickle
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper import selection as sel
from tensorwrapper.errors import TensorWrapperError
from tensorwrapper.selection.expressions import _joining

X = np.arange(12).reshape(3, 4)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=4), st.sampled_from([0, 1, -1]))
def test_what_is_joined_and_stacked_is_numpys(counts, mode):
    arrays = [X.take(range(n), axis=mode) * (k + 1.5) for k, n in enumerate(counts)]

    assert np.array_equal(sel.concat(arrays, mode=mode), np.concatenate(arrays, axis=mode))
    same = [X * k for k in range(len(counts))]
    assert np.array_equal(sel.stack(same, mode=mode), np.stack(same, axis=mode))


@pytest.mark.parametrize("join", [sel.concat, sel.stack])
@given(st.lists(st.integers(1, 3), min_size=1, max_size=4), st.integers(-4, 3), st.booleans(), st.booleans())
def test_tensors_are_joined_as_their_views_are(join, rows, mode, are_steps, are_alike):
    rows = rows[:1] * len(rows) if are_alike else rows
    step = -2 if are_steps else 1
    tensors = [tw.as_tensor((X * (k + 1)).repeat(2, 0)[: 2 * n])[::step] for k, n in enumerate(rows)]
    views = [sel.as_view(own) for own in tensors]
    try:
        wanted = join(views, mode=mode)
    except TensorWrapperError as error:
        with pytest.raises(type(error), match=re.escape(str(error))):
            join(tensors, mode=mode)
        return
    arrays = [own.to_numpy() for own in tensors]
    assert np.array_equal(join([*arrays[:1], *tensors[1:]], mode=mode), wanted)
    assert np.array_equal(join(arrays, mode=mode), wanted)
    found = join(tensors, mode=mode)
    assert found.shape == wanted.shape
    assert found.dtype == wanted.dtype
    assert np.array_equal(found, wanted)
    assert np.array_equal(found[..., ::-1], wanted[..., ::-1])
    assert sel.to_json(found) == sel.to_json(wanted)
    assert pickle.loads(pickle.dumps(found)).tolist() == wanted.tolist()


@pytest.mark.parametrize("join", [sel.concat, sel.stack])
def test_many_tensors_are_joined_without_a_view_of_each(join, monkeypatch):
    tensors = [X if number % 3 else tw.as_tensor(X) for number in range(100)]
    made = []
    monkeypatch.setattr(_joining, "reading_of", made.append)
    assert np.array_equal(join(tensors).compute().to_numpy().reshape(100, 3, 4), [X] * 100)
    assert made == []


def test_turns_are_taken_and_the_first_may_have_one_more():
    assert sel.interleave([[1, 2], [10, 11], [20]]).compute().tolist() == [1, 10, 20, 2, 11]


def test_a_border_is_numpys():
    for boundary in ("edge", "wrap", "reflect", "symmetric"):
        expected = np.pad(X, [(1, 2), (0, 3)], mode=boundary)
        assert np.array_equal(sel.pad(X, [(1, 2), (0, 3)], boundary=boundary), expected)


def test_a_view_is_a_view_of_itself_and_reads_nothing():
    view = sel.as_view(X)

    assert sel.as_view(view) is view
    assert np.shares_memory(view.to_numpy(), X)


@pytest.mark.parametrize(
    "make",
    [
        lambda: sel.concat([]),
        lambda: sel.stack([]),
        lambda: sel.concat([X, X[:, 1:]]),
        lambda: sel.stack([X, X[1:]]),
        lambda: sel.concat([X, ["a"]]),
        lambda: sel.pad(X, [(-1, 0), (0, 0)]),
        lambda: sel.as_view(Shape(2)),
    ],
)
def test_what_does_not_go_together_is_refused(make):
    with pytest.raises(TensorWrapperError):
        make()


@given(
    st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=3), min_size=1, max_size=3),
    st.sampled_from([0, 1]),
)
def test_boxes_in_tiles_are_joined_as_boxes_in_tiles(cuts, mode):
    arrays = [np.arange(4 * sum(cut)).reshape(sum(cut), 4) + 100 * k for k, cut in enumerate(cuts)]
    arrays = [array if mode == 0 else array.T for array in arrays]
    tilings = [tw.Tiling(cut, [1, 3]) if mode == 0 else tw.Tiling([1, 3], cut) for cut in cuts]
    views = [sel.as_view(a).tiled(tiling) for a, tiling in zip(arrays, tilings, strict=True)]
    joined = sel.concat(views, mode=mode)
    whole = np.concatenate(arrays, mode)
    assert joined.shape == Shape.concat([view.shape for view in views], mode=mode)
    assert joined.tiling == tw.Tiling.concat(tilings, mode=mode)
    assert np.array_equal(joined.untiled().compute(), whole)
    computed = joined.compute()
    assert computed.tolist() == sel.as_view(whole).tiled(joined.tiling).compute().tolist()
    for number in joined.tiling.grid.indices():
        region = joined.tiling.tile(number)
        ends = np.add(region.origin, region.extents).tolist()
        expected = whole[tuple(map(slice, region.origin, ends))].tolist()
        assert computed.tile(number).tolist() == expected
        assert joined.tile(number).compute().tolist() == expected


def test_tiles_that_do_not_fit_are_joined_as_rows_or_refused():
    views = [sel.as_view(X).tiled(tw.Tiling(cut, [2, 2])) for cut in ([1, 2], [3])]
    with pytest.raises(TensorWrapperError):
        sel.concat(views, mode=1)
    other = sel.as_view(X).tiled(tw.Tiling([3], [4]))
    joined = sel.concat([views[0], other])
    assert joined.shape == Shape.concat([views[0].shape, other.shape])
    assert joined.compute().elements().tolist() == [
        own for v in (views[0], other) for own in v.elements().tolist()
    ]


def test_text_is_an_operand_beside_strings():
    words = tw.strings(["b", "a"])
    assert sel.where([True, False], words, "Q").compute().tolist() == ["b", "Q"]
    assert sel.maximum(words, "ab").compute().tolist() == ["b", "ab"]
    assert sel.concat([words, ["c"], np.array(["d"])]).compute().tolist() == ["b", "a", "c", "d"]
    for other in ([b"c"], [object()], [1.0]):
        with pytest.raises(TensorWrapperError):
            sel.concat([words, other])
