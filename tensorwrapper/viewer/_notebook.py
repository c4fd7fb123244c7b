"""Embed the page in a notebook: origins that may frame it, and the HTML that a notebook displays."""

import importlib
import json
import os
import re
from html import escape
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from tensorwrapper.errors import ConversionError

_ORIGIN: Final = re.compile(r"(https?)://([A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:]{2,45}\])(:[0-9]{1,5})?")
_HERE: Final = ("localhost", "127.0.0.1")
_LONGEST: Final = 2**16
"""Size limit of a Jupyter server's JSON file, in bytes."""


def framers_of(origin: str | None) -> tuple[str, ...]:
    """Return the origins that may frame the page: this origin, under each name of this machine.

    Raises
    ------
    ConversionError
        If it is not of the form ``scheme://host:port``.

    Examples
    --------
    >>> framers_of("http://localhost:8888")
    ('http://localhost:8888', 'http://127.0.0.1:8888')
    """
    if origin is None:
        return ()
    found = _ORIGIN.fullmatch(origin)
    if found is None:
        raise ConversionError(f"an origin is like http://localhost:8888, without a path, not {origin!r:.80}")
    scheme, host, port = found.groups(default="")
    names = _HERE if host in _HERE else ()
    return tuple(dict.fromkeys([origin, *[f"{scheme}://{name}{port}" for name in names]]))


def notebook_origin() -> str | None:
    """Return the origin of the Jupyter server that started this process; None if it is not on this machine.

    Each Jupyter server writes a JSON file named after its process id. Kernels find this id in
    `JPY_PARENT_PID`.
    """
    number = os.environ.get("JPY_PARENT_PID", "")
    folder = _runtime_folder()
    if folder is None or not (number.isascii() and number.isdigit()):
        return None
    try:
        with (folder / f"jpserver-{number}.json").open("rb") as file:
            said = json.loads(file.read(_LONGEST))
        parts = urlsplit(str(said["url"]))
        port = parts.port
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None
    if parts.hostname not in _HERE or parts.scheme not in ("http", "https"):
        return None
    return f"{parts.scheme}://{parts.hostname}" + ("" if port is None else f":{port}")


def _runtime_folder() -> Path | None:
    if given := os.environ.get("JUPYTER_RUNTIME_DIR"):
        return Path(given)
    try:
        paths = importlib.import_module("jupyter_core.paths")  # kernels have it
    except ImportError:
        return None
    return Path(paths.jupyter_runtime_dir())


def shown_in_notebook(address: str, names: str, *, is_framed: bool) -> str:
    """Return HTML for a notebook: a link to the page and, if allowed, the page in a frame."""
    link = f'<a href="{escape(address)}" target="_blank" rel="noopener noreferrer">{escape(names)}</a>'
    if not is_framed:
        return link
    style = "width: 100%; height: 640px; border: 1px solid #8888"
    return f'{link}<iframe src="{escape(address)}" title="{escape(names)}" style="{style}"></iframe>'
