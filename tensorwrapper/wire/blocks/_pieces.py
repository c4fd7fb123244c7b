"""Pieces of a tensor for blocks: boxes of its elements, and the parts with its structure."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, final

from tensorwrapper._boxes import cut_box
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import ExtentMismatchError, LocalProtocolError
from tensorwrapper.shape import IndexIterator, Shape, Tiling
from tensorwrapper.shape.lowlevel import unnamed_shape
from tensorwrapper.tensor import Tensor, from_buffer
from tensorwrapper.typing import Array
from tensorwrapper.wire._limits import Limits
from tensorwrapper.wire.blocks._decompose import take_apart
from tensorwrapper.wire.blocks._iterators import boxes_over, runs_over, tiles_over
from tensorwrapper.wire.blocks._tensor_header import TensorHeader
from tensorwrapper.wire.codec._no_elements import is_metadata_alone


def is_box_of_numbers(tensor: Tensor[Any]) -> bool:
    """Return True if a tensor has an element of a fixed size at every index of a box."""
    buffer = tensor.buffer
    return tensor.shape.is_box and buffer.fill_value is None and buffer.dtype.kind not in "TO"


def pieces_of(tensor: Tensor[Any], limits: Limits) -> "Pieces":
    """Return the pieces of a tensor.

    Raises
    ------
    LocalProtocolError
        If it cannot be written, or readers with these limits would refuse it.
    """
    if is_metadata_alone(tensor):
        raise LocalProtocolError("unsupported", "a tensor without elements cannot be cut into blocks")
    if is_box_of_numbers(tensor):
        return _Boxes(_Said(tensor.shape, None, ()), tensor, tensor)
    apart = take_apart(tensor, limits)
    run, data, packed, total = apart.run, apart.data, apart.packed, apart.total
    # Indices of an iterator are those of the modes, whatever their names and layers.
    flat = tensor.named(*[None] * tensor.rank) if any(tensor.shape.names) else tensor
    flat = flat.flatten() if flat.shape.has_layers else flat
    said = _Said(total, apart.whole, apart.parts)
    if data is not None and packed is not None:
        of_elements = packed.place_of if run.shape == flat.shape else None
        return _Runs(said, flat.shape, data.dtype.itemsize, partial(_part_of, data), of_elements)
    if run.shape.is_box and run.shape.extents == total.extents:
        return _Boxes(said, flat, run)
    return _Runs(
        said, flat.shape, run.dtype.itemsize, partial(_run_of, run), int if run.shape == flat.shape else None
    )


def _part_of(data: Array, start: int, stop: int) -> Array:
    return data[start:stop]


def _run_of(tensor: Tensor[Any], start: int, stop: int) -> Array:
    """Return a range of a tensor's elements in row-major order: a view where they are contiguous."""
    layout, buffer = tensor.layout, tensor.buffer
    if layout.is_contiguous:
        first = layout.bounds()[0]
        return buffer.read_run(first + start, first + stop)
    return buffer.read(layout.offsets_of(tensor.shape.indices()[start:stop]))


@final
@frozen(eq=False)
class _Said:
    """Properties that all pieces share with their tensor."""

    total: Shape[Any]
    """The shape of the part that has the elements."""
    whole: TensorHeader | None
    """Description of a tensor that is not a box of numbers."""
    parts: tuple[Array, ...]
    """The parts that say where elements are, from part 1 on, as bytes."""


class Pieces(ABC):
    """Abstract: `piece`, `itemsize`, `regions`."""

    __slots__ = ()

    said: _Said

    @property
    @abstractmethod
    def itemsize(self) -> int:
        """The bytes of an element."""

    @abstractmethod
    def piece(self, region: Shape[Any]) -> Tensor[Any]:
        """Return a box of the elements."""

    @abstractmethod
    def regions(
        self, tiling: Tiling[Any] | None, over: IndexIterator[Any] | None, room: int
    ) -> Iterator[Shape[Any]]:
        """Return where the boxes lie, of at most so many elements where nothing else says where to cut."""


@final
@frozen(eq=False)
class _Boxes(Pieces):
    """Elements that are sent as boxes of the box that they are."""

    said: _Said
    seen: Tensor[Any]
    """The tensor, without layers."""
    box: Tensor[Any]
    """Its elements: the tensor itself, or the box under its tiles."""

    @property
    def itemsize(self) -> int:
        return self.box.dtype.itemsize

    def piece(self, region: Shape[Any]) -> Tensor[Any]:
        if self.said.whole is None:
            return self.box.window(region)
        # Places in a part are counted from 0.
        return self.box[...].window(region)

    def regions(
        self, tiling: Tiling[Any] | None, over: IndexIterator[Any] | None, room: int
    ) -> Iterator[Shape[Any]]:
        shape = self.box.shape
        if tiling is not None:
            if tiling.elements != unnamed_shape(shape):
                raise ExtentMismatchError(f"a tiling of {tiling.elements} does not cut {shape}")
            grid = tiling.grid
            tiles = tiling.tiles() if over is None else tiles_over(over, tiling, grid.origin, grid)
            return map(self._placed, tiles)
        if over is None:
            return _cut(self.said.total, room)
        if not self.seen.layout.is_tiled:
            return map(self._placed, boxes_over(over, shape, room))
        first = self.seen.shape.outer().origin
        return map(self._placed, tiles_over(over, self.seen.tiling, first, self.seen.shape))

    def _placed(self, region: Shape[Any]) -> Shape[Any]:
        return region if self.said.whole is None else region.translate_by([-o for o in self.box.shape.origin])


@final
@frozen(eq=False)
class _Runs(Pieces):
    """Elements that are sent as runs of a part in which they follow one another."""

    said: _Said
    shape: Shape[Any]
    """Shape of the tensor, without layers."""
    size: int
    read: Callable[[int, int], Array]
    place_of: Callable[[int], int] | None
    """Function of the number of an element to its start in the part; None if unknown."""

    @property
    def itemsize(self) -> int:
        return self.size

    def piece(self, region: Shape[Any]) -> Tensor[Any]:
        (start,), (count,) = region.origin, region.extents
        return from_buffer(self.read(start, start + count), region)

    def regions(
        self, tiling: Tiling[Any] | None, over: IndexIterator[Any] | None, room: int
    ) -> Iterator[Shape[Any]]:
        if tiling is not None:
            raise LocalProtocolError(
                "unsupported", f"only boxes of numbers are cut by a tiling, not {self.shape}"
            )
        if over is None:
            return _cut(self.said.total, room)
        place_of = self.place_of
        if place_of is None:
            raise LocalProtocolError(
                "unsupported",
                f"the elements of {self.shape} are stored in runs that do not follow its indices",
            )
        places = runs_over(over, self.shape, room, place_of)
        return (Shape(stop - start, origin=(start,)) for start, stop in places)


def _cut(total: Shape[Any], room: int) -> Iterator[Shape[Any]]:
    for window in cut_box(total.extents, room):
        starts = [part.start + o for part, o in zip(window, total.origin, strict=True)]
        yield Shape(*[part.stop - part.start for part in window], origin=starts)
