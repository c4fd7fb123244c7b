"""Tensors in files: `.tens` files, which only grow, are read lazily, and survive a writer that dies."""

from tensorwrapper.store._array_file import ArrayFile
from tensorwrapper.store._compact import Compaction, compact
from tensorwrapper.store._convert import Conversion, convert
from tensorwrapper.store._entry import Entry
from tensorwrapper.store._file import FileMode, TensFile
from tensorwrapper.store._open import open, save  # noqa: A004 - named as what they are used as: tw.open
from tensorwrapper.store._verify import Verification, verify

__all__ = [
    "ArrayFile",
    "Compaction",
    "Conversion",
    "Entry",
    "FileMode",
    "TensFile",
    "Verification",
    "compact",
    "convert",
    "open",
    "save",
    "verify",
]
