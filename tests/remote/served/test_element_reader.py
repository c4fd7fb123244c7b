"""Elements of what is served: of a tensor and of a view, copied out for each selection."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import RequestRefusedError
from tensorwrapper.remote.served._element_reader import ElementReader
from tensorwrapper.selection import Outer, Runs

X = np.arange(12.0).reshape(3, 4)
BOX, RUNS = Outer([[0, 2], range(0, 4, 3)]), Runs([1, 6], [2, 3])


@pytest.mark.parametrize("given", [X, sel.concat([X[:1], X[1:]]), tw.as_tensor(X.T.copy()).permute((1, 0))])
def test_selections_are_copied_out(given):
    out = [np.empty(own.extents) for own in (BOX, RUNS)]
    face = ElementReader(given)
    face.check((BOX, RUNS), 8, 1000)
    face.copy_to((BOX, RUNS), out, None)

    assert out[0].tolist() == [[0, 3], [8, 11]]
    assert out[1].tolist() == [1, 2, 6, 7, 8]
    assert (face.tensor is None) == isinstance(given, sel.View)


def test_a_view_has_no_entries_and_is_not_written_to():
    face = ElementReader(sel.concat([X, X]))
    for refused in (face.stored, lambda: face.store((BOX,), [np.zeros((2, 2))])):
        with pytest.raises(RequestRefusedError):
            refused()


def test_what_is_stored_is_looked_up_again_after_an_edit():
    sparse = tw.sparse([(0, 1), (2, 3)], [5.0, 7.0], tw.Shape(3, 4))
    face = ElementReader(sparse)
    assert [own.tolist() if hasattr(own, "tolist") else own for own in face.stored_in((BOX, Runs(1, 9)))] == [
        [1, 1],
        [11, 1],
        [7.0, 5.0],
    ]
    sparse[0, 1] = 6.0
    face.forget()
    assert face.stored()[1].tolist() == [6.0, 7.0]


def test_a_view_of_sparse_tensors_stores_what_it_has_and_follows_an_edit():
    sparse = tw.sparse([(0, 1), (2, 3)], [5.0, 7.0], tw.Shape(3, 4))
    face = ElementReader(sel.as_view(sparse)[1:], kept=True)
    assert (face.stored()[0].tolist(), face.stored()[1].tolist()) == ([7], [7.0])
    assert not face.is_writable
    with pytest.raises(RequestRefusedError):
        face.store((Runs(0, 1),), [np.zeros(1)])
    sparse[2, 3] = 8.0
    face.forget()
    assert face.stored()[1].tolist() == [8.0]
    assert ElementReader(sel.as_view(sparse)[1:]).tensor is None


def test_views_of_strings_are_read():
    words = sel.as_view(tw.strings([["a", "b"], ["cc", ""]]))[::-1]
    out = np.empty(3, words.dtype)
    ElementReader(words).copy_to((Runs([0, 2], [1, 2]),), [out], None)
    assert out.tolist() == ["cc", "a", "b"]
