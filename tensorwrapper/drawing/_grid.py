"""Pictures of a plane: a table of shares, each a rectangle as dark as it is full."""

from collections.abc import Sequence

from tensorwrapper.drawing._color import ACCENT, EMPTY, FAINT, INK, ramp
from tensorwrapper.drawing._frame import Axis, Swatch, framed, text_width
from tensorwrapper.drawing._svg import Drawing, Mark, Path, Point, Rectangle, Text

_LEVELS = 8  # shades; the cells of one are one mark
_LONGEST = 320.0  # pixels of the longer side
_LEAST = 8.0
_CELL = 34.0  # pixels of a part with text; larger only if the text needs it
_HEIGHT = 24.0
_SIZE = 10.0  # of the letters


def draw_grid(
    shares: Sequence[Sequence[float]],
    *,
    down: tuple[int, int],
    across: tuple[int, int],
    title: str,
    full: str,
    names: tuple[str, str] = ("mode 0", "mode 1"),
    notes: Sequence[str] = (),
    others: tuple[str, str] = ("none", ""),
    texts: Sequence[Sequence[str]] = (),
    heads: tuple[Sequence[str], Sequence[str]] = ((), ()),
    walk: Sequence[tuple[int, int]] = (),
) -> Drawing:
    """Return a picture of a plane of indices that is cut into a grid, each part as dark as its share.

    Parameters
    ----------
    shares
        For each row of the grid that of each part, from 0 to 1.
    down, across
        The first index of each of the two modes, and how many there are.
    title
        Title of the picture.
    full
        Meaning of the darkest colour.
    names
        Labels of the two axes.
    notes
        Lines of text below.
    others
        Meaning of no colour and of the faintest one; an empty text is omitted.
    texts
        Text of each part; colours are fainter then.
    heads
        Labels of each row and each column in place of their numbers.
    walk
        Parts, by row and column, through whose middles a line goes.
    """
    rows, columns = len(shares), len(shares[0]) if shares else 0
    height, width = _size_of(texts, heads[1]) if texts else _size(down[1], across[1])
    strength = 0.25 if texts else 0.75
    levels = _levels(shares, width / max(columns, 1), height / max(rows, 1))
    marks: list[Mark] = [Rectangle(0.0, 0.0, width, height, EMPTY, "", "plane", FAINT)]
    marks += [
        Path(tuple(runs), ramp(0.15 + strength * level / _LEVELS), closed=True, name="part")
        for level, runs in sorted(levels.items())
    ]
    middles = [
        [(width / columns * (j + 0.5), height / rows * (i + 0.5)) for j in range(columns)]
        for i in range(rows)
    ]
    if walk:
        marks.append(Path((tuple([middles[i][j] for i, j in walk]),), stroke=ACCENT, width=1.5, name="walk"))
    for places, words in zip(middles, texts, strict=False):
        # Beside the line, if there is one.
        right, up = (6.0 - width / columns / 2, 5.0) if walk else (0.0, -3.5)
        marks += [
            Text(x + right, y - up, word, _SIZE, INK, "start" if walk else "middle")
            for (x, y), word in zip(places, words, strict=True)
            if word
        ]
    empty, faintest = others
    shades = [(0.15 + strength, full), (0.15 + strength / _LEVELS, faintest)]
    legend = [Swatch(ramp(value), text) for value, text in shades if text]
    cells = bool(texts)
    left, top = (tuple(head) for head in heads)
    return framed(
        marks,
        (width, height),
        down=Axis(down[0], sum(down), height, names[0], cells=cells, names=left) if down[1] else None,
        across=Axis(across[0], sum(across), width, names[1], cells=cells, names=top) if across[1] else None,
        legend=[*legend, Swatch(EMPTY, empty)] if empty else legend,
        notes=notes,
        title=title,
    )


def _levels(
    shares: Sequence[Sequence[float]], width: float, height: float
) -> dict[int, list[tuple[Point, ...]]]:
    """Return the boxes of each shade, in pixels; neighbours of one shade form one box."""
    levels: dict[int, list[tuple[Point, ...]]] = {}
    for row, values in enumerate(shares):
        top, bottom = row * height, (row + 1) * height
        begun, level = 0, -1
        for column, value in enumerate([*values, -1.0]):
            now = -1 if value < 0.0 else 0 if value == 0.0 else min(int(value * _LEVELS), _LEVELS - 1) + 1
            if now == level:
                continue
            if level > 0:
                left, right = begun * width, column * width
                levels.setdefault(level, []).append(
                    ((left, top), (right, top), (right, bottom), (left, bottom))
                )
            begun, level = column, now
    return levels


def _size(down: int, across: int) -> tuple[float, float]:
    """Return the height and the width of a plane of so many indices."""
    longest = max(down, across, 1)
    return max(down / longest * _LONGEST, _LEAST), max(across / longest * _LONGEST, _LEAST)


def _size_of(texts: Sequence[Sequence[str]], heads: Sequence[str]) -> tuple[float, float]:
    """Return the height and the width of parts in which something is written."""
    words = [*heads, *[word for line in texts for word in line]]
    cell = max(_CELL, *[text_width(word, _SIZE) + 8.0 for word in words])
    return len(texts) * (_HEIGHT if heads else _CELL), len(texts[0]) * cell
