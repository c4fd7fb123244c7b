"""Tensors are cut into chunks that lie together, and written in parts that make up the whole."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError
from tensorwrapper.store.formats import _write_blocks
from tensorwrapper.store.formats._contents import Options


def chunks(tensor, least=0, given=None):
    return _write_blocks.chunks_for("x", tensor, Options(given), least)


def nested(*extents):
    return tw.from_buffer(
        np.zeros(np.prod(extents), "i1"), tw.Shape.nested(tw.Shape(*extents), layers=(1, 2))
    )


@pytest.mark.parametrize(
    ("tensor", "found"),
    [
        (tw.as_tensor(np.zeros((2**10, 2**10), "i1")), (2**10, 2**10)),
        (tw.as_tensor(np.zeros((2**12, 2**10), "i1")), (2**10, 2**10)),
        (tw.as_tensor(np.zeros((2**12, 2**10), "i1")).permute((1, 0)), (2**10, 2**10)),
        (tw.as_tensor(np.zeros((2, 2**21), "i1")), (1, 2**20)),
        (nested(8, 64, 64), (1, 64, 64)),
        (nested(2**12, 4, 4), (2**12, 4, 4)),
        (tw.as_tensor(np.zeros((0, 5))), None),
        (tw.as_tensor(1.0), None),
    ],
)
def test_chunks_without_a_word(tensor, found):
    assert chunks(tensor) == found


def test_chunks_are_no_larger_than_the_box():
    tensor = tw.as_tensor(np.zeros((30, 40)))
    assert chunks(tensor, 2**20) is None
    assert chunks(tensor, 2**20, (100, 10)) == (30, 10)


@pytest.mark.parametrize("lazy", [False, True])
def test_parts_are_the_whole(monkeypatch, lazy):
    monkeypatch.setattr(_write_blocks, "_BLOCK", 256)
    array = np.arange(600).reshape(20, 30)[:, ::-1]
    value = tw.as_tensor(array).translate_to((5, -3))
    value = sel.as_view(value) if lazy else value
    found = np.zeros_like(array)
    parts = list(_write_blocks.boxes_of(value))
    assert len(parts) > 1
    for key, part in parts:
        found[key] = part
    np.testing.assert_array_equal(found, array)
    np.testing.assert_array_equal(np.concatenate(list(_write_blocks.flat_runs(value))), array.reshape(-1))


def test_what_lies_in_one_piece_is_one_part():
    array = np.arange(6.0)
    ((_, part),) = _write_blocks.boxes_of(tw.as_tensor(array))
    assert np.shares_memory(part, array)


def test_what_is_no_tensor_or_sparse_is_refused():
    with pytest.raises(ConversionError, match="to_dense"):
        _write_blocks.to_write(tw.sparse([[1]], [2], (3,)), "x", "a.h5")
    with pytest.raises(ConversionError, match="cannot write 'x'"):
        _write_blocks.to_write([{}], "x", "a.h5")
