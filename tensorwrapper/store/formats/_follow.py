"""Other files that a file refers to, which are read only below the caller's `follow` folder."""

import os
from pathlib import Path
from typing import Final

from tensorwrapper._below import is_below
from tensorwrapper._error_text import shortened
from tensorwrapper.store.records._loss import Loss

_ADVICE: Final = "tw.open(..., follow=FOLDER) reads other files below a folder"


def followed(target: str, source: Path, follow: str | None, name: str, what: str) -> Path | Loss:
    """Return the real path of a file that another file refers to, or the loss if it must not be read.

    Parameters
    ----------
    target
        The path of the file, relative to the folder of `source` or to `follow`.
    source
        The file that refers to it.
    follow
        The folder below which files may be read; None to read no files.
    name, what
        Name of the tensor or link that refers to it, and the start of the sentence about the loss.
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
        # Symbolic links may lead anywhere.
        if is_below(found, follow):
            return Path(found)
        return Loss(f"{text}, which is not below {shortened(repr(follow))}", name, "link", _ADVICE)
    return Loss(f"{text}, which does not exist", name, "link")


def is_still(path: Path) -> bool:
    """Return True if no part of a real path has become a link."""
    return os.path.realpath(path) == str(path)
