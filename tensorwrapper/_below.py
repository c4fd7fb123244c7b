"""Paths below a folder: the rule by which other files are allowed to be read."""

import os


def is_below(path: str | os.PathLike[str], folder: str | os.PathLike[str]) -> bool:
    """Return True if a path, with all links in it followed, is a folder or below it.

    Examples
    --------
    >>> is_below("/data/run/a.tens", "/data/run"), is_below("/data/run2/a.tens", "/data/run")
    (True, False)
    """
    real, above = os.path.realpath(path), os.path.realpath(folder)
    return real == above or real.startswith(os.path.join(above, ""))
