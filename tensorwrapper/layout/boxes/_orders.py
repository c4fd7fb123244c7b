"""Reading what users give for an order of modes, and for a tiling."""

from collections.abc import Iterable
from typing import SupportsIndex, cast

from tensorwrapper._error_text import brief
from tensorwrapper.errors import ConversionError
from tensorwrapper.shape import Tiling
from tensorwrapper.shape.lowlevel import to_permutation
from tensorwrapper.typing import Index, Order


def to_tiling(tiling: object, what: str) -> Tiling:
    """Return what is a tiling; ``what`` names the operation that needs it."""
    if isinstance(tiling, Tiling):
        return cast("Tiling", tiling)
    raise ConversionError(f"{what} needs a Tiling, such as Tiling(*sizes), not {brief(tiling)}")


def is_default(order: Order | Iterable[SupportsIndex]) -> bool:
    # Arrays compare element by element, so the type is tested first.
    return isinstance(order, str) and order == "C"


def fastest_first(order: Order | Iterable[SupportsIndex], rank: int) -> Index:
    """Return the modes from the fastest to the slowest."""
    if not isinstance(order, str):
        return to_permutation(order, rank)
    if order not in ("C", "F"):
        raise ConversionError(f'order must be "C", "F" or a permutation, not {order!r}')
    return tuple(range(rank)) if order == "F" else tuple(range(rank - 1, -1, -1))
