"""`Viewable`: open files that can be shown in a browser."""

import importlib
import os
from typing import TYPE_CHECKING, cast

from tensorwrapper._value_class import Shown

if TYPE_CHECKING:
    from tensorwrapper.viewer import Viewer


class Viewable(Shown):
    """One primitive, `path`."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def path(self) -> os.PathLike[str]:
            """The path of the file."""
            ...

    def view(self, *, framed_by: str | None = None) -> "Viewer":
        """Serve the file to a page in a local browser. A notebook shows the page, or a link to it.

        A notebook frames the page if its own server is found on this machine. Otherwise `framed_by` names the
        origin that may frame it.

        Parameters
        ----------
        framed_by
            An origin, such as ``"http://localhost:8888"``; detected by default.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import tensorwrapper as tw
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "run.tens"
        >>> tw.save(path, {"x": [1, 2]})
        >>> with tw.open(path) as file, file.view() as viewer:
        ...     viewer.address.startswith("http://127.0.0.1:")
        True
        """
        viewer = importlib.import_module(
            "tensorwrapper.viewer"
        )  # by name, to avoid an import of a higher layer
        origin = viewer.notebook_origin() if framed_by is None else framed_by
        return cast("Viewer", viewer.view(self.path, framed_by=origin))
