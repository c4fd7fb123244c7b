"""What a view tells about itself: text, trees, pictures."""

from typing import Generic

from tensorwrapper.selection._view_routing import ViewRouting
from tensorwrapper.typing import ScalarT_co

__all__ = ["ViewExplaining"]


class ViewExplaining(ViewRouting[ScalarT_co], Generic[ScalarT_co]):
    """Abstract: `_expression`, `_normal`, `_make` and `elements`."""

    __slots__ = ()
