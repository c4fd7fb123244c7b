"""Axes around the marks of a plot, and the size of the canvas for them."""

import itertools
from collections.abc import Iterable, Sequence
from typing import NamedTuple, final

import attrs

from tensorwrapper._value_class import frozen
from tensorwrapper.drawing._color import FAINT, INK, MUTED
from tensorwrapper.drawing._numbers import count_text, ticks
from tensorwrapper.drawing._svg import Drawing, Group, Line, Mark, Path, Point, Rectangle, Text

_MARGIN = 12.0
_SMALL = 10.0
_PLAIN = 11.0
_ROW = 16.0  # from one line of text to the next
_TICK = 4.0
_CELL = 14.0  # pixels per index from which on each has its number at its middle
_APART = 52.0  # pixels between ticks


def text_width(text: str, size: float = _PLAIN) -> float:
    """Return about how wide a text is: fonts differ, so this errs on the wide side."""
    return 0.6 * size * len(text)


@final
@frozen
class Axis:
    """The indices from `first` up to, not including, `end` along so many pixels.

    Parameters
    ----------
    first, end
        Integers of any size.
    length
        In pixels.
    title
        Title beside the axis.
    cells
        Whether indices are cells with room for their numbers, rather than places on a line.
    names
        Labels of the indices in place of their numbers; none if there is no room for them.
    """

    first: int
    end: int
    length: float
    title: str = ""
    cells: bool = attrs.field(default=True, kw_only=True)
    names: tuple[str, ...] = attrs.field(default=(), kw_only=True)

    def labels(self, *, upright: bool) -> list[tuple[float, str]]:
        """Return places and numbers, as many as have room."""
        extent = self.end - self.first
        unit = self.length / extent if 0 < extent < 1000 else 0.0
        if self.names and unit >= _CELL:
            return [((k + 0.5) * unit, name) for k, name in enumerate(self.names)]
        if self.cells and unit >= _CELL:
            names = [count_text(self.first + k) for k in range(extent)]
            if unit >= _room(names, upright=upright) + 4.0:
                return [((k + 0.5) * unit, name) for k, name in enumerate(names)]
        labels: list[tuple[float, str]] = []
        most = max(int(self.length / (_APART / 2 if upright else _APART)), 1)
        while most:
            marks = ticks(self.first, self.end, most)
            labels = [((n - self.first) / max(extent, 1) * self.length, count_text(n)) for n in marks]
            if _are_apart(labels, upright=upright):
                return labels
            most //= 2
        ends = [labels[0], labels[-1]]
        return ends if _are_apart(ends, upright=upright) else ends[:1]


def _room(names: Sequence[str], *, upright: bool) -> float:
    """Return the least distance between labels."""
    return _SMALL if upright else max(text_width(name, _SMALL) for name in names)


def _are_apart(labels: Sequence[tuple[float, str]], *, upright: bool) -> bool:
    return all(
        b - a >= _room((here, there), upright=upright) for (a, here), (b, there) in itertools.pairwise(labels)
    )


@final
@frozen
class Swatch:
    """An entry of a legend: a colour and its meaning."""

    fill: str
    text: str


def framed(
    marks: Iterable[Mark],
    size: tuple[float, float],
    *,
    across: Axis | None = None,
    down: Axis | None = None,
    legend: Sequence[Swatch] = (),
    notes: Sequence[str] = (),
    title: str = "",
) -> Drawing:
    """Return a drawing of `marks`, whose plot is `size` wide and high, with axes and a legend around it.

    Axes are above and to the left, as the indices of a matrix are; the legend and the notes are below.
    """
    width, height = size
    left, top = _corner(across, down)
    around: list[Mark] = [Group(tuple(marks), left, top)]
    right, bottom = left + width, top + height
    rows = _legend(legend, notes, left, bottom + _ROW + 2.0)
    if across is not None:
        around += _across(across, left, top)
        ends = [x + text_width(label, _SMALL) / 2 for x, label in across.labels(upright=False)]
        right = max(right, left + text_width(across.title), *[left + end for end in ends])
    if rows:
        right, bottom = max(right, *[row.end for row in rows]), rows[-1].height + 4.0
    if down is not None:
        around += _down(down, left, top)
        bottom = max(bottom, top + text_width(down.title))
    around += [mark for row in rows for mark in row.marks]
    return Drawing(right + _MARGIN, bottom + _MARGIN, tuple(around), title)


def _corner(across: Axis | None, down: Axis | None) -> Point:
    """Return the corner of the plot, with room for the axes above and to the left of it."""
    left = top = _MARGIN
    if down is not None:
        labels = [text_width(label, _SMALL) for _, label in down.labels(upright=True)]
        left += max(labels) + _TICK + 4.0 + (_ROW if down.title else 0.0)
    if across is not None:
        top += _SMALL + _TICK + 4.0 + (_ROW if across.title else 0.0)
        left = max(left, *[text_width(label, _SMALL) / 2 - x for x, label in across.labels(upright=False)])
    return left, top


def _across(axis: Axis, left: float, top: float) -> list[Mark]:
    labels = axis.labels(upright=False)
    lines = tuple(((left + x, top - _TICK), (left + x, top - 1.0)) for x, _ in labels)
    marks: list[Mark] = [Path(lines, stroke=MUTED)]
    marks += [Text(left + x, top - _TICK - 4.0, label, _SMALL, MUTED, "middle") for x, label in labels]
    if axis.title:
        y = top - _TICK - 8.0 - _SMALL
        if text_width(axis.title) > axis.length:
            marks.append(Text(left, y, axis.title, _PLAIN, INK))
        else:
            marks.append(Text(left + axis.length / 2, y, axis.title, _PLAIN, INK, "middle"))
    return marks


def _down(axis: Axis, left: float, top: float) -> list[Mark]:
    labels = axis.labels(upright=True)
    lines = tuple(((left - _TICK, top + y), (left - 1.0, top + y)) for y, _ in labels)
    marks: list[Mark] = [Path(lines, stroke=MUTED)]
    marks += [Text(left - _TICK - 3.0, top + y + 3.5, label, _SMALL, MUTED, "end") for y, label in labels]
    if axis.title:
        middle = top + max(axis.length, text_width(axis.title)) / 2
        marks.append(Text(_MARGIN + 8.0, middle, axis.title, _PLAIN, INK, "middle", upwards=True))
    return marks


class _Entry(NamedTuple):
    """An entry below a plot: its right and lower ends, and its marks."""

    end: float
    height: float
    marks: tuple[Mark, ...]


def _legend(legend: Sequence[Swatch], notes: Sequence[str], left: float, top: float) -> list[_Entry]:
    rows: list[_Entry] = []
    x, y = left, top
    for entry in legend:
        wide = 16.0 + text_width(entry.text)
        if x > left and x + wide > left + 420.0:
            x, y = left, y + _ROW
        box = Rectangle(x, y - 8.5, 9.0, 9.0, entry.fill, "", "key", FAINT)
        rows.append(_Entry(x + wide, y, (box, Text(x + 15.0, y, entry.text, _PLAIN, INK))))
        x += wide + 14.0
    if legend:
        y += _ROW
    for text in notes:
        rows.append(_Entry(left + text_width(text), y, (Text(left, y, text, _PLAIN, MUTED),)))
        y += _ROW
    return rows


def note(lines: Sequence[str], *, title: str = "") -> Drawing:
    """Return lines of text as a picture, where there is nothing to draw."""
    width = max(text_width(line) for line in lines) + 4 * _MARGIN
    height = _ROW * len(lines) + 2 * _MARGIN
    edge = Rectangle(0.5, 0.5, width - 1.0, height - 1.0, "none", "", "note", FAINT)
    texts = [
        Text(width / 2, _MARGIN + _ROW * k + 12.0, line, _PLAIN, MUTED if k else INK, "middle")
        for k, line in enumerate(lines)
    ]
    return Drawing(width, height, (edge, *texts), title)


def stacked(drawings: Sequence[Drawing], *, title: str = "") -> Drawing:
    """Return one drawing with several, one below the other."""
    marks: list[Mark] = []
    y = 0.0
    for drawing in drawings:
        if marks:
            marks.append(Line(_MARGIN, y, drawing.width - _MARGIN, y, FAINT))
        marks.append(Group(drawing.marks, 0.0, y))
        y += drawing.height
    return Drawing(max(d.width for d in drawings), y, tuple(marks), title)
