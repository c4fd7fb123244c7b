"""Steps from JSON: what each takes, and what it needs, which is checked before it is applied."""

from collections.abc import Callable
from typing import Any

import attrs

from tensorwrapper._json import Json
from tensorwrapper.errors import SelectionError
from tensorwrapper.layout import Boundary
from tensorwrapper.selection._view import View
from tensorwrapper.selection.expressions._fields import LARGEST, to_integer, to_integers, to_list
from tensorwrapper.selection.schema._limits import Budget, Measured, finished, tabled
from tensorwrapper.typing import Extents, PositionalItem, PositionalKey

__all__ = ["apply_step"]

_PADS = ("edge", "reflect", "symmetric", "wrap")


def apply_step(found: Measured, op: list[Json], where: str, budget: Budget) -> Measured:
    """Return what one step makes of a view."""
    if not op or not isinstance(op[0], str) or op[0] not in _STEPS:
        raise SelectionError("schema", f"{where} must begin with one of {sorted(_STEPS)}")
    name, given = op[0], op[1:]
    kinds, apply = _STEPS[name]
    if len(given) != len(kinds):
        raise SelectionError("schema", f"{where}: {name} takes {len(kinds)} arguments, not {len(given)}")
    old = found.view
    budget.work(tabled(old.layout) + old.shape.rank, where)
    arguments = [
        _argument(kind, value, f"{where}[{n + 1}]", budget, found.parts)
        for n, (kind, value) in enumerate(zip(kinds, given, strict=True))
    ]
    for extent in _grown(name, arguments, old.shape.extents, where):
        budget.extent(extent, where)
        budget.work(extent * found.parts, where)
    new = apply(View[Any](old), *arguments)._expression
    if new.node is old.node:
        return budget.check(attrs.evolve(found, view=new), where)
    # The elements are put in order first: all of the old view is made.
    made = finished(budget.check(attrs.evolve(found, is_leaf=False), where))
    return budget.check(
        attrs.evolve(made, view=new, parts=made.parts + 1, rounds=made.rounds + 1, deep=made.deep + 1), where
    )


def _argument(kind: str, value: Json, where: str, budget: Budget, parts: int) -> Any:  # noqa: ANN401 - of that kind
    match kind:
        case "number":
            return to_integer(value, where, -LARGEST)
        case "mode" | "count":
            return to_integer(value, where, 0)
        case "counts":
            return to_integers(value, where, 0)
        case "numbers":
            return to_integers(value, where)
        case "table":
            return budget.table(value, where, parts)
        case "widths":
            pairs = to_list(value, where)
            return [to_integers(pair, f"{where}[{n}]", 0, count=2) for n, pair in enumerate(pairs)]
        case _:
            if value not in _PADS:
                raise SelectionError("schema", f"{where} must be one of {list(_PADS)}")
            return value


def _grown(name: str, arguments: list[Any], extents: Extents, where: str) -> Extents:
    """Return the extents of modes that a step may write down as tables."""
    try:
        if name == "repeat":
            return tuple([n * k for n, k in zip(extents, arguments[0], strict=True) if k != 1])
        if name == "repeat_each":
            return (extents[int(arguments[0])] * int(arguments[1]),)
        if name == "pad":
            pairs = zip(extents, arguments[0], strict=True)
            return tuple([n + a + b for n, (a, b) in pairs if a or b])
    except (IndexError, ValueError) as error:
        raise SelectionError("bounds", f"{where}: {name} does not fit extents {extents}") from error
    return ()


def _key(mode: int, item: PositionalItem) -> PositionalKey:
    every: list[PositionalItem] = [slice(None)] * mode
    return (*every, item)


def _sliced(view: View[Any], mode: int, start: int, step: int, count: int) -> View[Any]:
    extent = view.shape.extents[mode] if mode < view.rank else None
    if extent is None or not step:
        raise SelectionError("bounds", f"a slice of mode {mode}, step {step}, count {count} of {view.shape}")
    ends = (start, start + step * (count - 1))
    if count and not all(0 <= end < extent for end in ends):
        raise SelectionError(
            "bounds", f"positions {ends[0]} to {ends[1]} leave mode {mode}, of extent {extent}"
        )
    stop = start + step * count
    part = slice(start if count else 0, (stop if stop >= 0 else None) if count else 0, step if count else 1)
    return view[_key(mode, part)]


def _chipped(view: View[Any], mode: int, position: int) -> View[Any]:
    if mode >= view.rank or position >= view.shape.extents[mode]:
        raise SelectionError("bounds", f"position {position} of mode {mode} is not in {view.shape}")
    return view[_key(mode, position)]


def _gathered(view: View[Any], mode: int, positions: Any) -> View[Any]:  # noqa: ANN401 - an array of integers
    if mode >= view.rank:
        raise SelectionError("bounds", f"there is no mode {mode} in {view.shape}")
    _check_positions(positions, view.shape.extents[mode], f"of mode {mode}")
    return view.gather(mode, positions)


def _pointed(view: View[Any], ranks: Any) -> View[Any]:  # noqa: ANN401 - an array of integers
    _check_positions(ranks, view.size, "in row-major order")
    return view._points(ranks)


def _reversed(view: View[Any], modes: Extents) -> View[Any]:
    return view.reverse(*modes)


def _squeezed(view: View[Any], modes: Extents) -> View[Any]:
    return view.squeeze(*modes)


def _broadcast(view: View[Any], extents: Extents) -> View[Any]:
    return view[...].broadcast(extents)


def _padded(view: View[Any], widths: list[tuple[int, int]], boundary: Boundary) -> View[Any]:
    return view.pad(widths, boundary=boundary)


def _check_positions(positions: Any, extent: int, what: str) -> None:  # noqa: ANN401 - an array of integers
    if len(positions) and (positions.min() < 0 or positions.max() >= extent):
        raise SelectionError(
            "bounds", f"positions {positions.min()} to {positions.max()} {what} leave its {extent}"
        )


_STEPS: dict[str, tuple[tuple[str, ...], Callable[..., View[Any]]]] = {
    "slice": (("mode", "number", "number", "count"), _sliced),
    "chip": (("mode", "count"), _chipped),
    "points": (("table",), _pointed),
    "gather": (("mode", "table"), _gathered),
    "permute": (("counts",), View.permute),
    "reverse": (("counts",), _reversed),
    "squeeze": (("counts",), _squeezed),
    "unsqueeze": (("mode",), View.unsqueeze),
    "rotate": (("numbers",), View.rotate),
    "repeat": (("counts",), View.repeat),
    "repeat_each": (("mode", "count"), View.repeat_each),
    "broadcast": (("counts",), _broadcast),
    "sliding_window": (("mode", "count"), View.sliding_window),
    "diagonal": (("mode", "mode"), View.diagonal),
    "reshape": (("counts",), View.reshape),
    "split_mode": (("mode", "counts"), View.split_mode),
    "merge_modes": (("mode", "mode"), View.merge_modes),
    "pad": (("widths", "word"), _padded),
}
"""Each step: what its arguments are, and what applies it."""
