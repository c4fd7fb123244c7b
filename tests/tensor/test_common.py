"""What tensors and views have in common: modes are given loose or as one sequence."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, ExtentError, RankError

X = np.arange(24).reshape(4, 1, 6)


@pytest.mark.parametrize("make", [tw.as_tensor, sel.as_view])
@pytest.mark.parametrize(
    ("loose", "joined", "expected"),
    [
        (lambda t: t.permute(2, 0, 1), lambda t: t.permute([2, 0, 1]), X.transpose(2, 0, 1)),
        (lambda t: t.reverse(0, 2), lambda t: t.reverse((0, 2)), X[::-1, :, ::-1]),
        (lambda t: t.reverse(), lambda t: t.reverse((0, 1, 2)), X[::-1, ::-1, ::-1]),
        (lambda t: t.squeeze(1), lambda t: t.squeeze((1,)), X[:, 0]),
        (lambda t: t.unsqueeze(0, -1), lambda t: t.unsqueeze((-1, 0)), np.expand_dims(X, (0, -1))),
        (lambda t: t.unsqueeze(3), lambda t: t.unsqueeze([3]), X[..., None]),
        (lambda t: t.named("a", "b", "c"), lambda t: t.named(["a", "b", "c"]), X),
        (lambda t: t.reshape(3, -1), lambda t: t.reshape(np.array([3, 8])), X.reshape(3, 8)),
        (lambda t: t.reshape(-1), lambda t: t.reshape((24,)), X.reshape(24)),
    ],
    ids=[
        "permute",
        "reverse",
        "reverse all",
        "squeeze",
        "unsqueeze",
        "unsqueeze last",
        "named",
        "reshape",
        "reshape to a line",
    ],
)
def test_modes_are_given_loose_or_as_one_sequence(make, loose, joined, expected):
    assert loose(make(X)).shape == joined(make(X)).shape
    for call in (loose, joined):
        assert np.asarray(call(make(X))).tolist() == expected.tolist()


@pytest.mark.parametrize("make", [tw.as_tensor, sel.as_view])
def test_what_are_no_modes_is_refused(make):
    with pytest.raises(ConversionError, match="a"):
        make(X).permute("a", 0, 1)
    with pytest.raises(ExtentError, match="24"):
        make(X).reshape(5, -1)


@pytest.mark.parametrize("make", [tw.as_tensor, sel.as_view, lambda x: tw.Layout(tw.Shape(*x.shape))])
def test_new_modes_are_different_and_there(make):
    assert make(X).unsqueeze(0, 2, -1).shape.extents == np.expand_dims(X, (0, 2, -1)).shape
    for modes in ((0, 0), (0, -5), (5,), (-5,)):
        with pytest.raises(RankError, match="new modes"):
            make(X).unsqueeze(modes)


@pytest.mark.parametrize("make", [tw.Layout, lambda x: x], ids=["layout", "shape"])
def test_names_are_given_loose_or_as_one_sequence(make):
    x = make(tw.Shape(2, 3))

    assert x.named("a", None) == x.named(("a", None)) == x.named(["a", None])
    assert make(tw.Shape(2)).named(None) == make(tw.Shape(2)) == make(tw.Shape(2)).named("a").named([None])


def test_one_extent_of_a_layout_is_left_open():
    layout = tw.Layout(tw.Shape(4, 6))

    assert layout.reshape(2, -1) == layout.reshape((2, 12)) == layout.reshape([-1, 12])
    assert layout[:, :5].reshape_obstacle(-1) == (0, 1)
    for extents in ((-1, -1), (5, -1), (0, -1), (-2, 12)):
        with pytest.raises(ExtentError):
            layout.reshape(extents)


@pytest.mark.parametrize("make", [tw.as_tensor, sel.as_view])
@pytest.mark.parametrize("none", [(), [], iter(())], ids=["tuple", "list", "iterator"])
def test_a_sequence_of_no_modes_is_none_of_them(make, none):
    """As an axis of `()` is to NumPy: a list of modes that was computed, and is empty, took all of them."""
    assert make(X).reverse(none).tolist() == X.tolist()
    assert make(X).squeeze(list(none)).shape.extents == X.shape
    rows = [[1, 2], [3]]
    assert make(tw.jagged(rows)).reverse(list(none)).tolist() == rows
