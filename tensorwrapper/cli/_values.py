"""Elements on the command line: the first elements of a tensor, and elements as JSON."""

import math
from typing import Any, cast

from tensorwrapper.cli._report import Value
from tensorwrapper.errors import TensorNameError
from tensorwrapper.remote import Remote, RemoteTensor
from tensorwrapper.selection import View
from tensorwrapper.tensor import Tensor

_COUNTS = ((), (12,), (6, 6), (4, 4, 4))


def first_of(tensor: "Tensor[Any] | View[Any] | RemoteTensor") -> Tensor[Any]:
    """Return a few first elements along each mode, whatever the size of the tensor.

    No other element is read or transferred.
    """
    rank = tensor.rank if isinstance(tensor, RemoteTensor) else tensor.shape.rank
    counts = _COUNTS[rank] if rank < len(_COUNTS) else (*[1] * (rank - 4), *[3] * 4)
    part = tensor[tuple([slice(0, count) for count in counts])]
    return part.compute() if isinstance(part, View) else part


def served(remote: Remote, name: str) -> RemoteTensor:
    """Return a tensor of a server. The error for an unknown name explains how to list the names."""
    try:
        return remote[name]
    except TensorNameError as error:
        raise TensorNameError(f"{error}; use inspect ADDRESS to list the names") from error


def plain(value: object) -> Value:
    """Return elements as JSON values: nulls and NaT as null, other times and unsupported numbers as text."""
    if isinstance(value, list):
        return [plain(own) for own in cast("list[object]", value)]
    if isinstance(value, complex):
        return [plain(value.real), plain(value.imag)]
    if isinstance(value, bool | int | str | None) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return str(value)
