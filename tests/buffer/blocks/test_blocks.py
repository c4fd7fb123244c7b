"""The buffer of present tiles: as a buffer, and through layouts."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import BlockPattern, Tiling
from tensorwrapper.buffer import Blocks, count_copies
from tensorwrapper.errors import (
    BufferSizeError,
    ConversionError,
    DTypeError,
    ReadOnlyError,
    SizeOverflowError,
)
from tensorwrapper.layout.lowlevel import new_strided
from tensorwrapper.selection import as_view
from tensorwrapper.testing import BufferContract
from tests.support.shape.row_sets import peak_of
from tests.support.tiles.block_tensors import P, T, X, block_tensors, dense, of


class TestEveryTile(BufferContract):
    def buffer(self):
        return Blocks(BlockPattern(Tiling([1, 3], [2, 1])), np.arange(12.0))

    def expected(self):
        return np.arange(12.0)


def test_addresses_count_absent_tiles_too():
    buffer = Blocks(BlockPattern(Tiling([1, 2], [2, 1]), [(0, 0), (1, 1)]), np.arange(4) + 1, fill_value=9)
    whole = [1, 2, 9, 9, 9, 9, 9, 3, 4]
    assert buffer.read_run(0, 9).tolist() == buffer.read(np.arange(9)).tolist() == whole
    for start in range(10):
        for stop in range(start, 10):
            assert buffer.read_run(start, stop).tolist() == whole[start:stop]
    buffer.write(np.array([1, 3]), np.array([7, 9]))
    assert buffer.values.flat.tolist() == [1, 7, 3, 4]
    with pytest.raises(ReadOnlyError, match=r"tile \(0, 1\) is absent.*with_tiles"):
        buffer.write(np.array([0, 2]), np.array([5, 5]))
    assert buffer.values.flat.tolist() == [1, 7, 3, 4]
    buffer.accumulate(np.array([1, 1, 4]), np.array([1, 1, 0]))
    assert buffer.values.flat.tolist() == [1, 9, 3, 4]
    again = pickle.loads(pickle.dumps(buffer))
    assert (again.pattern, again.values.flat.tolist(), again.fill_value) == (buffer.pattern, [1, 9, 3, 4], 9)


def test_what_does_not_fit_is_refused():
    pattern = BlockPattern(Tiling([1, 2], [2, 1]), [(0, 0), (1, 1)])
    with pytest.raises(BufferSizeError, match="have 4 elements"):
        Blocks(pattern, np.zeros(5))
    with pytest.raises(DTypeError, match="numbers"):
        Blocks(pattern, np.array(["a"] * 4, dtype="T"))
    with pytest.raises(SizeOverflowError):
        Blocks(BlockPattern(Tiling([2**40], [2**40]), []), np.zeros(0))
    with pytest.raises(ConversionError, match="to_dense"):
        np.asarray(of(P, X))
    with pytest.raises(ConversionError, match="to_dense"):
        np.asarray(of(P, X).untiled())


def box_changes(rank):
    """Changes of a box that tensors and arrays have alike."""
    key = st.tuples(
        *[st.builds(slice, st.integers(0, 3), st.integers(2, 9), st.sampled_from([1, 1, 2, -1]))] * rank
    )
    return st.one_of(
        key.map(lambda k: lambda x: x[tuple([s if s.step != -1 else slice(None, None, -1) for s in k])]),
        st.permutations(range(rank)).map(
            lambda o: lambda x: x.transpose(o) if isinstance(x, np.ndarray) else x.permute(o)
        ),
    )


@given(st.data(), block_tensors(fills=(0, 5, np.nan), dtypes=("f8",)))
def test_views_are_those_of_dense_arrays(data, found):
    ((tensor, array),) = found
    box, rank = tensor.untiled(), array.ndim
    with count_copies() as count:
        for _ in range(data.draw(st.integers(0, 3))):
            change = data.draw(box_changes(rank))
            box, array = change(box), change(array)
    assert count.copies == 0
    assert np.array_equal(dense(box), array, equal_nan=True)
    again = tw.sparse(box.coords(), box.values(), box.shape, fill_value=box.fill_value)
    assert np.array_equal(np.asarray(again.to_dense()), array, equal_nan=True)
    kept = tensor.buffer.tiles_of(box.layout.implementation)
    assert kept is None or kept.pattern.elements == box.nnz
    copied = box.copy()
    assert np.array_equal(dense(copied), array, equal_nan=True)
    assert box.array_equal(copied, equal_nan=True)
    assert copied.array_equal(box, equal_nan=True)
    assert pickle.loads(pickle.dumps(box)).array_equal(box, equal_nan=True)
    if kept is not None:
        assert copied.pattern == box.pattern


@given(st.data(), block_tensors().filter(lambda found: found[0][0].tiling.grid.size))
def test_tiles_in_other_orders_keep_their_pattern(data, found):
    ((tensor, array),) = found
    rank = tensor.rank // 2
    order = data.draw(st.permutations(range(rank)))
    turned = tensor.permute((*order, *[rank + k for k in order]))
    assert turned.pattern.nonempty() == tensor.pattern.nonempty().permute(order)
    assert np.array_equal(dense(turned), array.transpose(order))
    key = []
    for n in tensor.pattern.grid.extents:
        first = data.draw(st.integers(0, n - 1))
        key.append(slice(first, data.draw(st.integers(first + 1, n))))
    part = tensor[tuple(key)]
    if part.shape.size:
        marks = [m - m[0] for m in tensor.tiling.marks]
        ends = [slice(int(m[k.start]), int(m[k.stop])) for m, k in zip(marks, key, strict=True)]
        assert np.array_equal(dense(part), array[tuple(ends)])
        right = tensor.pattern.nonempty().mask()[tuple(key)].tolist()
        assert part.pattern.nonempty().mask().tolist() == right


def test_a_tile_by_itself_is_dense():
    tensor = of(P, X)
    there, gone = tensor.tile((1, 1)), tensor.tile((0, 1))
    assert np.shares_memory(there.to_numpy(), tensor.packed_values())
    assert (gone.shape, gone.tolist(), gone.is_readonly) == (tw.Shape(1, 4, origin=(0, 2)), [[0.0] * 4], True)
    there[0, 0] = 99.0
    assert tensor[1, 1, 0, 0].item() == tensor.untiled()[1, 2].item() == 99.0
    assert np.asarray(tensor[1, 1]).tolist() == there.tolist()
    with pytest.raises(ReadOnlyError):
        gone[0, 0] = 1.0
    box = tensor.untiled()
    with pytest.raises(ReadOnlyError, match=r"tile \(0, 1\).*with_tiles"):
        box[0, 4] = 1.0
    box[0, 4] = 0.0
    box[2:4, 3] = [1.0, 2.0]
    assert dense(tensor)[1:4, 3].tolist() == [10.0, 1.0, 2.0]


def test_elements_are_written_as_a_whole_or_not_at_all():
    tensor = of(P, X)
    before = dense(tensor)
    with pytest.raises(ReadOnlyError, match="with_tiles"):
        tensor.untiled()[...] = X
    assert np.array_equal(dense(tensor), before)
    tensor.untiled()[...] = before * 2
    assert np.array_equal(dense(tensor), before * 2)
    tensor.assign(of(P, X))
    assert np.array_equal(dense(tensor), before)
    tensor[...] = 0
    assert not dense(tensor).any()
    other = of(BlockPattern(T, [(0, 0)]), X)
    tensor.untiled().assign(other.untiled())
    assert np.array_equal(dense(tensor), dense(other))
    with pytest.raises(ReadOnlyError, match=r"tile \(1, 0\)"):
        tensor.assign(of(BlockPattern(T, [(1, 0)]), X))
    with pytest.raises(ReadOnlyError):
        tensor.buffer.as_readonly().write(np.array([0]), np.array([1.0]))


@given(block_tensors(), st.data())
def test_lines_have_the_tiles_that_they_cut(given_one, data):
    ((tensor, _),) = given_one
    buffer, size = tensor.buffer, tensor.shape.size
    stride = data.draw(st.sampled_from([1, 1, 2, 3, 7, 0, -1, -2, -5]))
    offset = data.draw(st.integers(0, max(size - 1, 0)))
    room = offset if stride < 0 else size - 1 - offset
    extent = min(size, room // abs(stride) + 1) if stride else 9 * (size > 0)
    line, places = new_strided((extent,), (0,), (stride,), offset), offset + stride * np.arange(extent)
    assert buffer.elements_of(line).tolist() == buffer.read(places).tolist()
    known = Blocks(tensor.pattern, np.ones(tensor.pattern.elements))
    ordinals, values = buffer.stored_of(line)
    assert sorted(ordinals.tolist()) == np.flatnonzero(known.read(places)).tolist()
    assert values.tolist() == buffer.read(places[ordinals]).tolist()


def test_plans_take_memory_by_tiles_and_not_by_elements():
    cut = Tiling([512] * 8, [512] * 8)
    few = tw.full(BlockPattern(cut, [(1, 2), (7, 7)]), 1.0)
    found, peak = peak_of(lambda: as_view(few).plan().bytes_read)
    assert found == few.packed_values().nbytes
    assert peak < few.nbytes / 4, peak / few.nbytes
