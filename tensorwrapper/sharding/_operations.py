"""Block operations: an operation on tensors that can be cut into shards, each of which knows its part."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, SupportsIndex, cast, final

import attrs
import numpy as np

from tensorwrapper._arrays import different
from tensorwrapper._displays import html_block
from tensorwrapper._error_text import shortened
from tensorwrapper._integers import MAX_INT64, to_count, to_int
from tensorwrapper._value_class import frozen, value_class
from tensorwrapper.errors import (
    ConversionError,
    ExtentError,
    Finding,
    OutOfBoundsError,
    RankError,
    SizeOverflowError,
    ValidationError,
)
from tensorwrapper.shape import Shape, ShapeLike
from tensorwrapper.shape.lowlevel import mode_of
from tensorwrapper.sharding._boxes import Box, BoxesLike, BoxTable, as_box, as_box_table, box_text
from tensorwrapper.sharding._coverage import coverage_findings
from tensorwrapper.sharding._operands import Named, Operand, Sides, named_lists
from tensorwrapper.sharding._picture import Panel, draw_panels
from tensorwrapper.sharding._projection import output_findings
from tensorwrapper.typing import IntArray


def _to_kernel(kernel: object) -> str:
    if not (isinstance(kernel, str) and kernel):
        raise ConversionError(f"a kernel has a name, not {kernel!r}")
    return kernel


@final
@value_class
class Shard:
    """A part of an operation: a block of its index, and the boxes that it reads and writes."""

    block: Box
    """The indices."""
    _reads: "Named[Box]" = attrs.field(alias="reads")
    _writes: "Named[Box]" = attrs.field(alias="writes")

    if TYPE_CHECKING:

        def __init__(self, block: Box, reads: "Named[Box]", writes: "Named[Box]") -> None: ...

    @property
    def reads(self) -> dict[str, tuple[Box, ...]]:
        """The boxes that are read, by the name of the input."""
        return dict(self._reads)

    @property
    def writes(self) -> dict[str, tuple[Box, ...]]:
        """The boxes that are written, by the name of the output."""
        return dict(self._writes)


@final
@value_class(getstate_setstate=False)
class BlockOperation(Sides[Operand]):
    """An operation that does something for each index of a box, on boxes of its operands.

    The index can be cut into blocks at will; each block is a shard, which reads and writes boxes that are
    known from the projections. `kernel` is only the name of the computation.

    Parameters
    ----------
    kernel
        Name of the computation.
    index
        The box of all indices.
    inputs, outputs
        By name one operand, or a list of them.

    Raises
    ------
    RankError
        If a projection takes indices of another rank.

    Examples
    --------
    >>> from tensorwrapper.sharding import BlockOperation, Operand
    >>> x = Operand((100, 12), "(m, n) -> (m, 0) by (1, 12)")
    >>> w = Operand((12, 32), "(m, n) -> (0, n) by (12, 1)")
    >>> z = Operand.result((100, 32), "(m, n) -> (m, n)")
    >>> matmul = BlockOperation("matmul", (100, 32), {"x": x, "w": w}, {"z": z})
    >>> shards = matmul.split(0, 50)
    >>> shards[1].reads
    {'w': (Shape(12, 32),), 'x': (Shape(50, 12, origin=(50, 0)),)}
    >>> shards.read_bytes().tolist(), matmul.duplicated_bytes(0), matmul.duplicated_bytes(1)
    ([984, 984], 384, 1200)
    >>> matmul.best_mode()
    0
    """

    kernel: str
    """Name of the computation."""
    index: Box
    """The box of all indices."""
    _inputs: "Named[Operand]"
    _outputs: "Named[Operand]"

    def __init__(
        self,
        kernel: str,
        index: ShapeLike,
        inputs: Mapping[str, Operand | Sequence[Operand]],
        outputs: Mapping[str, Operand | Sequence[Operand]],
    ) -> None:
        box = as_box(index, "the index of an operation")
        object.__setattr__(self, "kernel", _to_kernel(kernel))
        object.__setattr__(self, "index", box)
        object.__setattr__(self, "_inputs", named_lists(inputs, Operand, "inputs"))
        object.__setattr__(self, "_outputs", named_lists(outputs, Operand, "outputs"))
        for where, operand in (*self._listed("inputs"), *self._listed("outputs")):
            if operand.projection.input_rank != box.rank:
                raise RankError(
                    f"{where}: the projection takes indices of rank {operand.projection.input_rank}, but the "
                    f"index has rank {box.rank}"
                )

    def _listed(self, side: str) -> Iterator[tuple[str, Operand]]:
        """Return the operands of one side with their places, as errors name them."""
        for name, operands in self._inputs if side == "inputs" else self._outputs:
            for k, operand in enumerate(operands):
                yield f"{side}.{name}[{k}]", operand

    # Shards.

    def shard(self, blocks: BoxesLike | Box) -> "Shards":
        """Return the shards of given blocks of the index, which are not checked: see `Shards.check`.

        Raises
        ------
        RankError
            If a block has another rank than the index.
        """
        if isinstance(blocks, Shape):
            return Shards(self, BoxTable.from_boxes([blocks], rank=self.index.rank))
        return Shards(self, as_box_table(blocks, self.index.rank))

    def split(self, mode: SupportsIndex, sizes: SupportsIndex | Sequence[SupportsIndex]) -> "Shards":
        """Return the shards that come of cutting the index along one mode: see `Shape.split_by_extents`."""
        return self.shard(self.index.split_by_extents(sizes, mode))

    def split_grid(self, sizes: "Sequence[SupportsIndex | Sequence[SupportsIndex] | None]") -> "Shards":
        """Return the shards that come of cutting the index along every mode, in row-major order.

        Parameters
        ----------
        sizes
            Per mode an argument of `Shape.split_by_extents`; ``None`` leaves a mode whole.

        Examples
        --------
        >>> from tensorwrapper.sharding import BlockOperation, Operand
        >>> relu = BlockOperation("relu", (100, 32), {}, {"y": Operand.result((100, 32), "(i, j) -> (i, j)")})
        >>> [shard.block.origin for shard in relu.split_grid((50, 16))]
        [(0, 0), (0, 16), (50, 0), (50, 16)]
        """
        return self.shard(_grid(self.index, sizes))

    def split_by_volume(self, mode: SupportsIndex, count: SupportsIndex) -> "Shards":
        """Return at most so many shards along one mode that read and write nearly the same bytes each.

        None has more than its share and one index more, so that rows of any lengths give even work; an index
        is never cut. Reads shared by two blocks count for both.

        Raises
        ------
        SizeOverflowError
            If the bytes do not fit into 64 bits.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> from tensorwrapper.sharding import BlockOperation, Operand
        >>> events = tw.Shape.jagged([1, 1, 8, 2, 2, 2, 2, 2])
        >>> hits, sums = Operand.rows(events), Operand.result((8,), "(i) -> (i)")
        >>> shards = BlockOperation("sum", (8,), {"hits": hits}, {"sum": sums}).split_by_volume(0, 3)
        >>> shards.blocks.extents.tolist(), shards.read_bytes().tolist()
        ([[3], [2], [3]], [10, 4, 6])
        """
        number, parts = mode_of(mode, self.index.rank), to_count(count, "a number of shards")
        if not parts:
            raise ExtentError("an operation is cut into one shard or more, not into 0")
        extent = self.index.extents[number]
        if not extent:
            return self.shard([self.index])
        slabs = self._slabs(number)
        volumes = slabs.read_bytes() + slabs.write_bytes()
        if max(volumes.tolist(), default=0) * extent > MAX_INT64:
            raise SizeOverflowError("the bytes of all shards leave 64 bits")
        marks = np.zeros(extent + 1, dtype=np.int64)
        np.cumsum(volumes, out=marks[1:])
        total = marks.item(-1)
        shares = [total * k // parts for k in range(1, parts)]
        after = marks.searchsorted(np.array(shares, dtype=np.int64))
        before = np.maximum(after - 1, 0)
        nearer = marks[after] - shares > shares - marks[before]
        cuts = different(np.concatenate(([0], np.where(nearer, before, after), [extent])))
        return self.split(number, np.diff(cuts).tolist())

    def _slabs(self, mode: int) -> "Shards":
        """Return a shard for each position of a mode."""
        extent = self.index.extents[mode]
        origins = np.tile(np.array(self.index.origin, dtype=np.int64), (extent, 1))
        origins[:, mode] += np.arange(extent)
        extents = np.tile(np.array(self.index.extents, dtype=np.int64), (extent, 1))
        extents[:, mode] = 1
        return Shards(self, BoxTable(origins, extents))

    def best_mode(self) -> int:
        """Return the mode along which a cut makes neighbours read the least bytes twice.

        It is the longest of equal modes. A mode of extent 1 cannot be cut.

        Raises
        ------
        ExtentError
            If no mode can be cut.
        """
        modes = [mode for mode, extent in enumerate(self.index.extents) if extent > 1]
        if not modes:
            raise ExtentError(f"no mode of the index {box_text(self.index)} can be cut: no extent is above 1")
        return min(modes, key=lambda mode: (self.duplicated_bytes(mode), -self.index.extents[mode], mode))

    def duplicated_bytes(self, mode: SupportsIndex) -> int:
        """Return how many bytes of inputs the shards on both sides of a cut along a mode read; exact.

        It is the same wherever the cut is, while all other modes stay whole. Where an operand has tables of
        ranges it is not: then it is the most that a cut along the mode can be.
        """
        number = mode_of(mode, self.index.rank)
        extents = tuple([min(n, 1) if c == number else n for c, n in enumerate(self.index.extents)])
        slab = Shape.smooth(extents, origin=self.index.origin)
        total = 0
        for _, operand in self._listed("inputs"):
            if operand.projection.ranges:
                total += operand.itemsize * self._most_shared(operand, number)
                continue
            steps = [abs(row[number]) for row in operand.projection.matrix]
            spans = operand.projection.of_box(slab).extents
            total += operand.itemsize * math.prod([max(0, n - a) for n, a in zip(spans, steps, strict=True)])
        return total

    def _most_shared(self, operand: Operand, mode: int) -> int:
        """Return how many elements neighbours along a mode both read at most."""
        if self.index.extents[mode] < 2:
            return 0  # There is no place to cut.
        parts = self._slabs(mode)._footprint(operand)
        low = np.maximum(parts.origins[1:], parts.origins[:-1])
        both = np.maximum(np.minimum(parts.stops[1:], parts.stops[:-1]) - low, 0)
        return int(BoxTable(low, both).sizes().max())

    # Checks.

    def findings(self) -> tuple[Finding, ...]:
        """Return all errors of the operation as a whole, in the order of the operands.

        Inputs must contain all indices that are read; outputs must be tiled by the writes of single indices.
        Both are decided from the projections, without going over the index.
        """
        found: list[Finding] = []
        for where, operand in self._listed("inputs"):
            reads = operand.projection.of_box(self.index)
            if not operand.shape.encloses(reads):
                text = f"{box_text(reads)} is read, which leaves the tensor {box_text(operand.shape)}"
                found.append(Finding("bounds", where, text))
        for where, operand in self._listed("outputs"):
            found += output_findings(operand.projection, self.index, operand.shape, where)
        return tuple(found)

    def check(self) -> None:
        """Raise `ValidationError` with all `findings`, if there are any."""
        findings = self.findings()
        if findings:
            raise ValidationError(f"the operation {self.kernel!r}", findings)

    def __reduce__(self) -> "tuple[Callable[..., BlockOperation], tuple[object, ...]]":
        return BlockOperation, (self.kernel, self.index, self.inputs, self.outputs)


def _grid(index: Box, sizes: "Sequence[SupportsIndex | Sequence[SupportsIndex] | None]") -> BoxTable:
    if not isinstance(cast("object", sizes), Iterable):
        raise ConversionError(f"block sizes are a sequence with one entry per mode, not {sizes!r}")
    if len(sizes) != index.rank:
        raise RankError(f"{len(sizes)} block sizes are given, but the index has rank {index.rank}")
    cuts: list[tuple[IntArray, IntArray]] = []
    for mode, size in enumerate(sizes):
        blocks = [index] if size is None else index.split_by_extents(size, mode)
        parts = BoxTable.from_boxes(blocks, rank=index.rank)
        cuts.append((parts.origins[:, mode], parts.extents[:, mode]))
    tables = [np.meshgrid(*[pair[k] for pair in cuts], indexing="ij") for k in (0, 1)]
    count = math.prod([len(starts) for starts, _ in cuts])
    origins, extents = [
        np.stack([part.ravel() for part in table], axis=1) if table else np.zeros((count, 0), dtype=np.int64)
        for table in tables
    ]
    return BoxTable.from_arrays(origins, extents)


@final
@frozen
class Shards:
    """The shards of an operation: a sequence whose boxes are stored as arrays.

    Made by `BlockOperation.shard` and its kin.
    """

    operation: BlockOperation
    """The partitioned operation."""
    blocks: BoxTable
    """The blocks of the index."""

    def __len__(self) -> int:
        return len(self.blocks)

    def __getitem__(self, place: SupportsIndex) -> Shard:
        number = to_int(place, "the number of a shard")
        if not -len(self) <= number < len(self):
            raise OutOfBoundsError(f"shard {number} does not exist: there are {len(self)}")
        return self._shard(self.blocks[number])

    def __iter__(self) -> Iterator[Shard]:
        return map(self._shard, self.blocks)

    def _shard(self, block: Box) -> Shard:
        reads, writes = [
            tuple([(name, tuple([o.projection.of_box(block) for o in operands])) for name, operands in side])
            for side in (self.operation._inputs, self.operation._outputs)
        ]
        return Shard(block, reads, writes)

    def reads(self, name: str, place: SupportsIndex = 0) -> BoxTable:
        """Return the box that each shard reads of an input.

        Parameters
        ----------
        name
            The name of the input.
        place
            Which of the operands of that name.
        """
        return self._footprint(_operand_of(self.operation.inputs, name, place, "input"))

    def writes(self, name: str, place: SupportsIndex = 0) -> BoxTable:
        """Return the box that each shard writes of an output, as `reads` does of an input."""
        return self._footprint(_operand_of(self.operation.outputs, name, place, "output"))

    def _footprint(self, operand: Operand) -> BoxTable:
        return BoxTable(*operand.projection.of_boxes(self.blocks.origins, self.blocks.extents))

    def read_bytes(self) -> IntArray:
        """Return how many bytes of inputs each shard reads.

        Raises
        ------
        SizeOverflowError
            If that does not fit into 64 bits.
        """
        return self._bytes("inputs")

    def write_bytes(self) -> IntArray:
        """Return how many bytes of outputs each shard writes, as `read_bytes` does of inputs."""
        return self._bytes("outputs")

    def _bytes(self, side: str) -> IntArray:
        total = np.zeros(len(self), dtype=np.int64)
        most = 0
        for where, operand in self.operation._listed(side):
            sizes = self._footprint(operand).sizes()
            most += operand.itemsize * max(sizes.tolist(), default=0)
            if most > MAX_INT64:
                raise SizeOverflowError(
                    f"the bytes of {side} up to {where} could be {most} for a shard, over 64 bits"
                )
            total += sizes * operand.itemsize
        return total

    def to_svg(self, shard: SupportsIndex = 0) -> str:
        """Return a picture as the text of an SVG document: the blocks, and their reads and writes.

        Index and operands are side by side at one scale, with the boxes of all shards, and those of one
        shard marked. For operands of over two modes the last two are drawn.

        Parameters
        ----------
        shard
            The number of the shard that is marked.

        Examples
        --------
        >>> from tensorwrapper.sharding import BlockOperation, Operand
        >>> relu = BlockOperation("relu", (4,), {}, {"y": Operand.result((4,), "(i) -> (i)")})
        >>> relu.split(0, 3).to_svg().count('class="chosen"')
        2
        """
        chosen = to_int(shard, "the number of a shard")
        if len(self) and not -len(self) <= chosen < len(self):
            raise OutOfBoundsError(f"shard {chosen} does not exist: there are {len(self)}")
        panels = [Panel("index", self.operation.index, self.blocks, chosen)]
        for side in ("inputs", "outputs"):
            for where, operand in self.operation._listed(side):
                panels.append(Panel(where, operand.shape, self._footprint(operand), chosen))
        title = f"{len(self)} shards of {self.operation.kernel}; shard {chosen} is marked"
        return draw_panels(panels, title).to_svg()

    def _repr_html_(self) -> str:
        """Return the picture for notebooks."""
        return html_block(shortened(str(self)), picture=self.to_svg())

    def findings(self) -> tuple[Finding, ...]:
        """Return all errors of the operation and of the blocks.

        The blocks must tile the index, and the boxes that they write every output. O(n log n) for n shards.
        """
        found = [*self.operation.findings()]
        found += coverage_findings(self.operation.index, self.blocks, where="index")
        # An empty block writes nothing, though a box of rank 0 is never empty.
        filled = (self.blocks.extents > 0).all(axis=1)
        busy = Shards(self.operation, BoxTable(self.blocks.origins[filled], self.blocks.extents[filled]))
        for where, operand in self.operation._listed("outputs"):
            found += coverage_findings(operand.shape, busy._footprint(operand), where=where)
        return tuple(found)

    def check(self) -> None:
        """Raise `ValidationError` with all `findings`, if there are any.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> from tensorwrapper.sharding import BlockOperation, Operand
        >>> relu = BlockOperation("relu", (4,), {}, {"y": Operand.result((4,), "(i) -> (i)")})
        >>> relu.split(0, 3).check()
        >>> len(relu.shard([Shape(2), Shape(1, origin=(3,))]).findings())
        2
        """
        findings = self.findings()
        if findings:
            raise ValidationError(f"the shards of {self.operation.kernel!r}", findings)


def _operand_of(
    named: Mapping[str, tuple[Operand, ...]], name: str, place: SupportsIndex, what: str
) -> Operand:
    if name not in named:
        raise OutOfBoundsError(f"there is no {what} {name!r}: the {what}s are {', '.join(named) or 'none'}")
    number, operands = to_int(place, "the place of an operand"), named[name]
    if not 0 <= number < len(operands):
        raise OutOfBoundsError(f"{what} {name!r} has {len(operands)} operands, and no operand {number}")
    return operands[number]
