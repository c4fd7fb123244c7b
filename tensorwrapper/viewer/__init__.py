"""A page for a browser that shows `.tens` files, and the JavaScript reader that it uses."""

from typing import TYPE_CHECKING

from tensorwrapper._lazy import lazy_names

if TYPE_CHECKING:
    from tensorwrapper.viewer._notebook import notebook_origin
    from tensorwrapper.viewer._server import Viewer, page, view

__all__ = ["Viewer", "notebook_origin", "page", "view"]

if not TYPE_CHECKING:  # type checkers use the imports above
    __getattr__, __dir__ = lazy_names(
        __name__, {"_notebook": ("notebook_origin",), "_server": ("Viewer", "page", "view")}
    )
