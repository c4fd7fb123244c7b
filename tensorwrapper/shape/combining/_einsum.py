"""The shape of an einsum, written as NumPy writes it or with names."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from string import ascii_letters
from typing import Final, cast

from tensorwrapper._error_text import brief, counted
from tensorwrapper.errors import (
    ConversionError,
    ExtentMismatchError,
    JaggedModeError,
    LabelError,
    LayerError,
    RankError,
)
from tensorwrapper.shape._shape import Shape, as_shape
from tensorwrapper.shape._shape_base import ShapeLike
from tensorwrapper.shape.labels._labels import ShapeProduct
from tensorwrapper.shape.labels._labels_text import Labels, to_labels

_PLACE: Final = re.compile(r"\b_(\d+)\b")
"""A label that stands for a mode of an ellipsis."""
_KNOWN = 256  # equations remembered, with the ranks of the shapes


def einsum_shape(equation: str, *shapes: ShapeLike) -> "Shape":
    """Return the shape of ``numpy.einsum(equation, ...)`` of tensors with these shapes, of any kind.

    Modes with one label must agree in extent and origin; an extent of 1 is not stretched. Labels that the
    result has not are summed, those that an operand has twice go over the diagonal.

    Parameters
    ----------
    equation
        As NumPy's: one letter per mode, operands separated by commas, ``->`` and the result
        (``"ij,jk->ik"``); without a result, all letters that occur once, sorted. ``...`` stands for the
        other modes of an operand, which agree from the last on. Or with names: labels separated by commas,
        operands by ``*``, and a result (``"atom,j * j,k -> atom,k"``); ``;`` separates layers. With one
        operand, a comma makes it names.
    *shapes
        One for each operand.

    Raises
    ------
    ExtentMismatchError
        If two modes with one label differ; the text names the label and both.
    RankError
        If there are not as many shapes, or labels of one, as the equation has.
    LabelError
        If the equation cannot be read, or the result has a label that no operand has, or one twice.
    JaggedModeError
        If a label of the result depends on one that comes after it or is summed.
    LayerError
        If layers do not fit.

    Examples
    --------
    >>> from tensorwrapper import Shape
    >>> einsum_shape("ij,jk->ik", Shape(10, 20), Shape(20, 30)), einsum_shape("ii", (5, 5))
    (Shape(10, 30), Shape())
    >>> rows = Shape.jagged([3, 1])
    >>> einsum_shape("event,hit * hit_kind -> event,hit_kind,hit", rows, (2,))
    Shape.jagged([Shape(2, 3), Shape(2, 1)])
    """
    values = [as_shape(shape) for shape in shapes]
    operands, result = read_equation(equation, [value.rank for value in values])
    labeled = [value(labels) for value, labels in zip(values, operands, strict=True)]
    try:
        return ShapeProduct(tuple(labeled)).shape(result)
    except (ExtentMismatchError, JaggedModeError, LabelError, LayerError) as error:
        if "..." not in equation:
            raise
        raise type(error)(shown_labels(str(error), equation)) from None


def read_equation(equation: str, ranks: Sequence[int]) -> tuple[list[Labels], Labels]:
    """Return the labels of every operand of an equation, and those of the result.

    Raises
    ------
    RankError
        If there are not as many operands as ranks, or labels of one as its rank, where these are letters.
    LabelError
        If the equation cannot be read.
    """
    if not isinstance(cast("object", equation), str):
        raise ConversionError(f"an equation is text, not of type {type(equation).__name__}")
    return _read(equation, tuple(ranks))


def shown_labels(text: str, equation: str) -> str:
    """Return a text about the labels of an equation, as its author knows them."""
    # Labels beside an ellipsis are letters; labels with an underscore are its modes.
    return _PLACE.sub(r"...[-\1]", text) if "..." in equation else text


@lru_cache(maxsize=_KNOWN)
def _read(equation: str, ranks: tuple[int, ...]) -> tuple[list[Labels], Labels]:
    """Return the labels of every operand and of the result."""
    inputs, arrow, output = equation.partition("->")
    named = "*" in inputs or (len(ranks) == 1 and "," in equation)
    terms = inputs.split("*" if named else ",")
    if len(terms) != len(ranks):
        raise RankError(f"{len(ranks)} shapes are given for the {len(terms)} operands of {brief(equation)}")
    if not named:
        return _read_letters(equation, terms, output if arrow else None, ranks)
    if not arrow:
        raise LabelError(f"the equation {equation!r} has names, but no '->' before the labels of a result")
    return [to_labels(term) for term in terms], to_labels(output)


def _read_letters(
    equation: str, terms: list[str], output: str | None, ranks: tuple[int, ...]
) -> tuple[list[Labels], Labels]:
    parts = [_letters(term, equation) for term in terms]
    counts = [_hidden(part, rank, equation) for part, rank in zip(parts, ranks, strict=True)]
    most = max(counts)
    names = [_named(part, count) for part, count in zip(parts, counts, strict=True)]
    if output is None:
        seen = Counter("".join([before + (after or "") for before, after in parts]))
        once = sorted(letter for letter, count in seen.items() if count == 1)
        return names, Labels((*_others(most), *once))
    result = _letters(output, equation)
    if most and result[1] is None:
        raise LabelError(f"the result of {equation!r} has no '...', which operands have")
    return names, _named(result, most)


def _letters(term: str, equation: str) -> tuple[str, str | None]:
    """Return the letters of one operand before and, if there is one, after the ellipsis."""
    before, dots, after = "".join(term.split()).partition("...")
    for letter in before + after:
        if letter not in ascii_letters:
            raise LabelError(
                f"{letter!r} in {equation!r} is not a label; use one letter per mode, or names with commas "
                "between them and '*' between operands"
            )
    return before, after if dots else None


def _hidden(part: tuple[str, str | None], rank: int, equation: str) -> int:
    """Return how many modes an ellipsis stands for."""
    before, after = part
    count = rank - len(before) - len(after or "")
    if count < 0 or (count and after is None):
        text = before if after is None else f"{before}...{after}"
        raise RankError(f"the labels {text!r} of {equation!r} are given for {counted(rank, 'mode')}")
    return count


def _named(part: tuple[str, str | None], count: int) -> Labels:
    before, after = part
    return Labels((*before, *(_others(count) if after is not None else ()), *(after or "")))


def _others(count: int) -> tuple[str, ...]:
    """Return the names of the modes that an ellipsis stands for, which are counted from the last."""
    return tuple([f"_{place}" for place in range(count, 0, -1)])
