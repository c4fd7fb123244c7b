"""Lists with None extend nullable tensors of every kind of shape."""

import numpy as np
import pytest

import tensorwrapper as tw

DAY = np.datetime64("2021-01-01")
CASES = {
    "rows of one length": (tw.jagged([[1, None], []]), [[3, None]]),
    "rows": (tw.jagged([[1, None], []]), [[3, None], []]),
    "a box": (tw.as_tensor([[1, None]]), [[3, None], [None, 2]]),
    "a line": (tw.as_tensor([1, None]), [None, 2]),
    "rows of rows": (tw.jagged([[[1, None]], []]), [[[3, None]], [[None, 4]]]),
    "dates": (tw.nullable(np.array([DAY]), [False]), [None, DAY.item()]),
    "texts": (tw.strings([["a", None]]), [["b", None]]),
}


@pytest.mark.parametrize("name", CASES)
def test_lists_with_none_extend_what_began_with_nulls(tmp_path, name):
    first, more = CASES[name]
    with tw.open(tmp_path / "a.tens", "w") as file:
        file.extend("x", first)
        file.extend("x", [np.datetime64(own) if own else None for own in more] if name == "dates" else more)
        assert file["x"].tolist() == first.tolist() + more
        file.extend("events", {"x": first})
        if name != "dates":
            file.extend("events", {"x": more})
            assert file.records("events")["x"].tolist() == first.tolist() + more
