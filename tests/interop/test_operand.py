"""What is handed over: tensors as they are, views computed, nothing made dense that was not requested."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError


@pytest.mark.parametrize("call", ["to_arrow", "to_awkward"])
def test_sparse_tensors_and_views_of_them_are_not_made_dense(call):
    tensor = tw.sparse([(0, 1)], [1.0], tw.Shape(2, 2))

    for given in (tensor, sel.as_view(tensor)):
        with pytest.raises(ConversionError, match="to_dense"):
            getattr(given, call)()


def test_elements_of_another_byte_order_are_turned():
    x = np.arange(6, dtype=">i4")

    assert tw.as_tensor(x).to_awkward().to_list() == x.tolist()
    assert tw.as_tensor(x).to_arrow().to_pylist() == x.tolist()
