"""Pictures of selections of each mode: evenly spaced positions, as marks on a bar."""

from collections.abc import Sequence
from typing import NamedTuple

from tensorwrapper.drawing import (
    EDGE,
    Drawing,
    ModeBar,
    Path,
    Point,
    bar_lengths,
    count_text,
    draw_bars,
    note,
)
from tensorwrapper.selection.transforms._transform import Spaced

_MARKED = 130  # positions that are marked one by one
_LONG = 30  # characters of the text of a mode
_LEAST = 1.5  # pixels


class ModePart(NamedTuple):
    """Selection from one mode, or a new mode."""

    text: str
    extent: int
    """Extent of the mode, or of the new one."""
    taken: "Spaced | int | None"
    """The positions that stay; the one at which the mode goes; nothing of a new mode."""


def draw_parts(parts: Sequence[ModePart], *, title: str) -> Drawing:
    """Return a picture with a bar for each mode, on which the positions that are taken are dark."""
    if not parts:
        return note(["no modes"], title=title)
    lengths = bar_lengths([0 if part.taken is None else part.extent for part in parts])
    bars: list[ModeBar] = []
    mode = made = 0
    for part, length in zip(parts, lengths, strict=True):
        new = part.taken is None
        written = part.text if len(part.text) <= _LONG else f"{part.text[: _LONG - 4]} ..."
        label = written if new else f"mode {mode}: {written}"
        text, goes = _said(part), isinstance(part.taken, int)
        text = text if goes else f"→ mode {made}: {text}"
        bars.append(ModeBar(label, 0.0 if new else length, text, () if new else _marks(part, length)))
        mode, made = mode + (not new), made + (not goes)
    return draw_bars(bars, title=title)


def _said(part: ModePart) -> str:
    if part.taken is None:
        return f"new, {count_text(part.extent)}"
    if isinstance(part.taken, int):
        return f"position {count_text(part.taken)}"
    count = part.taken[2]
    return (
        f"all {count_text(count)}"
        if count == part.extent
        else f"{count_text(count)} of {count_text(part.extent)}"
    )


def _marks(part: ModePart, length: float) -> tuple[Path, ...]:
    """Return one mark for all positions; those too many, or too close, for single ones are one box."""
    start, step, count = (part.taken, 1, 1) if isinstance(part.taken, int) else part.taken or (0, 1, 0)
    if not count:
        return ()
    if step < 0:
        start, step = start + (count - 1) * step, -step
    span = (count - 1) * step + 1
    single = step > 1 and count <= _MARKED and length * step / part.extent >= 2.0 * _LEAST
    boxes = [(start + k * step, 1) for k in range(count)] if single else [(start, span)]
    runs = tuple([_box(length * a / part.extent, length * n / part.extent, length) for a, n in boxes])
    # Marks that are too close become a bar, as dark as its selected share.
    share = 1.0 if single else max(count / span, 0.2)
    return (Path(runs, EDGE, closed=True, name="picked", opacity=share),)


def _box(left: float, width: float, length: float) -> tuple[Point, ...]:
    right = min(left + max(width, _LEAST), length)
    left = min(left, right - _LEAST)
    return (left, 0.0), (right, 0.0), (right, 14.0), (left, 14.0)
