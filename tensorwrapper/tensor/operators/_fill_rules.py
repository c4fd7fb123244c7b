"""The rule for operands of sparse tensors and views, which depends only on fills."""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from tensorwrapper.buffer.lowlevel import is_fill
from tensorwrapper.errors import ConversionError
from tensorwrapper.typing import Array

DENSE: Final = object()
"""Marker for dense tensors, which have no fill."""


def check_beside(name: str, masks: Iterable[object], choices: Sequence[object]) -> None:
    """Raise unless operands, at least one of them sparse, have a sparse result.

    Parameters
    ----------
    name
        Name of the operation.
    masks
        The fill of each operand that only decides between the others; a number is a fill, too, `DENSE`
        is the marker of a dense tensor, and None of an unknown fill.
    choices
        The fills of the others, likewise.

    Raises
    ------
    ConversionError
        If elements of dense tensors would be in the result, or a dense mask chooses between several fills.
    """
    if any(fill is DENSE for fill in choices):
        raise ConversionError(
            f"{name}: a sparse tensor with a dense operand; `s.to_dense()` has all its elements, "
            "`tw.sparse([(0, 1)], [1.5], (2, 3))` stores few of the other"
        )
    if any(fill is DENSE for fill in masks):
        check_one_fill(f"{name}: a dense mask", choices)


def check_one_fill(what: str, fills: Sequence[object], hint: str = "`s.to_dense()` has all elements") -> None:
    """Raise unless all known fills are equal; `what` needs that, and `hint` names an alternative.

    Raises
    ------
    ConversionError
        If they are not.
    """
    known = [np.asarray(fill) for fill in fills if fill is not None]
    first: Array = known[0] if known else np.zeros(())
    for fill in known[1:]:
        if not is_fill(fill, first).all():
            raise ConversionError(f"{what} makes no one sparse tensor of fills {first} and {fill}: {hint}")
