"""A million rows to and from Awkward Array and Arrow, beside what these libraries do among themselves."""

import awkward as ak
import numpy as np
import pyarrow as pa
import pytest

import tensorwrapper as tw

ROWS = tw.Shape.jagged(np.arange(1_000_000) % 5)
TENSOR = tw.from_buffer(np.arange(float(ROWS.size)), ROWS)
AWKWARD, ARROW = TENSOR.to_awkward(), TENSOR.to_arrow()


@pytest.mark.parametrize(
    "convert",
    [
        pytest.param(TENSOR.to_awkward, id="to Awkward Array"),
        pytest.param(lambda: tw.from_awkward(AWKWARD), id="from Awkward Array"),
        pytest.param(TENSOR.to_arrow, id="to Arrow"),
        pytest.param(lambda: tw.as_tensor(ARROW), id="from Arrow"),
        pytest.param(lambda: ak.to_arrow(AWKWARD), id="Awkward Array to Arrow"),
        pytest.param(lambda: ak.from_arrow(ARROW), id="Awkward Array from Arrow"),
        pytest.param(lambda: ak.to_packed(AWKWARD), id="Awkward Array packed"),
        pytest.param(lambda: pa.array(TENSOR), id="pyarrow.array"),
    ],
)
def test_a_million_rows(benchmark, convert):
    benchmark(convert)
