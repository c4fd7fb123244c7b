"""Other files to which a file leads: they are read only below the folder that the caller names."""

import os
from pathlib import Path
from typing import Final

from tensorwrapper._below import is_below
from tensorwrapper._error_text import shortened
from tensorwrapper.store.records._loss import Loss

__all__ = ["followed", "is_still"]

_ADVICE: Final = "tw.open(..., follow=FOLDER) reads other files below a folder"


def followed(target: str, source: Path, follow: str | None, name: str, what: str) -> Path | Loss:
    """Return the real path of a file that another one names, or why it is not read.

    Parameters
    ----------
    target
        The relative path that the file has, in its own folder or in `follow`.
    source
        The file that names it.
    follow
        The folder below which files are read; None for none.
    name, what
        The tensor or link that leads there, and the start of the sentence about it.
    """
    text = f"{what} leads to the file {shortened(repr(target))}"
    if follow is None:
        return Loss(f"{text}, which is not followed", name, "link", _ADVICE)
    if "://" in target or "\0" in target or "\\" in target or Path(target).is_absolute() or not target:
        return Loss(f"{text}, which is not a relative path", name, "link", _ADVICE)
    if ".." in target.split("/"):
        return Loss(f"{text}, and paths with '..' are not followed", name, "link", _ADVICE)
    for folder in (source.parent, Path(follow)):
        found = os.path.realpath(folder / target)
        if not Path(found).is_file():
            continue
        # Links of the system may lead anywhere.
        if is_below(found, follow):
            return Path(found)
        return Loss(f"{text}, which is not below {shortened(repr(follow))}", name, "link", _ADVICE)
    return Loss(f"{text}, which does not exist", name, "link")


def is_still(path: Path) -> bool:
    """Return True if a real path is still one: no part of it has become a link."""
    return os.path.realpath(path) == str(path)
