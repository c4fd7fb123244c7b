"""Pictures of labelled shapes: which operand has which label, and how far it goes there."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tensorwrapper.drawing import Drawing, draw_grid, range_text
from tensorwrapper.shape.kinds._nested import Flat, NestedCommon
from tensorwrapper.shape.text._text import shape_str

_MOST = 24  # operands and labels that are drawn
_LONG = 30  # characters of an operand


class LabeledOperand(NamedTuple):
    """An operand of an expression: its sign or factor, its shape, and a label for each mode."""

    sign: str
    shape: Flat | NestedCommon
    labels: tuple[str, ...]

    @property
    def text(self) -> str:
        """The text beside its row."""
        text = shape_str(self.shape)
        short = text if len(text) <= _LONG else f"{text[: _LONG - 4]} ..."
        return f"{self.sign} {short}".strip()

    def extents(self, label: str) -> str:
        """Return the extents of the modes that have this label."""
        modes = [mode for mode, name in enumerate(self.labels) if name == label]
        return ", ".join([range_text(*self.shape.extent_bounds(mode)) for mode in modes])


def draw_labels(operands: Sequence[LabeledOperand], *, title: str) -> Drawing:
    """Return a table with a row for each operand and a column for each label.

    A label in several rows connects them; one in a single row is free, or summed alone.
    """
    labels = list(dict.fromkeys(_names(operands)))
    shown, columns = operands[:_MOST], labels[:_MOST]
    notes = [
        f"and {len(names) - _MOST} more {what}"
        for names, what in ((operands, "operands"), (labels, "labels"))
        if len(names) > _MOST
    ]
    if not columns:
        columns = [""]
    return draw_grid(
        [[float(name in operand.labels) for name in columns] for operand in shown],
        down=(0, len(shown)),
        across=(0, len(columns)),
        names=("", ""),
        full="extent of the label",
        others=("", ""),
        texts=[[operand.extents(name) for name in columns] for operand in shown],
        heads=(tuple([operand.text for operand in shown]), tuple(columns)),
        notes=notes,
        title=title,
    )


def _names(operands: Sequence[LabeledOperand]) -> Iterator[str]:
    return (name for operand in operands for name in operand.labels)
