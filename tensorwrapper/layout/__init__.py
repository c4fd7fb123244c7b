"""Where each index lives: layouts of boxes, of jagged shapes, and tiled views of boxes."""

from tensorwrapper.layout._common import LayoutCommon
from tensorwrapper.layout._layout import Layout

__all__ = ["Layout", "LayoutCommon"]
