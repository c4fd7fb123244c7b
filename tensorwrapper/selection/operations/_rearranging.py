"""Operations that move, repeat and reorder the positions of modes."""

from typing import Any, ClassVar, final

import numpy as np

from tensorwrapper._integers import to_int, to_ints
from tensorwrapper.layout import Layout
from tensorwrapper.selection.operations._atom import Atom
from tensorwrapper.selection.operations._indexing import loose
from tensorwrapper.selection.operations._operation import Argument, ArgumentKind, Operation
from tensorwrapper.selection.operations._positions import inserted, ranks_of, unravel, with_column
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import mode_of, unnamed_shape
from tensorwrapper.typing import Extents, IntArray

__all__ = [
    "Broadcast",
    "Diagonal",
    "MergeModes",
    "Pad",
    "Permute",
    "Repeat",
    "RepeatEach",
    "Reshape",
    "Reverse",
    "Rotate",
    "SlidingWindow",
    "SplitMode",
]


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

    def on_layout(self, layout: Layout[Any], *arguments: Argument) -> Layout[Any]:
        return layout.reverse(*arguments)


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

    def atoms(self, arguments: tuple[Any, ...], shape: Shape[Any]) -> list[Atom]:
        return [Atom("repeat_each", (mode_of(arguments[0], shape.rank), to_int(arguments[1], "a count")))]

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

    def atoms(self, arguments: tuple[Any, ...], shape: Shape[Any]) -> list[Atom]:
        return [Atom("sliding_window", (mode_of(arguments[0], shape.rank), to_int(arguments[1], "a count")))]

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

    def atoms(self, arguments: tuple[Any, ...], shape: Shape[Any]) -> list[Atom]:
        return [Atom("split_mode", (mode_of(arguments[0], shape.rank), to_ints(arguments[1], "extents")))]

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

    def atoms(self, arguments: tuple[Any, ...], shape: Shape[Any]) -> list[Atom]:
        first, last = arguments
        return [Atom("merge_modes", (mode_of(first, shape.rank), mode_of(last, shape.rank)))]

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
