"""Coordinate routing: where each cell of a view comes from."""

from typing import Generic

from tensorwrapper.selection._view_parts import ViewParts
from tensorwrapper.typing import ScalarT_co

__all__ = ["ViewRouting"]


class ViewRouting(ViewParts[ScalarT_co], Generic[ScalarT_co]):
    """Abstract: `_expression`, `_normal`, `_make` and `elements`."""

    __slots__ = ()
