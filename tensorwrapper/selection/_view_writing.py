"""Writing through views."""

from typing import Generic

from tensorwrapper.selection._view_running import ViewRunning
from tensorwrapper.typing import ScalarT_co

__all__ = ["ViewWriting"]


class ViewWriting(ViewRunning[ScalarT_co], Generic[ScalarT_co]):
    """Abstract: `_expression`, `_normal`, `_make` and `elements`."""

    __slots__ = ()
