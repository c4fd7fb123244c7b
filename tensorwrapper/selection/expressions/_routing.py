"""Nodes that distribute a mode among their operands, and selections from them."""

# The field of a frozen class implements an abstract property of the same name.
# pyright: reportIncompatibleMethodOverride=false

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any, ClassVar, TypeAlias, cast, final

import attrs
import numpy as np

from tensorwrapper._arrays import CACHED, ranked
from tensorwrapper._json import Json
from tensorwrapper._progressions import solve_progression
from tensorwrapper._value_class import frozen
from tensorwrapper.buffer.lowlevel import assign_indexed, join_into, write_elements
from tensorwrapper.layout import AxisMap, Layout, Stride, Table
from tensorwrapper.layout.lowlevel import new_row_major, new_strided, wrap_layout
from tensorwrapper.selection.expressions._axis_pieces import (
    Part,
    Piece,
    Run,
    check_cover,
    parts_in_a_row,
    runs_of,
)
from tensorwrapper.selection.expressions._elementwise import cast_view
from tensorwrapper.selection.expressions._expression import (
    Expression,
    Job,
    Node,
    NodeFields,
    NodeWriter,
    Normalize,
    Shares,
    Split,
    at_zero,
    memories_of,
    whole,
)
from tensorwrapper.selection.expressions._fields import to_integer, to_list
from tensorwrapper.selection.expressions._generators import Filling
from tensorwrapper.selection.expressions._ordinals import Whole, pushed
from tensorwrapper.selection.operations._operation import grouped
from tensorwrapper.selection.runners._leaves import BLOCK, Runner, full_window
from tensorwrapper.selection.transforms._transform import (
    Coordinate,
    Spaced,
    Transform,
    canonical,
    maps_of,
    of_maps,
    put_together,
    spaced,
    take_apart,
    through,
)
from tensorwrapper.typing import Array, Extents, Index, IntArray

_SLAB = 1 << 22  # bytes of a result of which parts that take turns are all written before the next
_PART = 1 << 18  # and bytes of each part, on average, that are worth a call


def write_parts(
    mode: int, positions: Sequence[range], runners: Sequence[Runner], out: Array, threads: int
) -> None:
    """Write each part at the positions of a mode that are its own; together they are all of `out`."""
    in_a_row = all(own.step == 1 for own in positions)
    if in_a_row and threads == 1:
        # Without gaps, the order of parts is that of their starts.
        order = sorted(range(len(runners)), key=lambda n: positions[n].start)
        arrays = [runners[n].memory for n in order]
        if all(own is not None for own in arrays):
            join_into(out, [own for own in arrays if own is not None], mode)
            return
    rows = len(out) if out.ndim else 1
    if mode and not in_a_row and threads == 1:
        # All parts of some rows before the next ones, while their memory is in the cache.
        rows = max(rows * max(_SLAB, _PART * len(runners)) // max(out.nbytes, 1), 1)
    before = (slice(None),) * mode
    # The largest first: new memory is then touched once for nearly all that is written.
    largest = sorted(range(len(runners)), key=lambda n: -len(positions[n]))
    for start in range(0, len(out), rows):
        slab = out[start : start + rows]
        for number in largest:
            own = positions[number]
            if not own:
                continue
            goal = slab[(*before, slice(own.start, own.stop, own.step))]
            window = full_window(goal.shape)
            if mode:
                window = (slice(start, start + len(slab)), *window[1:])
            runners[number].fill(window, goal, threads)


_Box: TypeAlias = "tuple[Extents, Index, Index, int]"
"""Extents, origin, strides and offset of a layout in strides."""


def merged(pieces: list[Piece], mode: int) -> list[Piece]:
    """Return the same positions in fewer pieces, where one layout or constant says several; in order."""
    # Turns first: of three turns over four positions, the last two also follow one another.
    found = _interleaved(pieces, mode)
    return _interleaved(_joined(pieces, mode), mode) if len(found) > 1 else found


def _joined(pieces: list[Piece], mode: int) -> list[Piece]:
    """Return pieces of which no two neighbours without gaps are one."""
    merged: list[Piece] = []
    for piece in pieces:
        last = merged[-1] if merged else None
        if last is not None and last.step == piece.step == 1 and last.start + last.count(mode) == piece.start:
            view = _continued(last.view, piece.view, mode)
            if view is not None:
                merged[-1] = Piece(last.start, 1, view)
                continue
        merged.append(piece)
    return merged


def _continued(first: Expression, second: Expression, mode: int) -> Expression | None:
    """Return the view of two that follow one another along a mode, if one layout or constant says both."""
    a, b = first.node, second.node
    extents = first.extents
    counts = extents[mode], second.extents[mode]
    together = (*extents[:mode], sum(counts), *extents[mode + 1 :])
    if isinstance(a, Filling) and a.is_like(b):
        return a.over(together)
    if not a.is_leaf:
        return None
    one, two = first.layout.implementation.strided_box(), second.layout.implementation.strided_box()
    if one is not None and two is not None:
        # The short way, without axis maps; most pieces fail here, and are not compared.
        layout = _one_line(together, one, two, mode)
        return None if layout is None or a != b else Expression(a, layout)
    if a != b:
        return None
    here, there = maps_of(first.layout), maps_of(second.layout)
    if here is None or there is None:
        return None
    (base, axes), (further, others) = here, there
    steps = axes[mode], others[mode]
    if not isinstance(steps[0], Stride) or not isinstance(steps[1], Stride):
        return None
    if axes[:mode] + axes[mode + 1 :] != others[:mode] + others[mode + 1 :]:
        return None
    step = steps[0].step if counts[0] > 1 else further - base
    if (counts[1] > 1 and steps[1].step != step) or further != base + step * counts[0]:
        return None
    return _strided(first, base, axes, mode, Stride(sum(counts), step))


def _one_line(extents: Extents, one: _Box, two: _Box, mode: int) -> Layout[Any] | None:
    """Return the layout of two in strides that follow one another along a mode, if it has strides, too."""
    counts, _, strides, base = one
    further, steps = two[3], two[2]
    step = strides[mode] if counts[mode] > 1 else further - base
    if further != base + step * counts[mode] or (two[0][mode] > 1 and steps[mode] != step):
        return None
    if strides[:mode] + strides[mode + 1 :] != steps[:mode] + steps[mode + 1 :]:
        return None
    steps = (*strides[:mode], step, *strides[mode + 1 :])
    return wrap_layout(new_strided(extents, (0,) * len(extents), steps, base))


def _interleaved(pieces: list[Piece], mode: int) -> list[Piece]:
    """Return one piece if all of them take turns and one layout says them all, else the pieces."""
    if not _take_turns(pieces, mode):
        return pieces
    first, many = pieces[0].view, len(pieces)
    maps = [found for piece in pieces if (found := maps_of(piece.view.layout)) is not None]
    if len(maps) < many:
        return pieces
    base, axes = maps[0]
    step = maps[1][0] - base
    for number, (own_base, own_axes) in enumerate(maps):
        own = own_axes[mode]
        if own_base != base + step * number or not isinstance(own, Stride):
            return pieces
        if own.extent > 1 and own.step != step * many:
            return pieces
        if own_axes[:mode] + own_axes[mode + 1 :] != axes[:mode] + axes[mode + 1 :]:
            return pieces
    total = sum([piece.count(mode) for piece in pieces])
    return [Piece(0, 1, _strided(first, base, axes, mode, Stride(total, step)))]


def _take_turns(pieces: list[Piece], mode: int) -> bool:
    """Return True if pieces are the first, the second and so on of equal turns, and of one source."""
    many, node = len(pieces), pieces[0].view.node
    return (
        many > 1
        and pieces[1].start == 1  # Most do not take turns, and are found out here.
        and all(piece.start == n for n, piece in enumerate(pieces))
        and all(piece.step == many or piece.count(mode) == 1 for piece in pieces)
        and node.is_leaf
        and not node.is_constant
        and all(piece.view.node == node for piece in pieces)
    )


def _strided(view: Expression, base: int, axes: tuple[AxisMap, ...], mode: int, axis: Stride) -> Expression:
    return Expression(view.node, of_maps(base, (*axes[:mode], axis, *axes[mode + 1 :])))


_LOOKED_UP = 1 << 19  # positions distributed at once: the tables of a block take 32 MiB


class SharedMode(Node):
    """Abstract: `mode`, `extents`, `name`, `operands`, `operand_at`, `parts_of_run` and `numbers`."""

    __slots__ = ()

    is_sharing: ClassVar[bool] = True
    is_cellwise: ClassVar[bool] = False

    mode: int

    @property
    def dtype(self) -> "np.dtype[Any]":
        return self.operands[0].dtype

    @property
    def title(self) -> str:
        return f"{self.name}(mode={self.mode})"

    def cast(self, view: Expression, dtype: "np.dtype[Any]") -> Expression:
        return Expression(self.mapped(lambda own: cast_view(own, dtype)), view.layout)

    @abstractmethod
    def operand_at(self, position: int) -> tuple[Expression, int]:
        """Return the operand of a position, and the position in it. O(log operands)."""

    @abstractmethod
    def parts_of_run(self, run: Run) -> Iterator[Part]:
        """Return the parts of evenly spaced positions; O(parts), whatever the number of operands."""

    @abstractmethod
    def numbers(self, positions: IntArray) -> tuple[IntArray, IntArray]:
        """Return the number of the operand of each position, and the position in it."""

    def shares(self, positions: IntArray, given: Sequence[Array]) -> Shares:  # noqa: ARG002
        numbers, within = self.numbers(positions[..., self.mode])
        operands = self.operands
        for number, chosen in grouped(numbers):
            own = positions[chosen]
            own[..., self.mode] = within[chosen]
            yield operands[number], chosen, own

    def split(self, view: Expression) -> "Expression | Split | None":
        if view.is_whole:
            return Split(self.mode, [(own, part) for _, own, part in self.shared()])
        slices = spaced(view.layout, self.extents)
        if slices is not None:
            return Split(self.mode, self._cut(slices))
        transform = take_apart(view.layout, self.extents)
        return None if transform is None else self._split(transform)

    def ascending(self, view: Expression) -> tuple[Expression, int, IntArray] | None:
        transform = None if view.is_whole else take_apart(view.layout, self.extents)
        feeds = [] if transform is None else [*transform.coordinates[self.mode].feeds]
        if transform is None or len(feeds) != 1 or len(self.operands) == 1:
            return None
        own, move = feeds[0]
        constant = transform.coordinates[self.mode].constant
        alone = sum(number == own for c in transform.coordinates for number, _ in c.feeds) == 1
        if not alone or runs_of(constant, move) is not None:
            return None
        positions = move.offsets() + constant
        if (positions[1:] > positions[:-1]).all():
            return None
        distinct, places = ranked(positions)
        first, axis = Table(distinct).simplify()
        extents = (*transform.extents[:own], len(distinct), *transform.extents[own + 1 :])
        here = Coordinate(first, ((own, axis),)) if len(distinct) > 1 else Coordinate(first)
        ordered = attrs.evolve(transform, extents=extents).at(self.mode, here)
        return Expression(self, put_together(ordered, self.extents)), own, places

    def _split(self, transform: Transform) -> "Expression | Split | None":
        coordinate = transform.coordinates[self.mode]
        feeds = [*coordinate.feeds]
        if not feeds:
            operand, position = self.operand_at(coordinate.constant)
            return pushed(operand, transform.at(self.mode, Coordinate(position)))
        if len(feeds) > 1:
            return None
        own, move = feeds[0]
        runs = runs_of(coordinate.constant, move)
        if runs is None:
            numbers, within = self.numbers(move.offsets() + coordinate.constant)
            groups = [(number, chosen, within[chosen]) for number, chosen in grouped(numbers)]
            return self._grouped(transform, own, groups)
        parts: list[tuple[range | IntArray, Expression]] = []
        for part in [part for run in runs for part in self.parts_of_run(run)]:
            there = transform.restricted(own, part.start, part.step, part.count)
            here = Coordinate(part.first, ((own, Stride(part.count, part.stride)),))
            positions = range(part.start, part.start + part.step * part.count, part.step)
            parts.append((positions, pushed(part.operand, there.at(self.mode, here))))
        return Split(own, parts)

    def _grouped(
        self, transform: Transform, own: int, groups: "Iterable[tuple[int, IntArray, IntArray]]"
    ) -> Split:
        """Return a mode split by the operands of its positions, each with the positions in its mode."""
        parts: list[tuple[range | IntArray, Expression]] = []
        for number, chosen, within in groups:
            first, axis = Table(within).simplify()
            here = Coordinate(first, ((own, axis),)) if len(within) > 1 else Coordinate(first)
            there = transform.gathered(own, chosen).at(self.mode, here)
            parts.append((chosen, pushed(self.operands[number], there)))
        return Split(own, parts)

    def write_into(self, view: Expression, out: Array, job: Job) -> None:
        """Let each operand write its part."""
        blocks = _blocks_of_positions(view)
        if blocks is not None:
            for there in blocks:
                self.write_into(Expression(self, view.layout[there]), out[there], job)
            return
        found = self.split(view)
        if isinstance(found, Expression):
            found.node.write_into(found, out, job)
        elif found is not None:
            _write_parts(found, out, job)
        elif not job.by_number(self, view.layout, out):
            self._fill_points(view.layout, out, job)

    def _cut(self, slices: list[Spaced]) -> "list[tuple[range | IntArray, Expression]]":
        """Return the parts of a slice: their positions in it, and the views that have them."""
        first, step, count = slices[self.mode]
        found: list[tuple[range | IntArray, Expression]] = []
        for own in self.parts_of_run((0, count, first, step)):
            positions = range(own.start, own.start + own.step * own.count, own.step)
            found.append((positions, _slice_of(own, slices, self.mode)))
        return found

    def _fill_points(self, layout: Layout[Any], out: Array, job: Job) -> None:
        """Write elements one by one: of any selection."""
        coordinates = [*np.unravel_index(layout.to_numpy().reshape(-1), self.extents)]
        numbers, coordinates[self.mode] = self.numbers(coordinates[self.mode])
        found: Array = np.empty(numbers.shape, self.dtype)
        for number, chosen in grouped(numbers):
            found[chosen] = job.elements(self.operands[number]).points(
                tuple([own[chosen] for own in coordinates])
            )
        write_elements(out, found.reshape(out.shape))

    def to_json(self, write: NodeWriter) -> dict[str, Json]:
        return {self.name: self.mode, "parts": [write.view(part) for part in self.operands]}


@final
@frozen
class Routing(SharedMode):
    """Pieces that partition a mode: the result of joining and interleaving."""

    mode: int
    extents: Extents
    pieces: tuple[Piece, ...]
    # Cached, as every traversal of a view uses it.
    operands: tuple[Expression, ...] = attrs.field(init=False, eq=False, repr=False)

    name: ClassVar[str] = "route"
    json_names: ClassVar[tuple[str, ...]] = ("route",)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "operands", tuple([piece.view for piece in self.pieces]))

    def __reduce__(self) -> "tuple[Callable[..., Routing], tuple[int, Extents, tuple[Piece, ...]]]":
        return Routing, (self.mode, self.extents, self.pieces)

    def with_operands(self, operands: tuple[Expression, ...]) -> "Routing":
        pairs = zip(self.pieces, operands, strict=True)
        return attrs.evolve(self, pieces=tuple([Piece(own.start, own.step, view) for own, view in pairs]))

    def cast(self, view: Expression, dtype: "np.dtype[Any]") -> Expression:  # noqa: ARG002
        pieces = [Piece(own.start, own.step, cast_view(own.view, dtype)) for own in self.pieces]
        return route(self.mode, self.extents, pieces)

    def shared(self) -> tuple[tuple[int, range, Expression], ...]:
        mode = self.mode
        return tuple([(mode, own.positions(mode), own.view) for own in self.pieces])

    def label(self, number: int) -> str:
        own = self.pieces[number].positions(self.mode)
        stop = own[-1] + 1 if own else own.start
        return f"[{own.start}:{stop}:{own.step}] " if own.step > 1 else f"[{own.start}:{stop}] "

    def _starts(self) -> IntArray | None:
        """Return where each piece begins, and after them all the extent, if none of them leaves gaps."""
        if any(piece.step != 1 for piece in self.pieces):
            return None
        starts = [piece.start for piece in self.pieces]
        return np.array([*starts, self.extents[self.mode]], dtype=np.int64)

    def operand_at(self, position: int) -> tuple[Expression, int]:
        part = next(self.parts_of_run((0, 1, position, 1)))
        return part.operand, part.first

    def parts_of_run(self, run: Run) -> Iterator[Part]:
        starts = self._starts()
        return self._met(run) if starts is None else parts_in_a_row(starts, self.operands, run)

    def _met(self, run: Run) -> Iterator[Part]:
        """Return where a progression meets that of each piece: again a progression, if anywhere."""
        start, count, first, step = run
        for piece in self.pieces:
            # Positions first + step * j that are piece.start modulo piece.step, and between its ends.
            own = piece.count(self.mode)
            low, high = piece.start, piece.start + piece.step * (own - 1)
            met = solve_progression(first, step, piece.step, count, low % piece.step)
            bounds = (low - first, high - first) if step > 0 else (high - first, low - first)
            earliest, latest = -(-bounds[0] // step), bounds[1] // step
            if met.start < earliest:
                met = range(met.start + -((met.start - earliest) // met.step) * met.step, met.stop, met.step)
            met = range(met.start, min(met.stop, latest + 1), met.step)
            if met:
                position = first + step * met.start
                stride = step * met.step // piece.step if len(met) > 1 else 1
                yield Part(
                    start + met.start, met.step, len(met), piece.view, (position - low) // piece.step, stride
                )

    def numbers(self, positions: IntArray) -> tuple[IntArray, IntArray]:
        starts = self._starts()
        if starts is not None:
            found = np.searchsorted(starts, positions, "right") - 1
            return found, positions - starts[found]
        extent = self.extents[self.mode]
        if len(self.pieces) * positions.size > extent:
            # Visit each position of the mode once, instead of each requested one for every piece.
            owners, ranks = np.empty(extent, dtype=np.int64), np.empty(extent, dtype=np.int64)
            for number, piece in enumerate(self.pieces):
                own = piece.positions(self.mode)
                part = slice(own.start, own.stop, own.step)
                owners[part], ranks[part] = number, np.arange(len(own))
            return owners[positions], ranks[positions]
        numbers, locals_ = np.zeros_like(positions), np.zeros_like(positions)
        for number, piece in enumerate(self.pieces):
            places, rest = np.divmod(positions - piece.start, piece.step)
            inside = (rest == 0) & (places >= 0) & (places < piece.count(self.mode))
            numbers[inside] = number
            locals_[inside] = places[inside]
        return numbers, locals_

    def to_json(self, write: NodeWriter) -> dict[str, Json]:
        pieces: list[Json] = [[own.start, own.step, write.normal(own.view)] for own in self.pieces]
        return {"route": self.mode, "pieces": pieces}

    @classmethod
    def from_json(cls, given: NodeFields) -> "Routing":
        given.only("pieces")
        where = given.where
        mode = given.integer("route", 0, 31)
        pieces: list[Piece] = []
        for number, item in enumerate(to_list(given.json("pieces"), f"{where}.pieces")):
            name = f"{where}.pieces[{number}]"
            fields = to_list(item, name)
            if len(fields) != 3:
                raise given.refused("schema", f".pieces[{number}] must have a start, a step and a view")
            start, step = to_integer(fields[0], f"{name}[0]", 0), to_integer(fields[1], f"{name}[1]", 1)
            pieces.append(Piece(start, step, given.view(fields[2], f"{name}[2]")))
        given.alike(tuple([piece.view for piece in pieces]), mode)
        total = check_cover(pieces, mode, where, given.work)
        extents = pieces[0].view.shape.extents
        # In a routing no piece is empty, and they are in the order in which they begin.
        filled = [piece for piece in pieces if piece.count(mode)] or pieces[:1]
        ordered = tuple(sorted(filled, key=lambda piece: piece.start))
        return Routing(mode, (*extents[:mode], total, *extents[mode + 1 :]), ordered)


def _slice_of(part: Part, slices: Sequence[Spaced], mode: int) -> Expression:
    """Return a slice of an operand, from zero on."""
    node = part.operand.node
    own = (*slices[:mode], (part.first, part.stride, part.count), *slices[mode + 1 :])
    box = part.operand.layout.implementation.strided_box()
    if box is None or node.is_constant:
        view = at_zero(part.operand)
        key: list[slice] = []
        for first, step, count in own:
            stop = first + step * count
            key.append(slice(first, stop if stop >= 0 else None, step))
        return at_zero(Expression(view.node, view.layout[tuple(key)]))
    # Modes of one step each need no transform.
    extents: list[int] = []
    strides: list[int] = []
    offset = box[3]
    for stride, (first, step, count) in zip(box[2], own, strict=True):
        extents.append(count)
        # A single position has no step.
        strides.append(stride * step if count > 1 else 0)
        offset += stride * first
    layout = new_strided(tuple(extents), (0,) * len(extents), tuple(strides), offset)
    return Expression(node, wrap_layout(layout))


def _blocks_of_positions(view: Expression) -> "list[tuple[slice, ...]] | None":
    """Return keys of blocks of a mode with more listed positions than are looked up at once, or None."""
    starts = [range(0, extent, _LOOKED_UP) for extent in view.extents]
    long = [mode for mode, own in enumerate(starts) if len(own) > 1]
    maps = maps_of(view.layout) if long else None
    listed = [] if maps is None else [mode for mode in long if isinstance(maps[1][mode], Table)]
    if not listed:
        return None
    before = (slice(None),) * listed[0]
    return [(*before, slice(start, start + _LOOKED_UP)) for start in starts[listed[0]]]


def _write_parts(split: Split, out: Array, job: Job) -> None:
    """Write views at their positions of a mode."""
    mode = split.mode
    positions, views = zip(*split.parts, strict=True)
    if set(map(type, positions)) != {range}:
        for places, view in split.parts:
            _write_some(view, out, mode, np.asarray(places), job)
        return
    arrays = memories_of(views) if out.size <= CACHED else None
    if arrays is None:
        write_parts(mode, positions, [job.elements(own) for own in views], out, job.threads)
        return
    before = (slice(None),) * mode
    for own, array in zip(positions, arrays, strict=True):
        write_elements(out[(*before, slice(own.start, own.stop, own.step))], array)


def _write_some(view: Expression, out: Array, mode: int, places: IntArray, job: Job) -> None:
    """Write a view at some places of a mode: straight there if they are evenly spaced."""
    before = (slice(None),) * mode
    first, axis = Table(places).simplify()
    if isinstance(axis, Stride):
        step = axis.step or 1
        there = slice(first, first + step * (len(places) - 1) + 1, step)
        view.node.write_into(view, out[(*before, there)], job)
        return
    rows = max(BLOCK * len(places) // math.prod(view.extents), 1)
    for start in range(0, len(places), rows):
        chosen = slice(start, start + rows)
        part = Expression(view.node, view.layout[(*before, slice(start, min(start + rows, len(places))))])
        found: Array = np.empty(part.extents, part.dtype)
        part.node.write_into(part, found, job)
        assign_indexed(out, (*before, places[chosen]), found)


def route(mode: int, extents: Extents, pieces: list[Piece]) -> Expression:
    """Return the view that pieces make, whose views are in normal form and start at zero.

    The pieces share out the positions of the mode. Empty pieces are dropped, nested ones are flattened, and
    neighbours with a common layout are merged.
    """
    if len(pieces) == 1:
        return pieces[0].view
    flat: list[Piece] = []
    for piece in pieces:
        flat += _flattened(piece, mode)
    flat.sort(key=attrgetter("start"))
    first = flat[0].view.node
    if isinstance(first, Filling) and all(first.is_like(piece.view.node) for piece in flat):
        return first.over(extents)
    few = merged(flat, mode)
    return few[0].view if len(few) == 1 else whole(Routing(mode, extents, tuple(few)))


def _flattened(piece: Piece, mode: int) -> list[Piece]:
    view, count = piece.view, piece.count(mode)
    if not count:
        return []
    node = view.node
    if isinstance(node, Routing) and node.mode == mode:
        return [
            Piece(
                piece.start + piece.step * own.start,
                piece.step * own.step if own.count(mode) > 1 else 1,
                own.view,
            )
            for own in node.pieces
        ]
    return [piece if count > 1 else attrs.evolve(piece, step=1)]


def handed_on(view: Expression, normalize: Normalize) -> Expression | None:
    """Return the normal form of a view from zero on; None if its node hands on no elements of operands."""
    ordered = view.node.ascending(view)
    if ordered is not None:
        inner, mode, places = ordered
        return _reordered(normalize(inner), mode, places, normalize)
    split = view.node.split(view)
    if split is None or isinstance(split, Expression):
        return None if split is None else normalize(split)
    return _routed(split, view.extents, normalize)


def _routed(split: Split, extents: Extents, normalize: Normalize) -> Expression:
    """Return the normal form of a view of these extents that is split."""
    mode = split.mode
    if all(isinstance(own, range) for own, _ in split.parts):
        runs = cast("Sequence[tuple[range, Expression]]", split.parts)
        return route(mode, extents, [Piece(own.start, own.step, normalize(view)) for own, view in runs])
    pieces: list[Piece] = []
    done = 0
    for own, view in split.parts:
        pieces.append(Piece(done, 1, normalize(view)))
        done += len(own)
    order = np.concatenate([np.asarray(own) for own, _ in split.parts])
    places = np.empty_like(order)
    places[order] = np.arange(len(order), dtype=order.dtype)
    return _reordered(route(mode, extents, pieces), mode, places, normalize)


def settled(inner: Expression, layout: Layout[Any], normalize: Normalize) -> Expression:
    """Return the elements of a normal form that a layout selects; if possible as parts of its own leaves."""
    node = inner.node
    transform = take_apart(layout, inner.extents)
    found: Expression | None = None
    if transform is not None and (node.is_leaf or node.ordered is not None):
        own = through(inner.layout, transform)
        if own is not None and node.ordered is not None:
            return settled(node.ordered, own, normalize)
        found = None if own is None else Expression(node, own)
    elif transform is not None:
        handed = handed_on(at_zero(Expression(node, layout)), normalize)
        if handed is not None:
            return handed
        found = node.selected(attrs.evolve(transform, origin=(0,) * len(transform.extents)), normalize)
    if found is None:
        return Expression(Whole(inner), canonical(layout))
    return normalize(found) if found.node.is_leaf else found


def _reordered(found: Expression, mode: int, places: IntArray, normalize: Normalize) -> Expression:
    """Return a view whose positions along a mode are some of those of another view, starting at zero."""
    if len(places) == found.extents[mode] and (places == np.arange(len(places))).all():
        return found
    base, axis = Table(np.ascontiguousarray(places)).simplify()
    known = new_row_major(found.extents)
    step = known.strides[mode]
    axes = [Stride(n, s) for n, s in zip(known.extents, known.strides, strict=True)]
    moved: AxisMap
    if isinstance(axis, Table):
        moved = Table(axis.values * np.int64(step))
    else:
        moved = Stride(axis.extent, cast("Stride", axis).step * step)
    maps: tuple[AxisMap, ...] = (*axes[:mode], moved, *axes[mode + 1 :])
    layout = of_maps(base * step, maps)
    if isinstance(found.node, Routing) and found.node.mode == mode and isinstance(axis, Table):
        # Pieces, which are grouped by operand, have no such order.
        return Expression(Whole(found), canonical(layout))
    return settled(found, layout, normalize)
