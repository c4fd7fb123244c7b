"""Tensors in files: `.tens` files, which only grow, are read lazily, and survive a writer that dies."""

from tensorwrapper.store._convert import Conversion, convert
from tensorwrapper.store._entry import Entry
from tensorwrapper.store._file import FileMode, TensFile
from tensorwrapper.store._open import open, save  # noqa: A004 - named as what they are used as: tw.open
from tensorwrapper.store._verify import Verification, verify

__all__ = ["Conversion", "Entry", "FileMode", "TensFile", "Verification", "convert", "open", "save", "verify"]
