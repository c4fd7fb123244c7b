"""The one way up from views in files: calls that open files and servers of sources.

They are loaded by name, so that no import points up.
"""

import importlib
from collections.abc import Mapping
from typing import Any

from tensorwrapper._json import Json

__all__ = ["open_file", "tensor_of_server"]


def open_file(path: str, options: Mapping[str, Json], follow: str | None, *, check_versions: bool) -> Any:  # noqa: ANN401 - a file of any kind
    """Return the open file at a path, as `tensorwrapper.open` does."""
    store = importlib.import_module("tensorwrapper.store")
    return store.open(path, **options, follow=follow, check_versions=check_versions)


def tensor_of_server(address: str, name: str) -> Any:  # noqa: ANN401 - a tensor elsewhere
    """Return the tensor of a name that a server has, as `tensorwrapper.connect` does."""
    return importlib.import_module("tensorwrapper.remote").connect(address)[name]
