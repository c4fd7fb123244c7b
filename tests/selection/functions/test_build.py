"""Views put together: NumPy's elements, one type, and what does not go together is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import Shape
from tensorwrapper import selection as sel
from tensorwrapper.errors import TensorWrapperError

X = np.arange(12).reshape(3, 4)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=4), st.sampled_from([0, 1, -1]))
def test_what_is_joined_and_stacked_is_numpys(counts, mode):
    arrays = [X.take(range(n), axis=mode) * (k + 1.5) for k, n in enumerate(counts)]

    assert np.array_equal(sel.concat(arrays, mode=mode), np.concatenate(arrays, axis=mode))
    same = [X * k for k in range(len(counts))]
    assert np.array_equal(sel.stack(same, mode=mode), np.stack(same, axis=mode))


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
