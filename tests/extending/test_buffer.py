"""A buffer of a stranger in this file alone: elements in memory, and a count of how many were read.

It has the six methods that every buffer must have, and none more: all that is tested here follows from them.
"""

import copy
import pickle
from typing import final

import attrs
import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Layout, Shape, buffer, wire
from tensorwrapper import selection as sel
from tensorwrapper.buffer import BufferCommon
from tensorwrapper.buffer.lowlevel import check_dtype
from tensorwrapper.errors import BufferSizeError, ConversionError, ReadOnlyError
from tensorwrapper.testing import BufferContract

X = np.arange(24.0).reshape(4, 6)


@final
@attrs.frozen(eq=False)
class Counting(BufferCommon):
    """The elements of an array; ``reads[0]`` counts those that were read."""

    elements: np.ndarray
    reads: list[int] = attrs.field(factory=lambda: [0])
    is_readonly: bool = False

    @property
    def dtype(self):
        return self.elements.dtype

    @property
    def size(self):
        return len(self.elements)

    def as_readonly(self):
        return Counting(self.elements, self.reads, is_readonly=True)

    def read(self, addresses):
        self.reads[0] += addresses.size
        return self.elements[addresses, ...].copy()

    def write(self, addresses, values):
        if self.is_readonly:
            raise ReadOnlyError("this side of a counting buffer is read-only")
        self.elements[addresses] = values


class TestCounting(BufferContract):
    """Every law of buffers."""

    def buffer(self):
        return Counting(np.arange(12.0) * 1.5)

    def expected(self):
        return np.arange(12.0) * 1.5


def counting(x=X):
    check_dtype(x.dtype)
    return Counting(x.reshape(-1).copy())


@pytest.fixture
def tensor():
    return tw.from_buffer(counting(), Shape(4, 6))


def test_it_is_printed_and_only_what_is_shown_is_read():
    large = tw.from_buffer(counting(np.arange(1e5)), Shape(1000, 100))
    assert str(tw.from_buffer(counting(X[:2]), Shape(2, 6))) == str(tw.as_tensor(X[:2]))
    assert repr(large) == repr(tw.as_tensor(np.arange(1e5).reshape(1000, 100)))
    assert large.buffer.reads == [36]
    assert "Counting" in large._repr_html_()


def test_it_is_indexed_and_sliced_like_an_array(tensor):
    assert tensor[1, 2].item() == X[1, 2]
    assert tensor.buffer.reads == [1]
    for key in ((1,), (slice(None), -1), ([2, 0], slice(1, 3)), (X[:, 0] > 3,)):
        assert tensor[key].tolist() == X[key].tolist()
    assert tensor.oindex[[1, 0], [2, 0]].tolist() == X[np.ix_([1, 0], [2, 0])].tolist()
    assert [row.tolist() for row in tensor] == X.tolist()
    assert 7.0 in tensor
    assert 7.5 not in tensor


def test_it_is_written_or_says_why_not(tensor):
    tensor[1:3, ::2] = -1
    tensor[[0, 3], 1] = [8.0, 9.0]
    x = X.copy()
    x[1:3, ::2], x[[0, 3], 1] = -1, [8.0, 9.0]
    assert tensor.tolist() == x.tolist()
    repeated = tensor.broadcast((2, 4, 6))
    with pytest.raises(ReadOnlyError, match="mode 0"):
        repeated[0] = 1
    with pytest.raises(ReadOnlyError, match="Counting"):
        tensor.accumulate_into(repeated)
    with pytest.raises(BufferSizeError, match="24"):
        tw.from_buffer(counting(), Shape(5, 5))


def test_it_is_copied_converted_compared_and_pickled(tensor):
    for same in (
        tensor.copy(),
        copy.deepcopy(tensor),
        pickle.loads(pickle.dumps(tensor)),
        tensor.permute(1, 0).permute(1, 0),
    ):
        assert same.array_equal(tensor)
        assert tensor.array_equal(same)
    assert tensor.astype("i4").to_numpy().tolist() == X.astype("i4").tolist()
    assert np.array_equal(np.asarray(tensor), X)
    turned = tensor.to_layout(Layout(Shape(4, 6), order=(0, 1)))
    assert turned.to_numpy().flags.f_contiguous
    assert turned.array_equal(tensor)
    with pytest.raises(ConversionError, match="Counting"):
        tensor.to_numpy()


def test_it_holds_rows_tiles_and_other_shapes():
    rows = tw.from_buffer(counting(), Shape.jagged([5, 0, 19]))
    assert rows.rows().reduce(np.add).tolist() == [10.0, 0.0, 266.0]
    assert rows.pad_rows(1, fill_value=-1)[1].tolist() == [-1]
    tiles = tw.from_buffer(counting(), Shape(4, 6)).tiled(tw.Tiling([1, 3], [2, 4]))
    assert tiles.tile((1, 0)).tolist() == X[1:, :2].tolist()
    assert tiles.reduce_tiles(np.maximum).tolist() == [[1.0, 5.0], [19.0, 23.0]]
    assert tiles.select_tiles([(0, 1)])[0].tolist() == X[:1, 2:].tolist()


def test_it_is_a_leaf_of_views_that_are_planned_and_explained(tensor):
    view = sel.pad(sel.concat([tensor, X]), [(1, 0), (0, 0)], fill_value=-1)[:, ::-1]
    assert "Shape(9, 6)" in view.explain()
    assert view.plan().nbytes == 8 * 9 * 6
    assert tensor.buffer.reads == [0]
    expected = np.concatenate([np.full((1, 6), -1.0), X, X])[:, ::-1]
    assert view.compute().tolist() == expected.tolist()
    assert tensor.buffer.reads == [24]
    target = sel.concat([tensor, tw.zeros((1, 6))])
    target[3:].assign(5)
    assert tensor[3].tolist() == [5.0] * 6


def test_numpys_functions_take_it(tensor):
    assert (tensor + 1).tolist() == (X + 1).tolist()
    assert np.sum(tensor, axis=0).tolist() == X.sum(axis=0).tolist()


def test_it_is_encoded_and_saved(tensor, tmp_path):
    (back,) = wire.decode(wire.encode([tensor])).tensors
    assert back.array_equal(tensor)
    tw.save(tmp_path / "x.tens", {"x": tensor})
    with tw.open(tmp_path / "x.tens") as file:
        assert file["x"].array_equal(tensor)


def test_buffers_are_made_of_it():
    one = counting()
    joined = tw.from_buffer(buffer.join([one, counting(X + 24)]), Shape(8, 6))
    assert joined.tolist() == np.arange(48.0).reshape(8, 6).tolist()
    assert tw.from_buffer(buffer.look_up([5, 1], one), Shape(2)).tolist() == [5.0, 1.0]
