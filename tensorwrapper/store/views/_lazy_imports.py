"""Lazy imports of higher layers, to open files and servers of sources.

Modules are loaded by name, so that no import statement refers to a higher layer.
"""

import importlib
from collections.abc import Mapping
from typing import Any

from tensorwrapper._json import Json


def open_file(path: str, options: Mapping[str, Json], follow: str | None, *, check_versions: bool) -> Any:  # noqa: ANN401 - a file of any kind
    """Return the open file at a path, as `tensorwrapper.open` does."""
    store = importlib.import_module("tensorwrapper.store")
    return store.open(path, **options, follow=follow, check_versions=check_versions)


def connect(address: str) -> Any:  # noqa: ANN401 - the tensors of a server
    """Return the tensors of a server by name, as `tensorwrapper.connect` does."""
    return importlib.import_module("tensorwrapper.remote").connect(address)
