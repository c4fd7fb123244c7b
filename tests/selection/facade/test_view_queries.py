"""What a view is asked: of which indices, and what is said of those outside."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, OutOfBoundsError, RankError

X = tw.as_tensor(np.arange(24).reshape(4, 6))
Y = tw.as_tensor(np.arange(100, 124).reshape(4, 6))


def x():
    return sel.as_view(X)


def test_rows_count_the_indices_that_were_asked_for():
    view = sel.concat([X[:1], Y[:1]])
    indices = np.array([[[1, 0], [0, 1]], [[0, 2], [1, 3]]])
    groups = {id(group.source): group for group in view.route_many(indices)}
    named = [part.node.source.tensor for part in view._expression.node.operands]
    first, second = [groups[id(tensor)] for tensor in named]
    assert first.rows.tolist() == [1, 2]
    assert first.indices.tolist() == [[0, 1], [0, 2]]
    assert second.rows.tolist() == [0, 3]
    assert second.indices.tolist() == [[0, 0], [0, 3]]


def test_no_indices_have_no_routes():
    assert x().route_many(np.empty((0, 2), dtype=int)) == ()


@pytest.mark.parametrize("index", [(4, 0), (0, -1), (0, 2**70)])
def test_an_index_outside(index):
    with pytest.raises(OutOfBoundsError, match="is not in"):
        x().route(index)


def test_one_of_many_indices_outside():
    with pytest.raises(OutOfBoundsError, match=r"\(1, 6\) is not in"):
        x().route_many([[0, 0], [1, 6]])


def test_indices_of_another_rank():
    with pytest.raises((RankError, OutOfBoundsError)):
        x().route((1,))
    with pytest.raises(RankError):
        x().route_many([[1, 2, 3]])
    with pytest.raises(ConversionError):
        x().route_many([[1.5, 2.0]])
