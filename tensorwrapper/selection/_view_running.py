"""Plans of views, and what runs them."""

from typing import Generic

from tensorwrapper.selection._view_explaining import ViewExplaining
from tensorwrapper.typing import ScalarT_co

__all__ = ["ViewRunning"]


class ViewRunning(ViewExplaining[ScalarT_co], Generic[ScalarT_co]):
    """Abstract: `_expression`, `_normal`, `_make` and `elements`."""

    __slots__ = ()
