"""Write parts that partition the positions of a mode."""

from collections.abc import Sequence

from tensorwrapper.buffer.lowlevel import join_into
from tensorwrapper.selection.runners._blocks import full_window
from tensorwrapper.selection.runners._leaves import Runner
from tensorwrapper.typing import Array

__all__ = ["write_parts"]

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
