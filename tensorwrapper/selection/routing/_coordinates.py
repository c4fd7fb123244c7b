"""Which position each position of a view was before a simple step: what every atom means.

Nothing here knows of layouts, strides or places: it is the specification that those must agree with.
Positions are counted from zero, as int64 arrays whose last mode has one entry per mode of the view.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from tensorwrapper._integers import MAX_INT64
from tensorwrapper.errors import LayoutError, SizeOverflowError
from tensorwrapper.selection.expressions._atom import Atom, Call, atoms_of
from tensorwrapper.typing import Extents, Index, IntArray

__all__ = ["positions_before", "ranks_of", "unravel"]


def positions_before(call: Call, positions: IntArray) -> IntArray:
    """Return where the positions after a call were in the box before it; all of them must exist.

    O(positions times modes), and memory of as many numbers.
    """
    shape = call[2]
    steps: list[tuple[Atom, Extents]] = []
    extents = shape.extents
    for atom in atoms_of(call):
        steps.append((atom, extents))
        extents = _extents_after(atom, extents)
    for atom, before in reversed(steps):
        if atom.operation == "window":
            # The one step that is told in absolute indices.
            start: Index = shape.origin
            return positions + (np.array(atom.arguments[0], dtype=np.int64) - start)
        step = _STEPS.get(atom.operation)
        if step is None:
            raise LayoutError(f"{atom.operation} does not say where each single position comes from")
        positions = step(positions, before, *atom.arguments)
    return positions


def _extents_after(atom: Atom, extents: Extents) -> Extents:
    """Return the box after a step of a key; other calls are one step each, after which none is asked for."""
    match atom.operation, atom.arguments:
        case "slice", (mode, _, _, count):
            return (*extents[:mode], count, *extents[mode + 1 :])
        case "chip", (mode, _):
            return (*extents[:mode], *extents[mode + 1 :])
        case "unsqueeze", (mode,):
            return (*extents[:mode], 1, *extents[mode:])
        case _:
            return extents


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


def _with(positions: IntArray, mode: int, column: IntArray) -> IntArray:
    """Return positions of which those in one mode are others."""
    changed = positions.copy()
    changed[..., mode] = column
    return changed


def _inserted(positions: IntArray, modes: Sequence[int], value: int) -> IntArray:
    """Return positions with more modes, which are `modes` of the result, in ascending order."""
    kept = [m for m in range(positions.shape[-1] + len(modes)) if m not in modes]
    wider = np.full((*positions.shape[:-1], len(kept) + len(modes)), value, dtype=np.int64)
    wider[..., kept] = positions
    return wider


def _permute(positions: IntArray, _: Extents, order: Index) -> IntArray:
    before = np.empty_like(positions)
    before[..., list(order)] = positions
    return before


def _reverse(positions: IntArray, extents: Extents, modes: Index) -> IntArray:
    before = positions.copy()
    for mode in modes:
        before[..., mode] = extents[mode] - 1 - positions[..., mode]
    return before


def _slice(positions: IntArray, _: Extents, mode: int, start: int, step: int, _count: int) -> IntArray:
    return _with(positions, mode, start + step * positions[..., mode])


def _chip(positions: IntArray, _: Extents, mode: int, place: int) -> IntArray:
    return _inserted(positions, (mode,), place)


def _squeeze(positions: IntArray, _: Extents, modes: Index) -> IntArray:
    return _inserted(positions, modes, 0)


def _unsqueeze(positions: IntArray, _: Extents, mode: int) -> IntArray:
    return np.delete(positions, mode, axis=-1)


def _broadcast(positions: IntArray, extents: Extents, wanted: Extents) -> IntArray:
    before = positions[..., len(wanted) - len(extents) :].copy()
    before[..., [mode for mode, extent in enumerate(extents) if extent == 1]] = 0
    return before


def _rotate(positions: IntArray, extents: Extents, shifts: Index) -> IntArray:
    return (positions - np.array(shifts, dtype=np.int64)) % np.array(extents, dtype=np.int64)


def _repeat(positions: IntArray, extents: Extents, _: Index) -> IntArray:
    return positions % np.array(extents, dtype=np.int64)


def _repeat_each(positions: IntArray, _: Extents, mode: int, times: int) -> IntArray:
    return _with(positions, mode, positions[..., mode] // times)


def _gather(positions: IntArray, extents: Extents, mode: int, chosen: Index) -> IntArray:
    table = np.array(chosen, dtype=np.int64)
    return _with(positions, mode, table[positions[..., mode]] % extents[mode])


def _points(positions: IntArray, extents: Extents, ranks: Index) -> IntArray:
    return unravel(np.array(ranks, dtype=np.int64)[positions[..., 0]], extents)


def _sliding_window(positions: IntArray, _: Extents, mode: int, _length: int) -> IntArray:
    return _with(positions[..., :-1], mode, positions[..., mode] + positions[..., -1])


def _diagonal(positions: IntArray, _: Extents, first: int, second: int) -> IntArray:
    before = _inserted(positions[..., :-1], sorted((first, second)), 0)
    before[..., first] = before[..., second] = positions[..., -1]
    return before


def _reshape(positions: IntArray, extents: Extents, wanted: Extents) -> IntArray:
    return unravel(ranks_of(positions, wanted), extents)


def _split_mode(positions: IntArray, _: Extents, mode: int, parts: Extents) -> IntArray:
    end = mode + len(parts)
    merged = ranks_of(positions[..., mode:end], parts)
    return np.concatenate([positions[..., :mode], merged[..., None], positions[..., end:]], axis=-1)


def _merge_modes(positions: IntArray, extents: Extents, first: int, last: int) -> IntArray:
    parts = unravel(positions[..., first], extents[first : last + 1])
    return np.concatenate([positions[..., :first], parts, positions[..., first + 1 :]], axis=-1)


def _pad(positions: IntArray, extents: Extents, widths: "Sequence[tuple[int, int]]", kind: str) -> IntArray:
    places = positions - np.array([before for before, _ in widths], dtype=np.int64)
    limits = np.array(extents, dtype=np.int64)
    if kind == "edge":
        return np.clip(places, 0, limits - 1)
    if kind == "wrap":
        return places % limits
    # There and back again: a period has both ends twice, or each once; one position is its own mirror.
    period = 2 * limits if kind == "symmetric" else np.maximum(2 * limits - 2, 1)
    turned = places % period
    mirrored = period - 1 - turned if kind == "symmetric" else (period - turned) % period
    return np.where(turned < limits, turned, mirrored)


_STEPS: dict[str, Callable[..., IntArray]] = {
    "permute": _permute,
    "reverse": _reverse,
    "slice": _slice,
    "chip": _chip,
    "squeeze": _squeeze,
    "unsqueeze": _unsqueeze,
    "broadcast": _broadcast,
    "rotate": _rotate,
    "repeat": _repeat,
    "repeat_each": _repeat_each,
    "gather": _gather,
    "points": _points,
    "sliding_window": _sliding_window,
    "diagonal": _diagonal,
    "reshape": _reshape,
    "split_mode": _split_mode,
    "merge_modes": _merge_modes,
    "pad": _pad,
}
