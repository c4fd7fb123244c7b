"""Operations that pick positions: keys of brackets, windows, lists of positions and points."""

from typing import Any, ClassVar, final

import numpy as np

from tensorwrapper._integers import new_modes, one_sequence
from tensorwrapper._json import Json
from tensorwrapper.errors import LayoutError, SelectionError
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import new_row_major, parse_positional, wrap_layout
from tensorwrapper.selection.operations._atom import Atom
from tensorwrapper.selection.operations._operation import Argument, ArgumentKind, Operation, WriteTable
from tensorwrapper.selection.operations._positions import inserted, unravel, with_column
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import mode_of, unnamed_shape
from tensorwrapper.typing import Extents, Index, IntArray, PositionalItem

__all__ = ["Chip", "Gather", "Key", "Points", "Slice", "Squeeze", "Unsqueeze", "Window"]


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

    def on_layout(self, layout: Layout[Any], *arguments: Argument) -> Layout[Any]:
        return layout[arguments[0]]

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

    def on_layout(self, layout: Layout[Any], *arguments: Argument) -> Layout[Any]:
        return layout.squeeze(*arguments)


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

    def atoms(self, arguments: tuple[Any, ...], shape: Shape[Any]) -> list[Atom]:
        return [Atom("gather", (mode_of(arguments[0], shape.rank), _listed(arguments[1])))]

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

    def atoms(self, arguments: tuple[Any, ...], shape: Shape[Any]) -> list[Atom]:  # noqa: ARG002
        return [Atom("points", (_listed(arguments[0]),))]

    def before(self, positions: IntArray, extents: Extents, *arguments: Argument) -> IntArray:
        return unravel(np.array(arguments[0], dtype=np.int64)[positions[..., 0]], extents)

    def on_layout(self, layout: Layout[Any], *arguments: Argument) -> Layout[Any]:
        return wrap_layout(new_row_major((layout.shape.size,))).gather(0, arguments[0])

    def check(self, shape: Shape[Any], *arguments: Argument) -> None:
        _check_positions(arguments[0], shape.size, "in row-major order")
