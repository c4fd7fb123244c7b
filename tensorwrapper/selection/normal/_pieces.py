"""Which operand of a joined or interleaved mode each position comes from, as progressions."""

import math
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias, final

import attrs
import numpy as np

from tensorwrapper.layout.lowlevel import AxisMap, Cycle, Stride, solve_progression
from tensorwrapper.selection.expressions._expression import Expression
from tensorwrapper.selection.expressions._nodes import Interleaving, Joining, Routing
from tensorwrapper.typing import IntArray

__all__ = ["RUNS", "Part", "Run", "Shared", "operand_at", "parts_of_run", "parts_of_table", "runs_of"]

RUNS = 64  # runs of a mode that wraps, up to which each becomes pieces of its own

Shared: TypeAlias = Joining | Interleaving | Routing
"""Nodes that share out a mode among operands."""

Run: TypeAlias = "tuple[int, int, int, int]"
"""First position of the view, how many, first position of the mode, and the step there."""


@final
@attrs.frozen
class Part:
    """Positions of the view, ``start + step * i``, that are ``first + stride * i`` of one operand."""

    start: int
    step: int
    count: int
    operand: Expression
    first: int
    stride: int


def operand_at(node: Shared, position: int) -> tuple[Expression, int]:
    """Return the operand of a position, and the position in it. O(log operands)."""
    if isinstance(node, Interleaving):
        local, number = divmod(position, len(node.operands))
        return node.operands[number], local
    if isinstance(node, Routing):
        part = next(parts_of_run(node, (0, 1, position, 1)))
        return part.operand, part.first
    number = int(np.searchsorted(node.offsets, position, "right")) - 1
    return node.operands[number], position - int(node.offsets[number])


def parts_of_run(node: Shared, run: Run) -> Iterator[Part]:
    """Return the parts of evenly spaced positions; O(parts), whatever the number of operands."""
    if isinstance(node, Interleaving):
        return _parts_of_cycle(node, run)
    if isinstance(node, Routing):
        starts = _starts_in_a_row(node)
        if starts is None:
            return _parts_of_pieces(node, run)
        return _parts_in_a_row(starts, node.operands, run)
    return _parts_in_a_row(node.offsets, node.operands, run)


def _starts_in_a_row(node: Routing) -> IntArray | None:
    """Return where each piece begins, and after them all the extent, if none of them leaves gaps."""
    if any(piece.step != 1 for piece in node.pieces):
        return None
    starts = [piece.start for piece in node.pieces]
    return np.array([*starts, node.extents[node.mode]], dtype=np.int64)


def _parts_in_a_row(offsets: IntArray, operands: Sequence[Expression], run: Run) -> Iterator[Part]:
    start, count, first, step = run
    done = 0
    while done < count:
        position = first + step * done
        number = int(np.searchsorted(offsets, position, "right")) - 1
        low, high = int(offsets[number]), int(offsets[number + 1])
        inside = (high - 1 - position) // step + 1 if step > 0 else (position - low) // -step + 1
        inside = min(inside, count - done)
        yield Part(start + done, 1, inside, operands[number], position - low, step)
        done += inside


def _parts_of_cycle(node: Interleaving, run: Run) -> Iterator[Part]:
    start, count, first, step = run
    many = len(node.operands)
    common = math.gcd(step, many)
    rounds = many // common
    for turn in range(min(rounds, count)):
        local, number = divmod(first + step * turn, many)
        inside = -((turn - count) // rounds)
        yield Part(start + turn, rounds, inside, node.operands[number], local, step // common)


def _parts_of_pieces(node: Routing, run: Run) -> Iterator[Part]:
    """Return where a progression meets that of each piece: again a progression, if anywhere."""
    start, count, first, step = run
    for piece in node.pieces:
        # Positions first + step * j that are piece.start modulo piece.step, and between its ends.
        own = piece.count(node.mode)
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


def runs_of(constant: int, move: AxisMap) -> list[Run] | None:
    """Return evenly spaced runs that a move of a mode consists of; None if they are too many, or none."""
    if isinstance(move, Stride):
        return [(0, move.extent, constant, move.step)]
    if not isinstance(move, Cycle) or move.hold > 1 or move.modulus is None:
        return None
    modulus, turn = move.modulus, move.turn
    if abs(turn) * move.extent > RUNS * modulus:
        return None
    runs: list[Run] = []
    done, place = 0, move.start % modulus
    while done < move.extent:
        inside = (modulus - 1 - place) // turn + 1 if turn > 0 else place // -turn + 1
        inside = min(inside, move.extent - done)
        runs.append((done, inside, constant + move.step * place, move.step * turn))
        done += inside
        place = (place + turn * inside) % modulus
    return runs


def parts_of_table(node: Shared, positions: IntArray) -> tuple[IntArray, list[tuple[Expression, IntArray]]]:
    """Return an order of the positions that groups them by operand, and the positions in each operand."""
    if isinstance(node, Interleaving):
        locals_, numbers = np.divmod(positions, len(node.operands))
    elif isinstance(node, Routing):
        numbers, locals_ = _piece_of(node, positions)
    else:
        numbers = np.searchsorted(node.offsets, positions, "right") - 1
        locals_ = positions - node.offsets[numbers]
    order = np.argsort(numbers, kind="stable")
    grouped = numbers[order]
    marks = np.flatnonzero(np.diff(grouped)) + 1
    groups: Any = np.split(locals_[order], marks)
    firsts = grouped[np.concatenate([[0], marks])].tolist()
    return order, [(node.operands[n], own) for n, own in zip(firsts, groups, strict=True)]


def _piece_of(node: Routing, positions: IntArray) -> tuple[IntArray, IntArray]:
    """Return the number of the piece of each position, and the position in it."""
    starts = _starts_in_a_row(node)
    if starts is not None:
        found = np.searchsorted(starts, positions, "right") - 1
        return found, positions - starts[found]
    numbers, locals_ = np.zeros_like(positions), np.zeros_like(positions)
    for number, piece in enumerate(node.pieces):
        places, rest = np.divmod(positions - piece.start, piece.step)
        inside = (rest == 0) & (places >= 0) & (places < piece.count(node.mode))
        numbers[inside] = number
        locals_[inside] = places[inside]
    return numbers, locals_
