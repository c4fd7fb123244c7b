"""Operations on views as values: what is recorded of each, all of them, and a table by name."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import EllipsisType, MappingProxyType
from typing import Any, ClassVar, Literal, TypeAlias, cast, final

import numpy as np

from tensorwrapper._arrays import immutable_copy, shown_array
from tensorwrapper._integers import MAX_INT64, new_modes, one_sequence, to_int, to_ints
from tensorwrapper._json import Json
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import LayoutError, SelectionError, SizeOverflowError
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import new_row_major, parse_positional, wrap_layout
from tensorwrapper.shape import Shape, Tiling
from tensorwrapper.shape.lowlevel import mode_of, unnamed_shape
from tensorwrapper.typing import Array, Extents, Index, IntArray, PositionalItem

Call: TypeAlias = "tuple[str, tuple[Any, ...], Shape[Any]]"
"""The name of an operation, its arguments, and the shape before it."""


@final
@frozen
class Atom:
    """One simple operation on the modes of a view, with all that it needs.

    Attributes
    ----------
    operation
        Its name: ``"permute"``, ``"reverse"``, ``"slice"``, ``"chip"``, ``"rotate"`` and so on.
    arguments
        Integers, and tuples of them.
    """

    operation: str
    arguments: tuple[Any, ...]

    def __str__(self) -> str:
        return f"{self.operation}({', '.join([_text(a) for a in self.arguments])})"


_SHOWN = 8  # positions of a list that a text shows


def _text(argument: object) -> str:
    if not isinstance(argument, tuple):
        return repr(argument)
    items = cast("tuple[object, ...]", argument)
    if len(items) > _SHOWN:
        return f"({', '.join(map(str, items[:_SHOWN]))}, ... {len(items)} in all)"
    return repr(items)


_ROW = frozenset({tuple})
_PLAIN = frozenset({int, str, slice, type(None), EllipsisType, Shape})


def capture(argument: object) -> object:
    """Return an argument that cannot change and can be read twice."""
    kind: type[object] = type(argument)
    # Nearly all keys, orders and numbers are of these types: looked up, they cost a tenth.
    if kind in _PLAIN:
        return argument
    if kind is np.ndarray:
        # Layouts keep it as it is, where anything that can change would be copied.
        return immutable_copy(cast("Array", argument))
    if kind in _ROW and _PLAIN.issuperset(map(type, cast("tuple[object, ...]", argument))):
        return argument
    if isinstance(argument, int | slice | str | Shape | Tiling) or argument is None or argument is Ellipsis:
        return cast("object", argument)
    if isinstance(argument, np.ndarray):
        return immutable_copy(shown_array(cast("Array", argument)))
    if isinstance(argument, tuple | list):
        return tuple([capture(item) for item in cast("Iterable[object]", argument)])
    if hasattr(argument, "__index__") or not isinstance(argument, Iterable):
        return argument
    if hasattr(kind, "__array__"):
        # Items of a tensor are tensors, and no numbers.
        return capture(shown_array(cast("object", argument)))
    return tuple([capture(item) for item in cast("Iterable[object]", argument)])


ArgumentKind: TypeAlias = Literal[
    "mode", "count", "number", "counts", "numbers", "table", "widths", "boundary"
]
"""Kind of an argument in JSON: modes and counts are not negative, numbers may be; tables may be frames."""

Argument: TypeAlias = Any
"""An integer, a word, positions in an array, or tuples of those."""

WriteTable: TypeAlias = "Callable[[Argument], Json]"
"""Writes positions as JSON, or as a frame that it names."""


def _plain(argument: Argument) -> Json:
    """Return integers, words, and tuples of them as JSON."""
    if isinstance(argument, tuple):
        return [_plain(item) for item in cast("tuple[object, ...]", argument)]
    return argument if isinstance(argument, str) else int(argument)


class Operation(ABC):
    """Abstract: `name`, `takes` and `before`: an operation as text, as numbers and as JSON.

    `before` uses no layouts, strides or places: it is the specification that these are tested against.
    """

    __slots__ = ()

    name: ClassVar[str]
    """Its word in texts and JSON, and in the calls that views record."""
    takes: ClassVar[tuple[ArgumentKind, ...]]
    """Kinds of its arguments in JSON."""
    counts_elements: ClassVar[bool] = False
    """True if it counts all elements in row-major order, and so needs all of a node."""

    def atoms(self, arguments: tuple[Any, ...], shape: Shape[Any]) -> list[Atom]:
        """Return the simple steps of a call on a box, in order; empty if it changes nothing."""
        pairs = zip(self.takes, arguments, strict=True)
        return [Atom(self.name, tuple([_ATOMIC[kind](own, shape) for kind, own in pairs]))]

    @abstractmethod
    def before(self, positions: IntArray, extents: Extents, *arguments: Argument) -> IntArray:
        """Return where positions after a simple step were in the box before it; all of them must exist."""

    def after(self, extents: Extents, *arguments: Argument) -> Extents:  # noqa: ARG002
        """Return the box after a simple step which other steps of the same call may follow."""
        return extents

    def on_layout(self, layout: Layout[Any], *arguments: Argument) -> Layout[Any]:
        """Return the result of a call for a layout."""
        found: Layout[Any] = getattr(Layout, self.name)(layout, *arguments)
        return found

    def check(self, shape: Shape[Any], *arguments: Argument) -> None:  # noqa: B027
        """Raise `SelectionError` if untrusted arguments do not fit, and the layout would not notice it."""

    def tabled(self, extents: Extents, *arguments: Argument) -> Extents:  # noqa: ARG002
        """Return the extents of modes that a call may write down as tables."""
        return ()

    def to_json(
        self,
        arguments: tuple[Argument, ...],
        before: Shape[Any],  # noqa: ARG002
        table: WriteTable,
    ) -> list[Json]:
        """Return the steps that say a simple step; `table` writes positions."""
        pairs = zip(self.takes, arguments, strict=True)
        written = [table(own) if kind == "table" else _plain(own) for kind, own in pairs]
        return [[self.name, *written]]


def ranks_of(positions: IntArray, extents: Extents) -> IntArray:
    """Return the rank of each position in row-major order."""
    if math.prod(extents) > MAX_INT64:
        raise SizeOverflowError(f"the ranks of the positions of {extents} leave 64 bits")
    ranks = np.zeros(positions.shape[:-1], dtype=np.int64)
    for mode, extent in enumerate(extents):
        ranks *= extent
        ranks += positions[..., mode]
    return ranks


def unravel(ranks: IntArray, extents: Extents) -> IntArray:
    """Return the position of each rank in row-major order."""
    positions = np.empty((*ranks.shape, len(extents)), dtype=np.int64)
    for mode in reversed(range(len(extents))):
        ranks, positions[..., mode] = np.divmod(ranks, extents[mode])
    return positions


def grouped(numbers: IntArray) -> Iterator[tuple[int, IntArray]]:
    """Return each number that occurs, ascending, and its places, ascending. O(n log n)."""
    if not len(numbers):
        return
    # Short numbers are sorted by their digits, in linear time.
    few = int(numbers.min()) >= 0 and int(numbers.max()) <= np.iinfo(np.int16).max
    order = np.argsort(numbers.astype(np.int16) if few else numbers, kind="stable")
    ascending = numbers[order]
    marks = [0, *(np.flatnonzero(np.diff(ascending)) + 1).tolist(), len(order)]
    firsts: list[int] = ascending[marks[:-1]].tolist()
    for number, start, stop in zip(firsts, marks[:-1], marks[1:], strict=True):
        yield number, order[start:stop]


def with_column(positions: IntArray, mode: int, column: IntArray) -> IntArray:
    """Return positions of which those in one mode are others."""
    changed = positions.copy()
    changed[..., mode] = column
    return changed


def inserted(positions: IntArray, modes: Sequence[int], value: int) -> IntArray:
    """Return positions with more modes, which are `modes` of the result, in ascending order."""
    kept = [m for m in range(positions.shape[-1] + len(modes)) if m not in modes]
    wider = np.full((*positions.shape[:-1], len(kept) + len(modes)), value, dtype=np.int64)
    wider[..., kept] = positions
    return wider


def _item(layout: Layout[Any], mode: int, item: PositionalItem) -> Layout[Any]:
    every: list[PositionalItem] = [slice(None)] * mode
    return layout[(*every, item)]


@final
class Key(Operation):
    """Keys between brackets: slices first, then the pinned modes from the last on, then new modes."""

    __slots__ = ()

    name = "__getitem__"
    takes: ClassVar[tuple[ArgumentKind, ...]] = ()

    def atoms(self, arguments: tuple[Any, ...], shape: Shape[Any]) -> list[Atom]:
        atoms: list[Atom] = []
        pinned: list[Atom] = []
        new: list[Atom] = []
        mode = kept = 0
        extents: Extents = shape.extents
        for entry in parse_positional(arguments[0], extents):
            if entry is None:
                new.append(Atom("unsqueeze", (kept,)))
                kept += 1
                continue
            if isinstance(entry, int):
                pinned.append(Atom("chip", (mode, entry)))
            else:
                if entry != (0, 1, extents[mode]):
                    atoms.append(Atom("slice", (mode, *entry)))
                kept += 1
            mode += 1
        return [*atoms, *reversed(pinned), *new]

    def before(self, positions: IntArray, extents: Extents, *arguments: Argument) -> IntArray:  # noqa: ARG002
        raise LayoutError("a key comes down to slices, chips and new modes, each of which has a way back")


@final
class Slice(Operation):
    """Evenly spaced positions of a mode: its number, the first of them, the step, and how many."""

    __slots__ = ()

    name = "slice"
    takes: ClassVar[tuple[ArgumentKind, ...]] = ("mode", "number", "number", "count")

    def atoms(self, arguments: tuple[Any, ...], shape: Shape[Any]) -> list[Atom]:
        whole = arguments[1:] == (0, 1, shape.extents[arguments[0]])
        return [] if whole else [Atom("slice", arguments)]

    def before(self, positions: IntArray, extents: Extents, *arguments: Argument) -> IntArray:  # noqa: ARG002
        mode, start, step, _ = arguments
        return with_column(positions, mode, start + step * positions[..., mode])

    def after(self, extents: Extents, *arguments: Argument) -> Extents:
        mode, _, _, count = arguments
        return (*extents[:mode], count, *extents[mode + 1 :])

    def on_layout(self, layout: Layout[Any], *arguments: Argument) -> Layout[Any]:
        mode, start, step, count = arguments
        if not count:
            return _item(layout, mode, slice(0, 0))
        stop = start + step * count
        return _item(layout, mode, slice(start, stop if stop >= 0 else None, step))

    def check(self, shape: Shape[Any], *arguments: Argument) -> None:
        mode, start, step, count = arguments
        extents = shape.extents
        extent = extents[mode] if mode < len(extents) else None
        if extent is None or not step:
            raise SelectionError("bounds", f"a slice of mode {mode}, step {step}, count {count} of {shape}")
        ends = (start, start + step * (count - 1))
        if count and not (0 <= ends[0] < extent and 0 <= ends[1] < extent):
            raise SelectionError(
                "bounds", f"positions {ends[0]} to {ends[1]} leave mode {mode}, of extent {extent}"
            )

    def to_json(self, arguments: tuple[Any, ...], before: Shape[Any], table: WriteTable) -> list[Json]:  # noqa: ARG002
        return _written(before.extents, *arguments)


def _written(extents: Extents, mode: int, start: int, step: int, count: int) -> list[Json]:
    """Return a slice, none if it is of all: two that take the same positions are written alike."""
    start, step = (start if count else 0), (step if count > 1 else 1)
    return [] if (step, count) == (1, extents[mode]) else [["slice", mode, start, step, count]]


@final
class Window(Operation):
    """A box inside the box, in absolute indices: its origin and its extents."""

    __slots__ = ()

    name = "window"
    takes: ClassVar[tuple[ArgumentKind, ...]] = ()

    def atoms(self, arguments: tuple[Any, ...], shape: Shape[Any]) -> list[Atom]:
        region = unnamed_shape(arguments[0])
        if not region.is_box:
            return [Atom("_rows_in_box", (region,))]
        return [] if region == unnamed_shape(shape) else [Atom("window", (region.origin, region.extents))]

    def before(self, positions: IntArray, extents: Extents, *arguments: Argument) -> IntArray:  # noqa: ARG002
        # The only step in absolute indices; the last of `arguments` is the origin of the box.
        start, _, origin = arguments
        return positions + (np.array(start, dtype=np.int64) - np.array(origin, dtype=np.int64))

    def to_json(self, arguments: tuple[Any, ...], before: Shape[Any], table: WriteTable) -> list[Json]:  # noqa: ARG002
        # In JSON positions count from zero, and the range has the origin of the result.
        spans = enumerate(zip(arguments[0], before.origin, arguments[1], strict=True))
        slices = [_written(before.extents, m, start - old, 1, count) for m, (start, old, count) in spans]
        return [item for own in slices for item in own]


@final
class Chip(Operation):
    """One position of a mode, which goes: the number of the mode, and the position."""

    __slots__ = ()

    name = "chip"
    takes: ClassVar[tuple[ArgumentKind, ...]] = ("mode", "count")

    def atoms(self, arguments: tuple[Any, ...], shape: Shape[Any]) -> list[Atom]:  # noqa: ARG002
        return [Atom("chip", arguments)]

    def before(self, positions: IntArray, extents: Extents, *arguments: Argument) -> IntArray:  # noqa: ARG002
        mode, place = arguments
        return inserted(positions, (mode,), place)

    def after(self, extents: Extents, *arguments: Argument) -> Extents:
        return (*extents[: arguments[0]], *extents[arguments[0] + 1 :])

    def on_layout(self, layout: Layout[Any], *arguments: Argument) -> Layout[Any]:
        mode, place = arguments
        return _item(layout, mode, place)

    def check(self, shape: Shape[Any], *arguments: Argument) -> None:
        mode, place = arguments
        if mode >= shape.rank or place >= shape.extents[mode]:
            raise SelectionError("bounds", f"position {place} of mode {mode} is not in {shape}")


@final
class Squeeze(Operation):
    """Remove modes of extent 1: the given ones, or by default all of them."""

    __slots__ = ()

    name = "squeeze"
    takes: ClassVar[tuple[ArgumentKind, ...]] = ("counts",)

    def atoms(self, arguments: tuple[Any, ...], shape: Shape[Any]) -> list[Atom]:
        found = sorted({mode_of(mode, shape.rank) for mode in loose(arguments)})
        if not arguments:
            found = [mode for mode, extent in enumerate(shape.extents) if extent == 1]
        return [Atom("squeeze", (tuple(found),))] if found else []

    def before(self, positions: IntArray, extents: Extents, *arguments: Argument) -> IntArray:  # noqa: ARG002
        return inserted(positions, arguments[0], 0)


def loose(arguments: tuple[Argument, ...]) -> tuple[Argument, ...]:
    """Return modes that were given loose, or as one sequence."""
    return tuple(one_sequence(arguments))


@final
class Unsqueeze(Operation):
    """A new mode of extent 1: its number."""

    __slots__ = ()

    name = "unsqueeze"
    takes: ClassVar[tuple[ArgumentKind, ...]] = ("mode",)

    def atoms(self, arguments: tuple[Any, ...], shape: Shape[Any]) -> list[Atom]:
        return [Atom("unsqueeze", (mode,)) for mode in new_modes(loose(arguments), shape.rank)]

    def before(self, positions: IntArray, extents: Extents, *arguments: Argument) -> IntArray:  # noqa: ARG002
        return np.delete(positions, arguments[0], axis=-1)

    def after(self, extents: Extents, *arguments: Argument) -> Extents:
        return (*extents[: arguments[0]], 1, *extents[arguments[0] :])


def _listed(given: Any) -> Index:  # noqa: ANN401 - integers, in whatever holds them
    positions: Index = tuple(np.asarray(given).tolist())
    return positions


_ATOMIC: "Mapping[ArgumentKind, Callable[[Any, Shape[Any]], Argument]]" = {
    "mode": lambda given, shape: mode_of(given, shape.rank),
    "count": lambda given, _: to_int(given, "a count"),
    "counts": lambda given, _: to_ints(given, "extents"),
    "table": lambda given, _: _listed(given),
}
"""Arguments of a simple step, by their kinds."""


def _check_positions(positions: Any, extent: int, what: str) -> None:  # noqa: ANN401 - an array of integers
    if len(positions) and (positions.min() < 0 or positions.max() >= extent):
        raise SelectionError(
            "bounds", f"positions {positions.min()} to {positions.max()} {what} leave its {extent}"
        )


@final
class Gather(Operation):
    """Any positions of a mode: its number, and the positions."""

    __slots__ = ()

    name = "gather"
    takes: ClassVar[tuple[ArgumentKind, ...]] = ("mode", "table")

    def before(self, positions: IntArray, extents: Extents, *arguments: Argument) -> IntArray:
        mode: int = arguments[0]
        table: IntArray = np.array(arguments[1], dtype=np.int64)
        return with_column(positions, mode, table[positions[..., mode]] % extents[mode])

    def check(self, shape: Shape[Any], *arguments: Argument) -> None:
        mode, positions = arguments
        if mode >= shape.rank:
            raise SelectionError("bounds", f"there is no mode {mode} in {shape}")
        _check_positions(positions, shape.extents[mode], f"of mode {mode}")

    def to_json(self, arguments: tuple[Any, ...], before: Shape[Any], table: WriteTable) -> list[Json]:
        mode, positions = arguments
        return [["gather", mode, table(np.asarray(positions) % before.extents[mode])]]


@final
class Points(Operation):
    """Any elements of the whole box: their ranks in row-major order."""

    __slots__ = ()

    name = "points"
    counts_elements = True
    takes: ClassVar[tuple[ArgumentKind, ...]] = ("table",)

    def before(self, positions: IntArray, extents: Extents, *arguments: Argument) -> IntArray:
        return unravel(np.array(arguments[0], dtype=np.int64)[positions[..., 0]], extents)

    def on_layout(self, layout: Layout[Any], *arguments: Argument) -> Layout[Any]:
        return wrap_layout(new_row_major((layout.shape.size,))).gather(0, arguments[0])

    def check(self, shape: Shape[Any], *arguments: Argument) -> None:
        _check_positions(arguments[0], shape.size, "in row-major order")


@final
class Permute(Operation):
    """Modes in another order: which mode each one was."""

    __slots__ = ()

    name = "permute"
    takes: ClassVar[tuple[ArgumentKind, ...]] = ("counts",)

    def atoms(self, arguments: tuple[Any, ...], shape: Shape[Any]) -> list[Atom]:
        order = tuple([shape.mode(mode) for mode in loose(arguments)])
        return [] if order == tuple(range(shape.rank)) else [Atom("permute", (order,))]

    def before(self, positions: IntArray, extents: Extents, *arguments: Argument) -> IntArray:  # noqa: ARG002
        before = np.empty_like(positions)
        before[..., list(arguments[0])] = positions
        return before


@final
class Reverse(Operation):
    """Reverse modes: the given ones, or by default all of them."""

    __slots__ = ()

    name = "reverse"
    takes: ClassVar[tuple[ArgumentKind, ...]] = ("counts",)

    def atoms(self, arguments: tuple[Any, ...], shape: Shape[Any]) -> list[Atom]:
        modes = sorted({mode_of(mode, shape.rank) for mode in loose(arguments)})
        if not arguments:
            modes = list(range(shape.rank))
        return [Atom("reverse", (tuple(modes),))] if modes else []

    def before(self, positions: IntArray, extents: Extents, *arguments: Argument) -> IntArray:
        before = positions.copy()
        for mode in arguments[0]:
            before[..., mode] = extents[mode] - 1 - positions[..., mode]
        return before


@final
class Rotate(Operation):
    """Rotate every mode upwards, by a number of positions."""

    __slots__ = ()

    name = "rotate"
    takes: ClassVar[tuple[ArgumentKind, ...]] = ("numbers",)

    def atoms(self, arguments: tuple[Any, ...], shape: Shape[Any]) -> list[Atom]:
        pairs = zip(to_ints(arguments[0], "a rotation"), shape.extents, strict=True)
        shifts = tuple([k % n if n else 0 for k, n in pairs])
        return [Atom("rotate", (shifts,))] if any(shifts) else []

    def before(self, positions: IntArray, extents: Extents, *arguments: Argument) -> IntArray:
        return (positions - np.array(arguments[0], dtype=np.int64)) % np.array(extents, dtype=np.int64)


@final
class Repeat(Operation):
    """Repeat every mode as a whole, a number of times."""

    __slots__ = ()

    name = "repeat"
    takes: ClassVar[tuple[ArgumentKind, ...]] = ("counts",)

    def atoms(self, arguments: tuple[Any, ...], shape: Shape[Any]) -> list[Atom]:  # noqa: ARG002
        times = to_ints(arguments[0], "a repetition")
        return [Atom("repeat", (times,))] if any(n != 1 for n in times) else []

    def before(self, positions: IntArray, extents: Extents, *arguments: Argument) -> IntArray:  # noqa: ARG002
        return positions % np.array(extents, dtype=np.int64)

    def tabled(self, extents: Extents, *arguments: Argument) -> Extents:
        return tuple([n * k for n, k in zip(extents, arguments[0], strict=True) if k != 1])


@final
class RepeatEach(Operation):
    """Repeat every position of a mode: the number of the mode, and how many times."""

    __slots__ = ()

    name = "repeat_each"
    takes: ClassVar[tuple[ArgumentKind, ...]] = ("mode", "count")

    def before(self, positions: IntArray, extents: Extents, *arguments: Argument) -> IntArray:  # noqa: ARG002
        mode, times = arguments
        return with_column(positions, mode, positions[..., mode] // times)

    def tabled(self, extents: Extents, *arguments: Argument) -> Extents:
        return (extents[int(arguments[0])] * int(arguments[1]),)


@final
class Broadcast(Operation):
    """Modes of extent 1 stretched, and new leading modes: the extents."""

    __slots__ = ()

    name = "broadcast"
    takes: ClassVar[tuple[ArgumentKind, ...]] = ("counts",)

    def atoms(self, arguments: tuple[Any, ...], shape: Shape[Any]) -> list[Atom]:
        wanted = unnamed_shape(arguments[0])
        return [] if wanted == unnamed_shape(shape) else [Atom("broadcast", (wanted.extents,))]

    def before(self, positions: IntArray, extents: Extents, *arguments: Argument) -> IntArray:
        before = positions[..., len(arguments[0]) - len(extents) :].copy()
        before[..., [mode for mode, extent in enumerate(extents) if extent == 1]] = 0
        return before

    def on_layout(self, layout: Layout[Any], *arguments: Argument) -> Layout[Any]:
        return layout[...].broadcast(arguments[0])


@final
class SlidingWindow(Operation):
    """Sliding windows of a mode, counted by a new last mode: the number of the mode, and the length."""

    __slots__ = ()

    name = "sliding_window"
    takes: ClassVar[tuple[ArgumentKind, ...]] = ("mode", "count")

    def before(self, positions: IntArray, extents: Extents, *arguments: Argument) -> IntArray:  # noqa: ARG002
        mode = arguments[0]
        return with_column(positions[..., :-1], mode, positions[..., mode] + positions[..., -1])


@final
class Diagonal(Operation):
    """Equal positions of two modes, under a new last mode: their numbers."""

    __slots__ = ()

    name = "diagonal"
    takes: ClassVar[tuple[ArgumentKind, ...]] = ("mode", "mode")

    def atoms(self, arguments: tuple[Any, ...], shape: Shape[Any]) -> list[Atom]:
        pair = (*arguments, 0, 1) if not arguments else (*arguments, 1)
        return [Atom("diagonal", (mode_of(pair[0], shape.rank), mode_of(pair[1], shape.rank)))]

    def before(self, positions: IntArray, extents: Extents, *arguments: Argument) -> IntArray:  # noqa: ARG002
        first, second = arguments
        before = inserted(positions[..., :-1], sorted((first, second)), 0)
        before[..., first] = before[..., second] = positions[..., -1]
        return before


@final
class Reshape(Operation):
    """The same elements in row-major order under other extents."""

    __slots__ = ()

    name = "reshape"
    takes: ClassVar[tuple[ArgumentKind, ...]] = ("counts",)

    def atoms(self, arguments: tuple[Any, ...], shape: Shape[Any]) -> list[Atom]:
        wanted = to_ints(arguments[0], "extents")
        return [] if wanted == shape.extents else [Atom("reshape", (wanted,))]

    def before(self, positions: IntArray, extents: Extents, *arguments: Argument) -> IntArray:
        return unravel(ranks_of(positions, arguments[0]), extents)


@final
class SplitMode(Operation):
    """One mode that counts in several: its number, and their extents."""

    __slots__ = ()

    name = "split_mode"
    takes: ClassVar[tuple[ArgumentKind, ...]] = ("mode", "counts")

    def before(self, positions: IntArray, extents: Extents, *arguments: Argument) -> IntArray:  # noqa: ARG002
        mode, parts = arguments
        end = mode + len(parts)
        merged = ranks_of(positions[..., mode:end], parts)
        return np.concatenate([positions[..., :mode], merged[..., None], positions[..., end:]], axis=-1)


@final
class MergeModes(Operation):
    """Several modes that count as one: the first and the last of them."""

    __slots__ = ()

    name = "merge_modes"
    takes: ClassVar[tuple[ArgumentKind, ...]] = ("mode", "mode")

    def before(self, positions: IntArray, extents: Extents, *arguments: Argument) -> IntArray:
        first, last = arguments
        parts = unravel(positions[..., first], extents[first : last + 1])
        return np.concatenate([positions[..., :first], parts, positions[..., first + 1 :]], axis=-1)


@final
class Pad(Operation):
    """Extend modes beyond their ends: the widths, and the values there."""

    __slots__ = ()

    name = "pad"
    takes: ClassVar[tuple[ArgumentKind, ...]] = ("widths", "boundary")

    def atoms(self, arguments: tuple[Any, ...], shape: Shape[Any]) -> list[Atom]:  # noqa: ARG002
        widths = tuple([to_ints(pair, "widths") for pair in arguments[0]])
        return [Atom("pad", (widths, arguments[1]))] if any(map(any, widths)) else []

    def before(self, positions: IntArray, extents: Extents, *arguments: Argument) -> IntArray:
        widths, boundary = arguments
        places = positions - np.array([before for before, _ in widths], dtype=np.int64)
        limits = np.array(extents, dtype=np.int64)
        if boundary == "edge":
            return np.clip(places, 0, limits - 1)
        if boundary == "wrap":
            return places % limits
        # There and back again: a period has both ends twice, or each once; one position is its own mirror.
        period = 2 * limits if boundary == "symmetric" else np.maximum(2 * limits - 2, 1)
        turned = places % period
        mirrored = period - 1 - turned if boundary == "symmetric" else (period - turned) % period
        return np.where(turned < limits, turned, mirrored)

    def on_layout(self, layout: Layout[Any], *arguments: Argument) -> Layout[Any]:
        widths, boundary = arguments
        return layout.pad(widths, boundary=boundary)

    def tabled(self, extents: Extents, *arguments: Argument) -> Extents:
        pairs = zip(extents, arguments[0], strict=True)
        return tuple([n + a + b for n, (a, b) in pairs if a or b])


OPERATIONS: Mapping[str, Operation] = MappingProxyType(
    {own.name: own() for own in Operation.__subclasses__()}
)
"""Operations by name. Those that take arguments from JSON are steps of it."""


def atoms_of(call: Call) -> list[Atom]:
    """Return the simple steps of a call, in order; empty if it changes nothing.

    Their box has the extents of the result; its origin may differ.
    """
    name, arguments, shape = call
    if not shape.is_box:
        return [Atom("index" if name == "__getitem__" else name, arguments)]
    operation = OPERATIONS.get(name)
    return [Atom(name, arguments)] if operation is None else operation.atoms(arguments, shape)


def positions_before(call: Call, positions: IntArray) -> IntArray:
    """Return where the positions after a call were in the box before it; all of them must exist.

    O(positions times modes), and memory of as many numbers.
    """
    shape = call[2]
    steps: list[tuple[Operation, Atom, Extents]] = []
    extents: Extents = shape.extents
    for atom in atoms_of(call):
        operation = OPERATIONS.get(atom.operation)
        if operation is None:
            raise LayoutError(f"{atom.operation} does not say where each single position comes from")
        steps.append((operation, atom, extents))
        extents = operation.after(extents, *atom.arguments)
    for operation, atom, before in reversed(steps):
        more = (shape.origin,) if atom.operation == "window" else ()
        positions = operation.before(positions, before, *atom.arguments, *more)
    return positions
