"""Tensors on the workers of Dask, beside what Dask does by itself."""

import pickle

import numpy as np
import pytest
from distributed.protocol import deserialize, serialize

import tensorwrapper as tw
from tensorwrapper import interop

ROWS = tw.Shape.jagged(np.arange(800_000) % 11)
JAGGED = tw.from_buffer(np.arange(float(ROWS.size)), ROWS)  # 32 MB of elements, 6.4 MB of rows


def moved(value):
    return deserialize(*serialize(value))


def unpickled(value):
    buffers = []
    return pickle.loads(pickle.dumps(value, protocol=5, buffer_callback=buffers.append), buffers=buffers)


@pytest.mark.parametrize("how", [moved, unpickled, lambda value: pickle.loads(pickle.dumps(value))])
def test_40_megabytes_there_and_back(benchmark, how):
    interop.register_dask()
    arrived = benchmark(how, JAGGED)
    assert arrived.shape.size == ROWS.size
