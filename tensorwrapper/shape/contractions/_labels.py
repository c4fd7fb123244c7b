"""The labels of a contraction, and whether two tilings fit to them."""

from typing import Any, Final, TypeAlias

import numpy as np

from tensorwrapper.errors import ExtentMismatchError, LabelError, RankError
from tensorwrapper.shape.combining._einsum import read_equation, shown_labels
from tensorwrapper.shape.labels._labels_text import Labels
from tensorwrapper.shape.rows._partition import Partition
from tensorwrapper.shape.tilings._tiling import Tiling

ContractionLabels: TypeAlias = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]
"""One label per mode: of the left operand, of the right one, and of the result."""

_BOXES: Final = "labels name the modes of two boxes, not those of their tiles"


def read_labels(equation: str, ranks: tuple[int, int]) -> ContractionLabels:
    """Return the labels of an equation of two operands of these ranks.

    Raises
    ------
    LabelError
        If the equation cannot be read, or a side has a label twice, or a label is in one operand alone or in
        the result alone.
    RankError
        If there are not two operands, or not as many labels as modes.
    """
    try:
        operands, result = read_equation(equation, ranks)
    except RankError as error:
        raise RankError(f"{error}: {_BOXES}") from None
    for labels, rank, which in zip(operands, ranks, ("left", "right"), strict=True):
        _check_each_once(labels, f"the {which} operand", equation)
        if len(labels) != rank:
            raise RankError(
                f"the {which} operand has {rank} modes, not {len(labels)} as in {equation!r}: {_BOXES}"
            )
    _check_each_once(result, "the result", equation)
    left, right = operands
    for label in {**dict.fromkeys(left), **dict.fromkeys(right), **dict.fromkeys(result)}:
        shown = shown_labels(label, equation)
        if label not in left and label not in right:
            raise LabelError(f"the label {shown!r} of the result of {equation!r} is in no operand")
        if label not in result and not (label in left and label in right):
            raise LabelError(
                f"the label {shown!r} of {equation!r} is in one operand alone: it is in the result too, or "
                "is summed before, as `np.add.reduce(t, axis=0)` does"
            )
    return left.names, right.names, result.names


def _check_each_once(labels: Labels, which: str, equation: str) -> None:
    if labels.layers is not None:
        raise LabelError(f"the labels '{labels}' of {which} are in layers, which boxes in tiles have not")
    if labels.has_repeats:
        twice = next(label for label in labels.distinct if len(labels.places(label)) > 1)
        raise LabelError(
            f"{which} of {equation!r} has the label {shown_labels(twice, equation)!r} twice: a diagonal is "
            "taken before, and has one label"
        )


def equation_of(labels: ContractionLabels) -> str:
    """Return the text that `read_labels` reads these labels from."""
    if all(len(label) == 1 and label.isascii() and label.isalpha() for side in labels for label in side):
        left, right, result = map("".join, labels)
        return f"{left},{right}->{result}"
    left, right, result = map(",".join, labels)
    return f"{left} * {right} -> {result}"


def check_tilings(labels: ContractionLabels, left: Tiling[Any], right: Tiling[Any], equation: str) -> None:
    """Raise unless modes with one label are cut alike.

    Raises
    ------
    ExtentMismatchError
        If a boundary differs; the text names the label and the first of them.
    """
    ours = dict(zip(labels[0], left.partitions, strict=True))
    for label, partition in zip(labels[1], right.partitions, strict=True):
        if label in ours and ours[label] != partition:
            raise ExtentMismatchError(
                f"the tiles along the label {shown_labels(label, equation)!r} of {equation!r} differ: "
                f"{_first_odd(ours[label], partition)}; retiled(tiling) cuts one as the other"
            )


def _first_odd(left: Partition, right: Partition) -> str:
    """Return which boundary of two partitions is the first that differs, and where it is in both."""
    shorter = min(len(left.marks), len(right.marks))
    differs = left.marks[:shorter] != right.marks[:shorter]
    place = int(np.argmax(differs)) if differs.any() else shorter
    one, other = [
        str(int(side.marks[place])) if place < len(side.marks) else "none" for side in (left, right)
    ]
    return f"boundary {place} is {one} in the left operand and {other} in the right one"
