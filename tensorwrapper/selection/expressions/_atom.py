"""The calls that a view records, and the simple steps that they come down to."""

from collections.abc import Iterable
from types import EllipsisType
from typing import Any, TypeAlias, cast, final

import attrs
import numpy as np

from tensorwrapper._integers import to_int, to_ints
from tensorwrapper.layout.lowlevel import parse_positional
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import mode_of, unnamed_shape
from tensorwrapper.typing import Array, Extents

__all__ = ["Atom", "Call", "atoms_of", "capture"]

Call: TypeAlias = "tuple[str, tuple[Any, ...], Shape[Any]]"
"""The name of an operation of `Layout`, its arguments, and the shape before it."""


@final
@attrs.frozen
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
    """Return an argument that nobody can change and that can be read twice."""
    kind: type[object] = type(argument)
    # Nearly all keys, orders and numbers are of these types: looked up, they cost a tenth.
    if kind in _PLAIN:
        return argument
    if kind in _ROW and _PLAIN.issuperset(map(type, cast("tuple[object, ...]", argument))):
        return argument
    if isinstance(argument, int | slice | str | Shape) or argument is None or argument is Ellipsis:
        return cast("object", argument)
    if isinstance(argument, np.ndarray):
        copy = cast("Array", argument).copy()
        copy.flags.writeable = False
        return copy
    if isinstance(argument, tuple | list):
        return tuple([capture(item) for item in cast("Iterable[object]", argument)])
    if hasattr(argument, "__index__") or not isinstance(argument, Iterable):
        return argument
    return tuple([capture(item) for item in cast("Iterable[object]", argument)])


def atoms_of(call: Call) -> list[Atom]:  # noqa: C901, PLR0912 - one case per operation
    """Return the simple steps of a call, in order; none for one that changes nothing.

    Their box is that of the result; where it lies may differ by its origin.
    """
    name, arguments, shape = call
    if shape.kind != "smooth":
        return [Atom("index" if name == "__getitem__" else name, arguments)]
    extents, rank = shape.extents, shape.rank
    match name:
        case "__getitem__":
            return _atoms_of_key(arguments[0], extents)
        case "permute":
            order = tuple([mode_of(mode, rank) for mode in arguments[0]])
            return [] if order == tuple(range(rank)) else [Atom(name, (order,))]
        case "reverse":
            modes = sorted({mode_of(mode, rank) for mode in arguments} or range(rank))
            return [Atom(name, (tuple(modes),))] if modes else []
        case "squeeze":
            modes = sorted({mode_of(mode, rank) for mode in arguments}) or _of_extent_1(extents)
            return [Atom(name, (tuple(modes),))] if modes else []
        case "rotate":
            shifts = tuple(
                [k % n if n else 0 for k, n in zip(to_ints(arguments[0], "a rotation"), extents, strict=True)]
            )
            return [Atom(name, (shifts,))] if any(shifts) else []
        case "repeat":
            times = to_ints(arguments[0], "a repetition")
            return [Atom(name, (times,))] if any(n != 1 for n in times) else []
        case "window" | "broadcast":
            region = unnamed_shape(arguments[0])
            if region == shape:
                return []
            return [Atom(name, (region.origin, region.extents) if name == "window" else (region.extents,))]
        case "gather":
            return [Atom(name, (mode_of(arguments[0], rank), _positions(arguments[1])))]
        case "points":
            return [Atom(name, (_positions(arguments[0]),))]
        case "unsqueeze":
            return [Atom(name, (mode_of(arguments[0], rank + 1),))]
        case "repeat_each" | "sliding_window":
            return [Atom(name, (mode_of(arguments[0], rank), to_int(arguments[1], "a count")))]
        case "diagonal":
            pair = (*arguments, 0, 1) if not arguments else (*arguments, 1)
            return [Atom(name, (mode_of(pair[0], rank), mode_of(pair[1], rank)))]
        case "reshape":
            wanted = to_ints(arguments[0], "extents")
            return [] if wanted == extents else [Atom(name, (wanted,))]
        case "split_mode":
            return [Atom(name, (mode_of(arguments[0], rank), to_ints(arguments[1], "extents")))]
        case "merge_modes":
            return [Atom(name, (mode_of(arguments[0], rank), mode_of(arguments[1], rank)))]
        case "pad":
            widths = tuple([to_ints(pair, "widths") for pair in arguments[0]])
            return [Atom(name, (widths, arguments[1]))] if any(map(any, widths)) else []
        case _:
            return [Atom(name, arguments)]


def _of_extent_1(extents: Extents) -> list[int]:
    return [mode for mode, extent in enumerate(extents) if extent == 1]


def _positions(given: object) -> tuple[int, ...]:
    positions: tuple[int, ...] = tuple(np.asarray(cast("Any", given)).tolist())
    return positions


def _atoms_of_key(key: Any, extents: Extents) -> list[Atom]:  # noqa: ANN401 - what stood between brackets
    """Return the steps of a key: slices first, then the pinned modes from the last on, then new modes."""
    atoms: list[Atom] = []
    pinned: list[Atom] = []
    new: list[Atom] = []
    mode = kept = 0
    for entry in parse_positional(key, extents):
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
