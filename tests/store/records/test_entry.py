"""What is known of a tensor from its label alone."""

import numpy as np
import pytest

import tensorwrapper as tw


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.tens"


def test_what_is_stored_is_told_without_elements(path):
    tw.save(path, {"x": np.zeros((2, 3), "f4"), "rows": tw.jagged([[1], [2, 3]])})
    with tw.open(path) as f:
        x, rows = f.describe("x"), f.describe("rows")
    assert (x.name, str(x.shape), x.dtype, x.packing, x.size, x.pieces) == (
        "x",
        "(2, 3)",
        "float32",
        "dense",
        6,
        1,
    )
    assert (rows.packing, rows.size, str(rows.shape)) == ("jagged", 3, "(2, 1|2)")
    assert x.start + x.nbytes == rows.start
