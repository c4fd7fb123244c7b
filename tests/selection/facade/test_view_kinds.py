"""What a view cannot be asked is refused before anything is read."""

import inspect

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.tensor.lowlevel import TensorBlocks, TensorSparse, TensorStrings, TensorSymmetry
from tests.support.selection.counting_source import CountingSource


def test_what_no_element_of_a_view_can_be_asked_reads_nothing():
    source = CountingSource(np.arange(4.0))
    view = sel.as_view(source)
    for name in ("nnz", "density", "fill_value"):
        with pytest.raises(tw.errors.ConversionError, match=name):
            getattr(view, name)
    for name in ("coords", "csr", "to_scipy", "to_pydata", "values", "to_tf_strings"):
        with pytest.raises(tw.errors.ConversionError, match=name):
            getattr(view, name)()
    for name in ("cells", "group_by_shape"):
        with pytest.raises(tw.errors.JaggedModeError, match=name):
            getattr(view, name)()
    assert source.calls == 0


def test_kinds_are_those_of_what_is_put_together():
    sparse = tw.sparse([(0, 1), (2, 3)], [5, 7], tw.Shape(3, 4))
    view = sel.concat([sparse, sparse[::-1]])[1:, ::-1]
    assert view.is_sparse
    assert view.coords().tolist() == view.compute().coords().tolist()
    assert not sel.as_view(tw.jagged([[1], [2, 3]])).is_sparse
    assert not sel.concat([tw.jagged([[1]]), tw.jagged([[2, 3]])]).is_sparse
    text = sel.concat([tw.strings(["a", None]).unflatten([2]), tw.strings(["bc"]).unflatten([0, 1])])
    assert text.fill_null("-").tolist() == [["a", "-"], [], ["bc"]]
    assert text.byte_lengths().tolist() == [[1, 0], [], [2]]


OWN = {"is_sparse", "shape", "dtype"}
"""Members that the methods of both need, which a view knows without its elements."""


@pytest.mark.parametrize("base", [TensorBlocks, TensorSparse, TensorStrings, TensorSymmetry])
def test_what_needs_the_elements_is_one_method_of_tensors_and_views(base):
    names = {name for name in vars(base) if not name.startswith("_")} - OWN

    assert names
    for name in names:
        for kind in (tw.Tensor, sel.View):
            found = inspect.getattr_static(kind, name)
            assert getattr(found, "fget", found).__qualname__ == f"{base.__name__}.{name}", kind


def test_views_of_several_tensors_are_computed_for_what_needs_the_elements():
    entries = tw.sparse([(0, 1), (2, 3)], [5.0, 7.0], tw.Shape(3, 4))
    several = tw.concat([entries, entries[:1]])
    assert (several.nnz, several.density, several.fill_value) == (3, 0.1875, 0.0)
    assert several[::-1].coords().tolist() == [[0, 1], [1, 3], [3, 1]]
    assert several[::-1].values().tolist() == [5.0, 7.0, 5.0]
    assert [part.tolist() for part in several.csr()] == [[0, 1, 1, 2, 3], [1, 3, 1], [5.0, 7.0, 5.0]]
    assert several.to_dense()[3].tolist() == [0.0, 5.0, 0.0, 0.0]

    tiles = tw.concat([tw.as_tensor([3.0, 4.0]), tw.as_tensor([0.1, 0.0])]).tiled(tw.Tiling([2, 2]))
    assert list(tiles.screened(1.0).pattern) == [(0,)]
    assert tiles.tile_norms().tolist() == [5.0, 0.1]
    assert tiles.packed_values().tolist() == [3.0, 4.0, 0.1, 0.0]
    assert list(tiles.keep_tiles([(1,)]).pattern) == [(1,)]

    texts = tw.concat([tw.strings(["a", None]), tw.strings(["bc"])])
    assert texts.byte_lengths().tolist() == [1, 0, 2]
    assert texts.to_numpy_strings().tolist() == ["a", None, "bc"]
    halves = tw.concat([tw.as_tensor([[1.0, 2.0]]), tw.as_tensor([[2.0, 3.0]])])
    assert halves.to_packed("s2").packed_values().tolist() == [1.0, 2.0, 3.0]
