"""The contract of buffers: guarantees for tensors over any buffer."""

import pickle
from abc import ABC, abstractmethod
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tensorwrapper.buffer import BufferCommon
from tensorwrapper.buffer.lowlevel import holds_strings, packed_layout
from tensorwrapper.errors import BufferSizeError, ConversionError, ReadOnlyError
from tensorwrapper.layout import Layout, LayoutCommon
from tensorwrapper.layout.lowlevel import address_batches
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import shape_words
from tensorwrapper.tensor import Tensor, from_buffer
from tensorwrapper.typing import Array


class BufferContract(ABC):
    """Abstract: `buffer`, a new buffer of at least four elements, and `expected`, its elements.

    Derive a class that pytest collects; every method is one law. A law that cannot hold is switched off by
    name: ``test_... = None``.

    Examples
    --------
    >>> import numpy as np
    >>> from tensorwrapper.buffer import Dense
    >>> class TestDense(BufferContract):
    ...     def buffer(self):
    ...         return Dense(np.arange(12.0))
    ...     def expected(self):
    ...         return np.arange(12.0)
    >>> TestDense().test_reading_gives_the_elements_at_the_addresses()
    """

    __slots__ = ()

    @abstractmethod
    def buffer(self) -> BufferCommon[Any]:
        """Return a new buffer, so that one law does not see another's writes."""

    @abstractmethod
    def expected(self) -> Array:
        """Return all elements of such a buffer as a flat array."""

    def test_size_and_dtype_are_those_of_the_elements(self) -> None:
        """``size`` counts the elements, ``dtype`` is their type."""
        buffer, elements = self.buffer(), self.expected()
        assert buffer.size == len(elements)
        assert type(buffer.size) is int
        assert buffer.dtype == elements.dtype

    def test_reading_gives_the_elements_at_the_addresses(self) -> None:
        """Test that results have the shape of the addresses, for repeated, descending and no addresses."""
        buffer, elements = self.buffer(), self.expected()
        n = len(elements)
        for addresses in (
            np.arange(n),
            np.arange(n)[::-1],
            np.array([[0, n - 1, 0], [1, 1, 2]]),
            np.array(n - 1),
            np.empty((0, 3), dtype=np.int64),
        ):
            read = buffer.read(addresses)
            assert read.dtype == buffer.dtype
            assert read.shape == addresses.shape
            # Flat, because NumPy 2.0 corrupts strings indexed by an ellipsis and positions.
            assert _same(read, elements[addresses.ravel()].reshape(addresses.shape))

    def test_what_was_read_is_the_readers_own(self) -> None:
        """Test that writing into a returned array leaves the buffer unchanged."""
        buffer, elements = self.buffer(), self.expected()
        read = buffer.read(np.arange(len(elements)))
        read[...] = read[::-1].copy()
        assert _same(buffer.read(np.arange(len(elements))), elements)

    def test_gathering_is_reading_in_batches(self) -> None:
        """Test several batches of addresses of any shape."""
        buffer, elements = self.buffer(), self.expected()
        batches = [np.array([2, 0]), np.array([], dtype=np.int64), np.arange(len(elements))]
        gathered = buffer.gather(iter(batches), 2 + len(elements))
        assert _same(gathered, elements[np.concatenate(batches)])

    def test_addresses_outside_are_refused(self) -> None:
        """Test that the error of `check_bounds` has the size."""
        buffer = self.buffer()
        buffer.check_bounds(0, buffer.size - 1)
        for least, greatest in ((-1, 0), (0, buffer.size), (2**70, 2**70)):
            with pytest.raises(BufferSizeError, match=str(buffer.size)):
                buffer.check_bounds(least, greatest)

    def test_a_write_changes_what_it_names_and_nothing_else(self) -> None:
        """Test that all other elements are unchanged, and that the buffer does not alias the values."""
        buffer, elements = self.buffer(), self.expected().copy()
        if buffer.is_readonly:
            with pytest.raises(ReadOnlyError):
                buffer.write(np.array([0]), elements[:1])
            return
        places = np.array([[3, 0], [1, 2]])
        values = elements[[0, 1, 2, 3]].reshape(2, 2)
        buffer.write(places, values)
        elements[places] = values.copy()
        values[...] = values[::-1, ::-1].copy()
        assert _same(buffer.read(np.arange(len(elements))), elements)
        buffer.write(np.empty(0, dtype=np.int64), elements[:0])
        assert _same(buffer.read(np.arange(len(elements))), elements)

    @pytest.mark.parametrize("side", ["as_readonly", "guarded"])
    def test_the_side_that_cannot_be_written_to_sees_what_is_written(self, side: str) -> None:
        """Test that `as_readonly` and `guarded` share the elements instead of copying them."""
        buffer, elements = self.buffer(), self.expected().copy()
        closed: BufferCommon[Any] = getattr(buffer, side)()
        assert closed.is_readonly
        with pytest.raises((ReadOnlyError, ValueError)):
            closed.write(np.array([0]), elements[:1])
        if not buffer.is_readonly:
            buffer.write(np.array([0]), elements[1:2])
            elements[0] = elements[1]
        assert _same(closed.read(np.arange(len(elements))), elements)

    def test_views_over_it_read_as_numpys(self) -> None:
        """Test that a tensor over the buffer, and its views, read like an array of the elements."""
        tensor, array = self._tensor()
        assert _same(np.asarray(tensor.tolist()), np.asarray(array.tolist()))
        pairs: list[tuple[Tensor[Any], Array]] = [
            (tensor.permute((1, 0)), array.T),
            (tensor[::-1, 1:], array[::-1, 1:]),
            (tensor.rotate((1, 0)), np.roll(array, 1, axis=0)),
            (tensor.gather(0, [1, 0, 1]), array[[1, 0, 1]]),
            # np.tile corrupts strings with nulls before NumPy 2.2.
            (tensor.repeat((1, 2)), np.concatenate([array, array], axis=1)),
            (tensor[1], array[1]),
        ]
        for part, wanted in pairs:
            assert part.shape.extents == wanted.shape
            assert _same(part.elements(), wanted.reshape(-1))
            assert _same(part.copy().elements(), wanted.reshape(-1))

    def test_assignment_through_views_is_numpys(self) -> None:
        """Test that assignment to slices, reversed and rotated views changes exactly their elements."""
        tensor, array = self._tensor()
        if tensor.is_readonly:
            with pytest.raises(ReadOnlyError):
                tensor[0] = array[1]
            return
        tensor[:, ::-1][0] = array[1].copy()
        array[:, ::-1][0] = array[1].copy()
        assert _same(tensor.elements(), array.reshape(-1))
        tensor.rotate((1, 0))[0] = array[0].copy()
        array[-1] = array[0].copy()
        assert _same(tensor.elements(), array.reshape(-1))

    def test_new_buffers_have_the_elements_of_a_part(self) -> None:
        """Test that `pack`, `collect` and `place` keep the dtype, for layouts of any kind."""
        buffer, elements = self.buffer(), self.expected()
        for layout, wanted in self._parts():
            for own in (True, False):
                packed = buffer.pack(layout, own=own)
                assert (packed.size, packed.dtype) == (len(wanted), buffer.dtype)
                assert _same(packed.read_run(0, packed.size), wanted)
            assert _same(buffer.own_elements_of(layout), wanted)
            if layout.is_contiguous:
                run = buffer.own_run(layout.offset, layout.offset + len(wanted))
                assert _same(run, wanted)
                assert run.base is None
            assert buffer.objects_of(layout).tolist() == wanted.tolist()
            if not holds_strings(buffer.dtype):
                assert buffer.nbytes_of(layout) == wanted.nbytes
            target = packed_layout(layout.shape).implementation
            placed = buffer.place(layout, target, len(wanted) + 1)
            assert placed.size == len(wanted) + 1
            assert _same(placed.elements_of(target), wanted)
        places = np.array([1, 0, 1, len(elements) - 1])
        assert _same(buffer.collect(iter([places[:3], places[3:]]), 4).read_run(0, 4), elements[places])
        assert _same(buffer.like(elements.copy()).read_run(0, len(elements)), elements)

    def test_parts_are_compared_and_searched(self) -> None:
        """Test that `equals` is symmetric between a buffer and a copy, and that `contains` finds elements."""
        buffer = self.buffer()
        for layout, wanted in self._parts():
            copy, packed = buffer.pack(layout), packed_layout(layout.shape).implementation
            assert buffer.equals(layout, copy, packed, equal_nan=True)
            assert copy.equals(packed, buffer, layout, equal_nan=True)
            for value in wanted[:4].tolist():
                assert buffer.contains(layout, value) == (value is None or value == value)  # noqa: PLR0124

    def test_stored_elements_and_the_fill_are_all_elements(self) -> None:
        """Test that ordinals of `stored_of` ascend, and that all others have the `fill_value`, if any."""
        buffer = self.buffer()
        for layout, wanted in self._parts():
            ordinals, values = buffer.stored_of(layout)
            assert len(ordinals) == len(values) == buffer.count_stored(layout)
            assert (np.diff(ordinals) > 0).all()
            if buffer.fill_value is None:
                assert len(ordinals) == len(wanted)
                whole = values
            else:
                whole = np.full(len(wanted), buffer.fill_value, dtype=buffer.dtype)
                whole[ordinals] = values
            assert _same(whole, wanted)

    def test_an_array_is_over_the_elements_or_says_why_not(self) -> None:
        """Test that `as_array` raises if and only if `memory_of` returns None, and test `to_array`."""
        buffer = self.buffer()
        for layout, wanted in self._parts():
            array = buffer.memory_of(layout)
            if array is None:
                with pytest.raises(ConversionError, match="array"):
                    buffer.as_array(layout)
            else:
                assert _same(buffer.as_array(layout).reshape(-1), wanted)
            boxed = layout.shape.is_box and not buffer.stores_orbits
            if boxed and buffer.fill_value is None and not holds_strings(buffer.dtype):
                assert _same(buffer.to_array(layout, None, True).reshape(-1), wanted)

    def test_assignment_to_a_part_is_whole(self) -> None:
        """Test that `assign` takes values from `fit`, and that `assign_from` writes all or returns False."""
        for number in range(len(list(self._parts()))):
            buffer, elements = self.buffer(), self.expected().copy()
            layout, wanted = list(self._parts())[number]
            if buffer.is_readonly:
                return
            values = wanted[::-1].copy()
            elements[np.concatenate(list(address_batches(layout)))] = values
            source, text = buffer.like(values.copy()), holds_strings(buffer.dtype)
            fitted = buffer.fit(source.strings_of(_line(len(values))) if text else values)
            assert fitted.dtype == buffer.dtype
            before = buffer.read(np.arange(buffer.size))
            if not buffer.assign_from(layout, source, packed_layout(layout.shape).implementation):
                assert _same(buffer.read_run(0, buffer.size), before)
                buffer.assign(layout, fitted)
            assert _same(buffer.read_run(0, buffer.size), elements)

    def test_a_tensor_over_it_is_shown(self) -> None:
        """Test that the text and the HTML contain the shape and the dtype."""
        tensor, _ = self._tensor()
        assert shape_words(tensor.shape) in repr(tensor)
        assert ("string" if tensor.dtype.kind == "T" else str(tensor.dtype)) in repr(tensor)
        assert str(tensor)
        assert "<svg" in tensor._repr_html_()

    def test_a_pickle_has_the_same_elements(self) -> None:
        """Test pickles of the buffer and of a tensor over it."""
        buffer, elements = self.buffer(), self.expected()
        restored: BufferCommon[Any] = pickle.loads(pickle.dumps(buffer))
        assert _same(restored.read(np.arange(len(elements))), elements)
        tensor, array = self._tensor()
        again: Tensor[Any] = pickle.loads(pickle.dumps(tensor))
        assert again.shape == tensor.shape
        assert _same(again.elements(), array.reshape(-1))

    def test_threads_may_read_together(self) -> None:
        """Test that several threads can make the first read of a buffer together."""
        buffer, elements = self.buffer(), self.expected()
        with ThreadPoolExecutor(4) as pool:
            reads = list(pool.map(buffer.read, [np.arange(len(elements))] * 8))
        assert all(_same(read, elements) for read in reads)

    def _parts(self) -> "Iterator[tuple[LayoutCommon, Array]]":
        """Return an iterator over layouts of several kinds, each with its elements."""
        elements = self.expected()
        n = len(elements)
        box = Layout(Shape(2, 2), strides=(n // 2, 1))
        for layout in (
            Layout(Shape(n)),
            Layout(Shape(n - 1), offset=1),
            box,
            box.permute((1, 0)),
            Layout(Shape(n)).rotate((1,)),
            Layout(Shape(n)).gather(0, [2, 0]),
            Layout(Shape.jagged([1, 0, 2])),
        ):
            addresses = np.concatenate(
                [batch.reshape(-1) for batch in address_batches(layout.implementation)]
            )
            yield layout.implementation, elements[addresses]

    def _tensor(self) -> tuple[Tensor[Any], Array]:
        """Return a tensor of rank 2 over half of the elements, with gaps, and an equal array."""
        buffer, elements = self.buffer(), self.expected()
        columns = len(elements) // 4
        layout = Layout(Shape(2, columns), strides=(2 * columns, 1), offset=len(elements) % 4)
        flat = elements[layout.offset :]
        array = np.stack([flat[:columns], flat[2 * columns : 3 * columns]])
        return from_buffer(buffer, layout.shape, layout=layout), array


def _line(size: int) -> LayoutCommon:
    return Layout(Shape(size)).implementation


def _same(one: "npt.NDArray[Any]", other: "npt.NDArray[Any]") -> bool:
    return one.dtype.kind == other.dtype.kind and one.shape == other.shape and one.tolist() == other.tolist()
