"""Pictures of what lies in a plane: a table of shares, each a rectangle as dark as it is full."""

from collections.abc import Sequence

from tensorwrapper.drawing._color import EMPTY, FAINT, ramp
from tensorwrapper.drawing._frame import Axis, Swatch, framed
from tensorwrapper.drawing._svg import Drawing, Mark, Path, Point, Rectangle

__all__ = ["draw_grid"]

_LEVELS = 8  # shades; the cells of one are one mark
_LONGEST = 320.0  # pixels of the longer side
_LEAST = 8.0


def draw_grid(
    shares: Sequence[Sequence[float]],
    *,
    down: tuple[int, int],
    across: tuple[int, int],
    title: str,
    full: str,
    names: tuple[str, str] = ("mode 0", "mode 1"),
    notes: Sequence[str] = (),
) -> Drawing:
    """Return a picture of a plane of indices that is cut into a grid, each part as dark as its share.

    Parameters
    ----------
    shares
        For each row of the grid that of each part, from 0 to 1.
    down, across
        The first index of each of the two modes, and how many there are.
    title
        What is drawn, in words.
    full
        What the darkest colour stands for.
    names
        What stands beside the two axes.
    notes
        Lines of text below.
    """
    extents = down[1], across[1]
    longest = max(*extents, 1)
    height, width = (max(n / longest * _LONGEST, _LEAST) for n in extents)
    rows, columns = len(shares), len(shares[0]) if shares else 0
    levels: dict[int, list[tuple[Point, ...]]] = {}
    for row, values in enumerate(shares):
        top, bottom = row * height / rows, (row + 1) * height / rows
        begun, level = 0, -1
        # Neighbours of one shade are one box.
        for column, value in enumerate([*values, -1.0]):
            now = -1 if value < 0.0 else 0 if value == 0.0 else min(int(value * _LEVELS), _LEVELS - 1) + 1
            if now == level:
                continue
            if level > 0:
                left, right = begun * width / columns, column * width / columns
                levels.setdefault(level, []).append(
                    ((left, top), (right, top), (right, bottom), (left, bottom))
                )
            begun, level = column, now
    marks: list[Mark] = [Rectangle(0.0, 0.0, width, height, EMPTY, "", "plane", FAINT)]
    marks += [
        Path(tuple(runs), ramp(0.15 + 0.75 * level / _LEVELS), closed=True, name="part")
        for level, runs in sorted(levels.items())
    ]
    return framed(
        marks,
        (width, height),
        down=Axis(down[0], sum(down), height, names[0], cells=False) if down[1] else None,
        across=Axis(across[0], sum(across), width, names[1], cells=False) if across[1] else None,
        legend=[Swatch(ramp(0.9), full), Swatch(EMPTY, "none")],
        notes=notes,
        title=title,
    )
