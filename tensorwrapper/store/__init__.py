"""Tensors in files: `.tens` files, which only grow, are read lazily, and survive a writer that dies."""

from tensorwrapper.store._compact import Compaction, compact
from tensorwrapper.store._convert import convert
from tensorwrapper.store._file import FileMode, TensFile
from tensorwrapper.store._open import open, save, save_sets  # noqa: A004 - named as what they are used as: tw.open
from tensorwrapper.store._verify import Verification, verify
from tensorwrapper.store.foreign._array_file import ArrayFile
from tensorwrapper.store.foreign._contents import Conversion
from tensorwrapper.store.records._entry import Entry

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
    "save_sets",
    "verify",
]
