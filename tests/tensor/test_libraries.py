"""What hands tensors to other libraries: the calls of `interop`, on tensors and on views."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import interop
from tensorwrapper import selection as sel
from tensorwrapper.tensor.lowlevel import TensorLibraries

# `tolist` is the one that leads to no library.
CALLS = sorted(name for name in vars(TensorLibraries) if not name.startswith("_") and name != "tolist")


def test_every_call_that_hands_over_is_a_method():
    # What Arrow's protocol asks for is a method by the protocol's own name.
    given = {name for name in interop.__all__ if name.startswith(("to_", "as_"))} - {"to_arrow_capsules"}

    assert set(CALLS) == given


@pytest.mark.parametrize("call", [name for name in CALLS if name != "to_torch"])
def test_a_view_is_handed_over_as_its_elements_are(call):
    tensor = tw.as_tensor(np.arange(12.0).reshape(3, 4))
    view = sel.concat([tensor, tensor])[2:4]
    found = getattr(view, call)(), getattr(interop, call)(view.compute())

    assert [np.asarray(one).tolist() for one in found if hasattr(one, "__array__")] != []
    assert repr(np.asarray(found[0]).tolist()) == repr(np.asarray(found[1]).tolist())
