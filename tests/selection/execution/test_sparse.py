"""Views of sparse tensors: stored elements alone are looked at."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, SizeOverflowError
from tests.support.selection.counting_source import CountingSource


def test_sparse_tensors_stay_sparse():
    t = tw.sparse(np.array([[0, 2], [1, 0]]), np.array([5.0, 6.0]), (3, 3))
    found = sel.as_view(t)[:, ::-1].compute()
    np.testing.assert_array_equal(np.asarray(found.to_dense()), np.asarray(t.to_dense())[:, ::-1])
    both = sel.concat([t, t]).compute()
    assert both.nnz == 4
    assert both.to_dense().tolist() == t.to_dense().tolist() * 2
    with pytest.raises(ConversionError, match=r"fills 0\.0 and 3\.0"):
        sel.concat([t, sel.full((1, 3), 3.0)])


FIRST = tw.sparse([(0, 1), (2, 0), (2, 3)], [5, 7, 9], tw.Shape(3, 4))
OTHER = tw.sparse([(0, 1), (1, 0)], [-2, 4], tw.Shape(3, 4))
EVEN = np.arange(12).reshape(3, 4) % 2 == 0
CELL_BY_CELL = {
    "where": (lambda a, b: sel.where(EVEN, a, b), lambda a, b: np.where(EVEN, a, b), 2),
    "a mask that is a view": (
        lambda a, b: sel.where(sel.as_view(EVEN)[:, ::-1], a, b)[1:],
        lambda a, b: np.where(EVEN[:, ::-1], a, b)[1:],
        2,
    ),
    "where and the fill": (lambda a, _: sel.where(EVEN, a, 0), lambda a, _: np.where(EVEN, a, 0), 1),
    "minimum": (sel.minimum, np.minimum, 1),
    "maximum": (lambda a, b: sel.maximum(a, b)[::-1], lambda a, b: np.maximum(a, b)[::-1], 4),
    "where and nothing of one side": (
        lambda a, b: sel.where(np.ones((3, 4), bool), a, b)[[2, 2]],
        lambda a, _: a[[2, 2]],
        4,
    ),
    "astype": (lambda a, _: sel.as_view(a).astype("f4")[1:], lambda a, _: a.astype("f4")[1:], 2),
    "astype of a part": (
        lambda a, b: sel.concat([sel.as_view(a).astype("f8"), b]),
        lambda a, b: np.concatenate([a, b]).astype("f8"),
        5,
    ),
}


@pytest.mark.parametrize(("make", "expected", "nnz"), CELL_BY_CELL.values(), ids=CELL_BY_CELL)
def test_what_is_made_cell_by_cell_of_sparse_tensors_is_sparse(make, expected, nnz):
    found = make(FIRST, OTHER).compute()
    dense = expected(*[own.to_dense().to_numpy() for own in (FIRST, OTHER)])
    assert found.is_sparse
    assert found.nnz == nnz
    assert found.dtype == dense.dtype
    assert np.array_equal(found.to_dense().to_numpy(), dense)


def test_sparse_and_dense_have_no_extreme():
    with pytest.raises(ConversionError, match="to_dense"):
        sel.minimum(FIRST, np.ones((3, 4), int))


ONCE = {
    "where": lambda xp, a, b: xp.where(EVEN, a, b),
    "minimum": lambda xp, a, b: xp.minimum(a, b),
    "where of what is where": lambda xp, a, b: xp.where(~EVEN, xp.maximum(a, b), xp.minimum(a, b)),
}
USES = {
    "concat": lambda xp, w: xp.concat([w, w]),
    "backwards": lambda xp, w: xp.concat([w, w[::-1]]),
    "stack": lambda xp, w: xp.stack([w, w]),
    "maximum": lambda xp, w: xp.maximum(w, w[::-1]),
    "in themselves": lambda xp, w: xp.concat([xp.stack([w, w[::-1]])[:, 1:], xp.stack([w, w])[:, ::-1]], 1),
}


class _Numpy:
    """The functions of `selection` as NumPy's."""

    where, minimum, maximum, stack = np.where, np.minimum, np.maximum, np.stack

    @staticmethod
    def concat(parts, mode=0):
        return np.concatenate(parts, axis=mode)


class _Selection:
    where, minimum, maximum, stack = sel.where, sel.minimum, sel.maximum, sel.stack

    @staticmethod
    def concat(parts, mode=0):
        return sel.concat(parts, mode=mode)


@pytest.mark.parametrize("use", USES.values(), ids=USES)
@pytest.mark.parametrize("once", ONCE.values(), ids=ONCE)
def test_what_is_made_once_of_sparse_tensors_is_sparse(once, use):
    found = use(_Selection, once(_Selection, FIRST, OTHER)).compute()
    dense = use(_Numpy, once(_Numpy, *[own.to_dense().to_numpy() for own in (FIRST, OTHER)]))
    assert found.is_sparse
    assert found.nnz == np.count_nonzero(dense)
    assert np.array_equal(found.to_dense().to_numpy(), dense)


def test_what_is_shared_and_nests_deeply_is_made_of_its_entries_once():
    view = sel.where(EVEN, FIRST, OTHER)
    dense = np.where(EVEN, FIRST.to_dense().to_numpy(), OTHER.to_dense().to_numpy())
    for step in range(300):
        view = sel.maximum(sel.concat([view[1:], view[:1]]), view)
        if step < 8:
            dense = np.maximum(np.concatenate([dense[1:], dense[:1]]), dense)
    assert np.array_equal(view.compute().to_dense().to_numpy(), dense)


def test_what_is_made_once_of_dense_elements_is_refused_beside_sparse_ones():
    w = sel.where(EVEN, np.arange(12).reshape(3, 4), np.zeros((3, 4), int))
    with pytest.raises(ConversionError, match="a sparse tensor with a dense operand"):
        sel.concat([w, w, sel.as_view(FIRST)[::-1]])


def test_values_that_are_the_fill_are_not_stored():
    small = tw.sparse([(0, 1), (1, 1)], [0.4, 2.5], (2, 2))
    found = sel.as_view(small).astype("i4").compute()
    assert found.coords().tolist() == [[1, 1]]
    assert sel.minimum(small, -small).compute().nnz == 2
    assert sel.minimum(small, small[::-1]).compute().coords().tolist() == [[0, 1], [1, 1]]
    assert sel.maximum(-small, sel.as_view(small)[::-1] * 0).compute().nnz == 0


def test_a_fill_is_cast_by_the_rule_of_the_elements():
    wraps = tw.sparse([(0, 1), (1, 0)], [300, 100], (2, 2), fill_value=257)
    found = sel.as_view(wraps).astype("u1", casting="unsafe").compute()
    assert (found.to_dense().tolist(), int(found.fill_value)) == ([[1, 44], [100, 1]], 1)
    greatest = sel.maximum(wraps, sel.as_view(wraps)[::-1]).astype("u1", casting="unsafe").compute()
    dense = wraps.to_dense().to_numpy()
    assert np.array_equal(greatest.to_dense().to_numpy(), np.maximum(dense, dense[::-1]).astype("u1"))
    for fill in (np.nan, 1e30):
        with pytest.raises(SizeOverflowError):
            sel.as_view(tw.sparse([(0,)], [1.0], (2,), fill_value=fill)).astype("i4").compute()


def test_constants_are_sparse_where_they_are_the_fill():
    half = tw.sparse([(0, 1)], [1.5], (2, 2), fill_value=2.5)
    found = sel.concat([half, sel.full((1, 2), 2.5)]).astype("i4").compute()
    assert (found.nnz, found.to_dense().tolist()) == (1, [[2, 1], [2, 2], [2, 2]])
    with pytest.raises(ConversionError, match=r"fills 2\.5 and 3\.5"):
        sel.concat([half, sel.full((1, 2), 3.5)])


@pytest.mark.parametrize(
    "take",
    [
        lambda a, b: sel.concat([a, b])[:0],
        lambda a, b: sel.stack([a, b])[:, 2:2],
        lambda a, b: sel.interleave([a, b])[[]],
        lambda a, b: sel.where(EVEN, a, b)[3:],
        lambda a, _: sel.as_view(a).repeat((0, 1)),
        lambda a, _: sel.pad(a, [(1, 1), (0, 0)])[:0],
        lambda a, b: sel.concat([a, b])[:0].optimize(),
        lambda a, b: sel.concat([a, b])[:0].astype("f4"),
        lambda a, _: sel.pad(a, [(2, 1), (0, 0)])[:2],
    ],
)
def test_views_that_show_nothing_of_their_operands_have_their_kind(take):
    view = take(FIRST, OTHER)
    found = view.compute()
    assert (found.shape, found.dtype) == (view.shape, view.dtype)
    assert view.is_sparse
    assert found.is_sparse
    assert (view.nnz, found.nnz, view.fill_value) == (0, 0, 0)
    assert found.to_dense().tolist() == view.to_dense().tolist()
    if view.rank == 2 and view.shape.extents[1] == 4:
        assert sel.concat([found.astype("i8"), FIRST]).compute().nnz == 3


def test_a_mask_that_is_sparse_chooses_from_no_dense_elements():
    mask = tw.sparse([(0, 1)], [True], tw.Shape(3, 4), fill_value=False)
    with pytest.raises(ConversionError, match="a sparse tensor with a dense operand"):
        sel.where(mask, np.ones((3, 4)), 0.0)


@pytest.mark.parametrize("abilities", [(), ("runs",)])
@pytest.mark.parametrize("choose", [lambda m: m, lambda m: m[::-1, ::-1], lambda m: sel.maximum(m, EVEN)])
def test_a_mask_elsewhere_is_read_where_something_is_stored(choose, abilities):
    """It was looked for in memory: an `AttributeError`."""
    source = CountingSource(EVEN, abilities=abilities)
    mask = np.asarray(choose(sel.as_view(EVEN)).compute())
    expected = np.where(mask, FIRST.to_dense(), OTHER.to_dense())
    for key in (np.s_[:], np.s_[1:, ::2]):
        found = sel.where(choose(sel.as_view(source)), FIRST, OTHER)[key].compute()
        assert found.is_sparse
        assert found.to_dense().tolist() == expected[key].tolist()
    if abilities:
        assert max(own.size for own in source.selections) < EVEN.size


EXTENTS = (2, 3)


def _leaf(draw):
    x = np.array(draw(st.lists(st.sampled_from([0, 0, 1, 2, -1]), min_size=6, max_size=6))).reshape(EXTENTS)
    fill = draw(st.sampled_from([0, 0, 1, 2]))
    s = tw.sparse(np.argwhere(x != fill), x[x != fill], Shape(*EXTENTS), fill_value=fill)
    return draw(st.sampled_from([s, sel.as_view(s)])), x


def _number(draw):
    x = draw(st.sampled_from([0, 1, 2]))
    return draw(st.sampled_from([x, np.int64(x), tw.as_tensor(x), tw.sparse([()], [x], Shape())])), x


def _mask(draw):
    x = np.array(draw(st.lists(st.booleans(), min_size=6, max_size=6))).reshape(EXTENTS)
    dense, fill = draw(st.booleans()), draw(st.booleans())
    return x if dense else tw.sparse(
        np.argwhere(x != fill), x[x != fill], Shape(*EXTENTS), fill_value=fill
    ), x


def _tree(draw, depth):
    """A view of sparse tensors, of the extents, and the array that it is."""
    kind = draw(st.sampled_from(["leaf", "extreme", "where", "concat", "pad", "astype"])) if depth else "leaf"
    if kind == "leaf":
        return _leaf(draw)
    one, x = _tree(draw, depth - 1)
    if kind == "astype":
        return sel.as_view(one).astype("f4").astype("i8"), x
    if kind == "pad":
        fill = draw(st.sampled_from([0, 1]))
        return sel.pad(one, [(1, 1), (0, 2)], fill_value=fill)[1:3, :3], np.pad(x, 1)[1:3, 1:4]
    other, y = (_number if kind != "concat" and draw(st.booleans()) else lambda d: _tree(d, depth - 1))(draw)
    if kind == "extreme":
        name = draw(st.sampled_from(["minimum", "maximum"]))
        return getattr(sel, name)(one, other), getattr(np, name)(x, y)
    if kind == "where":
        mask, m = _mask(draw)
        return sel.where(mask, other, one), np.where(m, y, x)
    return sel.concat([one[:, ::2], other[:, ::-1]], mode=1)[:, 1:4], np.hstack([x[:, ::2], y[:, ::-1]])[
        :, 1:4
    ]


@given(st.data())
def test_views_of_several_fills_are_the_dense_arrays_or_are_refused_when_written(data):
    try:
        view, x = _tree(data.draw, 3)
    except ConversionError:
        return
    found = view.compute() if isinstance(view, sel.View) else view
    assert found.is_sparse
    assert found.to_dense().tolist() == x.tolist()
    assert found.nnz == np.count_nonzero(x != found.fill_value)


@given(st.data())
def test_cell_by_cell_several_fills_are_never_refused_but_behind_dense_masks(data):
    leaves = [_leaf(data.draw) for _ in range(3)]
    number, n = _number(data.draw)
    (a, x), (b, y), (c, z) = leaves
    mask, m = _mask(data.draw)
    assert (
        sel.minimum(a, b, number, c).compute().to_dense().tolist()
        == np.minimum(x, np.minimum(n, np.minimum(y, z))).tolist()
    )
    if not isinstance(mask, np.ndarray):
        found = sel.where(mask, sel.maximum(a, number), sel.where(mask[::-1], b, number))
        assert (
            found.compute().to_dense().tolist()
            == np.where(m, np.maximum(x, n), np.where(m[::-1], y, n)).tolist()
        )
